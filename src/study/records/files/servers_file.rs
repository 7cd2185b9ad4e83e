use std::path::PathBuf;

use super::table_file::TableFile;
use crate::records::{Row, ServerRow, TablesError};

/// The table of servers while it is written anew, a row group at a time: memory is that of one of them, however many
/// servers there are.
///
/// Until [`ServersFile::finish`] the old table is there.
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
    /// The file cannot be written.
    pub fn write(&mut self, rows: &[ServerRow]) -> Result<(), TablesError> {
        self.file.write(ServerRow::frame(rows).map_err(TablesError::at("encode", &self.path))?)
    }

    /// Puts the table in place of the old one.
    ///
    /// # Errors
    /// The file cannot be written; the old one is then still there.
    pub fn finish(self) -> Result<(), TablesError> {
        self.file.finish()
    }
}
