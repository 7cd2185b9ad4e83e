use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::address::{Host, Site};
use crate::exchange::{Failure, Purpose, Response};
use crate::promises::{Observations, OwnerObjections};
use crate::records::{ExchangeRow, Row, SegmentRows, SiteRow, SiteTotals, error_name, read_table};
use crate::survey::error::SurveyError;
use crate::survey::journal::entry::{Entry, ExchangeRecord};

/// The totals of exchanges: errors, and the observations by which promises are judged.
///
/// It follows from durable data, so each exchange counts once, however often a process is killed. For
/// finished trees the tally is stored in the transaction that stores them; for unfinished trees it is
/// computed from their journals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::survey) struct Tally {
    /// Failures and HTTP error statuses, by kind.
    pub errors: BTreeMap<String, u64>,
    /// The counts cover these exchanges; the worst values cover all that were observed when it was stored.
    pub seen: Observations,
    /// The totals of the trees; none if an earlier version stored the tally, and none in the tally of one
    /// tree.
    pub totals: Option<SiteTotals>,
    /// The rows that these trees have in each table; none if an earlier version stored the tally.
    pub rows: Option<BTreeMap<String, u64>>,
    /// The rows of the table of sites, if an earlier version stored the tally.
    #[serde(skip_serializing)]
    pub site_rows: Option<u64>,
    /// When it was stored.
    pub as_of: Option<SystemTime>,
}

impl Tally {
    /// The tally of a new survey.
    pub(in crate::survey) fn new() -> Self {
        Self { totals: Some(SiteTotals::default()), rows: Some(BTreeMap::new()), ..Self::default() }
    }

    /// Counts rows that were written, or are about to be.
    pub(in crate::survey) fn add_rows(&mut self, written: &SegmentRows) {
        let Some(rows) = &mut self.rows else { return };
        for (table, more) in written.of_tables() {
            *rows.entry(table.to_owned()).or_default() += more as u64;
        }
    }

    /// The number of rows of a table; none if it is not known.
    pub(in crate::survey) fn rows_of(&self, table: &str) -> Option<u64> {
        match &self.rows {
            Some(rows) => Some(rows.get(table).copied().unwrap_or_default()),
            None => self.site_rows.filter(|_| table == SiteRow::TABLE),
        }
    }

    /// Computes the tally of all finished trees if an earlier version did not store it: the counts from the
    /// tables, and the worst values from the status.
    pub(in crate::survey) fn from_tables(
        dir: &Path,
        recorded: Option<Observations>,
    ) -> Result<Self, SurveyError> {
        let mut tally = Self::default();
        for segment in read_table::<ExchangeRow>(dir)? {
            segment?.iter().for_each(|row| tally.add_row(row));
        }
        let recorded = recorded.unwrap_or_default();
        let Observations { opted_out, in_quiet_hours, .. } = recorded.clone();
        tally.seen = Observations { opted_out, in_quiet_hours, ..tally.seen.max(&recorded) };
        Ok(tally)
    }

    pub(in crate::survey) fn add(&mut self, other: &Self) {
        for (error, times) in &other.errors {
            *self.errors.entry(error.clone()).or_default() += times;
        }
        self.seen.add_counts(&other.seen);
    }

    /// Serializes it, including the worst values known.
    pub(in crate::survey) fn to_store(
        &self,
        worst: &Observations,
        now: SystemTime,
    ) -> Result<Vec<u8>, SurveyError> {
        let seen = self.seen.clone().max(worst);
        let tally = Self { seen, as_of: Some(now), ..self.clone() };
        serde_json::to_vec(&tally).map_err(|error| SurveyError::Broken(format!("the tally: {error}")))
    }

    fn add_row(&mut self, row: &ExchangeRow) {
        let is_page = row.purpose == Purpose::Page.as_str();
        if let Some(error) = error_name(row.failure.as_deref(), row.status.map(u32::from), is_page) {
            *self.errors.entry(error).or_default() += 1;
        }
        let address = row.address.as_deref().and_then(|address| address.parse().ok());
        if let Some(address) = address.filter(|_| row.was_sent())
            && let Ok(host) = Host::parse(&row.site)
        {
            self.seen.count(&Site::new(host), address, OwnerObjections::default());
        }
    }
}

/// The tally of one site tree, computed from its journal.
pub(in crate::survey) struct TreeTally<'a> {
    site: &'a Site,
    /// Exchanges that violated an objection of the owner.
    objections: HashMap<u32, OwnerObjections>,
    pub tally: Tally,
}

