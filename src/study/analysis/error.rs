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
    /// The tables hold no site tree.
    #[error("{} is an empty survey: its tables hold no site tree yet", .0.display())]
    Empty(PathBuf),
    /// A file does not have the contents that this version writes.
    #[error("cannot read table {}: {message}", .path.display())]
    Columns {
        /// The table's folder, or the file.
        path: PathBuf,
        /// The error, as text.
        message: String,
    },
}

impl AnalysisError {
    /// The columns of a table differ from the data dictionary.
    pub(super) fn from_polars(dir: &Path, table: &str, error: &PolarsError) -> Self {
        Self::Columns { path: dir.join("tables").join(table), message: error.to_string() }
    }
}
