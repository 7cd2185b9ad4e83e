use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::clock::{clock, wait_until};
use super::error::SurveyError;
use super::folder::Folder;
use super::journal::{Entry, Reader, Unanswered};
use super::parts::{Parts, Reach, pace};
use super::progress::{Progress, Snapshot};
use super::settings::Settings;
use super::visit::{Ended, Visited, visit};
use super::writer::Writer;
use crate::address::WebUrl;
use crate::exchange::{Answer, Failure};
use crate::frontier::{Lease, Offer};
use crate::load::{Promise, ServerState};
use crate::records::{Manifest, SiteRow, SurveyState, Tables, read_table, row_counts};

/// A survey that is ready to run.
pub struct Survey {
    parts: Arc<Parts>,
    manifest: Manifest,
    stop: watch::Sender<bool>,
}

/// What became of the start URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// New sites.
    pub sites: usize,
    /// Further start URLs of these sites.
    pub seeds: usize,
    /// Left out: their site has as many start URLs as it may have.
    pub repeated: usize,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Whether the survey is complete; otherwise it was stopped and can be resumed.
    pub is_finished: bool,
    /// Load promises that the ledger shows broken, a sentence each.
    pub broken_promises: Vec<String>,
}

/// Segments of a finished survey are joined to files of so many rows: a usual row group of Parquet readers, and
/// about 130 MB of memory while it is written.
const FILE_ROWS: usize = 150_000;

/// Sites parked at busy servers for each that may be visited; about 300 bytes of memory each.
const PARKED_PER_VISIT: usize = 64;

impl Survey {
    /// Begins a survey in a new folder.
    ///
    /// # Errors
    /// When the folder exists, a setting cannot be obeyed, or the folder cannot be written; then nothing
    /// was asked of any server.
    pub fn create(dir: &Path, settings: Settings, start: &[WebUrl]) -> Result<(Self, Taken), SurveyError> {
        // All that can be wrong with the settings shows before the folder is made.
        Reach::of(&settings)?;
        let was_there = dir.exists();
        let folder = Folder::create(dir)?;
        let begin = || {
            let survey = Self::open_parts(folder.clone(), settings.clone(), None)?;
            folder.write_settings(&settings)?;
            folder.write_start_list(start)?;
            let starts: Vec<_> = start.iter().map(|url| survey.parts.reach.start(url.clone())).collect();
            let offers = survey.parts.frontier().offer(starts)?;
            survey.manifest.save(dir)?;
            let count = |kind| offers.iter().filter(|offer| **offer == kind).count();
            let taken =
                Taken { sites: count(Offer::Site), seeds: count(Offer::Seed), repeated: count(Offer::Known) };
            Ok((survey, taken))
        };
        begin().map_err(|wrong: SurveyError| {
            // A folder without a survey in it would only be in the way of the next try.
            let _ = std::fs::remove_dir_all(dir);
            if was_there {
                let _ = std::fs::create_dir(dir);
            }
            wrong.in_survey(dir)
        })
    }

    /// Opens a survey that was stopped or has crashed.
    ///
    /// # Errors
    /// When there is no survey, another process is at work on it, or its state cannot be read.
    pub fn open(dir: &Path) -> Result<Self, SurveyError> {
        let open = || {
            let manifest = Manifest::load(dir)?;
            let folder = Folder::open(dir);
            if !folder.state().is_file() {
                return Err(SurveyError::StateMissing(folder.state()));
            }
            let settings = folder.read_settings()?;
            let mut survey = Self::open_parts(folder, settings, Some(manifest))?;
            survey.recover()?;
            Ok(survey)
        };
        open().map_err(|wrong: SurveyError| wrong.in_survey(dir))
    }

