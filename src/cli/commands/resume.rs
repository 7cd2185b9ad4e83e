use std::path::PathBuf;

use clap::Args;

use crate::cli::check::check;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::run::{Showing, block_on, run};
use crate::survey::Survey;

/// Go on with a survey after a stop or a crash.
///
/// Nothing recorded is lost and nothing finished is fetched again. The settings are those in
/// DIR/survey.toml; servers get their pauses as if there had been no stop.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Resume {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    #[command(flatten)]
    showing: Showing,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey resume kenya
  ccsurvey resume kenya --json --log-level debug > summary.json";

impl Resume {
    /// # Errors
    /// When there is no survey in DIR, another process is at work on it, or the survey fails.
    pub fn execute(self) -> Result<Exit, CliError> {
        block_on(async {
            let survey = Survey::open(&self.dir)?;
            check(survey.settings())?;
            run(survey, &self.dir, self.showing).await
        })
    }
}
