use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::error::CliError;
use super::exit::Exit;

/// Prints a result on standard output.
///
/// # Errors
/// When standard output is closed or cannot be written.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|wrong| CliError::of_output(&wrong))
}

/// Prints a result as indented JSON on standard output.
///
/// # Errors
/// When standard output is closed or cannot be written.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|wrong| CliError::Failed(format!("cannot write the result as JSON: {wrong}")))?;
    print(&format!("{text}\n"))
}

/// Tells the user something on standard error. Nobody listening there is no reason to stop.
pub(super) fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "ccsurvey: {message}");
}

/// Writes a result into a file, or on standard output where there is none.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_or_print(file: Option<&Path>, bytes: &[u8]) -> Result<Exit, CliError> {
    match file {
        Some(file) => std::fs::write(file, bytes)
            .map_err(|wrong| CliError::Failed(format!("cannot write {}: {wrong}", file.display())))?,
        None => print_bytes(bytes)?,
    }
    Ok(Exit::Done)
}
