use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::health::{Care, Health, is_trouble};
use super::share::{Most, Room, ServerBudget, Today};
use super::{Flow, Ledger, Pace, ServerLink};
use crate::exchange::{Answer, Purpose};

/// What is remembered of one server address: when it may be asked again, and what it bore.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    pub ledger: Ledger,
    slots: Vec<Slot>,
    /// The server is left alone until then: it asked for that (Retry-After), or has been in trouble again and
    /// again.
    hold: Option<SystemTime>,
    health: Health,
    link: ServerLink,
    /// It was in trouble too long to be asked again.
    is_given_up: bool,
    today: Today,
    /// Not stored: after a crash nothing is in flight.
    #[serde(skip)]
    pub(super) in_flight: u32,
}

/// One of the exchanges that may run at once, while it does not run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Slot {
    ended: SystemTime,
    free: SystemTime,
}

impl ServerState {
    /// When the next exchange may begin; none when all slots are taken.
    pub(super) fn earliest(&self, pace: &Pace, crawl_delay: Option<Duration>) -> Option<SystemTime> {
        if self.in_flight >= pace.per_address {
            return None;
        }
        let unused = (self.slots.len() as u32 + self.in_flight) < pace.per_address;
        let slot = if unused { None } else { self.slot(crawl_delay).map(|(_, at)| at) };
        Some(slot.max(self.hold).unwrap_or(SystemTime::UNIX_EPOCH))
    }

    /// Whether the server may bear one more exchange.
    pub(super) fn room(&self, budget: &ServerBudget, now: SystemTime, most: Most) -> Room {
        budget.room(now, &self.today, &self.ledger, self.in_flight, most)
    }

    /// An exchange begins: it takes the slot that is free first.
    pub(super) fn begin(&mut self, pace: &Pace, crawl_delay: Option<Duration>) {
        if self.slots.len() as u32 + self.in_flight >= pace.per_address
            && let Some((at, _)) = self.slot(crawl_delay)
        {
            self.slots.remove(at);
        }
        self.in_flight += 1;
    }

    fn slot(&self, crawl_delay: Option<Duration>) -> Option<(usize, SystemTime)> {
        let delay = crawl_delay.unwrap_or_default();
        let times = self.slots.iter().map(|slot| slot.free.max(slot.ended + delay));
        times.enumerate().min_by_key(|(_, at)| *at)
    }

    /// An exchange ended and gave this answer.
    pub(super) fn settle(&mut self, pace: &Pace, purpose: Purpose, answer: &Answer) {
        self.ledger.book(answer, self.in_flight);
        self.today.book(answer);
        let (is_trouble, first_byte) = (is_trouble(answer.status, answer.failure), answer.timings.first_byte);
        let care = self.health.note(pace, is_trouble, first_byte, self.chance());
        let ended = answer.ended();
        if let Some(pause) = answer.head.retry_after.filter(|_| answer.asks_for_pause()) {
            self.hold_until(ended.checked_add(pause));
        }
        match care {
            Care::Usual => {}
            Care::PutOff(time) => self.hold_until(ended.checked_add(time)),
            Care::GiveUp => self.is_given_up = true,
        }
        let link = self.link.take(&Flow::of(purpose, answer));
        self.free_slot(ended, self.pause_after(pace, answer.timings.total, link));
    }

    fn hold_until(&mut self, time: Option<SystemTime>) {
        self.hold = self.hold.max(time);
    }

    fn pause_after(&self, pace: &Pace, took: Duration, link: Duration) -> Duration {
        self.health.pause_after(pace, took, link, self.chance())
    }

    /// Chance that is the same in every run: from what the server bore so far.
    fn chance(&self) -> f64 {
        let seen = [self.ledger.requests, self.ledger.busy.as_micros() as u64, self.ledger.received_bytes];
        let bytes: Vec<u8> = seen.iter().flat_map(|number| number.to_le_bytes()).collect();
        f64::from(crc32fast::hash(&bytes)) / f64::from(u32::MAX)
    }

    /// An exchange ended in a way that left no answer, at the latest now.
    pub(super) fn abandon(&mut self, pace: &Pace, took: Duration, now: SystemTime) {
        self.free_slot(now, self.pause_after(pace, took, Duration::ZERO));
    }

    fn free_slot(&mut self, ended: SystemTime, delay: Duration) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.slots.push(Slot { ended, free: ended + delay });
    }

    /// What is known of its link.
    #[must_use]
    pub fn link(&self) -> &ServerLink {
        &self.link
    }

    /// Whether it is not to be asked any more in this survey.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Whether nothing but the ledger is worth remembering at `now`.
    pub(super) fn is_idle(&self, now: SystemTime) -> bool {
        self.in_flight == 0
            && self.hold.is_none_or(|at| at <= now)
            && self.slots.iter().all(|slot| slot.free <= now)
    }
}
