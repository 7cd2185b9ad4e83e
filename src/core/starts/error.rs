use std::io;

/// Why a start list is not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The list cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is packed or encoded in a way that is not read.
    #[error("{0}")]
    Unreadable(String),
    /// The column that was chosen is not there.
    #[error("{0}")]
    Column(String),
    /// What follows in a zone file cannot be told.
    #[error("line {line}: {why}")]
    Zone {
        /// From 1.
        line: u64,
        /// What is wrong there.
        why: String,
    },
}
