use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::budget::LEAST_BYTES;
use crate::exchange::Response;
use crate::settings::{LoadLimits, SharedBudget};

/// The largest possible exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargestExchange {
    /// Wire bytes in both directions.
    pub bytes: u64,
    /// Bytes that it may move beyond a smaller limit.
    pub ahead: u64,
    /// The time-out that ends it.
    pub time: Duration,
}

/// The load on a server or network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LoadAccount {
    in_all: Usage,
    /// The day (UTC) of the last exchange; `on_day` is the load on that day.
    day: u64,
    on_day: Usage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Usage {
    requests: u64,
    bytes: u64,
    busy: Duration,
    /// Further exchanges whose responses were lost: each counts as the largest possible exchange.
    lost: u32,
}

/// Whether a server or network has budget for one more exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Headroom {
    /// Yes, up to this number of bytes.
    For(u64),
    /// The exchanges in flight may use up the rest of the budget, or leave enough.
    AfterThoseInFlight,
    /// Not today.
    Tomorrow(SystemTime),
    Never,
}

const DAY: u64 = 24 * 3600;
/// An exchange that its time-out ends is over a little later: timers tick late, and other tasks run first.
const LATE: Duration = Duration::from_secs(1);

/// The smallest busy-time budget in which an exchange with this time-out can begin.
#[must_use]
pub fn least_busy(time: Duration) -> Duration {
    time.saturating_add(LATE)
}

impl SharedBudget {
    pub(super) fn room(
        &self,
        now: SystemTime,
        load: &LoadAccount,
        in_flight: u32,
        most: LargestExchange,
    ) -> Headroom {
        let (in_all, today) = (load.in_all.at_most(most), load.on_day_of(now).at_most(most));
        let left = |in_flight| {
            (self.in_all.left(&in_all, in_flight, most), self.per_day.left(&today, in_flight, most))
        };
        if let (Some(ever), Some(for_today)) = left(in_flight) {
            return Headroom::For(ever.min(for_today));
        }
        match left(0) {
            (Some(_), Some(_)) => Headroom::AfterThoseInFlight,
            (None, _) => Headroom::Never,
            // If an empty day has no room for a single exchange, no day will have.
            (_, None) if self.per_day.left(&Usage::default(), 0, most).is_none() => Headroom::Never,
            (_, None) => Headroom::Tomorrow(UNIX_EPOCH + Duration::from_secs((day_of(now) + 1) * DAY)),
        }
    }
}

impl Headroom {
    /// Combines the headroom of two accounts that an exchange needs.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::For(one), Self::For(other)) => Self::For(one.min(other)),
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Tomorrow(one), Self::Tomorrow(other)) => Self::Tomorrow(one.max(other)),
            (Self::Tomorrow(time), _) | (_, Self::Tomorrow(time)) => Self::Tomorrow(time),
            (Self::AfterThoseInFlight, _) | (_, Self::AfterThoseInFlight) => Self::AfterThoseInFlight,
        }
    }
}

impl LoadAccount {
    /// An exchange counts for the day on which it began.
    pub(super) fn book(&mut self, response: &Response) {
        self.take(response.started, &Usage::from_answer(response));
    }

    /// The response to the request sent at this time is lost.
    pub(super) fn book_lost(&mut self, asked: SystemTime) {
        self.take(asked, &Usage { lost: 1, ..Usage::default() });
    }

    /// Adds the load of another account to this one.
    pub(super) fn join(&mut self, other: &Self) {
        self.in_all.add(&other.in_all);
        if other.day > self.day {
            (self.day, self.on_day) = (other.day, other.on_day);
        } else if other.day == self.day {
            self.on_day.add(&other.on_day);
        }
    }

    /// The day of the last exchange.
    pub(super) fn day(&self) -> u64 {
        self.day
    }

    /// Requests, bytes and microseconds, in total and on the day of the last exchange, as measured from
    /// responses.
    pub(super) fn amounts(&self) -> [[u64; 3]; 2] {
        [self.in_all.amounts(), self.on_day.amounts()]
    }

    fn take(&mut self, time: SystemTime, spent: &Usage) {
        self.in_all.add(spent);
        let day = day_of(time);
        if day > self.day {
            (self.day, self.on_day) = (day, Usage::default());
        }
        self.on_day.add(spent);
    }

    /// If the clock went back over midnight, the load since then counts.
    fn on_day_of(&self, now: SystemTime) -> Usage {
        if self.day >= day_of(now) { self.on_day } else { Usage::default() }
    }
}

impl Usage {
    fn from_answer(response: &Response) -> Self {
        let bytes = response.wire.sent + response.wire.received;
        Self { requests: 1, bytes, busy: response.timings.total, lost: 0 }
    }

    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.busy = self.busy.saturating_add(other.busy);
        self.lost = self.lost.saturating_add(other.lost);
    }

    /// The same, with each lost exchange counted as the largest possible one.
    fn at_most(self, most: LargestExchange) -> Self {
        Self {
            requests: self.requests + u64::from(self.lost),
            bytes: self.bytes.saturating_add(most.bytes.saturating_mul(self.lost.into())),
            busy: self.busy.saturating_add(least_busy(most.time).saturating_mul(self.lost)),
            lost: 0,
        }
    }

    fn amounts(&self) -> [u64; 3] {
        [self.requests, self.bytes, self.busy.as_micros() as u64]
    }
}

impl LoadLimits {
    /// Bytes that one more exchange may move beside the exchanges in flight; none if there is no room for
    /// one.
    fn left(&self, spent: &Usage, in_flight: u32, most: LargestExchange) -> Option<u64> {
        if self.requests.is_some_and(|limit| spent.requests + u64::from(in_flight) >= limit) {
            return None;
        }
        let busy = spent.busy.saturating_add(least_busy(most.time).saturating_mul(in_flight + 1));
        if self.busy.is_some_and(|limit| busy > limit) {
            return None;
        }
        let Some(limit) = self.bytes else { return Some(most.bytes) };
        let left = limit
            .saturating_sub(spent.bytes)
            .saturating_sub(most.bytes.saturating_mul(in_flight.into()))
            .saturating_sub(most.ahead);
        (left >= LEAST_BYTES.min(most.bytes)).then(|| left.min(most.bytes))
    }
}

fn day_of(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY
}
