use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::tally::error_of;
use crate::exchange::{Purpose, Response};
use crate::load::Ledger;
use crate::promises::{Observations, Verdict};
use crate::records::SurveyState;

/// What a survey has done since it was created, and its current pace.
///
/// Written to `DIR/status.json` about once a second, so that another process can read it while the survey
/// runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The state of the survey.
    pub state: SurveyState,
    /// The Web is simulated in this process, and all times are those of a virtual clock.
    #[serde(default)]
    pub is_simulated: bool,
    /// When the first run began.
    pub started: Option<SystemTime>,
    /// When this was written.
    pub updated: Option<SystemTime>,
    /// Seconds of activity, over all runs.
    pub active_seconds: f64,
    /// Finished site trees.
    pub sites_done: u64,
    /// Site trees that are being visited.
    pub sites_walking: u64,
    /// Site trees that are neither finished nor being visited.
    pub sites_waiting: u64,
    /// HTML pages fetched.
    pub pages: u64,
    /// Exchanges that reached the network.
    pub requests: u64,
    /// On the wire, from servers.
    pub received_bytes: u64,
    /// On the wire, to servers.
    pub sent_bytes: u64,
    /// Requests that may have been sent and have no response on record: a process was killed or stood still,
    /// or an agent or its link failed.
    pub unrecorded: u64,
    /// Since then, nothing has come back from anywhere: the survey is paused and probes our own link.
    #[serde(default)]
    pub own_link_broken_since: Option<SystemTime>,
    /// The problem because of which the bus to the agents does not work now.
    #[serde(default)]
    pub bus_problem: Option<BusProblem>,
    /// A condition that may become a problem of the bus.
    #[serde(default)]
    pub bus_warning: Option<String>,
    /// Since then, no agent has been present, if agents walk the sites.
    #[serde(default)]
    pub agents_missing_since: Option<SystemTime>,
    /// The part of the opt-out list that cannot be obeyed as it is now.
    #[serde(default)]
    pub opt_out_problem: Option<String>,
    /// Settings that are less polite than the defaults, in words.
    #[serde(default)]
    pub impolite: Vec<String>,
    /// External URLs in the trees of finished sites.
    pub external_urls: u64,
    /// Failures and HTTP error statuses, by kind.
    pub errors: BTreeMap<String, u64>,
    /// Over the last minute.
    pub requests_per_second: f64,
    /// Both ways, over the last minute.
    pub bytes_per_second: f64,
    /// An estimate for the unfinished sites, at the pace of the sites finished so far. It grows while new
    /// sites are found.
    pub seconds_left: Option<f64>,
    /// The round of a survey with a budget of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<RoundStatus>,
    /// The verdict of the ledger on each promise on load.
    #[serde(default)]
    pub promises: Vec<Verdict>,
    /// The basis of these verdicts: the worst that was observed, over all runs.
    #[serde(default)]
    pub seen: Observations,
    /// The agents that walk the site trees, in the order in which they joined; none if this process walks
    /// them.
    #[serde(default)]
    pub agents: Vec<AgentSeen>,
    /// The servers with most requests: address, requests, received bytes, busy seconds.
    pub most_loaded: Vec<LoadedServer>,
}

/// Why a survey over several machines waits for the bus between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusProblem {
    /// When it was noticed.
    pub since: SystemTime,
    /// What failed, where, and what to do.
    pub what: String,
}

/// The round of a survey with a budget of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundStatus {
    /// Rounds are numbered from 1.
    pub number: u32,
    /// The number of new external hosts that a request must be expected to bring; none in the last round, in
    /// which no request is sent.
    pub price: Option<f64>,
    /// Site trees whose part in the round has not begun.
    pub trees_to_begin: u64,
    /// The most requests of the whole survey.
    pub budget: u64,
}

