use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use polars::prelude::{CompatLevel, DataFrame, Schema, SchemaExt};
use polars_io::prelude::{KeyValueMetadata, ParquetCompression, ParquetWriter, StatisticsOptions};
use polars_parquet::write::schema_to_metadata_key;

use crate::records::{ExchangeRow, LevelRow, LinkRow, PageLinkRow, RobotsRow, Row, SiteRow, TablesError};

/// The tables that are written in segments, in the order in which a segment appears. A reader that sees a
/// site therefore also finds its exchanges, links and levels.
pub(in crate::records) const SEGMENTED: [&str; 6] = [
    ExchangeRow::TABLE,
    LinkRow::TABLE,
    PageLinkRow::TABLE,
    RobotsRow::TABLE,
    LevelRow::TABLE,
    SiteRow::TABLE,
];

/// The segmented tables that exist only where their folder does.
pub(in crate::records) const OPTIONAL: [&str; 2] = [PageLinkRow::TABLE, RobotsRow::TABLE];

/// The segmented tables that a survey has.
pub(in crate::records) fn segmented(dir: &Path) -> impl Iterator<Item = &'static str> {
    let is_there = |table: &&str| !OPTIONAL.contains(table) || folder(dir, table).is_dir();
    SEGMENTED.into_iter().filter(is_there)
}

/// `DIR/tables/NAME`.
pub(in crate::records) fn folder(dir: &Path, table: &str) -> PathBuf {
    dir.join("tables").join(table)
}

/// Six digits sort correctly up to a million segments. Names with more digits are still read correctly.
pub(in crate::records) fn segment_name(number: u64) -> String {
    format!("{number:06}.parquet")
}

/// The name of a file of joined segments: `000000-000012.parquet`. It differs from the name of any single
/// segment, so a reader that remembers something about a file by its name is never given another file.
pub(in crate::records) fn joined_name(first: u64, last: u64) -> String {
    format!("{first:06}-{last:06}.parquet")
}

/// The number of a segment, or the last number in a joined file. None for any other file, which is not ours
/// to remove.
pub(in crate::records) fn segment_number(name: &str) -> Option<u64> {
    let numbers = name.strip_suffix(".parquet")?;
    let mut numbers = numbers.splitn(2, '-').map(|digits| {
        (digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())?
    });
    let first = numbers.next()??;
    numbers.next().map_or(Some(first), |last| last.filter(|last| *last > first))
}

/// The names in a folder, without those that are not valid UTF-8.
pub(in crate::records) fn names(folder: &Path) -> Result<Vec<String>, TablesError> {
    let entries = fs::read_dir(folder).map_err(TablesError::with_context("read folder", folder))?;
    entries
        .filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose())
        .collect::<Result<_, _>>()
        .map_err(TablesError::with_context("read folder", folder))
}

/// Encodes Parquet in memory, so that an error on the disk is clearly a disk error. Uses zstd, dictionaries
/// for repeated strings, and the minimum and maximum of every column.
pub(in crate::records) fn encode(frame: &mut DataFrame, path: &Path) -> Result<Vec<u8>, TablesError> {
    let mut bytes = Vec::new();
    let writer = parquet(&mut bytes, frame.schema());
    writer.finish(frame).map_err(TablesError::with_context("encode", path))?;
    Ok(bytes)
}

/// The Parquet settings of all tables.
///
/// polars holds text as views, and its writer declares them in the Arrow schema that it adds to the file. No
/// filter, sort or join of pyarrow accepts views, and pyarrow 14 opens no such file (pola-rs/polars#26435).
/// The pages hold plain UTF-8 either way, so the schema says `large_utf8`. Plain `utf8` is limited to 2 GiB
/// of text, which a column of URLs may exceed.
pub(in crate::records) fn parquet<W: Write>(output: W, columns: &Schema) -> ParquetWriter<W> {
    let without_views = schema_to_metadata_key(&columns.to_arrow(CompatLevel::oldest()));
    ParquetWriter::new(output)
        .with_compression(ParquetCompression::Zstd(None))
        .with_statistics(StatisticsOptions::default())
        .with_key_value_metadata(Some(KeyValueMetadata::Static(vec![without_views])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_a_number_of_six_digits_or_more_and_a_joined_file_that_of_its_last() {
        for (name, number) in [
            ("000007.parquet", Some(7)),
            ("1234567.parquet", Some(1_234_567)),
            ("000001-000005.parquet", Some(5)),
            ("000005-000005.parquet", None),
            ("000005-000001.parquet", None),
            ("00007.parquet", None),
            ("00000x.parquet", None),
            ("000001-.parquet", None),
            ("000007.csv", None),
        ] {
            assert_eq!(segment_number(name), number, "{name}");
        }
    }
}
