use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::exchange::Wire;
use crate::settings::Settings;

/// What one site tree may cost its servers; none: no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Exchanges that reach the network.
    pub requests: Option<u64>,
    /// Bytes on the wire, both ways.
    pub bytes: Option<u64>,
    /// From the beginning of the walk, pauses included.
    pub time: Option<Duration>,
}

impl From<&Settings> for Budget {
    fn from(settings: &Settings) -> Self {
        Self {
            requests: settings.max_requests,
            bytes: settings.max_bytes.map(|size| size.0),
            time: settings.max_time.map(|span| span.0),
        }
    }
}

/// Which budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Budget::requests`].
    Requests,
    /// [`Budget::bytes`].
    Bytes,
    /// [`Budget::time`].
    Time,
}

/// Whether one more exchange may be begun in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Yes, and it may move so many bytes.
    Go {
        /// On the wire, both ways.
        byte_limit: u64,
    },
    /// What is in flight may use up the budget.
    Wait,
    /// No: this budget is used up.
    Spent(Limit),
}

/// What is left below this does not pay for a request: head and first packets of a page.
pub(super) const LEAST_BYTES: u64 = 8 * 1024;

/// The smallest budget of bytes in which an exchange can be begun that may move so many beyond its limit.
#[must_use]
pub fn least_bytes(ahead: u64) -> u64 {
    ahead + LEAST_BYTES
}

/// The running account of one site tree. No budget is ever exceeded, and no exchange is begun ahead of
/// others that might use the budget up, so the exchanges of a tree do not depend on parallelism.
#[derive(Clone, Debug)]
pub struct SiteBudget {
    budget: Budget,
    /// What an exchange may move beyond its limit.
    ahead: u64,
    started: SystemTime,
    granted: u64,
    bytes: u64,
    in_flight: u64,
}

impl SiteBudget {
    /// `ahead` is what an exchange may move beyond the limit that it is given: what comes whole or not at all, and
    /// what is under way when reading stops. So much of the byte budget is kept in reserve, and may stay unspent.
    #[must_use]
    pub fn new(budget: Budget, started: SystemTime, ahead: u64) -> Self {
        Self { budget, ahead, started, granted: 0, bytes: 0, in_flight: 0 }
    }

    /// Asks for one more exchange, which can move `largest` bytes at most; a *go* counts.
    pub fn grant(&mut self, now: SystemTime, largest: u64) -> Grant {
        let age = now.duration_since(self.started).unwrap_or_default();
        if self.budget.time.is_some_and(|most| age >= most) {
            return Grant::Spent(Limit::Time);
        }
        if self.budget.requests.is_some_and(|most| self.granted >= most) {
            return Grant::Spent(Limit::Requests);
        }
        let mut byte_limit = largest;
        if let Some(most) = self.budget.bytes {
            let left = most.saturating_sub(self.bytes + self.ahead);
            if self.in_flight > 0 && left < largest.saturating_mul(self.in_flight + 1) {
                return Grant::Wait;
            }
            if left < LEAST_BYTES.min(largest) {
                return Grant::Spent(Limit::Bytes);
            }
            byte_limit = largest.min(left);
        }
        self.granted += 1;
        self.in_flight += 1;
        Grant::Go { byte_limit }
    }

    /// An exchange of an earlier run is on record: it was granted then.
    pub fn recall(&mut self) {
        self.granted += 1;
        self.in_flight += 1;
    }

    /// So many exchanges of earlier runs have no answer on record: they were granted, and each may have moved
    /// as much as the `largest`.
    #[must_use]
    pub fn with_lost(self, exchanges: u64, largest: u64) -> Self {
        let bytes = self.bytes.saturating_add(largest.saturating_mul(exchanges));
        Self { granted: self.granted + exchanges, bytes, ..self }
    }

    /// A granted exchange ended and cost so much.
    pub fn book(&mut self, wire: Wire) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.bytes += wire.sent + wire.received;
    }
}
