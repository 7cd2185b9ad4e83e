use std::io::{self, Write};

use flate2::write::GzDecoder;

use super::stage::{NextStage, Stage};

/// Undoes gzip, of which a file may have several members one after the other (RFC 1952 §2.2). What follows the last one,
/// zeros or anything else, is ignored, as by gzip(1).
pub(super) enum Gunzip {
    Member(Box<GzDecoder<NextStage>>),
    /// Behind a member: how much of the beginning of another one has come.
    Between(NextStage, usize),
    /// Behind the last member.
    Over(NextStage),
    /// Broken, and what it passed its output on to is gone.
    Broken,
}

/// What a member begins with (RFC 1952 §2.3.1): the mark of gzip, and deflate, which is the only method there is.
const BEGIN: [u8; 3] = [0x1f, 0x8b, 8];

impl Gunzip {
    pub(super) fn new(next: NextStage) -> Self {
        Self::Member(Box::new(GzDecoder::new(next)))
    }

    /// Ends a member that has come whole.
    fn end_member(&mut self) -> io::Result<()> {
        *self = match std::mem::replace(self, Self::Broken) {
            Self::Member(decoder) => Self::Between(decoder.finish()?, 0),
            other => other,
        };
        Ok(())
    }

    /// Takes a byte behind a member.
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
                let taken = decoder.write(bytes)?;
                // It tells its end by taking nothing.
                if taken > 0 {
                    return Ok(taken);
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
