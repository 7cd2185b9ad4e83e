//! The only place that writes text to a terminal. Tables, errors and files contain text from untrusted
//! sources, so nothing passes that a terminal would act on. `clippy.toml` keeps the rest of the program from
//! bypassing this file.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::Serialize;

use super::error::CliError;
use super::exit::Exit;
use crate::records::{visible, visible_json, visible_lines};

/// Prints text on standard output.
///
/// # Errors
/// When standard output is closed or cannot be written.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    print_bytes(visible_lines(text).as_bytes())
}

/// Prints a result as indented JSON on standard output.
///
/// # Errors
/// When standard output is closed or cannot be written.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    print_json_text(&serde_json::to_string_pretty(value).map_err(json_error)?)
}

/// Prints a result as one line of JSON.
///
/// # Errors
/// When standard output is closed or cannot be written.
pub(super) fn print_json_line(value: &impl Serialize) -> Result<(), CliError> {
    print_json_text(&serde_json::to_string(value).map_err(json_error)?)
}

fn print_json_text(json: &str) -> Result<(), CliError> {
    print_bytes(format!("{}\n", visible_json(json)).as_bytes())
}

fn json_error(error: serde_json::Error) -> CliError {
    CliError::Failed(format!("cannot write the result as JSON: {error}"))
}

/// Prints a one-line message on standard error. A failure to write it is no reason to stop.
#[allow(clippy::disallowed_methods)]
pub(super) fn print_message(message: &str) {
    let _ = writeln!(io::stderr().lock(), "ccsurvey: {}", visible(message));
}

/// Replaces the text of a progress bar.
#[allow(clippy::disallowed_methods)]
pub(super) fn show(bar: &ProgressBar, words: &str) {
    bar.set_message(visible_lines(words).into_owned());
}

/// A target to draw on, if standard error is a terminal.
#[allow(clippy::disallowed_methods)]
pub(super) fn stderr_terminal() -> Option<ProgressDrawTarget> {
    io::stderr().is_terminal().then(ProgressDrawTarget::stderr)
}

/// A target to draw on, if standard output is a terminal.
#[allow(clippy::disallowed_methods)]
pub(super) fn stdout_terminal() -> Option<ProgressDrawTarget> {
    io::stdout().is_terminal().then(ProgressDrawTarget::stdout)
}

/// Writes a result to a file, or to standard output if no file is given.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_or_print(file: Option<&Path>, bytes: &[u8]) -> Result<Exit, CliError> {
    match file {
        Some(file) => std::fs::write(file, bytes)
            .map_err(|error| CliError::Failed(format!("cannot write {}: {error}", file.display())))?,
        None => print_data(bytes)?,
    }
    Ok(Exit::Done)
}

/// Prints data on standard output: byte for byte to a file or another program, made visible for a terminal.
///
/// # Errors
/// When standard output is closed or cannot be written.
pub(super) fn print_data(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = ResultWriter::open();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| CliError::from_output_error(&error))
}

#[allow(clippy::disallowed_methods)]
fn print_bytes(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| CliError::from_output_error(&error))
}

/// Standard output for data: byte for byte, unless it is a terminal.
pub(super) struct ResultWriter {
    out: io::StdoutLock<'static>,
    is_terminal: bool,
}

impl ResultWriter {
    #[allow(clippy::disallowed_methods)]
    pub(super) fn open() -> Self {
        let out = io::stdout();
        Self { is_terminal: out.is_terminal(), out: out.lock() }
    }
}

impl Write for ResultWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        self.out.write_all(visible_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A file of JSON lines that people read on terminals: hidden characters are escaped. Each line comes in one
/// write.
pub(super) struct JsonLines<W: Write>(pub(super) W);

impl<W: Write> Write for JsonLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(visible_json(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_says_the_same_without_what_a_terminal_obeys() {
        let mut file = JsonLines(Vec::new());
        file.write_all("{\"server\":\"a\u{9b}31m\u{202e}\"}\n".as_bytes()).unwrap();
        assert_eq!(String::from_utf8(file.0).unwrap(), "{\"server\":\"a\\u009b31m\\u202e\"}\n");
    }
}
