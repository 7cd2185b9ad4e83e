//! The stored data of a survey: state, progress, tallies, and what one tree of a site carries over to the
//! next.

pub(super) mod carry_over;
pub(super) mod progress;
pub(super) mod resume_clock;
pub(super) mod summary;
pub(super) mod tally;

use std::fs::File;
use std::net::IpAddr;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::earlier::EarlierPages;
use super::error::{READ, SurveyError};
use super::folder::Folder;
use super::folder::creation_lock::is_same_file;
use super::journal::JournalReader;
use super::journal::keeper::Keeper;
use super::journal::sent;
use crate::frontier::{Batch, Frontier, FrontierError, Lease, Spread};
use crate::load::ServerState;
use crate::promises::{Judge, ServerRecord, verdicts};
use crate::records::SurveyState;
use crate::settings::Settings;
use crate::walk::yields::Memory;
use carry_over::CarryOver;
use progress::{Progress, Snapshot};
use tally::Tally;

/// The number of server states that are read at a time: about a megabyte. In between, the store is free for
/// other users.
const SERVERS_PER_PAGE: usize = 1000;

/// The storage of a survey: its folder, the store in it, and the progress that is reported while it runs.
pub(super) struct Storage {
    pub folder: Folder,
    /// The file of the state. It reveals whether the folder is still the one that was opened.
    state_file: File,
    frontier: Mutex<Frontier>,
    /// Pages of an earlier survey, with `--since`.
    pub earlier_pages: Option<EarlierPages>,
    /// Judges the exchanges independently of the permits, by the settings that the survey began with: the
    /// settings may have been made more polite since.
    judge: Mutex<Judge>,
    pub progress: Arc<Progress>,
    /// Flushes journals, and requests before they are sent; none in a simulation.
    pub keeper: Option<Arc<Keeper>>,
}

/// The current state of a survey, for its status file.
#[derive(Clone, Copy)]
pub(super) struct SurveyStatus {
    pub state: SurveyState,
    /// Trees that are being visited.
    pub walking: u64,
    /// Trees that have ended, if those count that are not written yet.
    pub ended: Option<u64>,
}

/// The record of a server that the judge needs, from its stored state.
pub(super) fn server_record(state: &ServerState) -> ServerRecord {
    let ([load, load_on_day], day) = state.load_amounts();
    ServerRecord {
        last_end: state.ledger.last_end(),
        is_given_up: state.is_given_up(),
        best_rate: state.link().bits_per_second().map(|bits| bits / 8.0),
        most_parallel: state.ledger.most_parallel,
        smallest_gap: state.ledger.smallest_gap,
        load,
        day,
        load_on_day,
    }
}

impl Storage {
    /// Opens the files beside the store; `judge` will judge the exchanges.
    pub(super) fn open(
        folder: Folder,
        frontier: Frontier,
        judge: Judge,
        progress: Arc<Progress>,
        is_simulated: bool,
    ) -> Result<Self, SurveyError> {
        let state = folder.state();
        let keeper = if is_simulated { None } else { Some(keeper(&folder, &frontier)?) };
        let state_file = File::open(&state).map_err(SurveyError::file(READ, &state))?;
        let since = folder.since();
        let earlier_pages = since.is_file().then(|| EarlierPages::open(&since)).transpose()?;
        Ok(Self {
            folder,
            state_file,
            frontier: Mutex::new(frontier),
            earlier_pages,
            judge: Mutex::new(judge),
            progress,
            keeper,
        })
    }

    /// What an earlier survey found in a site, with `--focus`.
    pub(super) fn memory(&self, site: &str) -> Result<Option<Memory>, SurveyError> {
        self.earlier_pages.as_ref().map_or(Ok(None), |pages| pages.memory(site))
    }

    /// Checks that the folder is still the one that this process opened. Another survey may have been created
    /// in its place, and files written by name would end up in that one.
    pub(super) fn check_not_replaced(&self) -> Result<(), SurveyError> {
        let state = self.folder.state();
        let is_own = is_same_file(&self.state_file, &state).map_err(SurveyError::file(READ, &state))?;
        if is_own { Ok(()) } else { Err(SurveyError::Replaced(self.folder.dir.clone())) }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.folder.dir
    }

