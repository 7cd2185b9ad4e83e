use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::health::{Backoff, Health, Observation, symptom_of};
use super::share::{Headroom, LargestExchange, LoadAccount};
use super::slots::Slots;
use super::{Flow, Ledger, ServerLink, SiteCoolDown};
use crate::address::Site;
use crate::exchange::{Purpose, Response};
use crate::settings::{Pace, SharedBudget};

/// The state of one server address: when the next request may be sent, and the load so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct ServerState {
    /// The load on the server.
    pub ledger: Ledger,
    slots: Slots,
    /// The server cools down until this time: it sent Retry-After, or has been in trouble again and again.
    cool_down: Option<SystemTime>,
    health: Health,
    link: ServerLink,
    /// It was in trouble too long and gets no more requests.
    is_given_up: bool,
    account: LoadAccount,
    /// Start times of the exchanges whose responses are lost. Journals list them each time they are read.
    lost: Vec<SystemTime>,
}

/// A state is stored as its fields, followed by the fields that later versions added. So states of earlier
/// versions can still be read ([`ServerState::LATER`]).
impl Serialize for ServerState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (StateFields(self), &self.link.recent, self.health.was_slow, &self.health.sites).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ServerState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (ReadStateFields(mut state), recent, was_slow, sites) = Deserialize::deserialize(deserializer)?;
        (state.link.recent, state.health.was_slow, state.health.sites) = (recent, was_slow, sites);
        Ok(state)
    }
}

/// The fields, as `serde` derives them.
struct StateFields<'a>(&'a ServerState);
struct ReadStateFields(ServerState);

impl Serialize for StateFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ServerState::serialize(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for ReadStateFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ServerState::deserialize(deserializer).map(Self)
    }
}

/// The pause of a slot after an exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotPause {
    pub ended: SystemTime,
    pub pause: Duration,
}

/// The pause after an exchange whose end was not observed.
fn pause_after_unseen(pace: &Pace) -> Duration {
    pace.max_delay.max(pace.min_delay)
}

impl ServerState {
    /// The bytes that the states of earlier versions lack at their end, some all of them and some fewer, as
    /// postcard writes them: they mean that nothing is known.
    pub const LATER: [u8; 8] = [0; 8];

    /// When the next exchange may begin; none when all slots are taken.
    pub(super) fn earliest(&self, pace: &Pace, crawl_delay: Option<Duration>) -> Option<SystemTime> {
        let slot = self.slots.earliest(pace.per_address, crawl_delay)?;
        Some(self.cool_down.map_or(slot, |cool_down| cool_down.max(slot)))
    }

    /// Whether a cool-down, and not the pause after the last exchange, lasts until then.
    pub(super) fn is_cooling_down_until(&self, time: SystemTime) -> bool {
        self.cool_down.is_some_and(|cool_down| cool_down >= time)
    }

    /// Whether the server has budget for one more exchange.
    pub(super) fn headroom(
        &self,
        budget: &SharedBudget,
        now: SystemTime,
        largest: LargestExchange,
    ) -> Headroom {
        budget.headroom(now, &self.account, self.slots.in_flight(), largest)
    }

    /// An exchange begins: it takes the slot that is free first.
    pub(super) fn begin(&mut self, pace: &Pace, crawl_delay: Option<Duration>) {
        self.slots.begin(pace.per_address, crawl_delay);
    }

    /// Cuts a restored state to today's number of slots: it may have had more.
    pub(super) fn trim_slots(&mut self, pace: &Pace) {
        self.slots.trim(pace.per_address);
    }

    /// The slots at the server and their pauses.
    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Until when a site cools down at this server because of its own troubles.
    pub(super) fn cool_down_of(&self, site: &Site) -> Option<SiteCoolDown> {
        self.health.cool_down_of(site)
    }