    fn open_parts(
        folder: Folder,
        settings: Settings,
        manifest: Option<Manifest>,
    ) -> Result<Self, SurveyError> {
        let earlier = match &manifest {
            Some(_) => Snapshot::load(&folder.dir).map_err(SurveyError::file("read", &folder.dir))?,
            None => None,
        };
        let (stop, stopping) = watch::channel(false);
        let progress = Arc::new(Progress::resume(earlier, clock()));
        let parts = Parts::open(folder, settings, stopping, progress)?;
        let manifest = manifest.unwrap_or_else(|| {
            let settings = serde_json::to_value(&parts.settings).unwrap_or_default();
            let mut manifest = Manifest::new(settings, parts.now().into());
            manifest.suffix_list_version = parts.reach.suffixes.version().map(ToOwned::to_owned);
            manifest.geo = parts.geo.describe().cloned().collect();
            manifest
        });
        Ok(Self { parts: Arc::new(parts), manifest, stop })
    }

    /// Sets right what a crash left, and brings back what was recorded and not yet stored: counters, the
    /// servers' ledgers and their pauses.
    fn recover(&mut self) -> Result<(), SurveyError> {
        let parts = &self.parts;
        let segments = parts.frontier().segments()?;
        let tables = Tables::open(&parts.folder.dir)?;
        tables.discard_after(segments.checked_sub(1))?;
        let mut totals = Totals::of_tables(&parts.folder.dir)?;
        let mut unrecorded = parts.frontier().unrecorded()?;
        let mut recalled = Recalled::default();
        for order in parts.folder.journaled()? {
            if parts.frontier().is_open(order)? {
                unrecorded += recalled.read(parts, order, &mut totals)?;
            } else {
                let path = parts.folder.journal(order);
                std::fs::remove_file(&path).map_err(SurveyError::file("remove", &path))?;
            }
        }
        recalled.book(parts)?;
        let counts = parts.frontier().counts()?;
        parts.progress.update(|now| {
            totals.put_into(now);
            now.sites_done = counts.finished;
            now.unrecorded = unrecorded;
        });
        Ok(())
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        self.parts.progress.clone()
    }

    /// Works until no site is left or `stop` becomes true.
    ///
    /// # Errors
    /// When something of ours stops working, such as the disk; what was recorded is kept.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<Ending, SurveyError> {
        let dir = self.parts.folder.dir.clone();
        let result = self.work(&mut stop).await.map_err(|wrong| wrong.in_survey(&dir));
        let state = match &result {
            Ok(true) => SurveyState::Finished,
            Ok(false) => SurveyState::Interrupted,
            Err(_) => SurveyState::Failed,
        };
        let closed = self.close(state).map_err(|wrong| wrong.in_survey(&dir));
        let is_finished = result?;
        Ok(Ending { is_finished, broken_promises: closed? })
    }

    async fn work(&mut self, stop: &mut watch::Receiver<bool>) -> Result<bool, SurveyError> {
        let parts = self.parts.clone();
        let tables = Tables::open(&parts.folder.dir)?;
        let segments = parts.frontier().segments()?;
        tables.discard_after(segments.checked_sub(1))?;
        self.manifest.state = SurveyState::Running;
        self.manifest.save(&parts.folder.dir)?;
        check_name_server(&parts).await?;
        let mut crew = Crew {
            writer: Writer::start(parts.clone(), tables, segments)?,
            visits: JoinSet::new(),
            put_off: BTreeMap::new(),
            parked: Parked::default(),
            parts,
        };
        let done = crew.work(stop, &self.stop).await;
        // Whatever went wrong, visits end and what they recorded is written.
        let _ = self.stop.send(true);
        while let Some(joined) = crew.visits.join_next().await {
            if let Ok(Ok(Ended { visited: visited @ (Visited::Finished(_) | Visited::Reached(_)), .. })) =
                joined
            {
                crew.writer.take(visited);
            }
        }
        let written = crew.writer.finish();
        let is_finished = done?;
        written?;
        Ok(is_finished)
    }

    /// Says in manifest and status how the run ended; gives the promises that were broken.
    fn close(&mut self, state: SurveyState) -> Result<Vec<String>, SurveyError> {
        let parts = &self.parts;
        let now = parts.now();
        let broken = broken_promises(parts)?;
        if state == SurveyState::Finished {
            Tables::open(&parts.folder.dir)?.compact(FILE_ROWS)?;
        }
        self.manifest.state = state;
        self.manifest.updated = now.into();
        self.manifest.finished = (state == SurveyState::Finished).then(|| now.into());
        self.manifest.unrecorded_exchanges = unrecorded(parts)?;
        self.manifest.tables = row_counts(&parts.folder.dir)?;
        self.manifest.broken_promises.clone_from(&broken);
        self.manifest.save(&parts.folder.dir)?;
        save_status(parts, &format!("{state:?}").to_lowercase(), 0)?;
        Ok(broken)
    }
}

