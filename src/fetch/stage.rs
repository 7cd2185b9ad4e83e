use std::io::{self, Write};

/// A stage of decoding that passes its output on.
pub(super) trait Stage: Write + Send {
    /// Ends the input; an error if the encoded data is incomplete.
    fn end(&mut self) -> io::Result<()>;
}

pub(super) type NextStage = Box<dyn Stage>;
