use std::fs;
use std::path::{Path, PathBuf};

use super::layout::{OPTIONAL, SEGMENTED, encode, folder, names, segment_name, segment_number, segmented};
use super::read::{files, rows_of};
use crate::records::{Row, SegmentRows, ServerRow, TablesError, durable, files::compact, files::whole_table};

/// The writing side of `DIR/tables`. There is one writer at a time; readers need no coordination.
///
/// The caller decides whether a segment counts: it records the number in its own store after
/// [`Tables::write`] and passes the last recorded number to [`Tables::discard_after`] on the next start.
///
/// ```
/// use ccsurvey_study::records::{SegmentRows, SiteRow, Tables, read_table};
///
/// let dir = tempfile::tempdir()?;
/// let tables = Tables::open(dir.path())?;
/// tables.discard_after(None)?;
/// let site = SiteRow { site: "example.ke".into(), ..SiteRow::default() };
/// tables.write(0, &SegmentRows { sites: vec![site.clone()], ..SegmentRows::default() })?;
///
/// let segments: Vec<Vec<SiteRow>> = read_table(dir.path())?.collect::<Result<_, _>>()?;
/// assert_eq!(segments, [vec![site]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tables {
    dir: PathBuf,
}

/// For each file of a table, the number of its last segment and the number of its rows.
pub type Segments = Vec<(u64, u64)>;

impl Tables {
    /// Creates missing folders and repairs what a crash in [`Tables::compact`] left.
    ///
    /// # Errors
    /// If the folders cannot be created.
    pub fn open(dir: &Path) -> Result<Self, TablesError> {
        compact::recover(dir)?;
        let tables = Self { dir: dir.to_owned() };
        let required = SEGMENTED.into_iter().filter(|table| !OPTIONAL.contains(table));
        tables.make_folders(required.chain([ServerRow::TABLE]))?;
        Ok(tables)
    }

    /// Creates the folders of the tables that let a survey be replayed: page links and robots.txt. From then
    /// on the survey has these tables, with or without rows.
    ///
    /// # Errors
    /// If the folders cannot be created.
    pub fn keep_pages(&self) -> Result<(), TablesError> {
        self.make_folders(OPTIONAL.into_iter())
    }

    fn make_folders(&self, tables: impl Iterator<Item = &'static str>) -> Result<(), TablesError> {
        for table in tables {
            let folder = folder(&self.dir, table);
            fs::create_dir_all(&folder).map_err(TablesError::with_context("create folder", &folder))?;
        }
        // A segment is not on the disk before its folder is.
        sync(&self.dir.join("tables"))?;
        sync(&self.dir)
    }

    /// Writes one segment of the segmented tables. If an error occurs before the renames, nothing of the
    /// segment is left. On return everything is on the disk. A segment of the same number is replaced.
    ///
    /// A table without rows gets no file, unless it has no file yet: readers need one to find the columns.
    ///
    /// # Errors
    /// If a file cannot be written; see [`TablesError::is_storage_full`].
    pub fn write(&self, number: u64, rows: &SegmentRows) -> Result<(), TablesError> {
        let mut staged = Vec::new();
        if let Err(error) = self.stage_all(number, rows, &mut staged) {
            for path in &staged {
                // If the removal fails, the next start discards the file.
                let _ = fs::remove_file(durable::hidden(path));
            }
            return Err(error);
        }
        for path in &staged {
            durable::publish(path).map_err(TablesError::with_context("write segment", path))?;
        }
        segmented(&self.dir).try_for_each(|table| sync(&folder(&self.dir, table)))
    }

