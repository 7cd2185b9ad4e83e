use std::io;
use std::path::{Path, PathBuf};

/// Why the state store cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    #[error("{path}: another process is at work on this survey")]
    InUse { path: PathBuf },
    #[error("{path}: cannot {operation} the survey's state: {source}")]
    Store { operation: &'static str, path: PathBuf, source: Box<redb::Error> },
    #[error("{path}: the survey's state is damaged: {what}")]
    Damaged { path: PathBuf, what: String },
}

impl FrontierError {
    /// Whether the disk is full.
    #[must_use]
    pub fn is_storage_full(&self) -> bool {
        matches!(self, Self::Store { source, .. }
            if matches!(source.as_ref(), redb::Error::Io(wrong) if is_full(wrong)))
    }

    pub(super) fn store(operation: &'static str, path: &Path, source: impl Into<redb::Error>) -> Self {
        let source = source.into();
        if matches!(source, redb::Error::DatabaseAlreadyOpen) {
            return Self::InUse { path: path.to_owned() };
        }
        Self::Store { operation, path: path.to_owned(), source: Box::new(source) }
    }
}

fn is_full(wrong: &io::Error) -> bool {
    matches!(wrong.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
