use std::io;
use std::path::{Path, PathBuf};

/// Why the state store cannot do its work.
#[allow(missing_docs, reason = "each message says what is wrong, and the fields are what it names")]
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    #[error("{path}: another process is working on this survey")]
    InUse { path: PathBuf },
    #[error("{path}: cannot {operation} the survey's state: {source}")]
    Store { operation: &'static str, path: PathBuf, source: Box<redb::Error> },
    #[error("{path}: the survey's state is damaged: {what}")]
    Damaged { path: PathBuf, what: String },
    #[error(
        "{path}: the survey's state is empty, for example after a copy to a full disk or a failed restore: put back a \
         copy of it; tables and journals are unchanged"
    )]
    Empty { path: PathBuf },
    #[error(
        "{path}: the survey's state was written by a newer ccsurvey (format {format}, this one reads up to \
         {known}): use the newer version"
    )]
    Newer { path: PathBuf, format: u64, known: u64 },
}

impl FrontierError {
    /// Whether the disk is full.
    #[must_use]
    pub fn is_storage_full(&self) -> bool {
        matches!(self, Self::Store { source, .. }
            if matches!(source.as_ref(), redb::Error::Io(error) if is_full(error)))
    }

    pub(super) fn store(operation: &'static str, path: &Path, source: impl Into<redb::Error>) -> Self {
        let path = path.to_owned();
        match source.into() {
            redb::Error::DatabaseAlreadyOpen => Self::InUse { path },
            redb::Error::Corrupted(what) => Self::Damaged { path, what },
            source => Self::Store { operation, path, source: Box::new(source) },
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_an_exhausted_quota_are_told_from_other_errors() {
        let error = |io_error| FrontierError::store("write", Path::new("d/state.redb"), io_error);
        for (kind, is_full) in [
            (io::ErrorKind::StorageFull, true),
            (io::ErrorKind::QuotaExceeded, true),
            (io::ErrorKind::PermissionDenied, false),
        ] {
            assert_eq!(error(redb::Error::Io(kind.into())).is_storage_full(), is_full, "{kind}");
        }
        assert!(!error(redb::Error::PreviousIo).is_storage_full());
        assert!(!error(redb::Error::Corrupted("a page".to_owned())).is_storage_full());
    }
}
