use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::exchange::Answer;

/// What one server address may bear for a survey, whatever sites stand there; none: no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerBudget {
    pub per_day: Burden,
    pub in_all: Burden,
}

/// Load of one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burden {
    pub requests: Option<u64>,
    /// On the wire, both ways.
    pub bytes: Option<u64>,
    pub busy: Option<Duration>,
}

/// The most that one exchange may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    pub bytes: u64,
    /// What it may move beyond a smaller limit that it is given.
    pub ahead: u64,
    pub time: Duration,
}

/// What a server bore on the day (UTC) of its last exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Today {
    day: u64,
    spent: Spent,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Spent {
    requests: u64,
    bytes: u64,
    busy: Duration,
}

/// Exchanges that a server bore and whose answers a crash lost: each may have come to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Lost {
    exchanges: u32,
    /// When the last of them was asked.
    last: Option<SystemTime>,
    /// How many on that day.
    on_last_day: u32,
}

/// Whether a server may bear one more exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Yes, if it moves no more bytes than these.
    For(u64),
    /// An exchange in flight may use up what is left.
    AfterThoseInFlight,
    /// Not today.
    Tomorrow(SystemTime),
    Never,
}

const DAY: u64 = 24 * 3600;
/// What is left below this does not pay for a request: head and first packets of a page.
const LEAST_BYTES: u64 = 8 * 1024;

impl ServerBudget {
    pub(super) fn room(
        &self,
        now: SystemTime,
        today: &Today,
        ledger: &Ledger,
        lost: &Lost,
        in_flight: u32,
        most: Most,
    ) -> Room {
        let in_all = Spent {
            requests: ledger.requests,
            bytes: ledger.sent_bytes + ledger.received_bytes,
            busy: ledger.busy,
        };
        let in_all = in_all.with(lost.exchanges, most);
        let today = if today.day == day_of(now) { today.spent } else { Spent::default() };
        let today = today.with(lost.on_day_of(now), most);
        let (ever, for_today) =
            (self.in_all.left(&in_all, in_flight, most), self.per_day.left(&today, in_flight, most));
        match (ever, for_today) {
            (None, _) | (_, None) if in_flight > 0 => Room::AfterThoseInFlight,
            (None, _) => Room::Never,
            // A day that has no room for a single exchange never comes.
            (_, None) if self.per_day.left(&Spent::default(), 0, most).is_none() => Room::Never,
            (_, None) => Room::Tomorrow(UNIX_EPOCH + Duration::from_secs((day_of(now) + 1) * DAY)),
            (Some(ever), Some(for_today)) => Room::For(ever.min(for_today)),
        }
    }
}

impl Spent {
    /// And so many exchanges more, of which nothing is known.
    fn with(self, exchanges: u32, most: Most) -> Self {
        Self {
            requests: self.requests + u64::from(exchanges),
            bytes: self.bytes.saturating_add(most.bytes.saturating_mul(exchanges.into())),
            busy: self.busy.saturating_add(most.time.saturating_mul(exchanges)),
        }
    }
}

impl Lost {
    /// Takes in one that was asked at this time, unless it is known: they come in the order asked.
    pub(super) fn book(&mut self, asked: SystemTime) {
        if self.last.is_some_and(|last| asked <= last) {
            return;
        }
        self.on_last_day = self.on_day_of(asked).saturating_add(1);
        self.exchanges = self.exchanges.saturating_add(1);
        self.last = Some(asked);
    }

    fn on_day_of(&self, now: SystemTime) -> u32 {
        let is_today = self.last.is_some_and(|last| day_of(last) == day_of(now));
        if is_today { self.on_last_day } else { 0 }
    }
}

impl Burden {
    /// Bytes that one more exchange may move beside those in flight; none when there is no room for one.
    fn left(&self, spent: &Spent, in_flight: u32, most: Most) -> Option<u64> {
        if self.requests.is_some_and(|limit| spent.requests + u64::from(in_flight) >= limit) {
            return None;
        }
        if self.busy.is_some_and(|limit| spent.busy + most.time * (in_flight + 1) > limit) {
            return None;
        }
        let Some(limit) = self.bytes else { return Some(most.bytes) };
        let ahead = most.ahead.min(limit / 8);
        let left = limit.saturating_sub(spent.bytes + most.bytes * u64::from(in_flight) + ahead);
        (left >= LEAST_BYTES.min(most.bytes)).then(|| left.min(most.bytes))
    }
}

impl Today {
    /// An exchange counts for the day on which it began.
    pub(super) fn book(&mut self, answer: &Answer) {
        let day = day_of(answer.started);
        if day > self.day {
            *self = Self { day, spent: Spent::default() };
        }
        self.spent.requests += 1;
        self.spent.bytes += answer.wire.sent + answer.wire.received;
        self.spent.busy += answer.timings.total;
    }
}

impl Today {
    /// Requests, bytes, microseconds.
    pub(super) fn borne(&self) -> [u64; 3] {
        [self.spent.requests, self.spent.bytes, self.spent.busy.as_micros() as u64]
    }
}

fn day_of(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY
}