impl<'a> TreeTally<'a> {
    pub(in crate::survey) fn new(site: &'a Site) -> Self {
        Self { site, objections: HashMap::new(), tally: Tally::default() }
    }

    pub(in crate::survey) fn note(&mut self, entry: &Entry) {
        match entry {
            Entry::OwnerObjection { number, had_opted_out, in_quiet_hours } => {
                let objecting =
                    OwnerObjections { had_opted_out: *had_opted_out, in_quiet_hours: *in_quiet_hours };
                self.objections.insert(*number, objecting);
            }
            Entry::Received(record) | Entry::Attempted(record) => self.count(record),
            _ => {}
        }
    }

    fn count(&mut self, record: &ExchangeRecord) {
        if let Some(error) = error_of(record.request.purpose, &record.response) {
            *self.tally.errors.entry(error).or_default() += 1;
        }
        if let Some(address) = contacted_server(&record.response) {
            let objections = self.objections.remove(&record.request.number).unwrap_or_default();
            self.tally.seen.count(self.site, address, objections);
        }
    }
}

/// The server that took the load of an exchange; none if no request reached it.
pub(in crate::survey) fn contacted_server(response: &Response) -> Option<IpAddr> {
    response.address.filter(|_| response.was_sent())
}

/// The name under which a response is counted as an error, if it is one.
pub(in crate::survey) fn error_of(purpose: Purpose, response: &Response) -> Option<String> {
    let failure = response.failure.map(Failure::as_str);
    error_name(failure, response.status.map(u32::from), purpose == Purpose::Page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::journal::entry::tests::{failed, record};

    #[test]
    fn a_journal_tells_errors_contacts_and_whose_wishes_stood_against_them() {
        let site = Site::new(Host::parse("a.ke").unwrap());
        let mut tree = TreeTally::new(&site);
        let objections = Entry::OwnerObjection { number: 1, had_opted_out: true, in_quiet_hours: false };
        let mut asked = record(1);
        let Entry::Received(it) = &mut asked else { panic!() };
        it.response.address = Some([10, 0, 0, 1].into());
        [record(0), objections, asked, failed(2, Failure::ServerBudget)]
            .iter()
            .for_each(|entry| tree.note(entry));
        let Tally { errors, seen, .. } = tree.tally;
        let expected = [("reset".to_owned(), 2), ("server_budget".to_owned(), 1)];
        assert_eq!(errors.into_iter().collect::<Vec<_>>(), expected);
        assert_eq!((seen.exchanges, seen.special.times, seen.opted_out.times), (1, 1, 1));
        assert_eq!(seen.opted_out.first, "10.0.0.1 for a.ke");
    }

    #[test]
    fn a_missing_page_is_an_error_and_a_missing_robots_txt_is_none() {
        let site = Site::new(Host::parse("a.ke").unwrap());
        let (mut of_journal, mut of_rows) = (TreeTally::new(&site), Tally::default());
        for (number, purpose) in [(0, Purpose::Page), (1, Purpose::Robots), (2, Purpose::Page)] {
            let mut missing = record(number);
            let Entry::Received(it) = &mut missing else { panic!() };
            (it.request.purpose, it.response.failure, it.response.status) = (purpose, None, Some(404));
            of_rows.add_row(&ExchangeRow::from_exchange(&site, 0, &it.request, &it.response));
            of_journal.note(&missing);
        }
        assert_eq!(of_journal.tally.errors, [("http_404".to_owned(), 2)].into());
        assert_eq!(of_rows.errors, of_journal.tally.errors);
    }

    #[test]
    fn tallies_add_up_and_keep_the_worst_of_what_is_stored() {
        let with = |exchanges, least_gap| {
            let seen = Observations { exchanges, least_gap: Some(least_gap), ..Observations::default() };
            Tally { errors: [("reset".to_owned(), exchanges)].into(), seen, ..Tally::default() }
        };
        let mut all = with(3, 500);
        all.add(&with(4, 20));
        let now = SystemTime::UNIX_EPOCH;
        let stored = all.to_store(&with(100, 70).seen, now).unwrap();
        let stored: Tally = serde_json::from_slice(&stored).unwrap();
        assert_eq!((stored.errors["reset"], stored.seen.exchanges, stored.as_of), (7, 7, Some(now)));
        assert_eq!(stored.seen.least_gap, Some(70), "counts are added, the worst is handed in");
    }
}
