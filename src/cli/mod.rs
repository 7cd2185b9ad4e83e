//! The command line: turns arguments into settings, and results into messages and an exit code.
//!
//! [`main`] reads the arguments into a [`Command`](command::Command) and executes it. Each command has a file
//! in [`commands`]. The flags of a survey are in [`flags`], in the groups of its help. Flags override the
//! configuration file (`config`), which overrides the defaults of [`Settings`](crate::settings::Settings).
//! `check` then validates the result once, wherever a value came from.
//!
//! `survey`, `resume` and `demo` share `run`: it opens the log, handles signals (`stop`) and shows the
//! survey's progress (`progress`). At the end it computes curves and hosts (`computed`) and prints the summary.
//!
//! **Two channels.** Standard output carries results only, so that it can be piped: tables, CSV, JSON.
//! Everything else is a line on standard error that begins with `ccsurvey:`; an error begins with `ccsurvey:
//! error:`. A closed pipe is no error. Every end of the program is one of [`Exit`].
//!
//! This room decides nothing about the survey itself: it has no rule of load, scope or walk.

mod bus;
mod columns;
/// The commands of the program.
pub mod command;
pub mod commands;
mod computed;
/// Why a command ends early.
pub mod error;
/// How the program ends.
pub mod exit;
mod input;
/// The log of a survey.
pub mod log;
mod output;
mod progress;
mod replacement;
/// From the command line to an exit code.
pub mod run;
mod stop;
mod team;

pub use input::flags;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use command::Cli;
use error::{CliError, from_arguments_error};
use exit::Exit;

/// Runs the program with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = input::arguments::with_negative_values(std::env::args_os());
    let result = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command.execute(),
        Err(error) => print_help(&error),
    };
    let exit = result.unwrap_or_else(|error| {
        if !matches!(error, CliError::ClosedPipe) {
            output::print_message(&format!("error: {error}"));
        }
        error.exit()
    });
    exit.into()
}

/// Prints requested help or the version. Anything else is a usage error.
fn print_help(error: &clap::Error) -> Result<Exit, CliError> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print().map_err(|error| CliError::from_output_error(&error))?;
            Ok(Exit::Done)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // This goes to standard error; a failure to write it changes nothing.
            let _ = error.print();
            Ok(Exit::Usage)
        }
        _ => Err(from_arguments_error(error)),
    }
}
