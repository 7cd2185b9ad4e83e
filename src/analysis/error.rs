use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;

use crate::records::{ManifestError, TablesError};

/// Why a survey cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// There are tables, and no site tree in them.
    #[error("{} is an empty survey: its tables hold no site tree yet", .0.display())]
    Empty(PathBuf),
    #[error("cannot read table {}: {message}", .path.display())]
    Columns { path: PathBuf, message: String },
}

impl AnalysisError {
    /// A table has other columns than its dictionary says.
    pub(super) fn of_columns(dir: &Path, table: &str, wrong: &PolarsError) -> Self {
        Self::Columns { path: dir.join("tables").join(table), message: wrong.to_string() }
    }
}
