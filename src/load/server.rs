use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Ledger, Pace, delay_after};
use crate::exchange::{Answer, Failure, asks_for_pause};

/// What is remembered of one server address: when it may be asked again, and what it bore.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    pub ledger: Ledger,
    slots: Vec<Slot>,
    /// The server asked to be left alone until then (Retry-After).
    hold: Option<SystemTime>,
    backoff: Backoff,
    /// Not stored: after a crash nothing is in flight.
    #[serde(skip)]
    pub(super) in_flight: u32,
}

/// How much a server is to be spared beyond the usual pause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// Troubles not made good by sound answers yet.
    troubles: u8,
    /// Running mean of the time to the first byte, in seconds.
    usual_first_byte: Option<f64>,
}

/// One of the exchanges that may run at once, while it does not run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Slot {
    ended: SystemTime,
    free: SystemTime,
}

/// More doublings of 2 s than this exceed the cap of 60 s anyway.
const MOST_TROUBLES: u8 = 8;
/// RFC 6298 §2 smooths round-trip times by an eighth.
const SMOOTHING: f64 = 0.125;
/// A response time counts as grown when it is this many times the usual …
const GROWN_FACTOR: f64 = 3.0;
/// … and longer than it by so many seconds: below that it is noise of the network.
const GROWN_SECONDS: f64 = 1.0;

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
    pub(super) fn settle(&mut self, pace: &Pace, answer: &Answer) {
        self.ledger.book(answer, self.in_flight);
        self.backoff.note(is_trouble(answer.status, answer.failure), answer.timings.first_byte);
        let delay = delay_after(pace, answer.timings.total, self.backoff.troubles, None);
        if let Some(pause) = answer.head.retry_after.filter(|_| answer.asks_for_pause()) {
            self.hold = self.hold.max(answer.ended().checked_add(pause));
        }
        self.free_slot(answer.ended(), delay);
    }

    /// An exchange ended in a way that left no answer, at the latest now.
    pub(super) fn abandon(&mut self, pace: &Pace, took: Duration, now: SystemTime) {
        self.free_slot(now, delay_after(pace, took, self.backoff.troubles, None));
    }

    fn free_slot(&mut self, ended: SystemTime, delay: Duration) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.slots.push(Slot { ended, free: ended + delay });
    }

    /// Whether nothing but the ledger is worth remembering at `now`.
    pub(super) fn is_idle(&self, now: SystemTime) -> bool {
        self.in_flight == 0
            && self.hold.is_none_or(|at| at <= now)
            && self.slots.iter().all(|slot| slot.free <= now)
    }
}

impl Backoff {
    /// Notes an exchange that has ended; a response time that has grown is trouble too.
    pub fn note(&mut self, is_trouble: bool, first_byte: Option<Duration>) {
        let first_byte = first_byte.map(|time| time.as_secs_f64());
        let grown = first_byte
            .zip(self.usual_first_byte)
            .is_some_and(|(time, usual)| time > usual * GROWN_FACTOR && time > usual + GROWN_SECONDS);
        if is_trouble || grown {
            self.troubles = (self.troubles + 1).min(MOST_TROUBLES);
        } else {
            self.troubles = self.troubles.saturating_sub(1);
        }
        if let Some(time) = first_byte {
            let usual = self.usual_first_byte.unwrap_or(time);
            self.usual_first_byte = Some(usual + (time - usual) * SMOOTHING);
        }
    }

    /// How often the pause is doubled.
    #[must_use]
    pub fn troubles(&self) -> u8 {
        self.troubles
    }
}

/// Whether an exchange with this status and failure may mean that the server has too much to do.
#[must_use]
pub fn is_trouble(status: Option<u16>, failure: Option<Failure>) -> bool {
    asks_for_pause(status)
        || matches!(
            failure,
            Some(
                Failure::Reset
                    | Failure::ConnectRefused
                    | Failure::ConnectTimeout
                    | Failure::TlsTimeout
                    | Failure::FirstByteTimeout
                    | Failure::IdleTimeout
                    | Failure::TooSlow
            )
        )
}
