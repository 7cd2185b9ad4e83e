//! The robots.txt responses that the trees of a survey share.
//!
//! **Which tree sends the request.** Each tree needs the robots.txt of the origins it visits (RFC 9309 §2.3),
//! and many trees may need the same one: further trees of a site, sites below one host with `--scope host`,
//! sites whose robots.txt redirects to one place. The first tree that needs it fetches it; the exchange
//! belongs to that tree, in its journal, its rows and its load. A tree that needs it less than 24 hours after
//! that request (§2.4) gets the response, redirects hop by hop, and writes it into its own journal as shared.
//! A tree that needs it while another tree is fetching it waits for that exchange.
//!
//! **Where responses are stored.** As long as a tree is not in the tables, the response is in its journal,
//! and this module stores the position. When the tree is finished, the store takes the response in the same
//! transaction, and drops responses older than a day. So nothing is written twice while a site is walked,
//! memory needs about 70 bytes for each response of an unfinished tree, and after a crash everything is
//! restored from journals and store.
//!
//! **Failed requests.** Rules that could not be fetched (no response, 5xx, 429, a body that broke off) forbid
//! everything, and a tree whose site stays closed for that reason is followed by others, which may find it
//! open. So such a response is not shared until [`MAX_TREES`] trees, the maximum for a closed site, have
//! tried in vain; then it is shared for the rest of the 24 hours. If a server says when to come back, the
//! tree that received this response sends the request again. Two results are never shared: requests that
//! never reached a server (names, opt-outs, our own budgets), and a body that was cut by the byte budget of
//! the tree.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use xxhash_rust::xxh3::xxh3_64;

use crate::address::{OptOuts, WebUrl};
use crate::exchange::Purpose;
use crate::frontier::{KeptRobots, MAX_TREES};
use crate::robots::{Availability, MAX_AGE};
use crate::survey::error::SurveyError;
use crate::survey::journal::entry::{Entry, ExchangeRecord};
use crate::survey::journal::entry_at;
use crate::survey::storage::{Storage, encode};
use crate::walk::{availability, is_cut};

/// The responses of unfinished trees, and the requests in progress.
#[derive(Debug, Default)]
pub(in crate::survey) struct SharedRobots {
    /// By a hash of the URL. The URL in the response itself says whether it belongs to the wanted URL.
    slots: Mutex<HashMap<u64, RobotsSlot>>,
    /// Notified when a tree has finished its request.
    pub freed: Notify,
}

#[derive(Debug, Default)]
struct RobotsSlot {
    is_claimed: bool,
    /// The last response that an unfinished tree received.
    kept: Option<JournaledRobots>,
}

/// A response in the journal of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
struct JournaledRobots {
    history: RobotsHistory,
    tree: u64,
    /// The offset in its journal.
    at: u64,
}

/// When a robots.txt was last requested, and how many trees in a row have failed to get it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RobotsHistory {
    requested_at: SystemTime,
    failed_trees: u32,
}

/// A response as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredRobots {
    failed_trees: u32,
    record: ExchangeRecord,
}

/// What a tree that needs a robots.txt has to do.
pub(in crate::survey) enum ClaimOutcome<'a> {
    /// Use this response, which another tree received.
    Shared(Box<ExchangeRecord>),
    /// Request it: other trees wait for the result.
    Own(RobotsClaim<'a>),
    /// Another tree is requesting it: check again once a tree has finished.
    Pending,
}

/// The right of a tree to request a robots.txt. Dropping it lets the next tree try.
#[derive(Debug)]
pub(in crate::survey) struct RobotsClaim<'a> {
    shared: &'a SharedRobots,
    key: u64,
    before: Option<(RobotsHistory, Option<u64>)>,
}

/// A response found in a journal when a survey is reopened.
#[derive(Clone, Copy, Debug)]
pub(in crate::survey) struct RecordedRobots {
    key: u64,
    requested_at: SystemTime,
    has_failed: bool,
    tree: u64,
    at: u64,
}

