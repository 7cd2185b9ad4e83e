use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use polars::prelude::{Column, DataFrame, PlSmallStr, PolarsError, PolarsResult};
use polars_io::SerReader;
use polars_io::parquet::metadata::{FileMetadata, FileMetadataRef};
use polars_io::prelude::{ParallelStrategy, ParquetReader};

use super::layout::{folder, names, segment_number, segmented};
use crate::records::error::IntoIoError;
use crate::records::units::count;
use crate::records::{Manifest, Row, ServerRow, SurveyState, TableCount, TablesError};

/// Reads the rows of a table, one row group at a time, in the order in which they were written.
///
/// # Errors
/// If the folder of the table cannot be read; later, if one of its files cannot be read.
pub fn read_table<R: Row>(
    dir: &Path,
) -> Result<impl Iterator<Item = Result<Vec<R>, TablesError>> + use<R>, TablesError> {
    Ok(all_files(dir, R::TABLE)?.into_iter().flat_map(|path| {
        let groups: Vec<_> = match footer(&path) {
            Ok(footer) => slices(&footer).into_iter().map(|group| Ok((footer.clone(), group))).collect(),
            Err(error) => vec![Err(error)],
        };
        groups.into_iter().map(move |group| {
            let (footer, group) = group?;
            let mut reader = open(&path)?.with_slice(Some(group));
            reader.set_metadata(footer);
            let frame = reader.finish().map_err(read_error(&path, None))?;
            R::rows(&frame).map_err(TablesError::with_context("read table", &path))
        })
    }))
}

fn footer(path: &Path) -> Result<FileMetadataRef, TablesError> {
    open(path)?.get_metadata().cloned().map_err(|error| {
        TablesError::new("read table", path, damaged(format!("its footer is damaged or cut off ({error})")))
    })
}

/// The start of each row group of a file and its number of rows. The table of servers is one file of any
/// size.
fn slices(footer: &FileMetadata) -> Vec<(usize, usize)> {
    let mut next = 0;
    let slice = |rows: usize| {
        next += rows;
        (next - rows, rows)
    };
    footer.row_groups.iter().map(|group| group.num_rows()).map(slice).collect()
}

/// Reads the wanted columns of a table, one segment at a time. Nothing else is decoded. A column that is
/// missing in a file of an older version is null.
///
/// # Errors
/// If the folder of the table cannot be read; later, if one of its files cannot be read, or the table has no
/// such column.
pub fn read_frames<'a, R: Row>(
    dir: &Path,
    columns: &'a [&'a str],
) -> Result<impl Iterator<Item = Result<DataFrame, TablesError>> + use<'a, R>, TablesError> {
    Ok(all_files(dir, R::TABLE)?.into_iter().map(move |path| read_file::<R>(&path, Some(columns))))
}

/// The row groups of a table in order. Each can be read independently and on any thread.
///
/// # Errors
/// If the folder of the table cannot be read; later, if the footer of one of its files cannot be read.
pub fn row_groups<R: Row>(
    dir: &Path,
) -> Result<impl Iterator<Item = Result<RowGroup<R>, TablesError>> + use<R>, TablesError> {
    Ok(all_files(dir, R::TABLE)?.into_iter().flat_map(|path| match row_groups_of(&path) {
        Ok(groups) => groups.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }))
}

pub(in crate::records) fn row_groups_of<R: Row>(path: &Path) -> Result<Vec<RowGroup<R>>, TablesError> {
    let footer = footer(path)?;
    let group =
        |rows| RowGroup { path: path.to_owned(), footer: footer.clone(), rows, row_type: PhantomData };
    Ok(slices(&footer).into_iter().map(group).collect())
}

/// One row group of a file, which has not been read yet.
#[derive(Debug)]
pub struct RowGroup<R> {
    path: PathBuf,
    footer: FileMetadataRef,
    /// The first row in the file and the number of rows.
    rows: (usize, usize),
    row_type: PhantomData<fn() -> R>,
}

impl<R: Row> RowGroup<R> {
    /// Reads the wanted columns, decoded on one thread only. A column that is missing in a file of an older
    /// version is null.
    ///
    /// # Errors
    /// If the file cannot be read, or the table has no such column.
    pub fn read(&self, columns: &[&str]) -> Result<DataFrame, TablesError> {
        // Without this, polars decodes the dictionaries of all row groups before this one.
        let mut reader =
            open(&self.path)?.read_parallel(ParallelStrategy::RowGroups).with_slice(Some(self.rows));
        reader.set_metadata(self.footer.clone());
        read_columns::<R>(reader, columns, self.rows.1).map_err(read_error(&self.path, Some(columns)))
    }
}

/// Reads the rows of a table in order, in small pieces, for callers that read all of a large survey. Nullable
/// columns that are not wanted are null.
///
/// # Errors
/// As [`read_table`].
pub fn read_pieces<'a, R: Row>(
    dir: &Path,
    wanted: &'a [&'a str],
) -> Result<impl Iterator<Item = Result<Vec<R>, TablesError>> + use<'a, R>, TablesError> {
    let columns = R::COLUMNS.iter().filter(|column| !column.nullable || wanted.contains(&column.name));
    let columns: Vec<&str> = columns.map(|column| column.name).collect();
    Ok(all_files(dir, R::TABLE)?.into_iter().flat_map(move |path| {
        let (frame, unread) = match read_file::<R>(&path, Some(&columns)) {
            Ok(frame) => (frame, None),
            Err(error) => (DataFrame::empty(), Some(Err(error))),
        };
        let pieces = (0..frame.height()).step_by(PIECE_ROWS).map(move |first| {
            let piece = frame.slice(i64::try_from(first).unwrap_or(i64::MAX), PIECE_ROWS);
            R::rows(&piece).map_err(TablesError::with_context("read table", &path))
        });
        unread.into_iter().chain(pieces)
    }))
}

