use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::AnalysisError;
use crate::records::{Row, TablesError, read_frames};

/// How often tables are read anew whose files are joined to larger ones meanwhile.
const TRIES: u32 = 3;

/// Reads tables again when a file that was listed is gone: its rows are in a larger one now.
pub(super) fn retried<T>(mut read: impl FnMut() -> Result<T, AnalysisError>) -> Result<T, AnalysisError> {
    let mut tries = 1;
    loop {
        match read() {
            Err(AnalysisError::Tables(wrong)) if has_vanished(&wrong) && tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

fn has_vanished(wrong: &TablesError) -> bool {
    wrong.source.kind() == io::ErrorKind::NotFound && wrong.path.extension().is_some()
}

/// Gives the wanted columns of a table to `take`, one segment at a time.
pub(super) fn each<R: Row>(
    dir: &Path,
    columns: &[&str],
    mut take: impl FnMut(&DataFrame) -> PolarsResult<()>,
) -> Result<(), AnalysisError> {
    for frame in read_frames::<R>(dir, columns)? {
        take(&frame?).map_err(|wrong| AnalysisError::of_columns(dir, R::TABLE, &wrong))?;
    }
    Ok(())
}

/// Declares the columns that are read of a table, each once: their names, and a struct of them.
macro_rules! columns {
    ($(#[$about:meta])* $columns:ident { $($column:ident: $type:ident),+ $(,)? }) => {
        $(#[$about])*
        pub(in crate::analysis) struct $columns<'f> {
            $($column: &'f columns!(@array $type),)+
        }

        impl<'f> $columns<'f> {
            pub(in crate::analysis) const NAMES: &'static [&'static str] = &[$(stringify!($column)),+];

            fn of(frame: &'f polars::prelude::DataFrame) -> polars::prelude::PolarsResult<Self> {
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
}

pub(super) use columns;

/// The numbers of site trees, by which the rows of other tables are known.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeNumbers(HashMap<u64, u32>);

impl TreeNumbers {
    /// Gives a tree the next number; none if it has one already.
    pub(super) fn add(&mut self, site: &str, seed: u32) -> Option<u32> {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        match self.0.entry(tree_key(site, seed)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(entry) => Some(*entry.insert(next)),
        }
    }

    pub(super) fn find(&self, site: Option<&str>, seed: Option<u32>) -> Option<u32> {
        self.0.get(&tree_key(site?, seed?)).copied()
    }
}

/// What stands for a text of strangers: its hash.
pub(super) fn key(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

fn tree_key(site: &str, seed: u32) -> u64 {
    xxh3_64_with_seed(site.as_bytes(), u64::from(seed))
}

/// A depth, of which damaged tables may tell any number.
pub(super) fn depth_of(depth: Option<u32>) -> u16 {
    u16::try_from(depth.unwrap_or_default()).unwrap_or(u16::MAX)
}
