use std::io;

/// The reason why a start list cannot be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The list cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Its compression or encoding is not supported.
    #[error("{0}")]
    Unreadable(String),
    /// The chosen column does not exist, or none can be chosen without doubt.
    #[error("{0}")]
    Column(String),
    /// The rest of a zone file has no definite meaning.
    #[error("line {line}: {why}")]
    Zone {
        /// From 1.
        line: u64,
        /// The reason.
        why: String,
    },
}
