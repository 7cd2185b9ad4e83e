use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::net::IpAddr;
use std::time::SystemTime;

use crate::address::{Site, WebUrl};
use crate::exchange::{Purpose, Request, Response};
use crate::frontier::Lease;
use crate::promises::{Fact, Judge, OwnerObjections};
use crate::records::{Row, SiteRow, SiteTotals, Tables, site_totals};
use crate::settings::impolite;
use crate::survey::agents::remote_worker::RemoteResponse;
use crate::survey::earlier::NOT_MODIFIED;
use crate::survey::error::{READ, SurveyError};
use crate::survey::journal::entry::{Entry, ExchangeRecord};
use crate::survey::journal::history::Unanswered;
use crate::survey::journal::{Journal, JournalReader};
use crate::survey::parts::Parts;
use crate::survey::parts::access::Access;
use crate::survey::parts::shared_robots::RecordedRobots;
use crate::survey::storage::progress::Snapshot;
use crate::survey::storage::tally::{Tally, TreeTally, contacted_server};
use crate::survey::storage::{Storage, server_record};

/// Repairs what a crash left, and restores what was recorded but not stored yet: counters, the observations
/// by which promises are judged, the servers' ledgers and their pauses. Returns the tally of the finished
/// trees.
pub(in crate::survey) fn recover(
    parts: &Parts,
    tables: &Tables,
    replies: &KeptReplies,
) -> Result<Tally, SurveyError> {
    let Parts { access, storage, .. } = parts;
    let segments = storage.frontier().segments()?;
    let (stored, journaled_trees) = (storage.tally()?, storage.folder.journaled_trees()?);
    let rows = rows_of_own_tables(storage, tables, stored.as_ref(), journaled_trees.len() as u64)?;
    tables.discard_after(segments.checked_sub(1))?;
    let mut finished = match stored {
        Some(tally) => tally,
        None => {
            let status = Snapshot::load(storage.dir()).map_err(SurveyError::file(READ, storage.dir()))?;
            Tally::from_tables(storage.dir(), status.map(|status| status.seen))?
        }
    };
    let totals = finished.totals.map_or_else(|| site_totals(storage.dir()), Ok)?;
    (finished.totals, finished.rows) = (Some(totals), Some(rows));
    let mut recovery = Recovery::new(parts, &finished, totals);
    let mut unrecorded = storage.frontier().unrecorded()?;
    for order in journaled_trees {
        let lease = storage.frontier().open_tree(order)?;
        if let Some(lease) = lease {
            unrecorded += recovery.read(&lease, replies.get(&order).map_or(&[], Vec::as_slice))?;
        } else {
            let path = storage.folder.journal(order);
            fs::remove_file(&path).map_err(SurveyError::file("remove", &path))?;
        }
    }
    let mut all = finished.clone();
    all.add(&recovery.tally);
    storage.judge().restore(all.seen);
    parts.shared_robots.restore(storage, std::mem::take(&mut recovery.robots))?;
    recall_servers(access, storage)?;
    let totals = recovery.book()?;
    let known = totals.0.requests + unrecorded - storage.frontier().unrecorded()?;
    let missing = missing_requests(parts, known)?;
    if missing > 0 {
        storage.frontier().add_unrecorded(missing)?;
    }
    let counts = storage.frontier().counts()?;
    storage.progress.update(|now| {
        totals.write_to(now);
        now.errors = all.errors;
        now.sites_done = counts.finished;
        now.impolite = less_polite_settings(parts);
        now.unrecorded = unrecorded + missing;
    });
    Ok(finished)
}

/// The number of requests in the last status beyond those that are `known` from journals and tables. They are
/// missing because journals were removed or cut, and servers may receive those requests again.
fn missing_requests(parts: &Parts, known: u64) -> Result<u64, SurveyError> {
    let dir = parts.storage.dir();
    let status = Snapshot::load(dir).map_err(SurveyError::file(READ, dir))?;
    let missing = status.map_or(0, |status| status.requests.saturating_sub(known));
    if missing > 0 {
        let journals = parts.storage.folder.journals();
        tracing::error!(
            journals = %journals.display(),
            requests = missing,
            "the status counts requests that are in no journal and no table: journals were removed or cut off. These requests \
             count as lost, and pages of their sites may be requested again"
        );
    }
    Ok(missing)
}

