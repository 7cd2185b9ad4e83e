use std::io;
use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;

/// Why tables cannot be written or read: the operation, the file and the cause.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}: {source}", .path.display())]
pub struct TablesError {
    /// A verb and the kind of its object: `write segment`, `read table`.
    pub operation: &'static str,
    /// A file or a folder.
    pub path: PathBuf,
    /// The error of the system or of the Parquet reader.
    pub source: io::Error,
}

impl TablesError {
    pub(super) fn new(operation: &'static str, path: &Path, source: io::Error) -> Self {
        Self { operation, path: path.to_owned(), source }
    }

    /// The constructor in the form that `map_err` takes.
    pub(super) fn with_context<E: IntoIoError>(
        operation: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::new(operation, path, source.into_io_error())
    }

    /// Whether more space on the disk, or in the user's quota, would fix the error. A survey can then pause
    /// and be resumed.
    #[must_use]
    pub fn is_storage_full(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}

/// Converts an error of a library into an I/O error, for the file that it is about.
pub(super) trait IntoIoError {
    fn into_io_error(self) -> io::Error;
}

impl IntoIoError for io::Error {
    fn into_io_error(self) -> io::Error {
        self
    }
}

impl IntoIoError for PolarsError {
    fn into_io_error(self) -> io::Error {
        match self {
            Self::IO { error, .. } => match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            },
            other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn error(source: io::Error) -> TablesError {
        TablesError::new("write segment", Path::new("d/tables/sites/000001.parquet"), source)
    }

    #[test]
    fn a_full_disk_and_an_exhausted_quota_are_told_from_other_errors() {
        assert!(error(io::ErrorKind::StorageFull.into()).is_storage_full());
        assert!(error(io::ErrorKind::QuotaExceeded.into()).is_storage_full());
        assert!(!error(io::ErrorKind::PermissionDenied.into()).is_storage_full());
    }

    #[test]
    fn the_message_names_operation_and_file() {
        let text = error(io::ErrorKind::StorageFull.into()).to_string();
        assert_eq!(text, "cannot write segment d/tables/sites/000001.parquet: no storage space");
    }

    #[test]
    fn a_full_disk_is_still_one_after_passing_through_polars() {
        let full = PolarsError::IO { error: Arc::new(io::Error::from_raw_os_error(28)), msg: None };
        assert!(error(full.into_io_error()).is_storage_full());
    }
}
