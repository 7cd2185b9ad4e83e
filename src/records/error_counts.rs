use std::collections::BTreeMap;
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};

use super::{ExchangeRow, TablesError, read_frames};

/// How often each failure and each HTTP error status of a page occurs in the table `exchanges`.
///
/// Three columns are read, one segment at a time.
///
/// # Errors
/// The table cannot be read.
pub fn error_counts(dir: &Path) -> Result<BTreeMap<String, u64>, TablesError> {
    let mut counts = BTreeMap::new();
    for frame in read_frames::<ExchangeRow>(dir, &["failure", "status", "purpose"])? {
        count(&frame?, &mut counts).map_err(TablesError::at("read table", dir))?;
    }
    Ok(counts)
}

fn count(frame: &DataFrame, counts: &mut BTreeMap<String, u64>) -> PolarsResult<()> {
    let (failures, statuses) = (frame.column("failure")?.str()?, frame.column("status")?.u32()?);
    let purposes = frame.column("purpose")?.str()?;
    for ((failure, status), purpose) in failures.iter().zip(statuses.iter()).zip(purposes.iter()) {
        let error = match (failure, status) {
            (Some(failure), _) => failure.to_owned(),
            (None, Some(status)) if status >= 400 && purpose == Some("page") => format!("http_{status}"),
            _ => continue,
        };
        *counts.entry(error).or_default() += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{SegmentRows, Tables};

    #[test]
    fn failures_and_error_statuses_of_pages_are_counted() {
        let row = |failure: Option<&str>, status, purpose: &str| ExchangeRow {
            failure: failure.map(ToOwned::to_owned),
            status,
            purpose: purpose.to_owned(),
            ..ExchangeRow::default()
        };
        let exchanges = vec![
            row(Some("reset"), None, "robots"),
            row(Some("body_too_large"), Some(200), "page"),
            row(None, Some(404), "page"),
            row(None, Some(404), "robots"),
            row(None, Some(404), "page"),
            row(None, Some(200), "page"),
        ];
        let dir = tempfile::tempdir().unwrap();
        let tables = Tables::open(dir.path()).unwrap();
        tables.write(0, &SegmentRows { exchanges, ..SegmentRows::default() }).unwrap();
        let counts: Vec<_> = error_counts(dir.path()).unwrap().into_iter().collect();
        let expected = [("body_too_large", 1), ("http_404", 2), ("reset", 1)];
        assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)));
    }
}
