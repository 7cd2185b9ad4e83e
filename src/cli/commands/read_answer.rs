use clap::Args;

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_or_print;
use crate::survey;

/// Read a response that crashed a survey; the survey starts this process itself
#[derive(Args, Debug)]
pub struct ReadAnswer {}

impl ReadAnswer {
    /// # Errors
    /// When standard input is not a response, or the result cannot be written.
    pub fn execute(self) -> Result<Exit, CliError> {
        let read = survey::read_answer(std::io::stdin().lock())
            .map_err(|error| CliError::Failed(format!("cannot read a response: {error}")))?;
        write_or_print(None, &read)
    }
}
