use std::process::ExitCode;

/// How the program ends, for whoever started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All that was asked for was done.
    Done = 0,
    /// Something failed; what was recorded is kept.
    Failed = 1,
    /// The command line or a file it names cannot be used; nothing was begun.
    Usage = 2,
    /// The survey ran, and a load promise was broken: look at the message and tell the site owner.
    PromiseBroken = 3,
    /// No advice, or only a provisional one: nothing fits what was asked for, or the survey is partial, must go deeper, or left
    /// pages out.
    NoAdvice = 4,
    /// Stopped by a signal; `ccsurvey resume` goes on. 128 + SIGINT, as shells count.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
