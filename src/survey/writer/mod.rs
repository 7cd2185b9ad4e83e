//! Turns finished trees into rows of the tables.

pub(super) mod backlog;
pub(super) mod forbidden;
pub(super) mod kept_pages;
pub(super) mod rows;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::time::Instant;

use super::error::SurveyError;
use super::parts::Parts;
use super::parts::shared_robots::microseconds;
use super::storage::encode;
use super::storage::tally::Tally;
use super::visit::{ConcludedTree, DoneTree};
use crate::address::{Host, PageKey, Site};
use crate::frontier::{Batch, Finished, KeptRobots, Lease};
use crate::load::{ServerState, Spent};
use crate::promises::Judge;
use crate::records::{SegmentRows, ServerRow, Tables, WholeTable, milliseconds};
use crate::robots::MAX_AGE;
use backlog::Backlog;
use kept_pages::fill_a_segment;
use rows::{TreeReader, TreeRows, hosts_of};

/// While the survey waits for the writer (mostly for sites that were found), a finished tree is written as
/// soon as the writer has paused this many times as long as the last write took. So it works a fifth of the
/// time at most, unless no site is being visited at all …
const PAUSE_FACTOR: u32 = 4;
/// … and after this long at the latest, …
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// … otherwise after this long at first, and later after a two-hundredth of the running time of the survey,
/// so that a survey of a week has about a thousand segments.
const INTERVAL: Duration = Duration::from_secs(5);
const LONGEST_INTERVAL: Duration = Duration::from_secs(600);
/// The table of servers is rewritten as a whole, and therefore seldom: if there are many servers, a fiftieth
/// of the time is spent on it.
const SERVERS_INTERVAL: Duration = Duration::from_secs(60);
const SERVERS_PAUSE_FACTOR: u32 = 50;
/// The number of its rows in memory at once: about 20 MB including the memory that encoding takes.
const SERVERS_AT_ONCE: usize = 50_000;

enum Message {
    Done(Box<DoneTree>),
    /// The survey waits for the writer.
    Awaited,
}

/// Turns finished trees into table rows, in a thread of its own.
pub(super) struct Writer {
    queue: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Result<(), SurveyError>>>,
    pub backlog: Arc<Backlog>,
    /// The runtime has only one thread, which should wait for the writer.
    blocks: bool,
}

impl Writer {
    /// `tally` is the tally of the finished trees.
    pub(super) fn start(
        parts: Arc<Parts>,
        tables: Tables,
        segments: u64,
        tally: Tally,
    ) -> Result<Self, SurveyError> {
        // A short queue: if visits finish faster than the tables are written, they have to wait.
        let (queue, arrivals) = sync_channel(64);
        let backlog = Arc::<Backlog>::default();
        let blocks = parts.is_simulated;
        let mut writer = TableWriter {
            parts,
            tables,
            segments,
            rows: SegmentRows::default(),
            finished: Vec::new(),
            hosts: Vec::new(),
            unrecorded: 0,
            robots: Vec::new(),
            tally,
            text_bytes: 0,
            oldest: None,
            paused_until: Instant::now(),
            began: Instant::now(),
            servers_due: Instant::now(),
            backlog: backlog.clone(),
        };
        // The writer uses the runtime's clock.
        let runtime = tokio::runtime::Handle::current();
        let work = move || {
            let _entered = runtime.enter();
            let done = writer.work(&arrivals);
            // Tasks that wait for a segment must learn that none will come.
            writer.backlog.fail();
            done
        };
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(work)
            .map_err(|error| SurveyError::Broken(error.to_string()))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), backlog, blocks })
    }

    /// Hands over a finished tree. Blocks while the writer is far behind.
    pub(super) fn take(&self, done: DoneTree) {
        self.backlog.add();
        let Some(queue) = &self.queue else { return };
        // Sending fails if the writer has failed; then the writer's error is the one that counts.
        let message = Message::Done(Box::new(done));
        let _ = if self.blocks {
            queue.send(message).is_ok()
        } else {
            tokio::task::block_in_place(|| queue.send(message).is_ok())
        };
    }

    /// Sets whether the survey waits for the writer, and whether it has nothing else to do.
    pub(super) fn set_awaited(&self, is_awaited: bool, are_visits_over: bool) {
        let was_all = self.backlog.are_visits_over.swap(are_visits_over, Ordering::SeqCst);
        let was_awaited = self.backlog.is_awaited.swap(is_awaited, Ordering::SeqCst);
        let is_news = !was_awaited || are_visits_over && !was_all;
        if let Some(queue) = self.queue.as_ref().filter(|_| is_awaited && is_news) {
            // If the queue is full, the writer checks by itself.
            let _ = queue.try_send(Message::Awaited);
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Writes the remaining trees and ends.
    pub(super) fn finish(mut self) -> Result<(), SurveyError> {
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(done)) => done,
            Some(Err(_)) => Err(SurveyError::Broken("the thread that writes tables".to_owned())),
            None => Ok(()),
        }
    }
}

