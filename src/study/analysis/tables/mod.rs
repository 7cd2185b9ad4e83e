//! Reading of tables: site trees and their groups.

pub(super) mod group;
pub(super) mod in_turn;
pub(super) mod trees;

use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::AnalysisError;
use crate::records::{Row, RowGroup, TablesError, row_groups};
use in_turn::in_turn;

/// The maximum number of attempts to read tables whose files are merged into larger ones meanwhile.
const MAX_ATTEMPTS: u32 = 3;

/// Repeats a read if a listed file has vanished, because its rows are now in a larger file.
pub(super) fn with_retries<T>(
    mut read: impl FnMut() -> Result<T, AnalysisError>,
) -> Result<T, AnalysisError> {
    let mut attempts = 1;
    loop {
        match read() {
            Err(AnalysisError::Tables(error)) if has_vanished(&error) && attempts < MAX_ATTEMPTS => {
                attempts += 1;
            }
            result => return result,
        }
    }
}

fn has_vanished(error: &TablesError) -> bool {
    error.source.kind() == io::ErrorKind::NotFound && error.path.extension().is_some()
}

/// Passes the wanted columns of a table to `take`, one row group at a time and in the order of the table.
/// Decoding uses all cores.
pub(super) fn for_each_frame<R: Row>(
    dir: &Path,
    columns: &[&str],
    mut take: impl FnMut(&DataFrame) -> PolarsResult<()> + Send,
) -> Result<(), AnalysisError> {
    digest_each::<R, _>(dir, columns, Ok, |frame| take(&frame))
}

/// Passes the wanted columns of a table to `digest`, one row group at a time and on all cores, and the
/// results to `take` in the order of the table.
pub(super) fn digest_each<R: Row, T>(
    dir: &Path,
    columns: &[&str],
    digest: impl Fn(DataFrame) -> PolarsResult<T> + Sync,
    mut take: impl FnMut(T) -> PolarsResult<()> + Send,
) -> Result<(), AnalysisError> {
    let wrong_columns = |error| AnalysisError::from_polars(dir, R::TABLE, &error);
    let work = |group: Result<RowGroup<R>, TablesError>| digest(group?.read(columns)?).map_err(wrong_columns);
    in_turn(row_groups::<R>(dir)?, work, |digested| take(digested).map_err(wrong_columns))
}

/// The columns that identify the tree of a row, followed by `columns`.
pub(super) fn with_tree<'a>(columns: &[&'a str]) -> Vec<&'a str> {
    [&["site", "seed"], columns].concat()
}

/// Declares the columns that are read from a table: a list of their names, and a struct of the columns. With
/// `=> Fields` also a struct of the values of a row; a value that may be missing is an option, unless a
/// default is given.
macro_rules! columns {
    ($(#[$about:meta])* $columns:ident => $fields:ident {
        $($(#[$of_column:meta])* $column:ident: $type:ident $(= $default:expr)?),+ $(,)?
    }) => {
        columns! { $columns { $($column: $type),+ } }

        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(in crate::analysis) struct $fields<'f> {
            $($(#[$of_column])* pub(in crate::analysis) $column: columns!(@field $type $($default)?),)+
        }

        impl<'f> $columns<'f> {
            fn fields(&self, row: usize) -> $fields<'f> {
                $fields { $($column: columns!(@get self.$column.get(row) $(, $default)?),)+ }
            }
        }
    };
    ($(#[$about:meta])* $columns:ident { $($column:ident: $type:ident),+ $(,)? }) => {
        $(#[$about])*
        pub(in crate::analysis) struct $columns<'f> {
            $($column: &'f columns!(@array $type),)+
        }

        impl<'f> $columns<'f> {
            pub(in crate::analysis) const NAMES: &'static [&'static str] = &[$(stringify!($column)),+];

            fn from_frame(frame: &'f polars::prelude::DataFrame) -> polars::prelude::PolarsResult<Self> {
                Ok(Self { $($column: columns!(@read frame.column(stringify!($column))?, $type),)+ })
            }
        }
    };
    (@array str) => { polars::prelude::StringChunked };
    (@array bool) => { polars::prelude::BooleanChunked };
    (@array u32) => { polars::prelude::UInt32Chunked };
    (@array u64) => { polars::prelude::UInt64Chunked };
    (@array f64) => { polars::prelude::Float64Chunked };
    // Microseconds since 1970.
    (@array time) => { polars::prelude::Int64Chunked };
    (@read $column:expr, time) => { $column.datetime()?.physical() };
    (@read $column:expr, $type:ident) => { $column.$type()? };
    (@field $type:ident) => { Option<columns!(@value $type)> };
    (@field $type:ident $default:expr) => { columns!(@value $type) };
    (@value str) => { &'f str };
    (@value time) => { i64 };
    (@value $type:ident) => { $type };
    (@get $value:expr) => { $value };
    (@get $value:expr, $default:expr) => { $value.unwrap_or($default) };
}

pub(super) use columns;

/// A map by the key of a text. Keys are hashes already, but of texts that servers choose, so the map hashes
/// them again with a seed that differs in each process.
pub(super) type ByKey<T> = foldhash::HashMap<u64, T>;

/// The numbers of site trees, to which the rows of other tables refer.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeNumbers(ByKey<u32>);

impl TreeNumbers {
    /// Gives a tree the next number and returns it; none if the tree has a number already.
    pub(super) fn add(&mut self, site: &str, seed: u32) -> Option<u32> {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        match self.0.entry(tree_key(site, seed)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(entry) => Some(*entry.insert(next)),
        }
    }

    /// The trees of rows that were read [`with_tree`]. The rows of a tree are mostly adjacent, and the tree
    /// is looked up once for them.
    pub(super) fn for_rows(&self, frame: &DataFrame) -> PolarsResult<Vec<Option<u32>>> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let mut last = ((None, None), None);
        let mut trees = Vec::with_capacity(frame.height());
        for row in sites.iter().zip(seeds.iter()) {
            if !is_same(row, last.0) {
                last = (row, self.find(row.0, row.1));
            }
            trees.push(last.1);
        }
        Ok(trees)
    }

    pub(super) fn find(&self, site: Option<&str>, seed: Option<u32>) -> Option<u32> {
        self.0.get(&tree_key(site?, seed?)).copied()
    }
}

/// Compares two trees. Repeated names are mostly at the same address in memory and are then not compared byte
/// by byte.
fn is_same(a: (Option<&str>, Option<u32>), b: (Option<&str>, Option<u32>)) -> bool {
    let is_same_pointer = matches!((a.0, b.0), (Some(a), Some(b)) if std::ptr::eq(a, b));
    a.1 == b.1 && (is_same_pointer || a.0 == b.0)
}

/// The key of a text that a server may have chosen: its hash.
pub(super) fn key(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// The key of a site tree.
pub(super) fn tree_key(site: &str, seed: u32) -> u64 {
    xxh3_64_with_seed(site.as_bytes(), u64::from(seed))
}

/// Converts a depth. Damaged tables may hold any number.
pub(super) fn depth_of(depth: Option<u32>) -> u16 {
    u16::try_from(depth.unwrap_or_default()).unwrap_or(u16::MAX)
}
