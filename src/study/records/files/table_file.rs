use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polars::prelude::DataFrame;
use polars_io::prelude::BatchedWriter;

use super::layout::parquet;
use crate::records::durable::{self, Staging};
use crate::records::{Row, TablesError};

/// A file of a table while it is written, one row group at a time. Memory is bounded by a row group, however
/// many rows there are.
///
/// An old file, if there is one, stays in place until this one is finished.
pub(in crate::records) struct TableFile {
    path: PathBuf,
    writer: BatchedWriter<Encoded>,
    encoded: Encoded,
    staging: Staging,
}

impl TableFile {
    pub(in crate::records) fn begin<R: Row>(path: PathBuf) -> Result<Self, TablesError> {
        let staging = Staging::begin(&path).map_err(TablesError::with_context("write table", &path))?;
        let encoded = Encoded::default();
        let columns = R::frame(&[]).map_err(TablesError::with_context("encode", &path))?;
        let columns = columns.schema();
        let writer = parquet(encoded.clone(), columns).batched(columns);
        let writer = writer.map_err(TablesError::with_context("encode", &path))?;
        Ok(Self { path, writer, encoded, staging })
    }

    /// Writes the next rows as a row group.
    pub(in crate::records) fn write(&mut self, mut rows: DataFrame) -> Result<(), TablesError> {
        // Otherwise each chunk would be a row group of its own.
        rows.rechunk_mut_par();
        self.writer.write_batch(&rows).map_err(TablesError::with_context("encode", &self.path))?;
        self.staging.write(&self.encoded.take()).map_err(to_error(&self.path))
    }

    /// Moves the finished file into its place.
    pub(in crate::records) fn finish(mut self) -> Result<(), TablesError> {
        self.writer.finish().map_err(TablesError::with_context("encode", &self.path))?;
        self.staging.write(&self.encoded.take()).map_err(to_error(&self.path))?;
        self.staging.finish().map_err(to_error(&self.path))?;
        durable::publish_in_folder(&self.path).map_err(to_error(&self.path))
    }
}

fn to_error(path: &Path) -> impl FnOnce(io::Error) -> TablesError {
    TablesError::with_context("write table", path)
}

/// Parquet in memory on its way to the disk, so that an error on the disk is clearly a disk error.
#[derive(Clone, Debug, Default)]
struct Encoded(Arc<Mutex<Vec<u8>>>);

impl Encoded {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock())
    }
}

impl Write for Encoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
