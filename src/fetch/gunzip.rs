use std::io::{self, Write};

use flate2::write::GzDecoder;

/// A stage of decoding that passes its output on.
pub(super) trait Stage: Write + Send {
    /// Ends the input; an error if the encoded data is incomplete.
    fn end(&mut self) -> io::Result<()>;
}

pub(super) type NextStage = Box<dyn Stage>;

/// Decompresses gzip. A file may have several members, one after another (RFC 1952 §2.2). Bytes after the
/// last one, zeros or anything else, are ignored, as by gzip(1).
pub(super) enum Gunzip {
    Member(Box<GzDecoder<NextStage>>),
    /// After a member, with the number of bytes matched of the beginning of another one.
    Between(NextStage, usize),
    Over(NextStage),
    /// Invalid data; the next stage is gone.
    Broken,
}

/// The beginning of a member (RFC 1952 §2.3.1): the magic bytes of gzip, and deflate, the only method there
/// is.
const BEGIN: [u8; 3] = [0x1f, 0x8b, 8];

impl Gunzip {
    pub(super) fn new(next: NextStage) -> Self {
        Self::Member(Box::new(GzDecoder::new(next)))
    }

    /// Ends a member that is complete.
    fn end_member(&mut self) -> io::Result<()> {
        *self = match std::mem::replace(self, Self::Broken) {
            Self::Member(decoder) => Self::Between(decoder.finish()?, 0),
            other => other,
        };
        Ok(())
    }

    /// Takes a byte after a member.
    fn begin_member(&mut self, byte: u8) -> io::Result<()> {
        *self = match std::mem::replace(self, Self::Broken) {
            Self::Between(next, at) if byte != BEGIN[at] => Self::Over(next),
            Self::Between(next, at) if at + 1 < BEGIN.len() => Self::Between(next, at + 1),
            Self::Between(next, _) => {
                let mut decoder = GzDecoder::new(next);
                decoder.write_all(&BEGIN)?;
                Self::Member(Box::new(decoder))
            }
            other => other,
        };
        Ok(())
    }
}

impl Write for Gunzip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(first) = bytes.first() else { return Ok(0) };
        match self {
            Self::Member(decoder) => {
                let consumed = decoder.write(bytes)?;
                // The decoder signals its end by taking no bytes.
                if consumed > 0 {
                    return Ok(consumed);
                }
                self.end_member()?;
                self.write(bytes)
            }
            Self::Between(..) => {
                self.begin_member(*first)?;
                Ok(1)
            }
            Self::Over(_) => Ok(bytes.len()),
            Self::Broken => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Member(decoder) => decoder.flush(),
            Self::Between(next, _) | Self::Over(next) => next.flush(),
            Self::Broken => Ok(()),
        }
    }
}

impl Stage for Gunzip {
    fn end(&mut self) -> io::Result<()> {
        match self {
            Self::Member(decoder) => {
                decoder.try_finish()?;
                decoder.get_mut().end()
            }
            Self::Between(next, _) | Self::Over(next) => next.end(),
            Self::Broken => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