/// An agent of a survey over several machines, as last reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSeen {
    /// As in the table `exchanges`.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// When it joined.
    pub since: Option<SystemTime>,
    /// Seconds since its last heartbeat.
    pub silent_seconds: u64,
    /// Site trees that it walks.
    pub sites_walking: u64,
    /// Site trees that it may walk at once.
    pub places: u64,
    /// Since it was started.
    pub requests: u64,
    /// HTML pages that it has read since it was started.
    pub pages: u64,
    /// Between the last two heartbeats.
    pub pages_per_second: f64,
    /// The load of the machine that it runs on.
    pub machine: MachineLoad,
    /// Since then, it has reached no server: its sites continue elsewhere, and its own link is probed.
    #[serde(default)]
    pub link_broken_since: Option<SystemTime>,
    /// Since then, dispatches to it have brought no result: its sites continue elsewhere, and it is tried now
    /// and then.
    #[serde(default)]
    pub in_vain_since: Option<SystemTime>,
    /// How much longer dispatches to it take than their exchanges, if that is so long that its sites continue
    /// at others that have room.
    #[serde(default)]
    pub slow_by_seconds: Option<f64>,
    /// Seconds since it sent the last ping whose reply came in time for requests; none if there was no such
    /// reply.
    #[serde(default)]
    pub ping_age_seconds: Option<u64>,
    /// Connections that failed at this agent and succeeded at another one.
    #[serde(default)]
    pub failed_only_here: u64,
}

/// The load of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineLoad {
    /// The share of its processor time that is used.
    pub cpu: f64,
    /// The share of its memory that is in use.
    pub memory: f64,
    /// Both ways, on all interfaces except loopback.
    pub network_bytes_per_second: f64,
    /// Read and written.
    pub disk_bytes_per_second: f64,
}

/// One of the servers with the highest load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadedServer {
    /// An IP address.
    pub address: String,
    /// Exchanges that reached the network.
    pub requests: u64,
    /// On the wire, from servers.
    pub received_bytes: u64,
    /// The total time of the exchanges.
    pub busy_seconds: f64,
}

impl LoadedServer {
    fn new(address: IpAddr, ledger: &Ledger) -> Self {
        Self {
            address: address.to_string(),
            requests: ledger.requests,
            received_bytes: ledger.received_bytes,
            busy_seconds: ledger.busy.as_secs_f64(),
        }
    }
}

