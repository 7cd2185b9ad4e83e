use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};
use serde::{Deserialize, Serialize};

use super::{SiteRow, TablesError, read_frames};

/// Sums over the table `sites`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTotals {
    /// HTML pages that were fetched.
    pub pages: u64,
    /// Exchanges that reached the network.
    pub requests: u64,
    /// Wire bytes sent to servers.
    pub sent_bytes: u64,
    /// Wire bytes received from servers.
    pub received_bytes: u64,
    /// External URLs of all trees, each once per tree.
    pub external_urls: u64,
}

const COLUMNS: &[&str] = &["pages", "requests", "sent_bytes", "received_bytes", "external_urls"];

/// Sums up the sites of a survey, one segment at a time. Other columns are not read.
///
/// # Errors
/// If the table cannot be read.
pub fn site_totals(dir: &Path) -> Result<SiteTotals, TablesError> {
    let mut totals = SiteTotals::default();
    for frame in read_frames::<SiteRow>(dir, COLUMNS)? {
        totals.add_frame(&frame?).map_err(TablesError::with_context("read table", dir))?;
    }
    Ok(totals)
}

impl SiteTotals {
    /// Adds one site tree.
    pub fn add(&mut self, row: &SiteRow) {
        self.pages += row.pages;
        self.requests += row.requests;
        self.sent_bytes += row.sent_bytes;
        self.received_bytes += row.received_bytes;
        self.external_urls += row.external_urls;
    }

    fn add_frame(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let sum = |column| -> PolarsResult<u64> { Ok(frame.column(column)?.u64()?.iter().flatten().sum()) };
        self.pages += sum("pages")?;
        self.requests += sum("requests")?;
        self.sent_bytes += sum("sent_bytes")?;
        self.received_bytes += sum("received_bytes")?;
        self.external_urls += sum("external_urls")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{SegmentRows, Tables};

    #[test]
    fn sites_are_summed_up_over_all_segments() {
        let dir = tempfile::tempdir().unwrap();
        let tables = Tables::open(dir.path()).unwrap();
        assert_eq!(site_totals(dir.path()).unwrap(), SiteTotals::default());
        let site = |requests| SiteRow { pages: 1, requests, sent_bytes: 10, ..SiteRow::default() };
        for (segment, requests) in [(0, 3), (1, 4)] {
            let sites = vec![site(requests), site(100 * requests)];
            tables.write(segment, &SegmentRows { sites, ..SegmentRows::default() }).unwrap();
        }
        let mut summed = SiteTotals::default();
        [3, 300, 4, 400].iter().for_each(|requests| summed.add(&site(*requests)));
        let expected = SiteTotals { pages: 4, requests: 707, sent_bytes: 40, ..SiteTotals::default() };
        assert_eq!((site_totals(dir.path()).unwrap(), summed), (expected, expected));
    }
}