struct TableWriter {
    parts: Arc<Parts>,
    tables: Tables,
    segments: u64,
    rows: SegmentRows,
    finished: Vec<Finished>,
    hosts: Vec<(IpAddr, Host, Site)>,
    unrecorded: u64,
    robots: Vec<KeptRobots>,
    /// The tally of the trees that are in the store, and of those that the next batch will add.
    tally: Tally,
    text_bytes: usize,
    oldest: Option<Instant>,
    /// The end of the pause after the last write, so that a waiting survey does not keep the writer busy all
    /// the time.
    paused_until: Instant,
    began: Instant,
    servers_due: Instant,
    backlog: Arc<Backlog>,
}

impl TableWriter {
    fn work(&mut self, arrivals: &Receiver<Message>) -> Result<(), SurveyError> {
        loop {
            match arrivals.recv_timeout(self.poll_interval()) {
                Ok(Message::Done(done)) => self.add_done(*done)?,
                Ok(Message::Awaited) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.flush()?;
                    return self.write_servers();
                }
            }
            // A running simulation has no readers, and a minute of its clock passes in no time. If no tree
            // ends for hours, the states of servers are stored all the same: states that are not stored are
            // held in memory when the survey resumes.
            let is_due = self.is_due();
            if is_due {
                self.flush()?;
            }
            let is_time = !self.parts.is_simulated && Instant::now() >= self.servers_due;
            let are_servers_due = is_time && (is_due || self.finished.is_empty());
            if are_servers_due {
                self.write_servers()?;
            }
        }
    }

    fn add_done(&mut self, done: DoneTree) -> Result<(), SurveyError> {
        self.oldest.get_or_insert_with(Instant::now);
        match done {
            DoneTree::Finished(done) => {
                let finished = if self.parts.is_simulated {
                    already_merged(done.lease.clone())
                } else {
                    done.finished(&self.parts)?
                };
                self.add_tree(*done, finished)
            }
            DoneTree::Failed(lease, cause) => {
                tracing::error!(site = lease.site.as_str(), cause, "the walk of this site has failed");
                let earlier = self.spent_before(&lease)?;
                let done = tree_reader(&self.parts).salvage(lease, earlier, self.parts.access.now())?;
                let finished = done.finished(&self.parts)?;
                self.add_tree(done, finished)
            }
            DoneTree::Reached(lease) => {
                self.finished.push(already_reached(lease));
                Ok(())
            }
        }
    }

    fn add_tree(&mut self, done: ConcludedTree, finished: Finished) -> Result<(), SurveyError> {
        let TreeRows { rows, unrecorded, robots, request_span, tally } =
            tree_reader(&self.parts).rows(&done, |pages| {
                self.parts.storage.check_not_replaced()?;
                self.tables.write(self.segments, pages)?;
                self.segments += 1;
                self.tally.add_rows(pages);
                Ok(())
            })?;
        self.tally.add_rows(&rows);
        if let Some(row) = rows.sites.first() {
            let bytes = row.sent_bytes + row.received_bytes;
            // A tree without requests adds nothing to the earlier spending.
            let earlier = if row.requests > 0 { done.earlier } else { Spent::default() };
            let cost = [earlier.requests + row.requests, earlier.bytes + bytes];
            if let Some(totals) = &mut self.tally.totals {
                totals.add(row);
            }
            let (site, time) = (&done.lease.site, earlier.time + request_span);
            self.parts.storage.judge().note_tree(site, cost, time, &tally.seen.order);
        }
        self.unrecorded += unrecorded;
        self.tally.add(&tally);
        self.text_bytes += rows.text_bytes();
        self.text_bytes += robots.iter().map(|robots| robots.response.len()).sum::<usize>();
        self.robots.extend(robots);
        self.hosts.extend(hosts_of(&rows.exchanges, &done.lease.site));
        self.rows.append(rows);
        self.parts.storage.progress.update(|now| now.external_urls += done.tree.externals.len() as u64);
        tracing::info!(
            site = done.lease.site.as_str(),
            outcome = done.tree.outcome.as_str(),
            deepest = done.tree.deepest().map(|depth| depth.0),
            pages = done.tree.sum(|level| level.pages),
            external_urls = done.tree.externals.len(),
            "site done"
        );
        if done.lease.seed > 0 {
            // The store needs only the carry-over of the last tree of a site, not all URLs ever requested in
            // each tree.
            let mut before = self.finished.iter_mut().rev();
            if let Some(before) = before.find(|before| before.lease.site == done.lease.site) {
                before.known = None;
            }
        }
        self.finished.push(finished);
        Ok(())
    }

    /// What earlier trees spent from the account of a failed tree. No later tree of its site was begun.
    fn spent_before(&self, lease: &Lease) -> Result<Spent, SurveyError> {
        let storage = &self.parts.storage;
        let account = storage.judge().limits().tree.account_of(lease.seed.into());
        Ok(storage.carry_over(lease)?.spent_of(account))
    }

    fn is_due(&self) -> bool {
        let Some(oldest) = self.oldest else { return false };
        let usual = (self.began.elapsed() / 200).clamp(INTERVAL, LONGEST_INTERVAL);
        let is_awaited = self.is_awaited();
        let is_full = fill_a_segment(&self.rows, self.text_bytes);
        // In a simulation, the clock stands still until the trees that were handed over are written.
        if self.parts.is_simulated {
            return is_full || (is_awaited && self.finished.len() == self.backlog.len());
        }
        is_full || oldest.elapsed() >= usual || (is_awaited && self.cool_down().is_zero())
    }

    /// The remaining pause of the writer. If there is no other work, a pause would help nobody.
    fn cool_down(&self) -> Duration {
        if self.backlog.are_visits_over.load(Ordering::SeqCst) {
            return Duration::ZERO;
        }
        self.paused_until.saturating_duration_since(Instant::now())
    }

    fn is_awaited(&self) -> bool {
        self.backlog.is_awaited.load(Ordering::SeqCst)
    }

    /// The time to wait for another tree before checking whether a write is due.
    fn poll_interval(&self) -> Duration {
        let pause = self.cool_down();
        let is_pending = self.oldest.is_some() && self.is_awaited() && !pause.is_zero();
        if is_pending { pause } else { Duration::from_millis(50) }
    }

    /// Writes rows to the disk, then one transaction that makes them count, then removes the journals.
    fn flush(&mut self) -> Result<(), SurveyError> {
        if self.finished.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        self.parts.storage.check_not_replaced()?;
        if !self.rows.is_empty() {
            self.tables.write(self.segments, &self.rows)?;
            self.segments += 1;
        }
        let servers = self.changed_servers()?;
        let batch = Batch {
            finished: &self.finished,
            segments: self.segments,
            servers: &servers,
            hosts: &self.hosts,
            unrecorded: self.unrecorded,
            tally: &self.tally_to_store()?,
            robots: &self.robots,
            robots_since: microseconds(self.parts.access.now() - MAX_AGE),
        };
        self.parts.storage.finish(&batch)?;
        let counts = self.parts.storage.frontier().counts()?;
        for tree in &self.finished {
            // A journal that remains is removed on the next start.
            let _ = std::fs::remove_file(self.parts.storage.folder.journal(tree.lease.order));
        }
        self.parts.shared_robots.forget(&self.robots);
        let now = self.parts.access.now();
        self.parts.access.load().forget_idle(now);
        self.parts.storage.judge().forget_before(now - Judge::HORIZON);
        self.parts.storage.progress.update(|now| now.sites_done = now.sites_done.max(counts.finished));
        let written = self.finished.len();
        self.rows = SegmentRows::default();
        self.finished.clear();
        self.hosts.clear();
        self.robots.clear();
        self.unrecorded = 0;
        self.text_bytes = 0;
        self.oldest = None;
        self.paused_until = Instant::now() + (began.elapsed() * PAUSE_FACTOR).min(LONGEST_PAUSE);
        self.backlog.remove(written);
        Ok(())
    }

    /// Writes the table of servers from the stored states, after storing the changed ones.
    fn write_servers(&mut self) -> Result<(), SurveyError> {
        let began = Instant::now();
        let servers = self.changed_servers()?;
        self.parts.storage.finish(&Batch {
            finished: &[],
            segments: self.segments,
            servers: &servers,
            hosts: &[],
            unrecorded: 0,
            tally: &self.tally_to_store()?,
            robots: &[],
            robots_since: 0,
        })?;
        let mut table = WholeTable::begin(&self.parts.storage.folder.dir)?;
        let mut rows = Vec::new();
        self.parts.storage.each_page_of_servers(|mut page| {
            // An address that never responded is not a server.
            page.retain(|(_, state)| state.ledger.answers > 0);
            let addresses: Vec<IpAddr> = page.iter().map(|(address, _)| *address).collect();
            let counts = self.parts.storage.frontier().hosts_and_sites(&addresses)?;
            let counted = page.iter().zip(counts);
            rows.extend(counted.map(|((address, state), (hosts, sites))| {
                server_row(&self.parts, *address, state, hosts, sites)
            }));
            if rows.len() >= SERVERS_AT_ONCE {
                table.write(&std::mem::take(&mut rows))?;
            }
            Ok(())
        })?;
        table.write(&rows)?;
        table.finish()?;
        self.servers_due =
            began + (began.elapsed() * SERVERS_PAUSE_FACTOR).clamp(SERVERS_INTERVAL, LONGEST_INTERVAL);
        Ok(())
    }

    fn tally_to_store(&self) -> Result<Vec<u8>, SurveyError> {
        let worst = self.parts.storage.judge().final_observations();
        self.tally.to_store(&worst, self.parts.access.now())
    }

    fn changed_servers(&self) -> Result<Vec<(IpAddr, Vec<u8>)>, SurveyError> {
        let changed = self.parts.access.load().take_changed();
        self.parts
            .storage
            .progress
            .note_servers(changed.iter().map(|(address, state)| (*address, &state.ledger)));
        changed.into_iter().map(|(address, state)| Ok((address, encode(&state)?))).collect()
    }
}

