use std::process::ExitCode;

/// The exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything requested was done.
    Done = 0,
    /// Something failed; what was recorded is kept.
    Failed = 1,
    /// The command line, or a file that it names, cannot be used. Nothing was started.
    Usage = 2,
    /// The survey ran, but a load promise was broken: read the message and inform the site owner.
    PromiseBroken = 3,
    /// No advice, or only provisional advice: nothing meets the criterion, or the survey is partial, must go
    /// deeper, or left pages out.
    NoAdvice = 4,
    /// Stopped by a signal; `ccsurvey resume` continues. 128 + SIGINT, as shells count.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
