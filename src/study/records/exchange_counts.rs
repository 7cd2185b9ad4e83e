use std::collections::BTreeMap;
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use super::unlevelled::{Cost, Unlevelled};
use super::{ExchangeRow, TablesError, read_frames};
use crate::exchange::Purpose;

/// Counts over the table `exchanges`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExchangeCounts {
    /// By failure, and by the HTTP error status of a page.
    pub errors: BTreeMap<String, u64>,
    /// The savings of a survey with `--since`.
    pub unchanged: Unchanged,
    /// The cost of robots.txt and other requests without a depth, by the level that needed them. The table
    /// `levels` does not include it.
    pub unlevelled: BTreeMap<u16, Cost>,
}

/// Responses that report that a page or file has not changed since an earlier survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unchanged {
    /// The number of such responses.
    pub answers: u64,
    /// Bytes received for these responses.
    pub received_bytes: u64,
    /// Bytes received for the same pages and files when the server last sent them whole.
    pub whole_bytes: u64,
}

const COLUMNS: &[&str] = &[
    "failure",
    "status",
    "purpose",
    "received_bytes",
    "unchanged_bytes",
    "site",
    "seed",
    "depth",
    "address",
    "sent_bytes",
    "total_ms",
];

/// Counts the exchanges of a survey, one segment at a time.
///
/// # Errors
/// If the table cannot be read.
pub fn exchange_counts(dir: &Path) -> Result<ExchangeCounts, TablesError> {
    let mut counts = ExchangeCounts::default();
    let mut levelling = LevelCounter::default();
    for frame in read_frames::<ExchangeRow>(dir, COLUMNS)? {
        let frame = frame?;
        let counted = count_errors(&frame, &mut counts.errors);
        counted
            .and_then(|()| counts.unchanged.count(&frame))
            .and_then(|()| levelling.count(&frame))
            .map_err(TablesError::with_context("read table", dir))?;
    }
    counts.unlevelled = levelling.end();
    Ok(counts)
}

/// Assigns requests without a depth to levels.
#[derive(Default)]
struct LevelCounter {
    /// The site and the seed of the tree that is being read. `number` counts the trees, this one included.
    tree: Option<(String, u32)>,
    number: u64,
    unlevelled: Unlevelled<u64>,
    costs: BTreeMap<u16, Cost>,
}

impl LevelCounter {
    fn count(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let (depths, addresses) = (frame.column("depth")?.u32()?, frame.column("address")?.str()?);
        let bytes = [frame.column("sent_bytes")?.u64()?, frame.column("received_bytes")?.u64()?];
        let (busy, purposes) = (frame.column("total_ms")?.f64()?, frame.column("purpose")?.str()?);
        for row in 0..frame.height() {
            // An exchange that reached no server costs nothing.
            let (Some(site), Some(seed), Some(_), Some(busy_ms)) =
                (sites.get(row), seeds.get(row), addresses.get(row), busy.get(row))
            else {
                continue;
            };
            if self.tree.as_ref().is_none_or(|(name, number)| name != site || *number != seed) {
                self.tree = Some((site.to_owned(), seed));
                self.number += 1;
            }
            let [sent_bytes, received_bytes] = bytes.map(|bytes| bytes.get(row).unwrap_or_default());
            let depth = depths.get(row).map(|depth| u16::try_from(depth).unwrap_or(u16::MAX));
            let cost = Cost::from_request(purposes.get(row), sent_bytes, received_bytes, busy_ms);
            let booked = self.unlevelled.next(&self.number, depth, cost);
            self.add(booked);
        }
        Ok(())
    }

    fn add(&mut self, booked: Option<(u64, u16, Cost)>) {
        if let Some((_, depth, cost)) = booked {
            *self.costs.entry(depth).or_default() += cost;
        }
    }

    fn end(mut self) -> BTreeMap<u16, Cost> {
        let booked = std::mem::take(&mut self.unlevelled).end();
        self.add(booked);
        self.costs
    }
}

impl Unchanged {
    fn count(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let received = frame.column("received_bytes")?.u64()?;
        let whole = frame.column("unchanged_bytes")?.u64()?;
        for (received, whole) in received.iter().zip(whole.iter()) {
            let Some(whole) = whole else { continue };
            self.add(received.unwrap_or_default(), whole);
        }
        Ok(())
    }

    /// Adds one such response.
    pub fn add(&mut self, received_bytes: u64, whole_bytes: u64) {
        self.answers += 1;
        self.received_bytes = self.received_bytes.saturating_add(received_bytes);
        self.whole_bytes = self.whole_bytes.saturating_add(whole_bytes);
    }
}

fn count_errors(frame: &DataFrame, counts: &mut BTreeMap<String, u64>) -> PolarsResult<()> {
    let (failures, statuses) = (frame.column("failure")?.str()?, frame.column("status")?.u32()?);
    let purposes = frame.column("purpose")?.str()?;
    for ((failure, status), purpose) in failures.iter().zip(statuses.iter()).zip(purposes.iter()) {
        let is_page = purpose == Some(Purpose::Page.as_str());
        if let Some(error) = error_name(failure, status, is_page) {
            *counts.entry(error).or_default() += 1;
        }
    }
    Ok(())
}

/// The name under which an exchange is counted as an error, if it is one: its failure, or the error status of
/// a page.
#[must_use]
pub fn error_name(failure: Option<&str>, status: Option<u32>, is_page: bool) -> Option<String> {
    let error_status = || status.filter(|status| is_page && *status >= 400);
    failure.map(ToOwned::to_owned).or_else(|| error_status().map(|status| format!("http_{status}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{SegmentRows, Tables};

    #[test]
    fn failures_error_statuses_of_pages_and_what_has_not_changed_are_counted() {
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
            ExchangeRow { received_bytes: 200, unchanged_bytes: Some(9_000), ..row(None, Some(304), "page") },
        ];
        let dir = tempfile::tempdir().unwrap();
        let tables = Tables::open(dir.path()).unwrap();
        tables.write(0, &SegmentRows { exchanges, ..SegmentRows::default() }).unwrap();
        let counts = exchange_counts(dir.path()).unwrap();
        assert_eq!(counts.unchanged, Unchanged { answers: 1, received_bytes: 200, whole_bytes: 9_000 });
        let counts: Vec<_> = counts.errors.into_iter().collect();
        let expected = [("body_too_large", 1), ("http_404", 2), ("reset", 1)];
        assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)));
    }
}
