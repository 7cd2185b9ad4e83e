use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::layout::folder;
use super::table_file::TableFile;
use crate::records::{ChangeRow, CurveRow, HostRow, Row, TablesError, durable};

/// The tables that are written as a whole, in one file, `DIR/tables/NAME/NAME.parquet`. Those that are
/// computed when a survey is finished are listed in [`COMPUTED`].
///
/// One is written one row group at a time, so memory is bounded by a row group, however many rows there are.
/// The old table stays in place until [`WholeTable::finish`].
pub struct WholeTable<R> {
    path: PathBuf,
    file: TableFile,
    row_type: PhantomData<fn(R)>,
}

/// The tables that are computed from the others. They are discarded when a survey continues, because they
/// cover fewer rows than there will be.
pub const COMPUTED: [&str; 3] = [CurveRow::TABLE, HostRow::TABLE, ChangeRow::TABLE];

impl<R: Row> WholeTable<R> {
    /// Begins to write the table of the survey in `dir`.
    ///
    /// # Errors
    /// If the folder or the file cannot be created.
    pub fn begin(dir: &Path) -> Result<Self, TablesError> {
        let folder = folder(dir, R::TABLE);
        fs::create_dir_all(&folder).map_err(TablesError::with_context("create folder", &folder))?;
        let path = path(dir, R::TABLE);
        Ok(Self { file: TableFile::begin::<R>(path.clone())?, path, row_type: PhantomData })
    }

    /// Writes the next rows as a row group.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, rows: &[R]) -> Result<(), TablesError> {
        self.file.write(R::frame(rows).map_err(TablesError::with_context("encode", &self.path))?)
    }

    /// Replaces the old table by the new one.
    ///
    /// # Errors
    /// If the file cannot be written. The old one is then still there.
    pub fn finish(self) -> Result<(), TablesError> {
        self.file.finish()
    }
}

/// Writes a table in one go.
///
/// # Errors
/// If the file cannot be written. The old one is then still there.
pub fn write_table<R: Row>(dir: &Path, rows: &[R]) -> Result<(), TablesError> {
    let mut table = WholeTable::begin(dir)?;
    table.write(rows)?;
    table.finish()
}

/// Removes the computed tables.
pub(in crate::records) fn discard_computed(dir: &Path) -> Result<(), TablesError> {
    COMPUTED.iter().try_for_each(|table| {
        let path = path(dir, table);
        durable::remove_if_there(&path).map_err(TablesError::with_context("discard", &path))
    })
}

fn path(dir: &Path, table: &str) -> PathBuf {
    folder(dir, table).join(format!("{table}.parquet"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{ServerRow, read_table};

    fn rows(dir: &Path) -> Vec<HostRow> {
        read_table(dir).unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat()
    }

    #[test]
    fn a_table_comes_back_as_it_was_written_and_a_computed_one_goes_when_the_survey_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let row = |host: &str| HostRow { host: host.into(), hsts: Some(true), ..HostRow::default() };
        for groups in [vec![vec![row("a.ke"), row("b.ke")], vec![row("c.ke")]], vec![vec![row("d.ke")]]] {
            let mut table = WholeTable::begin(dir.path()).unwrap();
            groups.iter().for_each(|group| table.write(group).unwrap());
            table.finish().unwrap();
            assert_eq!(rows(dir.path()), groups.concat());
        }
        let mut unfinished = WholeTable::begin(dir.path()).unwrap();
        unfinished.write(&[row("e.ke")]).unwrap();
        drop(unfinished);
        assert_eq!(rows(dir.path()), [row("d.ke")], "the old one stays until the new one is whole");
        let mut servers = WholeTable::begin(dir.path()).unwrap();
        servers.write(&[ServerRow::default()]).unwrap();
        servers.finish().unwrap();
        for _ in 0..2 {
            discard_computed(dir.path()).unwrap();
            assert!(!path(dir.path(), HostRow::TABLE).exists());
        }
        assert!(path(dir.path(), ServerRow::TABLE).exists());
    }
}
