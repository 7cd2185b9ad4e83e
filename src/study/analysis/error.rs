use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;

use crate::records::{ManifestError, TablesError};

/// Why a survey cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// There is no survey, or its manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A table is missing, damaged or cannot be read.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// There are tables, and no site tree in them.
    #[error("{} is an empty survey: its tables hold no site tree yet", .0.display())]
    Empty(PathBuf),
    /// A file has other contents than this version writes.
    #[error("cannot read table {}: {message}", .path.display())]
    Columns {
        /// The table's folder, or the file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl AnalysisError {
    /// A table has other columns than its dictionary says.
    pub(super) fn of_columns(dir: &Path, table: &str, error: &PolarsError) -> Self {
        Self::Columns { path: dir.join("tables").join(table), message: error.to_string() }
    }
}
