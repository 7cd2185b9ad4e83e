//! Joins the many small segments of a finished survey into few large files.
//!
//! A joined table is built whole beside the tables, in `DIR/.compact/NAME`, one row group at a time. Then two
//! renames move the old folder of the table out of the way and the new one into its place. A reader that
//! comes between the renames finds no folder, and a reader that listed the old files finds some of them gone.
//! Both are errors, and neither gives a wrong number. Two copies of a row never have names that a reader
//! looks for at the same time. [`recover`] repairs a crash between the renames: it prefers the old folder as
//! long as the new one is not in place.

use std::fs;
use std::path::{Path, PathBuf};

use super::layout::{SEGMENTED, folder, joined_name, names, segment_number, segmented};
use super::read::{files, row_groups_of, rows_of};
use super::table_file::TableFile;
use crate::records::{
    ExchangeRow, LevelRow, LinkRow, PageLinkRow, RobotsRow, Row, SiteRow, TablesError, durable,
};

/// Joins the segments of the tables that exist. A table with other files in its folder is left as it is.
pub(in crate::records) fn compact(dir: &Path, max_rows: usize) -> Result<(), TablesError> {
    compact_table::<ExchangeRow>(dir, max_rows)?;
    compact_table::<LinkRow>(dir, max_rows)?;
    compact_table::<PageLinkRow>(dir, max_rows)?;
    compact_table::<RobotsRow>(dir, max_rows)?;
    compact_table::<LevelRow>(dir, max_rows)?;
    compact_table::<SiteRow>(dir, max_rows)?;
    remove_folder(&work_folder(dir))
}

/// Repairs what a crash left: each table is the old one or the new one, never missing.
pub(in crate::records) fn recover(dir: &Path) -> Result<(), TablesError> {
    for table in SEGMENTED {
        let (current, old) = (folder(dir, table), replaced(dir, table));
        if old.is_dir() && !current.is_dir() {
            fs::rename(&old, &current).map_err(TablesError::with_context("restore table", &current))?;
        }
    }
    remove_folder(&work_folder(dir))
}

fn compact_table<R: Row>(dir: &Path, max_rows: usize) -> Result<(), TablesError> {
    if !segmented(dir).any(|table| table == R::TABLE) {
        return Ok(());
    }
    let current = folder(dir, R::TABLE);
    let groups = groups(dir, R::TABLE, max_rows as u64)?;
    let has_foreign = names(&current)?.iter().any(|name| segment_number(name).is_none());
    if has_foreign || groups.iter().all(|group| group.len() < 2) {
        return Ok(());
    }
    let new = work_folder(dir).join(R::TABLE);
    remove_folder(&new)?;
    fs::create_dir_all(&new).map_err(TablesError::with_context("create folder", &new))?;
    for group in &groups {
        if let [only] = group.as_slice() {
            // A file that stays alone keeps its bytes and therefore its name.
            let same = new.join(only.file_name().unwrap_or_default());
            fs::hard_link(only, &same).map_err(TablesError::with_context("link segment", only))?;
            #[cfg(test)]
            durable::steps::note("name", &same);
            continue;
        }
        join::<R>(group, new.join(name_of(group)))?;
    }
    // The old folder holds the only other name of a file that stayed alone, and it is about to go.
    durable::sync_folder(&new).map_err(TablesError::with_context("write folder", &new))?;
    exchange_folders(&current, &new, &replaced(dir, R::TABLE))
}

/// Groups of consecutive files that together stay within the limit.
fn groups(dir: &Path, table: &str, max_rows: u64) -> Result<Vec<Vec<PathBuf>>, TablesError> {
    let mut groups: Vec<Vec<PathBuf>> = Vec::new();
    let mut rows_in_last = u64::MAX;
    for path in files(dir, table)? {
        let rows = rows_of(&path)?;
        match groups.last_mut() {
            Some(last) if rows_in_last.saturating_add(rows) <= max_rows => {
                last.push(path);
                rows_in_last += rows;
            }
            _ => {
                groups.push(vec![path]);
                rows_in_last = rows;
            }
        }
    }
    Ok(groups)
}

fn name_of(group: &[PathBuf]) -> String {
    let number = |path: Option<&PathBuf>| {
        path.and_then(|path| segment_number(path.file_name()?.to_str()?)).unwrap_or_default()
    };
    joined_name(number(group.first()), number(group.last()))
}

/// Writes the rows of several files into one. Memory is bounded by a segment and a row group, whatever the
/// size of the file.
fn join<R: Row>(group: &[PathBuf], path: PathBuf) -> Result<(), TablesError> {
    let columns: Vec<&str> = R::COLUMNS.iter().map(|column| column.name).collect();
    let none = || R::frame(&[]).map_err(TablesError::with_context("join table", Path::new(R::TABLE)));
    let (mut joined, mut rows) = (TableFile::begin::<R>(path)?, none()?);
    for segment in group {
        for group in row_groups_of::<R>(segment)? {
            let more = group.read(&columns)?;
            if rows.height() > 0 && rows.height() + more.height() > GROUP_ROWS {
                joined.write(std::mem::replace(&mut rows, none()?))?;
            }
            rows.vstack_mut_owned(more).map_err(TablesError::with_context("join segment", segment))?;
        }
    }
    joined.write(rows)?;
    joined.finish()
}

/// Rows in a row group of a joined file: a few megabytes of the widest table, and enough rows for repeated
/// values to be stored once for many of them.
const GROUP_ROWS: usize = 1 << 14;

fn exchange_folders(current: &Path, new: &Path, old: &Path) -> Result<(), TablesError> {
    fs::rename(current, old).map_err(TablesError::with_context("replace table", current))?;
    if let Err(error) = fs::rename(new, current) {
        fs::rename(old, current).map_err(TablesError::with_context("restore table", current))?;
        return Err(TablesError::new("replace table", current, error));
    }
    #[cfg(test)]
    durable::steps::note("name", current);
    let tables = current.parent().unwrap_or(current);
    durable::sync_folder(tables).map_err(TablesError::with_context("write folder", tables))?;
    remove_folder(old)
}

/// Where new folders are built and old ones wait to be removed. It lies outside `DIR/tables`, so no reader's
/// pattern matches a file in it.
fn work_folder(dir: &Path) -> PathBuf {
    dir.join(".compact")
}

fn replaced(dir: &Path, table: &str) -> PathBuf {
    work_folder(dir).join(format!("{table}.replaced"))
}

fn remove_folder(folder: &Path) -> Result<(), TablesError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(TablesError::new("remove folder", folder, error))
        }
        _ => Ok(()),
    }
}
