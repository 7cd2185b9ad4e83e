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
    AfterInFlight,
    /// Not today.
    Tomorrow(SystemTime),
    Never,
}

const DAY: u64 = 24 * 3600;
/// An exchange that its time-out ends is over a little later: timers tick late, and other tasks run first.
const TIMEOUT_SLACK: Duration = Duration::from_secs(1);

/// The smallest busy-time budget in which an exchange with this time-out can begin.
#[must_use]
pub fn least_busy(time: Duration) -> Duration {
    time.saturating_add(TIMEOUT_SLACK)
}

impl SharedBudget {
    pub(super) fn headroom(
        &self,
        now: SystemTime,
        load: &LoadAccount,
        in_flight: u32,
        largest: LargestExchange,
    ) -> Headroom {
        let (in_all, today) = (load.in_all.upper_bound(largest), load.usage_on(now).upper_bound(largest));
        let remaining = |in_flight| {
            (
                self.in_all.remaining(&in_all, in_flight, largest),
                self.per_day.remaining(&today, in_flight, largest),
            )
        };
        if let (Some(overall), Some(daily)) = remaining(in_flight) {
            return Headroom::For(overall.min(daily));
        }
        match remaining(0) {
            (Some(_), Some(_)) => Headroom::AfterInFlight,
            (None, _) => Headroom::Never,
            // If an empty day has no room for a single exchange, no day will have.
            (_, None) if self.per_day.remaining(&Usage::default(), 0, largest).is_none() => Headroom::Never,
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
            (Self::AfterInFlight, _) | (_, Self::AfterInFlight) => Self::AfterInFlight,
        }
    }
}

impl LoadAccount {
    /// An exchange counts for the day on which it began.
    pub(super) fn book(&mut self, response: &Response) {
        self.add_usage(response.started, &Usage::from_response(response));
    }

    /// The response to the request sent at this time is lost.
    pub(super) fn book_lost(&mut self, requested_at: SystemTime) {
        self.add_usage(requested_at, &Usage { lost: 1, ..Usage::default() });
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

    fn add_usage(&mut self, time: SystemTime, spent: &Usage) {
        self.in_all.add(spent);
        let day = day_of(time);
        if day > self.day {
            (self.day, self.on_day) = (day, Usage::default());
        }
        self.on_day.add(spent);
    }

    /// If the clock went back over midnight, the load since then counts.
    fn usage_on(&self, now: SystemTime) -> Usage {
        if self.day >= day_of(now) { self.on_day } else { Usage::default() }
    }
}

impl Usage {
    fn from_response(response: &Response) -> Self {
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
    fn upper_bound(self, largest: LargestExchange) -> Self {
        Self {
            requests: self.requests + u64::from(self.lost),
            bytes: self.bytes.saturating_add(largest.bytes.saturating_mul(self.lost.into())),
            busy: self.busy.saturating_add(least_busy(largest.time).saturating_mul(self.lost)),
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
    fn remaining(&self, spent: &Usage, in_flight: u32, largest: LargestExchange) -> Option<u64> {
        if self.requests.is_some_and(|limit| spent.requests + u64::from(in_flight) >= limit) {
            return None;
        }
        let busy = spent.busy.saturating_add(least_busy(largest.time).saturating_mul(in_flight + 1));
        if self.busy.is_some_and(|limit| busy > limit) {
            return None;
        }
        let Some(limit) = self.bytes else { return Some(largest.bytes) };
        let remaining = limit
            .saturating_sub(spent.bytes)
            .saturating_sub(largest.bytes.saturating_mul(in_flight.into()))
            .saturating_sub(largest.ahead);
        (remaining >= LEAST_BYTES.min(largest.bytes)).then(|| remaining.min(largest.bytes))
    }
}

fn day_of(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY
}