impl SharedRobots {
    /// Decides what to do about the robots.txt at this URL, which may be the target of a redirect.
    pub(in crate::survey) fn claim(
        &self,
        storage: &Storage,
        opt_outs: &OptOuts,
        (tree, url): (u64, &WebUrl),
        now: SystemTime,
    ) -> Result<ClaimOutcome<'_>, SurveyError> {
        let key = key_of(url);
        let kept = {
            let mut slots = self.slots();
            let slot = slots.entry(key).or_default();
            if slot.is_claimed {
                return Ok(ClaimOutcome::Pending);
            }
            slot.is_claimed = true;
            slot.kept
        };
        let mut claim = RobotsClaim { shared: self, key, before: None };
        let Some((history, owner, record)) = look_up(storage, kept, key)? else {
            return Ok(ClaimOutcome::Own(claim));
        };
        if record.request.url != *url {
            return Ok(ClaimOutcome::Own(claim));
        }
        let has_opted_out = opt_outs.has_host(url.host())
            || record.response.address.is_some_and(|address| opt_outs.has_address(address));
        let is_own = owner == Some(tree);
        claim.before = Some((history, owner)).filter(|_| history.is_fresh(now));
        if has_opted_out || is_own || !history.is_shared(now) {
            return Ok(ClaimOutcome::Own(claim));
        }
        Ok(ClaimOutcome::Shared(record))
    }

    /// Restores what the journals of unfinished trees contain.
    pub(in crate::survey) fn restore(
        &self,
        storage: &Storage,
        mut recorded: Vec<RecordedRobots>,
    ) -> Result<(), SurveyError> {
        recorded.sort_by_key(|recorded| recorded.requested_at);
        for RecordedRobots { key, requested_at, has_failed, tree, at } in recorded {
            let mut slots = self.slots();
            let slot = slots.entry(key).or_default();
            let before = match slot.kept {
                Some(JournaledRobots { history, tree, .. }) => Some((history, Some(tree))),
                None => stored(storage, key)?.map(|stored| (RobotsHistory::from_stored(&stored), None)),
            };
            if before.is_none_or(|(history, _)| history.requested_at <= requested_at) {
                let before = before.filter(|(history, _)| history.is_fresh(requested_at));
                let failed_trees = if has_failed { failed_trees(before, tree) } else { 0 };
                slot.kept =
                    Some(JournaledRobots { history: RobotsHistory { requested_at, failed_trees }, tree, at });
            }
        }
        Ok(())
    }

    /// Converts a response from the journal of a tree that is being finished for the store; none if a later
    /// response is known.
    pub(in crate::survey) fn to_store(
        &self,
        tree: u64,
        record: &ExchangeRecord,
    ) -> Result<Option<KeptRobots>, SurveyError> {
        if record.request.purpose != Purpose::Robots {
            return Ok(None);
        }
        let key = key_of(&record.request.url);
        let kept = self.slots().get(&key).and_then(|slot| slot.kept);
        let requested_at = record.response.started;
        let Some(kept) = kept.filter(|kept| kept.tree == tree && kept.history.requested_at == requested_at)
        else {
            return Ok(None);
        };
        let stored = StoredRobots { failed_trees: kept.history.failed_trees, record: record.clone() };
        Ok(Some(KeptRobots { key, requested_at: microseconds(requested_at), response: encode(&stored)? }))
    }

    /// Forgets responses that are now in the store.
    pub(in crate::survey) fn forget(&self, stored_robots: &[KeptRobots]) {
        let mut slots = self.slots();
        for KeptRobots { key, requested_at, .. } in stored_robots {
            let Place::Occupied(mut slot) = slots.entry(*key) else { continue };
            if slot.get().kept.is_some_and(|kept| microseconds(kept.history.requested_at) == *requested_at) {
                slot.get_mut().kept = None;
            }
            if !slot.get().is_needed() {
                slot.remove();
            }
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<u64, RobotsSlot>> {
        self.slots.lock()
    }
}

impl RobotsSlot {
    fn is_needed(&self) -> bool {
        self.is_claimed || self.kept.is_some()
    }
}

impl RobotsClaim<'_> {
    /// Notes that the tree received this response, which is at offset `at` of its journal.
    pub(in crate::survey) fn settle(self, tree: u64, at: u64, record: &ExchangeRecord) {
        let Some(RecordedRobots { key, requested_at, has_failed, .. }) =
            RecordedRobots::from_record(tree, at, record)
        else {
            return;
        };
        let failed_trees = if has_failed { failed_trees(self.before, tree) } else { 0 };
        let kept = JournaledRobots { history: RobotsHistory { requested_at, failed_trees }, tree, at };
        self.shared.slots().entry(key).or_default().kept = Some(kept);
    }
}