    pub(super) fn frontier(&self) -> MutexGuard<'_, Frontier> {
        self.frontier.lock()
    }

    pub(super) fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock()
    }

    /// Introduces a server with this state to the judge, before its next exchange counts.
    pub(super) fn add_server(&self, address: IpAddr, state: Option<&ServerState>) {
        if let Some(state) = state {
            self.judge().add_server(address, &server_record(state));
        }
    }

    /// The stored state of a server; none if it never received a request.
    pub(super) fn server(&self, address: IpAddr) -> Result<Option<ServerState>, SurveyError> {
        let stored = self.frontier().server(address)?;
        stored.map(|bytes| server_state(&self.folder, address, &bytes)).transpose()
    }

    /// The stored states of all servers, page by page, in the order of addresses.
    pub(super) fn each_page_of_servers(
        &self,
        visit: impl FnMut(Vec<(IpAddr, ServerState)>) -> Result<(), SurveyError>,
    ) -> Result<(), SurveyError> {
        each_page_of_servers(&self.folder, || self.frontier(), visit)
    }

    /// What the finished trees of a lease's site carry over to it.
    pub(super) fn carry_over(&self, lease: &Lease) -> Result<CarryOver, SurveyError> {
        if lease.seed == 0 {
            return Ok(CarryOver::default());
        }
        let Some(bytes) = self.frontier().carry_over(&lease.site)? else { return Ok(CarryOver::default()) };
        let what = || format!("the carry-over of site {}", lease.site.as_str());
        decode(&self.folder, &bytes, what).or_else(|damaged| {
            decode(&self.folder, &[&bytes[..], &CarryOver::LATER].concat(), what).map_err(|_| damaged)
        })
    }

    /// Stores finished trees. Meanwhile leases are still given out: visits do not wait for the disk.
    pub(super) fn finish(&self, batch: &Batch<'_>) -> Result<(), SurveyError> {
        let store = self.frontier().store();
        let written = store.finish(batch)?;
        self.frontier().note(written, batch.finished);
        Ok(())
    }

    /// The tally of all finished trees.
    pub(super) fn tally(&self) -> Result<Option<Tally>, SurveyError> {
        stored_tally(&self.folder, &self.frontier())
    }

    /// The number of requests without a response on record, over the whole survey.
    pub(super) fn unrecorded(&self) -> Result<u64, SurveyError> {
        let mut sum = self.frontier().unrecorded()?;
        for order in self.folder.journaled_trees()? {
            sum += JournalReader::open(&self.folder.journal(order))?.history()?.unanswered.count();
        }
        Ok(sum)
    }

    /// Rewrites the status file that other processes read.
    pub(super) fn save_status(&self, status: SurveyStatus, now: SystemTime) -> Result<(), SurveyError> {
        let SurveyStatus { state, walking, ended } = status;
        let counts = self.frontier().counts()?;
        let (seen, promises) = {
            let judge = self.judge();
            let seen = match state {
                SurveyState::Running => judge.seen().clone(),
                _ => judge.final_observations(),
            };
            let promises = verdicts(&seen, judge.limits());
            (seen, promises)
        };
        let finished = ended.unwrap_or(counts.finished);
        self.progress.update(|now| {
            now.promises = promises;
            now.seen = seen;
            now.state = state;
            now.sites_walking = walking;
            now.sites_done = finished;
            now.sites_waiting = counts.trees.saturating_sub(finished + walking);
        });
        let dir = self.dir();
        self.progress.snapshot(now).save(dir).map_err(SurveyError::file("write status in", dir))
    }

    /// Waits until the last status is on the disk. While a survey runs, the status is written again a second
    /// later; once it is finished, it is not.
    pub(super) fn sync_status(&self) -> Result<(), SurveyError> {
        let path = Snapshot::path(self.dir());
        let kept = std::fs::File::open(&path).and_then(|file| file.sync_all());
        kept.map_err(SurveyError::file("write", &path))
    }
}

/// The stored states of all servers, page by page, in the order of addresses. The store is borrowed for each
/// page.
pub(super) fn each_page_of_servers<F: Deref<Target = Frontier>>(
    folder: &Folder,
    frontier: impl Fn() -> F,
    mut visit: impl FnMut(Vec<(IpAddr, ServerState)>) -> Result<(), SurveyError>,
) -> Result<(), SurveyError> {
    let mut last = None;
    loop {
        let page = frontier().servers_after(last, SERVERS_PER_PAGE)?;
        let Some((address, _)) = page.last() else { return Ok(()) };
        last = Some(*address);
        let state =
            |(address, bytes): (IpAddr, Vec<u8>)| Ok((address, server_state(folder, address, &bytes)?));
        visit(page.into_iter().map(state).collect::<Result<_, SurveyError>>()?)?;
    }
}

fn server_state(folder: &Folder, address: IpAddr, bytes: &[u8]) -> Result<ServerState, SurveyError> {
    let what = || format!("the state of server {address}");
    // The state of an earlier version ends before some of the later additions.
    let lacking = (1..=ServerState::LATER.len()).map(|lacks| &ServerState::LATER[..lacks]);
    decode(folder, bytes, what).or_else(|damaged| {
        let mut read = lacking.map(|end| decode(folder, &[bytes, end].concat(), what));
        read.find_map(Result::ok).ok_or(damaged)
    })
}

/// Bytes that cannot be read to the last one count as damage. If they counted as nothing, servers would
/// receive requests without their pauses and beyond their budgets.
pub(super) fn decode<T: DeserializeOwned>(
    folder: &Folder,
    bytes: &[u8],
    what: impl FnOnce() -> String,
) -> Result<T, SurveyError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => {
            let what = format!("{} cannot be read", what());
            Err(FrontierError::Damaged { path: folder.state(), what }.into())
        }
    }
}

/// Begins a keeper, after making sure that the journals hold all sent requests.
fn keeper(folder: &Folder, frontier: &Frontier) -> Result<Arc<Keeper>, SurveyError> {
    sent::recover(folder, frontier)?;
    Ok(Arc::new(Keeper::begin(folder)?))
}

/// The tally of all finished trees.
pub(super) fn stored_tally(folder: &Folder, frontier: &Frontier) -> Result<Option<Tally>, SurveyError> {
    let bytes = frontier.tally()?;
    let to_error = |error| FrontierError::Damaged {
        path: folder.state(),
        what: format!("the tally of finished trees cannot be read: {error}"),
    };
    Ok(bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(to_error)).transpose()?)
}

/// Serializes a value that is to be stored.
pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, SurveyError> {
    postcard::to_stdvec(value).map_err(|error| SurveyError::Broken(format!("the survey's state: {error}")))
}

/// How far a survey with these settings spreads.
pub(super) fn spread(settings: &Settings) -> Spread {
    Spread {
        seeds_per_site: settings.seeds_per_site,
        generations: settings.generations,
        later_trees: !settings.entrances.is_single(),
    }
}
