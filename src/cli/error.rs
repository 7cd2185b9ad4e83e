use std::io;

use super::exit::Exit;
use crate::analysis::AnalysisError;
use crate::rehearsal::{RecordedWorldError, RehearsalError, ScenarioError};
use crate::survey::{SettingsFileError, SurveyError};

/// Why a command ends early, as the message that the user reads.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The user can fix it by changing the command.
    #[error("{0}")]
    Usage(String),
    /// Something failed that is not the user's fault.
    #[error("{0}")]
    Failed(String),
    /// The reader of our standard output closed it.
    #[error("standard output was closed")]
    ClosedPipe,
}

impl CliError {
    /// The exit code of the program.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Failed(_) => Exit::Failed,
            Self::ClosedPipe => Exit::Done,
        }
    }

    /// An error of writing to standard output.
    pub(super) fn from_output_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Failed(format!("cannot write to standard output: {error}")),
        }
    }
}

impl From<SurveyError> for CliError {
    fn from(error: SurveyError) -> Self {
        let message = one_line(&error.to_string());
        if error.is_usage() { Self::Usage(message) } else { Self::Failed(message) }
    }
}

impl From<AnalysisError> for CliError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Manifest(error) => SurveyError::from(error).into(),
            other => Self::Failed(one_line(&other.to_string())),
        }
    }
}

impl From<SettingsFileError> for CliError {
    fn from(error: SettingsFileError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<RecordedWorldError> for CliError {
    fn from(error: RecordedWorldError) -> Self {
        match error {
            RecordedWorldError::Settings(error) => error.into(),
            other => Self::Usage(one_line(&other.to_string())),
        }
    }
}

impl From<ScenarioError> for CliError {
    fn from(error: ScenarioError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<RehearsalError> for CliError {
    fn from(error: RehearsalError) -> Self {
        match error {
            RehearsalError::Survey(error) => error.into(),
            error @ RehearsalError::NoThread(_) => Self::Failed(error.to_string()),
        }
    }
}

/// A message without line breaks, so that it stays whole in logs and for `grep`.
pub(super) fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Puts an error on the command line into one line, where `clap` prints several.
pub(super) fn from_arguments_error(error: &clap::Error) -> CliError {
    let printed = error.to_string();
    let summary: Vec<&str> = printed
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .filter(|line| !line.is_empty())
        .collect();
    let summary = summary.join(" ").replace(" tip: ", "; ");
    let summary = summary.strip_prefix("error: ").unwrap_or(&summary);
    CliError::Usage(format!("{summary} (`--help` shows what is allowed)"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::command::Cli;
    use super::*;

    fn refusal(arguments: &[&str]) -> String {
        let error = Cli::try_parse_from([&["ccsurvey"], arguments].concat()).err().unwrap();
        from_arguments_error(&error).to_string()
    }

    #[test]
    fn mistakes_on_the_command_line_are_told_in_one_line() {
        assert_eq!(
            refusal(&["survey", "d", "--start", "s", "--depht", "3"]),
            "unexpected argument '--depht' found; a similar argument exists: '--depth' (`--help` shows what is allowed)"
        );
        assert_eq!(
            refusal(&["survey", "d"]),
            "the following required arguments were not provided: --start <FILE> (`--help` shows what is allowed)"
        );
        assert_eq!(
            refusal(&["survey", "d", "--start", "s", "--depth", "deep"]),
            "invalid value 'deep' for '--depth <LEVELS|auto>': expected 0 to 1000 levels, or auto (`--help` shows what is allowed)"
        );
        assert_eq!(
            refusal(&["survey", "d", "--start", "s", "--min-delay", "soon"]),
            "invalid value 'soon' for '--min-delay <TIME>': 'soon' is not a duration (expected for example '2s', \
             '500ms' or '1h 30m') (`--help` shows what is allowed)"
        );
        assert_eq!(
            refusal(&["survey", "d", "--start", "s", "--suffixes", "some"]),
            "invalid value 'some' for '--suffixes <SECTION>' [possible values: icann, all] (`--help` shows what is allowed)"
        );
    }

    #[test]
    fn a_message_of_several_lines_becomes_one() {
        assert_eq!(one_line("bad\n  |\n1 | x\n\n"), "bad | 1 | x");
    }
}