/// Checks that the state belongs to the tables: files of either may have been lost, restored from a copy or
/// never copied. Returns the number of rows of each table that count.
///
/// A process that dies may leave one segment with sites that the state does not know; the journals of these
/// sites still exist. Any other surplus came from elsewhere, and is not discarded.
pub(in crate::survey) fn rows_of_own_tables(
    storage: &Storage,
    tables: &Tables,
    stored: Option<&Tally>,
    journals: u64,
) -> Result<BTreeMap<String, u64>, SurveyError> {
    let segments = storage.frontier().segments()?;
    let sum = |segments: &[(u64, u64)]| segments.iter().map(|(_, rows)| rows).sum::<u64>();
    let mut all = BTreeMap::new();
    for (table, found) in tables.segments()? {
        let found = found.into_iter().filter(|(_, rows)| *rows > 0);
        let (counted, newer): (Vec<_>, Vec<_>) = found.partition(|(number, _)| *number < segments);
        let (rows, since, newer) = (sum(&counted), sum(&newer), newer.len());
        let known = stored.and_then(|tally| tally.rows_of(table)).unwrap_or(rows);
        // Stored pages may fill several segments.
        let is_explained = table != SiteRow::TABLE || (newer <= 1 && since <= journals);
        if rows != known || !is_explained {
            return Err(SurveyError::StateApart { path: storage.folder.state(), table, known, rows, newer });
        }
        all.insert(table.to_owned(), rows);
    }
    Ok(all)
}

/// Responses that were stored elsewhere while no process was running the survey, by the numbers of their site
/// trees.
pub type KeptReplies = BTreeMap<u64, Vec<KeptReply>>;

/// A response that was stored outside the survey.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptReply {
    /// When the request was sent, as the survey recorded it.
    pub requested_at: SystemTime,
    /// The result of the request.
    pub reply: RemoteResponse,
}

impl KeptReply {
    /// Whether it is the response to a request that has none on record. A response that only an earlier
    /// survey can complete counts as lost, and so does one after which the request may have a fallback.
    fn fits(&self, unanswered: &Unanswered) -> bool {
        let Response { status, failure, .. } = &self.reply.response;
        let is_whole = status.is_some_and(|status| status != NOT_MODIFIED) && failure.is_none();
        let is_whole = is_whole && self.reply.has_possible_times();
        is_whole && unanswered.is_pending(self.reply.request.number, self.requested_at)
    }
}

/// Restores the stored state of all servers.
fn recall_servers(access: &Access, storage: &Storage) -> Result<(), SurveyError> {
    storage.each_page_of_servers(|page| {
        let (mut load, mut judge) = (access.load(), storage.judge());
        for (address, state) in &page {
            load.recall_neighbour(*address, state);
            judge.remember(*address, &server_record(state));
        }
        storage.progress.note_servers(page.iter().map(|(address, state)| (*address, &state.ledger)));
        Ok(())
    })
}

/// The settings that are less polite than the defaults toward real servers.
fn less_polite_settings(parts: &Parts) -> Vec<String> {
    let less_polite = if parts.is_simulated { Vec::new() } else { impolite(&parts.settings) };
    less_polite.iter().map(ToString::to_string).collect()
}

/// What the journals say about servers that their stored states do not include yet.
struct Recovery<'a> {
    parts: &'a Parts,
    access: &'a Access,
    storage: &'a Storage,
    /// The end of the last exchange that is included in the stored state.
    stored: HashMap<IpAddr, Option<SystemTime>>,
    exchanges: Vec<JournaledExchange>,
    /// Requests without a response on record: their servers, and when they were sent.
    unanswered: Vec<(IpAddr, SystemTime)>,
    /// Exchanges that may overlap with some that were not seen when the tally was stored.
    late: Vec<JournaledExchange>,
    /// The part of the tally that comes from the journals, in addition to the stored one.
    tally: Tally,
    totals: Totals,
    /// Responses for robots.txt, with their positions in the journals.
    robots: Vec<RecordedRobots>,
    /// No exchange that ended before this is late.
    since: Option<SystemTime>,
}

/// An exchange from a journal.
#[derive(Clone)]
struct JournaledExchange {
    site: Site,
    address: IpAddr,
    purpose: Purpose,
    url: WebUrl,
    response: Response,
}

impl JournaledExchange {
    /// The exchange as a fact for the judge. The Crawl-delay of its host is not on record.
    fn fact(&self) -> Fact<'_> {
        let Self { site, address, purpose, url, response } = self;
        let (address, purpose, url, objections) = (*address, *purpose, Some(url), OwnerObjections::default());
        Fact { site, address, purpose, url, response, crawl_delay: None, objections }
    }
}

impl<'a> Recovery<'a> {
    /// `finished` is the tally of the finished trees, and `totals` are their totals.
    fn new(parts: &'a Parts, finished: &Tally, totals: SiteTotals) -> Self {
        let Parts { access, storage, .. } = parts;
        Self {
            parts,
            access,
            storage,
            stored: HashMap::new(),
            exchanges: Vec::new(),
            unanswered: Vec::new(),
            late: Vec::new(),
            tally: Tally::default(),
            totals: Totals(totals),
            robots: Vec::new(),
            since: finished.as_of.and_then(|time| time.checked_sub(Judge::HORIZON)),
        }
    }