/// Rows in a piece. A piece takes a few megabytes, where a file of a hundred thousand rows would take
/// hundreds.
const PIECE_ROWS: usize = 8192;

/// The number of rows and files of a table, read from the footers alone.
///
/// # Errors
/// If the folder of the table or one of its files cannot be read.
pub fn row_count(dir: &Path, table: &str) -> Result<TableCount, TablesError> {
    let mut count = TableCount::default();
    for path in files(dir, table)? {
        count.files += 1;
        count.rows += rows_of(&path)?;
    }
    Ok(count)
}

/// [`row_count`] of every table of the survey, by name, for the manifest.
///
/// # Errors
/// If a table cannot be read.
pub fn row_counts(dir: &Path) -> Result<std::collections::BTreeMap<String, TableCount>, TablesError> {
    segmented(dir)
        .chain([ServerRow::TABLE])
        .map(|table| row_count(dir, table).map(|count| (table.to_owned(), count)))
        .collect()
}

/// As [`files`], and checks that no file is missing. The manifest of a finished survey records the number of
/// rows.
fn all_files(dir: &Path, table: &str) -> Result<Vec<PathBuf>, TablesError> {
    let files = files(dir, table)?;
    let manifest = Manifest::load(dir).ok().filter(|manifest| manifest.state == SurveyState::Finished);
    let Some(recorded) = manifest.and_then(|manifest| manifest.tables.get(table).copied()) else {
        return Ok(files);
    };
    if recorded.files == files.len() as u64 {
        return Ok(files);
    }
    // The user may have joined files. The reader of a damaged file reports the damage.
    let Ok(rows) = files.iter().map(|path| rows_of(path)).sum::<Result<u64, _>>() else { return Ok(files) };
    if rows == recorded.rows {
        return Ok(files);
    }
    let message = format!(
        "found {} in {}, but manifest.json lists {} in {}: files are missing",
        count(rows, "row"),
        count(files.len() as u64, "file"),
        count(recorded.rows, "row"),
        count(recorded.files, "file")
    );
    let source = io::Error::new(io::ErrorKind::InvalidData, message);
    Err(TablesError::new("read table", &folder(dir, table), source))
}

/// The files of a table in the order of their numbers.
pub(in crate::records) fn files(dir: &Path, table: &str) -> Result<Vec<PathBuf>, TablesError> {
    let folder = folder(dir, table);
    let mut names = names(&folder)?;
    names.retain(|name| name.ends_with(".parquet") && !name.starts_with('.'));
    names.sort_by_cached_key(|name| (segment_number(name), name.clone()));
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

pub(in crate::records) fn rows_of(path: &Path) -> Result<u64, TablesError> {
    let rows = open(path)?.num_rows().map_err(read_error(path, Some(&[])))?;
    Ok(rows as u64)
}

/// Reads a file as it is, or with the given columns in their order.
pub(in crate::records) fn read_file<R: Row>(
    path: &Path,
    columns: Option<&[&str]>,
) -> Result<DataFrame, TablesError> {
    let mut reader = open(path)?;
    match columns {
        None => reader.finish(),
        Some(columns) => reader.num_rows().and_then(|rows| read_columns::<R>(reader, columns, rows)),
    }
    .map_err(read_error(path, columns))
}

fn read_error(path: &Path, columns: Option<&[&str]>) -> impl FnOnce(PolarsError) -> TablesError {
    move |error| TablesError::new("read table", path, damage(path, columns, error))
}

/// Finds the damaged part of a file: its footer, or one of its row groups.
fn damage(path: &Path, columns: Option<&[&str]>, error: PolarsError) -> io::Error {
    let footer = match footer(path) {
        Ok(footer) => footer,
        Err(error) => return error.source,
    };
    let Ok(mut reader) = open(path) else { return error.into_io_error() };
    let Ok(schema) = reader.schema() else { return damaged(format!("its footer is damaged ({error})")) };
    let is_there = |name: &&&str| schema.contains(name);
    let columns: Option<Vec<String>> =
        columns.map(|columns| columns.iter().filter(is_there).map(ToString::to_string).collect());
    let groups = slices(&footer);
    for (number, group) in groups.iter().enumerate() {
        let Ok(reader) = open(path) else { break };
        let part = reader.with_columns(columns.clone()).with_slice(Some(*group)).finish();
        if let Err(error) = part {
            return damaged(format!("row group {number} of {} is damaged ({error})", groups.len()));
        }
    }
    error.into_io_error()
}

fn damaged(part: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, part)
}

fn open(path: &Path) -> Result<ParquetReader<File>, TablesError> {
    File::open(path).map(ParquetReader::new).map_err(TablesError::with_context("read table", path))
}

fn read_columns<R: Row>(
    mut reader: ParquetReader<File>,
    columns: &[&str],
    rows: usize,
) -> PolarsResult<DataFrame> {
    let declared = R::frame(&[])?;
    let schema = reader.schema()?;
    let there = |name: &&&str| schema.contains(name);
    let mut frame = reader
        .with_columns(Some(columns.iter().filter(there).map(ToString::to_string).collect()))
        .finish()?;
    for name in columns.iter().filter(|name| !there(name)) {
        let column_type = declared.column(name)?.dtype();
        frame.with_column(Column::full_null(PlSmallStr::from_str(name), rows, column_type))?;
    }
    frame.select(columns.iter().copied())
}
