use std::io::{self, Write};

use serde::Serialize;

use super::error::CliError;

/// Prints a result on standard output.
///
/// # Errors
/// When standard output is closed or cannot be written.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CliError::of_output)
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
