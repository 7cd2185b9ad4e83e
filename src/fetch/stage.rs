use std::io::{self, Write};

/// A stage of decoding that passes its output on.
pub(super) trait Stage: Write + Send {
    /// The input is complete; an error if the encoded data is not.
    fn end(&mut self) -> io::Result<()>;
}

pub(super) type NextStage = Box<dyn Stage>;