/// Those who work on a running survey.
struct Crew {
    parts: Arc<Parts>,
    writer: Writer,
    visits: JoinSet<Result<Ended, SurveyError>>,
    parked: Parked,
    /// Sites whose server wants to be left alone until some time.
    put_off: BTreeMap<(SystemTime, u64), Lease>,
}

impl Crew {
    /// Says whether the survey is complete.
    async fn work(
        &mut self,
        stop: &mut watch::Receiver<bool>,
        tell_visits: &watch::Sender<bool>,
    ) -> Result<bool, SurveyError> {
        let mut every_second = tokio::time::interval(Duration::from_secs(1));
        let written = self.writer.written.clone();
        loop {
            let is_idle = self.begin_visits()?;
            self.writer.idle.store(is_idle, Ordering::SeqCst);
            let nothing_left =
                is_idle && self.visits.is_empty() && self.put_off.is_empty() && self.parked.count == 0;
            if nothing_left && self.writer.unwritten.load(Ordering::SeqCst) == 0 {
                return Ok(true);
            }
            let next_put_off = self.put_off.keys().next().map(|(until, _)| *until);
            tokio::select! {
                Some(joined) = self.visits.join_next() => self.end_visit(joined)?,
                () = written.notified() => {}
                () = async { wait_until(next_put_off.unwrap_or_else(clock)).await }, if next_put_off.is_some() => {}
                _ = every_second.tick() => {
                    save_status(&self.parts, "running", self.visits.len() as u64)?;
                }
                () = asked_to_stop(stop) => {
                    tracing::info!("stopping");
                    let _ = tell_visits.send(true);
                    return Ok(false);
                }
            }
            if self.writer.has_failed() {
                return Ok(false);
            }
        }
    }

    /// Begins visits while there are trees to walk; says whether there are none left for now.
    fn begin_visits(&mut self) -> Result<bool, SurveyError> {
        while self.visits.len() < self.parts.settings.sites {
            let Some(lease) = self.next_lease()? else { return Ok(true) };
            tracing::debug!(site = lease.site.as_str(), start = lease.start.as_str(), "visit");
            self.visits.spawn(visit(self.parts.clone(), lease));
        }
        Ok(false)
    }

    fn next_lease(&mut self) -> Result<Option<Lease>, SurveyError> {
        if let Some(entry) = self.put_off.first_entry()
            && entry.key().0 <= clock()
        {
            return Ok(Some(entry.remove()));
        }
        if let Some(lease) = self.parked.ready.pop_front() {
            return Ok(Some(lease));
        }
        if self.parked.count >= PARKED_PER_VISIT * self.parts.settings.sites {
            return Ok(None);
        }
        Ok(self.parts.frontier().lease()?)
    }

    fn end_visit(
        &mut self,
        joined: Result<Result<Ended, SurveyError>, tokio::task::JoinError>,
    ) -> Result<(), SurveyError> {
        let Ended { order, server, visited } =
            joined.map_err(|wrong| SurveyError::Broken(wrong.to_string()))??;
        if let Some(address) = server {
            self.parts.leave_server(address);
            self.parked.wake(address);
        }
        let is_parked_at = if let Visited::Parked(_, address) = &visited { Some(*address) } else { None };
        self.parked.pass_on(order, server.or(is_parked_at));
        match visited {
            // The visit that was in its way may have ended in the meantime, and then nobody would wake it.
            Visited::Parked(lease, address) if self.parts.has_place(address) => {
                self.parked.ready.push_back(lease)
            }
            Visited::Parked(lease, address) => self.parked.park(lease, address),
            Visited::PutOff(lease, until) => {
                tracing::info!(site = lease.site.as_str(), ?until, "put off");
                self.put_off.insert((until, lease.order), lease);
            }
            Visited::Stopped => {}
            visited => self.writer.take(visited),
        }
        Ok(())
    }
}

