use clap::Args;

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_or_print;
use crate::survey;

/// Read an answer at which a survey died, in the place of the survey, which begins this process
#[derive(Args, Debug)]
pub struct ReadAnswer {}

impl ReadAnswer {
    /// # Errors
    /// When what comes in by standard input is no answer, or nobody takes what was read.
    pub fn execute(self) -> Result<Exit, CliError> {
        let read = survey::read_answer(std::io::stdin().lock())
            .map_err(|error| CliError::Failed(format!("cannot read an answer: {error}")))?;
        write_or_print(None, &read)
    }
}