impl Drop for RobotsClaim<'_> {
    fn drop(&mut self) {
        let mut slots = self.shared.slots();
        if let Place::Occupied(mut slot) = slots.entry(self.key) {
            slot.get_mut().is_claimed = false;
            if !slot.get().is_needed() {
                slot.remove();
            }
        }
        drop(slots);
        self.shared.freed.notify_waiters();
    }
}

impl RobotsHistory {
    fn from_stored(stored: &StoredRobots) -> Self {
        Self { requested_at: stored.record.response.started, failed_trees: stored.failed_trees }
    }

    fn is_fresh(self, now: SystemTime) -> bool {
        now < self.requested_at + MAX_AGE
    }

    /// Whether other trees use the response.
    fn is_shared(self, now: SystemTime) -> bool {
        self.is_fresh(now) && (self.failed_trees == 0 || self.failed_trees >= MAX_TREES)
    }
}

impl RecordedRobots {
    /// The shareable facts of a response; none if it is not a response for robots.txt, or belongs to its tree
    /// alone.
    pub(in crate::survey) fn from_record(tree: u64, at: u64, record: &ExchangeRecord) -> Option<Self> {
        let ExchangeRecord { request, response, content, .. } = record;
        let is_none = !response.was_sent();
        let robots_availability = availability(response, content);
        if request.purpose != Purpose::Robots || is_none || is_cut(response, content) {
            return None;
        }
        let has_failed = matches!(robots_availability, Availability::Unreachable | Availability::Busy);
        Some(Self { key: key_of(&request.url), requested_at: response.started, has_failed, tree, at })
    }
}

/// The number of trees in a row that have failed, including this one. A tree that tries again counts once.
fn failed_trees(before: Option<(RobotsHistory, Option<u64>)>, tree: u64) -> u32 {
    let (failed, owner) = before.map_or((0, None), |(history, owner)| (history.failed_trees, owner));
    if owner == Some(tree) { failed.max(1) } else { failed.saturating_add(1) }
}

/// A response with its history, and the tree that received it if that tree is unfinished.
type KnownRobots = (RobotsHistory, Option<u64>, Box<ExchangeRecord>);

/// The last known response. One that can no longer be read counts as none.
fn look_up(
    storage: &Storage,
    kept: Option<JournaledRobots>,
    key: u64,
) -> Result<Option<KnownRobots>, SurveyError> {
    if let Some(JournaledRobots { history, tree, at }) = kept
        && let Some(record) = entry_at(&storage.folder.journal(tree), at)?.and_then(Entry::into_record)
    {
        return Ok(Some((history, Some(tree), record)));
    }
    // The journal of a tree is removed once the store has its contents.
    let stored = stored(storage, key)?;
    Ok(stored.map(|stored| (RobotsHistory::from_stored(&stored), None, Box::new(stored.record))))
}

/// The stored response; none if a later version wrote it.
fn stored(storage: &Storage, key: u64) -> Result<Option<StoredRobots>, SurveyError> {
    let response = storage.frontier().robots(key)?;
    // The record is its last field.
    Ok(response.and_then(|bytes| postcard::from_bytes(&[&bytes[..], &ExchangeRecord::LATER].concat()).ok()))
}

fn key_of(url: &WebUrl) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}

/// A time as it is stored. Responses older than `MAX_AGE` at that time are no longer useful.
pub(in crate::survey) fn microseconds(time: SystemTime) -> u64 {
    let since: Duration = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