impl ConcludedTree {
    /// The tree in the form that the frontier takes.
    pub(super) fn finished(&self, parts: &Parts) -> Result<Finished, SurveyError> {
        // In a survey with rounds they were offered at the end of each.
        let found =
            if parts.rounds.is_some() { Vec::new() } else { parts.boundaries.found_candidates(&self.tree) };
        let requested_pages =
            || self.carried_over.known.pages.iter().map(|PageKey(key)| *key).collect::<Vec<u64>>();
        let closed = self.tree.is_closed.then(requested_pages);
        let has_later_trees = parts.settings.seeds_per_site > 1 || closed.is_some();
        let known = has_later_trees.then(|| encode(&self.carried_over)).transpose()?;
        Ok(Finished { lease: self.lease.clone(), found, known, closed })
    }
}

/// A tree whose start URL an earlier tree has reached: it adds nothing to what is known of its site.
pub(super) fn already_reached(lease: Lease) -> Finished {
    Finished { lease, found: Vec::new(), known: None, closed: Some(Vec::new()) }
}

/// A tree that the frontier already has, except for its rows.
fn already_merged(lease: Lease) -> Finished {
    Finished { lease, found: Vec::new(), known: None, closed: None }
}

fn tree_reader(parts: &Parts) -> TreeReader<'_> {
    TreeReader {
        boundaries: &parts.boundaries,
        folder: &parts.storage.folder,
        shared_robots: &parts.shared_robots,
        product_token: &parts.walk.product_token,
        keeps_pages: parts.settings.record_links,
        max_urls: parts.settings.max_urls,
        clock: parts.access.clock,
    }
}