/// Site trees whose server is being visited by another.
#[derive(Default)]
struct Parked {
    by_server: HashMap<IpAddr, VecDeque<Lease>>,
    /// Parked at servers.
    count: usize,
    /// Their server has become free.
    ready: VecDeque<Lease>,
    /// Trees that were woken, each with the server that had become free for it.
    woken: HashMap<u64, IpAddr>,
}

impl Parked {
    fn park(&mut self, lease: Lease, address: IpAddr) {
        self.by_server.entry(address).or_default().push_back(lease);
        self.count += 1;
    }

    /// A tree that was woken has been visited. If that was elsewhere (its name leads to another server by
    /// now, or to none), the next one at the server is woken in its place.
    fn pass_on(&mut self, order: u64, visited: Option<IpAddr>) {
        if let Some(address) = self.woken.remove(&order)
            && visited != Some(address)
        {
            self.wake(address);
        }
    }

    fn wake(&mut self, address: IpAddr) {
        let Some(waiting) = self.by_server.get_mut(&address) else { return };
        if let Some(lease) = waiting.pop_front() {
            self.count -= 1;
            self.woken.insert(lease.order, address);
            self.ready.push_back(lease);
        }
        if waiting.is_empty() {
            self.by_server.remove(&address);
        }
    }
}