impl Snapshot {
    /// Reads the last status of the survey in `dir`. None before its first second, or if the file is damaged.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    pub fn load(dir: &Path) -> std::io::Result<Option<Self>> {
        match Self::read(dir) {
            Ok(found) => Ok(Some(found)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the last status of the survey in `dir`.
    ///
    /// # Errors
    /// When the file is missing, cannot be read or is damaged.
    pub fn read(dir: &Path) -> std::io::Result<Self> {
        let bytes = std::fs::read(Self::path(dir))?;
        serde_json::from_slice(&bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
    }

    /// The path of the status file of the survey in `dir`.
    #[must_use]
    pub fn path(dir: &Path) -> PathBuf {
        dir.join(FILE)
    }

    /// Replaces the file in one step, so that a reader sees either the old or the new one.
    pub(in crate::survey) fn save(&self, dir: &Path) -> std::io::Result<()> {
        let fresh = dir.join(".status.json.new");
        std::fs::write(&fresh, serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(fresh, Self::path(dir))
    }
}

const FILE: &str = "status.json";
/// The number of servers that are listed as the most loaded.
const MOST_LOADED: usize = 10;
/// The time span over which rates are computed.
const WINDOW: Duration = Duration::from_secs(60);

/// The counters behind a [`Snapshot`], shared by all parts of a survey.
#[derive(Default)]
pub struct Progress {
    inner: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    now: Snapshot,
    /// Requests and bytes at each of the last seconds.
    history: std::collections::VecDeque<(SystemTime, u64, u64)>,
    run_started: Option<SystemTime>,
    active_before: f64,
    done_before: u64,
    requests_before: u64,
}

impl Progress {
    /// Continues from the status of an earlier run.
    #[must_use]
    pub fn resume(earlier: Option<Snapshot>, now: SystemTime, is_simulated: bool) -> Self {
        let earlier = earlier.unwrap_or_default();
        let inner = ProgressState {
            active_before: earlier.active_seconds,
            done_before: earlier.sites_done,
            requests_before: earlier.requests,
            run_started: Some(now),
            now: Snapshot {
                state: SurveyState::Running,
                is_simulated,
                started: earlier.started.or(Some(now)),
                bus_problem: None,
                bus_warning: None,
                agents_missing_since: None,
                ..earlier
            },
            ..ProgressState::default()
        };
        Self { inner: Mutex::new(inner) }
    }

    /// Changes the counters.
    pub fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        change(&mut self.inner.lock().now);
    }

    /// The numbers of requests with a result and of requests without one.
    pub(in crate::survey) fn sent_and_lost(&self) -> (u64, u64) {
        let inner = self.inner.lock();
        (inner.now.requests, inner.now.unrecorded)
    }

    /// Counts an exchange that has ended.
    pub fn exchange(&self, purpose: Purpose, response: &Response, is_page: bool) {
        self.update(|now| {
            if response.was_sent() {
                now.requests += 1;
            }
            now.pages += u64::from(is_page);
            now.sent_bytes += response.wire.sent;
            now.received_bytes += response.wire.received;
            if let Some(error) = error_of(purpose, response) {
                *now.errors.entry(error).or_default() += 1;
            }
        });
    }

    /// Updates the load of these servers, and keeps the most loaded ones.
    pub(in crate::survey) fn note_servers<'a>(&self, servers: impl Iterator<Item = (IpAddr, &'a Ledger)>) {
        self.update(|now| {
            // The load of a server only grows: with fewer requests than the last server on the list, it is
            // not on the list.
            let last = now.most_loaded.get(MOST_LOADED - 1).map_or(0, |last| last.requests);
            let fresh: Vec<LoadedServer> = servers
                .filter(|(_, ledger)| ledger.requests >= last)
                .map(|(address, ledger)| LoadedServer::new(address, ledger))
                .collect();
            now.most_loaded.retain(|old| !fresh.iter().any(|new| new.address == old.address));
            now.most_loaded.extend(fresh);
            now.most_loaded.sort_by(|a, b| (b.requests, &a.address).cmp(&(a.requests, &b.address)));
            now.most_loaded.truncate(MOST_LOADED);
        });
    }

    /// The status at `now`, with rates.
    #[must_use]
    pub fn snapshot(&self, now: SystemTime) -> Snapshot {
        let mut inner = self.inner.lock();
        let bytes = inner.now.sent_bytes + inner.now.received_bytes;
        let requests = inner.now.requests;
        inner.history.push_back((now, requests, bytes));
        while inner.history.front().is_some_and(|(time, ..)| *time + WINDOW < now) {
            inner.history.pop_front();
        }
        let run = inner.run_started.and_then(|start| now.duration_since(start).ok()).unwrap_or_default();
        let mut snapshot = inner.now.clone();
        snapshot.updated = Some(now);
        snapshot.active_seconds = inner.active_before + run.as_secs_f64();
        if let Some(&(window_start, requests_before, bytes_before)) = inner.history.front() {
            let span = now.duration_since(window_start).unwrap_or(Duration::ZERO).as_secs_f64();
            if span > 0.0 {
                snapshot.requests_per_second = requests.saturating_sub(requests_before) as f64 / span;
                snapshot.bytes_per_second = bytes.saturating_sub(bytes_before) as f64 / span;
            }
        }
        let (done, left) = match snapshot.round {
            // Site trees end in the last round.
            Some(RoundStatus { budget, .. }) => (
                requests.saturating_sub(inner.requests_before),
                budget.saturating_sub(requests + snapshot.unrecorded),
            ),
            None => (
                snapshot.sites_done.saturating_sub(inner.done_before),
                snapshot.sites_waiting + snapshot.sites_walking,
            ),
        };
        snapshot.seconds_left = (done > 0).then(|| run.as_secs_f64() / done as f64 * left as f64);
        snapshot
    }
}