fn server_row(parts: &Parts, address: IpAddr, state: &ServerState, hosts: u32, sites: u32) -> ServerRow {
    let location = parts.boundaries.geo.lookup(address);
    let ledger = &state.ledger;
    let delays = parts.access.fetcher.user_delays(address);
    let with = delays.and_then(|delays| delays.with);
    ServerRow {
        address: address.to_string(),
        hosts,
        sites,
        country: location.country,
        asn: location.asn,
        as_org: location.as_org,
        server: ledger.software.clone(),
        requests: ledger.requests,
        received_bytes: ledger.received_bytes,
        busy_ms: milliseconds(ledger.busy),
        smallest_gap_ms: ledger.smallest_gap.map(milliseconds),
        most_parallel: ledger.most_parallel,
        most_requests_per_minute: ledger.most_requests_per_minute,
        sent_bytes: ledger.sent_bytes,
        connections: ledger.connections,
        others_requests: delays.map(|delays| delays.requests),
        others_wait_ms: delays.map(|delays| milliseconds(delays.without.wait)),
        others_wait_surveyed_ms: with.map(|with| milliseconds(with.wait)),
        others_response_ms: delays.map(|delays| milliseconds(delays.without.response)),
        others_response_surveyed_ms: with.map(|with| milliseconds(with.response)),
        others_worst_hour: delays.and_then(|delays| delays.worst_hour).filter(|share| share.is_finite()),
        link_bits_per_second: delays.map(|delays| delays.bits_per_second).filter(|rate| rate.is_finite()),
        best_bits_per_second: state.link().bits_per_second(),
    }
}
