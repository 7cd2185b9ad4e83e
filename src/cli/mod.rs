//! The command line: what the user types becomes settings, what comes of it becomes words and an exit
//! code.
//!
//! [`main`] reads the arguments into a [`Command`](command::Command) and executes it. There is a file
//! for each command in [`commands`]; the flags of a survey are in [`flags`], in the groups of its help.
//! Flags are laid over the configuration file (`config`) and that over the defaults of
//! [`Settings`](crate::settings::Settings); `check` then looks at the whole once, wherever a value came
//! from.
//!
//! `survey`, `resume` and `demo` meet in `run`: the log is opened, signals are listened to (`stop`),
//! the display shows the survey's status (`progress`), and in the end the curves are drawn (`curves`) and the summary
//! is printed.
//!
//! **Two channels.** Standard output carries results only, so that it can be piped: tables, CSV, JSON.
//! All else is a line on standard error that begins with `ccsurvey:`; an error begins with `ccsurvey:
//! error:`. A closed pipe is no error. Every end of the program is one of [`Exit`].
//!
//! This room decides nothing about the survey itself: it holds no rule of load, scope or walk.

mod bus;
mod columns;
/// The commands of the program.
pub mod command;
pub mod commands;
mod curves;
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
use error::{CliError, of_arguments};
use exit::Exit;

/// Runs the program with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = input::arguments::with_negative_values(std::env::args_os());
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command.execute(),
        Err(error) => print_help(&error),
    };
    let exit = done.unwrap_or_else(|error| {
        if !matches!(error, CliError::ClosedPipe) {
            output::print_message(&format!("error: {error}"));
        }
        error.exit()
    });
    exit.into()
}

/// Help and version are asked for, all else is a mistake.
fn print_help(error: &clap::Error) -> Result<Exit, CliError> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print().map_err(|error| CliError::of_output(&error))?;
            Ok(Exit::Done)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // To standard error; whether anybody reads it changes nothing.
            let _ = error.print();
            Ok(Exit::Usage)
        }
        _ => Err(of_arguments(error)),
    }
}