async fn asked_to_stop(stop: &mut watch::Receiver<bool>) {
    // An error means that nobody is left who could stop us.
    if stop.wait_for(|stopping| *stopping).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Asks the name server for the country domains themselves, which it must have something to say about.
async fn check_name_server(parts: &Parts) -> Result<(), SurveyError> {
    let mut silent = Vec::new();
    for domain in parts.reach.countries.iter() {
        if parts.fetcher.locate(domain).await.address != Err(Failure::DnsTimeout) {
            return Ok(());
        }
        silent.push(domain.to_string());
    }
    let server =
        parts.settings.dns.map_or("the system's name server".to_owned(), |dns| format!("name server {dns}"));
    Err(SurveyError::NameServer(server, silent.join(", ")))
}

/// What the journals say of servers and their states, as they are stored, do not know yet.
#[derive(Default)]
struct Recalled {
    /// When the last exchange ended that the stored state knows.
    stored: HashMap<IpAddr, Option<SystemTime>>,
    answers: Vec<(IpAddr, Answer)>,
    /// Questions without an answer on record: to whom, and when they were put.
    unanswered: Vec<(IpAddr, SystemTime)>,
}

impl Recalled {
    /// Reads a journal; gives the number of questions without an answer on record.
    fn read(&mut self, parts: &Parts, order: u64, totals: &mut Totals) -> Result<u64, SurveyError> {
        let mut journal = Reader::open(&parts.folder.journal(order))?;
        let mut unanswered = Unanswered::default();
        while let Some(entry) = journal.next()? {
            unanswered.note(&entry);
            if let Entry::Heard(heard) = entry {
                totals.add(&heard);
                let reached = heard.answer.failure.is_none_or(Failure::reached_the_network);
                if let Some(address) = heard.answer.address.filter(|_| reached) {
                    let stored = self.stored_end(parts, address)?;
                    if stored.is_none_or(|end| heard.answer.ended() > end) {
                        self.answers.push((address, heard.answer));
                    }
                }
            }
        }
        self.unanswered.extend(unanswered.open());
        Ok(unanswered.count())
    }

    fn stored_end(&mut self, parts: &Parts, address: IpAddr) -> Result<Option<SystemTime>, SurveyError> {
        if let Some(end) = self.stored.get(&address) {
            return Ok(*end);
        }
        parts.remember(address)?;
        let end = parts.load().state_of(address).and_then(|state| state.ledger.last_end());
        self.stored.insert(address, end);
        Ok(end)
    }

    /// Books it all in the order in which it happened.
    fn book(mut self, parts: &Parts) -> Result<(), SurveyError> {
        self.answers.sort_by_key(|(_, answer)| answer.ended());
        for (address, answer) in &self.answers {
            parts.load().recall(*address, answer);
        }
        for (address, at) in self.unanswered {
            parts.remember(address)?;
            parts.load().recall_in_flight(address, at, parts.now());
        }
        Ok(())
    }
}

/// Questions that were put and have no answer on record, over the whole survey.
fn unrecorded(parts: &Parts) -> Result<u64, SurveyError> {
    let mut sum = parts.frontier().unrecorded()?;
    for order in parts.folder.journaled()? {
        let mut journal = Reader::open(&parts.folder.journal(order))?;
        let mut unanswered = Unanswered::default();
        while let Some(entry) = journal.next()? {
            unanswered.note(&entry);
        }
        sum += unanswered.count();
    }
    Ok(sum)
}

/// What was done by earlier runs, as far as it is recorded.
#[derive(Default)]
struct Totals {
    pages: u64,
    requests: u64,
    sent_bytes: u64,
    received_bytes: u64,
    external_urls: u64,
}

impl Totals {
    fn of_tables(dir: &Path) -> Result<Self, SurveyError> {
        let mut totals = Self::default();
        for segment in read_table::<SiteRow>(dir)? {
            for row in segment? {
                totals.pages += row.pages;
                totals.requests += row.requests;
                totals.sent_bytes += row.sent_bytes;
                totals.received_bytes += row.received_bytes;
                totals.external_urls += row.external_urls;
            }
        }
        Ok(totals)
    }

    fn add(&mut self, heard: &super::journal::Heard) {
        self.pages += u64::from(matches!(heard.content, crate::walk::Content::Page(_)));
        self.requests += u64::from(heard.answer.failure.is_none_or(Failure::reached_the_network));
        self.sent_bytes += heard.answer.wire.sent;
        self.received_bytes += heard.answer.wire.received;
    }

    fn put_into(self, now: &mut Snapshot) {
        now.pages = self.pages;
        now.requests = self.requests;
        now.sent_bytes = self.sent_bytes;
        now.received_bytes = self.received_bytes;
        now.external_urls = self.external_urls;
    }
}

fn broken_promises(parts: &Parts) -> Result<Vec<String>, SurveyError> {
    let pace = pace(&parts.settings);
    let mut broken = Vec::new();
    each_server(parts, |address, state| {
        for promise in state.ledger.broken(&pace) {
            broken.push(match promise {
                Promise::OneAtATime => {
                    format!("{address} had {} requests at once", state.ledger.most_parallel)
                }
                Promise::LeastDelay => {
                    let gap = state.ledger.smallest_gap.unwrap_or_default();
                    format!("{address} was asked again after {gap:?}, sooner than after {:?}", pace.min_delay)
                }
            });
        }
    })?;
    Ok(broken)
}

fn each_server(parts: &Parts, mut visit: impl FnMut(IpAddr, &ServerState)) -> Result<(), SurveyError> {
    parts.frontier().each_server(|address, bytes| {
        if let Ok(state) = postcard::from_bytes(bytes) {
            visit(address, &state);
        }
    })?;
    Ok(())
}

fn save_status(parts: &Parts, state: &str, walking: u64) -> Result<(), SurveyError> {
    let counts = parts.frontier().counts()?;
    parts.progress.update(|now| {
        state.clone_into(&mut now.state);
        now.sites_walking = walking;
        now.sites_waiting = counts.trees.saturating_sub(counts.finished + walking);
    });
    let dir = &parts.folder.dir;
    parts.progress.snapshot(parts.now()).save(dir).map_err(SurveyError::file("write status in", dir))
}