    /// The files of each segmented table.
    ///
    /// # Errors
    /// If a folder or a file cannot be read, or is damaged. The error names it.
    pub fn segments(&self) -> Result<Vec<(&'static str, Segments)>, TablesError> {
        let table_segments = |table| {
            let mut segments = Vec::new();
            for path in files(&self.dir, table)? {
                let number = path.file_name().and_then(|name| name.to_str()).and_then(segment_number);
                if let Some(number) = number {
                    segments.push((number, rows_of(&path)?));
                }
            }
            Ok((table, segments))
        };
        // A missing table has no segments. Callers that expect rows in it will notice.
        let is_there = |table| segmented(&self.dir).any(|found| found == table);
        let segments_if_present =
            |table| if is_there(table) { table_segments(table) } else { Ok((table, Vec::new())) };
        SEGMENTED.into_iter().map(segments_if_present).collect()
    }

    /// Removes segments above the last number that counts (all of them for none) and files that were never
    /// finished. If there are none, it does not wait for the disk.
    ///
    /// # Errors
    /// If a folder cannot be read or a file cannot be removed.
    pub fn discard_after(&self, last: Option<u64>) -> Result<(), TablesError> {
        for table in segmented(&self.dir).chain([ServerRow::TABLE]) {
            let folder = folder(&self.dir, table);
            let mut is_changed = false;
            for name in names(&folder)? {
                let newer = segment_number(&name).is_some_and(|number| last.is_none_or(|last| number > last));
                if newer || durable::is_hidden(&name) {
                    let path = folder.join(name);
                    durable::remove_if_there(&path).map_err(TablesError::with_context("discard", &path))?;
                    is_changed = true;
                }
            }
            if is_changed {
                sync(&folder)?;
            }
        }
        Ok(())
    }

    /// Removes the tables that are computed from the others, when a survey continues.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn discard_computed(&self) -> Result<(), TablesError> {
        whole_table::discard_computed(&self.dir)
    }

    /// Joins consecutive small segments of every table of a finished survey into files of at most `max_rows`
    /// rows (or one segment, where that is larger).
    ///
    /// The numbers used afterwards are not above those used before.
    ///
    /// # Errors
    /// If a table cannot be read or written. It is then left as it was.
    pub fn compact(&self, max_rows: usize) -> Result<(), TablesError> {
        compact::compact(&self.dir, max_rows)
    }

    fn stage_all(
        &self,
        number: u64,
        rows: &SegmentRows,
        staged: &mut Vec<PathBuf>,
    ) -> Result<(), TablesError> {
        self.stage(number, &rows.exchanges, staged)?;
        self.stage(number, &rows.links, staged)?;
        self.stage(number, &rows.page_links, staged)?;
        self.stage(number, &rows.robots, staged)?;
        self.stage(number, &rows.levels, staged)?;
        self.stage(number, &rows.sites, staged)
    }

    fn stage<R: Row>(&self, number: u64, rows: &[R], staged: &mut Vec<PathBuf>) -> Result<(), TablesError> {
        let folder = folder(&self.dir, R::TABLE);
        if rows.is_empty() && OPTIONAL.contains(&R::TABLE) && !folder.is_dir() {
            return Ok(());
        }
        let path = folder.join(segment_name(number));
        if rows.is_empty() && has_other_segment(&folder, number)? {
            return durable::remove_if_there(&path).map_err(TablesError::with_context("discard", &path));
        }
        let bytes = encode_rows(rows, &path)?;
        durable::stage(&path, &bytes).map_err(TablesError::with_context("write segment", &path))?;
        staged.push(path);
        Ok(())
    }
}

fn encode_rows<R: Row>(rows: &[R], path: &Path) -> Result<Vec<u8>, TablesError> {
    let mut frame = R::frame(rows).map_err(TablesError::with_context("encode", path))?;
    encode(&mut frame, path)
}

fn has_other_segment(folder: &Path, number: u64) -> Result<bool, TablesError> {
    let is_other = |name: &String| segment_number(name).is_some_and(|there| there != number);
    Ok(names(folder)?.iter().any(is_other))
}

fn sync(folder: &Path) -> Result<(), TablesError> {
    durable::sync_folder(folder).map_err(TablesError::with_context("write folder", folder))
}