    /// An exchange for a site ended with this response.
    pub(super) fn settle(
        &mut self,
        pace: &Pace,
        site: &Site,
        purpose: Purpose,
        response: &Response,
    ) -> SlotPause {
        self.ledger.book(response, self.slots.in_flight());
        self.account.book(response);
        let ended = response.ended();
        let symptom = symptom_of(response.status, response.failure);
        let observed = Observation { site, ended, symptom, first_byte: response.timings.first_byte };
        let backoff = self.health.note(pace, &observed, self.chance());
        // RFC 9110 §10.2.3: at any status it says how long to wait before a follow-up request.
        if let Some(pause) = response.head.retry_after {
            self.cool_down_until(ended.checked_add(pause));
        }
        match backoff {
            Backoff::Usual => {}
            Backoff::PutOff(time) => self.cool_down_until(ended.checked_add(time)),
            Backoff::GiveUp => self.is_given_up = true,
        }
        let link = self.link.take(&Flow::from_response(purpose, response));
        self.pause(ended, self.pause_after(pace, response.timings.response_time(), link))
    }

    fn cool_down_until(&mut self, time: Option<SystemTime>) {
        self.cool_down = self.cool_down.max(time);
    }

    fn pause_after(&self, pace: &Pace, took: Duration, link: Duration) -> Duration {
        self.health.pause_after(pace, took, link, self.chance())
    }

    /// A pseudo-random number that is the same in every run, derived from the load on the server so far.
    fn chance(&self) -> f64 {
        let observed =
            [self.ledger.requests, self.ledger.busy.as_micros() as u64, self.ledger.received_bytes];
        let bytes: Vec<u8> = observed.iter().flat_map(|number| number.to_le_bytes()).collect();
        f64::from(crc32fast::hash(&bytes)) / f64::from(u32::MAX)
    }

    /// An exchange ended without a response, at `now` at the latest.
    pub(super) fn abandon(&mut self, pace: &Pace, took: Duration, now: SystemTime) -> SlotPause {
        self.pause(now, self.pause_after(pace, took, Duration::ZERO))
    }

    /// An exchange ended at an unknown time.
    pub(super) fn abandon_unseen(&mut self, pace: &Pace, now: SystemTime) -> SlotPause {
        self.pause(now, pause_after_unseen(pace))
    }

    /// An exchange of an earlier process, whose start and end were not observed. It shortens no pause that
    /// follows another exchange.
    pub(super) fn recall_unseen(&mut self, pace: &Pace, now: SystemTime) -> SlotPause {
        let pause = pause_after_unseen(pace);
        self.slots.pause(pace.per_address, now, pause);
        SlotPause { ended: now, pause }
    }

    /// The response to the request sent at this time is lost.
    pub(super) fn book_lost(&mut self, requested_at: SystemTime) {
        self.account.book_lost(requested_at);
        self.lost.push(requested_at);
    }

    /// Whether the response to the request sent at this time is known to be lost.
    pub(super) fn has_lost(&self, requested_at: SystemTime) -> bool {
        self.lost.contains(&requested_at)
    }

    fn pause(&mut self, ended: SystemTime, pause: Duration) -> SlotPause {
        self.slots.end(ended, pause);
        SlotPause { ended, pause }
    }

    /// The load that counts against the server's budget.
    pub(super) fn account(&self) -> &LoadAccount {
        &self.account
    }

    /// The load on it: requests, bytes and microseconds, in total and on the day of its last exchange; and
    /// that day (UTC, since 1970).
    #[must_use]
    pub fn load_amounts(&self) -> ([[u64; 3]; 2], u64) {
        (self.account.amounts(), self.account.day())
    }

    /// The link of the server, as far as it is known.
    #[must_use]
    pub fn link(&self) -> &ServerLink {
        &self.link
    }

    /// The health of the server.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Whether it gets no more requests in this survey.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Whether the state holds nothing but the ledger that is worth keeping in memory at `now`.
    pub(super) fn is_idle(&self, now: SystemTime) -> bool {
        self.slots.is_idle(now) && self.cool_down.is_none_or(|at| at <= now)
    }
}