    /// Reads the journal of an unfinished tree; returns the number of requests without a response on record.
    fn read(&mut self, lease: &Lease, replies: &[KeptReply]) -> Result<u64, SurveyError> {
        let path = self.storage.folder.journal(lease.order);
        let mut journal = JournalReader::open(&path)?;
        let mut unanswered = Unanswered::default();
        let mut tally = TreeTally::new(&lease.site);
        let (mut at, mut last_tries) = (journal.offset(), HashMap::new());
        while let Some(entry) = journal.next()? {
            unanswered.note(&entry);
            tally.note(&entry);
            match &entry {
                Entry::Received(record) => {
                    last_tries.remove(&record.request.number);
                    self.robots.extend(RecordedRobots::from_record(lease.order, at, record));
                }
                Entry::Attempted(record) => {
                    last_tries
                        .insert(record.request.number, RecordedRobots::from_record(lease.order, at, record));
                }
                Entry::FinalAttempt { number } => {
                    self.robots.extend(last_tries.remove(number).flatten());
                }
                _ => {}
            }
            self.take(&lease.site, entry)?;
            at = journal.offset();
        }
        let unreadable = unanswered.unreadable();
        for record in &unreadable {
            tracing::error!(
                url = record.request.url.as_str(),
                "a response cannot be parsed: please report this page"
            );
        }
        let known = replies.iter().filter(|kept| kept.fits(&unanswered)).map(|kept| kept.reply.clone());
        let late: Vec<ExchangeRecord> =
            unreadable.into_iter().chain(known.map(RemoteResponse::into_record)).collect();
        if !late.is_empty() {
            let (journal, _past) = Journal::open(&path)?;
            for record in late {
                let entry = Entry::Received(Box::new(record));
                let at = journal.append(&entry)?;
                if let Entry::Received(record) = &entry {
                    self.robots.extend(RecordedRobots::from_record(lease.order, at, record));
                }
                unanswered.note(&entry);
                tally.note(&entry);
                self.take(&lease.site, entry)?;
            }
            // From here on they are stored nowhere else.
            journal.flush()?;
        }
        self.tally.add(&tally.tally);
        self.unanswered.extend(unanswered.sent_requests());
        Ok(unanswered.count())
    }

    fn take(&mut self, site: &Site, entry: Entry) -> Result<(), SurveyError> {
        let Some(record) = entry.into_record() else { return Ok(()) };
        self.totals.add(&record);
        let Some(address) = contacted_server(&record.response) else { return Ok(()) };
        let stored = self.stored_end(address)?;
        let ended = record.response.ended();
        let (Request { purpose, url, .. }, response) = (record.request, record.response);
        let journaled_exchange = JournaledExchange { site: site.clone(), address, purpose, url, response };
        if self.since.is_none_or(|since| ended >= since) {
            self.late.push(journaled_exchange.clone());
        }
        if stored.is_none_or(|end| ended > end) {
            self.exchanges.push(journaled_exchange);
        }
        Ok(())
    }

    fn stored_end(&mut self, address: IpAddr) -> Result<Option<SystemTime>, SurveyError> {
        if let Some(end) = self.stored.get(&address) {
            return Ok(*end);
        }
        self.access.recall(self.storage, address)?;
        let end = self.access.load().state_of(address).and_then(|state| state.ledger.last_end());
        self.stored.insert(address, end);
        Ok(end)
    }

    /// Books everything in the order in which it happened; returns the totals of earlier runs.
    fn book(mut self) -> Result<Totals, SurveyError> {
        let Self { access, storage, .. } = self;
        self.exchanges.sort_by_key(|journaled_exchange| journaled_exchange.response.ended());
        for journaled_exchange in &self.exchanges {
            let JournaledExchange { site, address, purpose, response, .. } = journaled_exchange;
            let mut load = access.load();
            storage.add_server(*address, load.state_of(*address));
            load.recall(*address, site, *purpose, response);
            storage.judge().note_pause(&journaled_exchange.fact());
        }
        self.late.sort_by_key(|journaled_exchange| journaled_exchange.response.ended());
        for journaled_exchange in &self.late {
            storage.judge().recall(&journaled_exchange.fact());
        }
        self.unanswered.sort_by_key(|(_, at)| *at);
        for (address, at) in self.unanswered {
            access.recall(storage, address)?;
            let booked_until = self.parts.latest_end(at).max(access.now());
            access.load().recall_in_flight(address, at, booked_until);
        }
        Ok(self.totals)
    }
}

/// The totals of earlier runs, as far as they are recorded.
struct Totals(SiteTotals);

impl Totals {
    fn add(&mut self, record: &ExchangeRecord) {
        let Self(totals) = self;
        totals.pages += u64::from(record.is_page());
        totals.requests += u64::from(record.response.was_sent());
        totals.sent_bytes += record.response.wire.sent;
        totals.received_bytes += record.response.wire.received;
    }

    fn write_to(self, now: &mut Snapshot) {
        let Self(SiteTotals { pages, requests, sent_bytes, received_bytes, external_urls }) = self;
        now.pages = pages;
        now.requests = requests;
        now.sent_bytes = sent_bytes;
        now.received_bytes = received_bytes;
        now.external_urls = external_urls;
    }
}
