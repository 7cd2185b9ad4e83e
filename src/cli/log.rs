use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use super::error::CliError;

/// How much is written to a survey's log.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Appends what happens from now on to `DIR/log.jsonl`, a JSON object a line.
///
/// Libraries are heard from `warn` upwards only: some of them tell of every packet.
///
/// # Errors
/// When the file cannot be opened.
pub(super) fn start(dir: &Path, level: LogLevel) -> Result<(), CliError> {
    let path = dir.join("log.jsonl");
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|wrong| CliError::Failed(format!("cannot open the log {}: {wrong}", path.display())))?;
    let others = if level == LogLevel::Error { "error" } else { "warn" };
    let filter = EnvFilter::new(format!("{others},{}={}", env!("CARGO_PKG_NAME"), level.as_str()));
    // A log that is already being written goes on; a full disk is told by the survey itself.
    let _ = tracing_subscriber::fmt()
        .json()
        .with_env_filter(filter)
        .log_internal_errors(false)
        .with_writer(Mutex::new(file))
        .try_init();
    Ok(())
}
