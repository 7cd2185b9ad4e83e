use std::path::PathBuf;

use super::table_file::TableFile;
use crate::records::{Row, ServerRow, TablesError};

/// The table of servers while it is rewritten, one row group at a time. Memory is bounded by a row group,
/// however many servers there are.
///
/// The old table stays in place until [`ServersFile::finish`].
pub struct ServersFile {
    path: PathBuf,
    file: TableFile,
}

impl ServersFile {
    pub(in crate::records) fn begin(path: PathBuf) -> Result<Self, TablesError> {
        Ok(Self { file: TableFile::begin::<ServerRow>(path.clone())?, path })
    }

    /// Writes the next rows as a row group.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, rows: &[ServerRow]) -> Result<(), TablesError> {
        self.file.write(ServerRow::frame(rows).map_err(TablesError::with_context("encode", &self.path))?)
    }

    /// Replaces the old table by the new one.
    ///
    /// # Errors
    /// If the file cannot be written. The old one is then still there.
    pub fn finish(self) -> Result<(), TablesError> {
        self.file.finish()
    }
}
