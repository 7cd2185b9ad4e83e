use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use super::error::CliError;
use super::output::JsonLines;

/// The level of detail of a survey's log.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // clap would show it in the help of the flag.
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    fn filter(self) -> LevelFilter {
        match self {
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// Appends all further log events to `DIR/log.jsonl`, one JSON object per line.
///
/// Libraries are logged from `warn` upwards only, because some of them log every packet.
///
/// # Errors
/// When the file cannot be opened.
pub(super) fn start(dir: &Path, level: LogLevel) -> Result<(), CliError> {
    let path = dir.join("log.jsonl");
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|error| CliError::Failed(format!("cannot open the log {}: {error}", path.display())))?;
    let others = level.filter().min(LevelFilter::WARN);
    let targets = Targets::new().with_default(others).with_target(env!("CARGO_PKG_NAME"), level.filter());
    let lines = fmt::layer().json().log_internal_errors(false).with_writer(Mutex::new(JsonLines(file)));
    // If a log was started earlier, it continues. The survey itself reports a full disk.
    let _ = tracing_subscriber::registry().with(lines.with_filter(targets)).try_init();
    Ok(())
}
