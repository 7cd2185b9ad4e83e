use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::exchange::Wire;
use crate::settings::Budget;

/// The cost so far of the trees of a site that share an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Which of the site's accounts this is.
    pub account: u32,
    /// Exchanges that were granted.
    pub requests: u64,
    /// Wire bytes in both directions.
    pub bytes: u64,
    /// The sum of the durations of the trees.
    pub time: Duration,
}

/// The budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpentBudget {
    /// [`Budget::requests`].
    Requests,
    /// [`Budget::bytes`].
    Bytes,
    /// [`Budget::time`].
    Time,
}

/// Whether a site may begin one more exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetDecision {
    /// Yes, up to a number of bytes.
    Granted {
        /// Most wire bytes in both directions.
        byte_limit: u64,
    },
    /// The exchanges in flight may use up the budget.
    Wait,
    /// No: this budget is used up.
    UsedUp(SpentBudget),
}

/// Less budget than this does not pay for a request: the head and the first packets of a page.
pub(super) const LEAST_BYTES: u64 = 8 * 1024;

/// The smallest byte budget in which an exchange can begin that may move `ahead` bytes beyond its limit.
#[must_use]
pub fn least_bytes(ahead: u64) -> u64 {
    ahead + LEAST_BYTES
}

/// The running account of a site. No budget is ever exceeded. No exchange begins while earlier ones might use
/// the budget up, so the exchanges of a tree do not depend on parallelism.
#[derive(Clone, Debug)]
pub struct SiteBudget {
    budget: Budget,
    /// Bytes that an exchange may move beyond its limit.
    ahead: u64,
    started: SystemTime,
    granted: u64,
    /// Exchanges of this tree that were granted, without those that were lost.
    counted: u64,
    bytes: u64,
    in_flight: u64,
}

impl SiteBudget {
    /// `ahead` is the number of bytes that an exchange may move beyond its limit: parts that arrive whole or
    /// not at all, and bytes that are on their way when reading stops. That part of the byte budget is
    /// reserved, and may stay unspent.
    #[must_use]
    pub fn new(budget: Budget, started: SystemTime, ahead: u64) -> Self {
        Self { budget, ahead, started, granted: 0, counted: 0, bytes: 0, in_flight: 0 }
    }

    /// Adds the cost of earlier trees of the site to the same account.
    #[must_use]
    pub fn after(self, earlier: Spent) -> Self {
        // No survey ran before 1970.
        let started = self.started.checked_sub(earlier.time).unwrap_or(SystemTime::UNIX_EPOCH);
        Self { started, granted: self.granted + earlier.requests, bytes: self.bytes + earlier.bytes, ..self }
    }

    /// The cost of the account up to now, earlier trees included.
    #[must_use]
    pub fn spent(&self, account: u32, now: SystemTime) -> Spent {
        let time = now.duration_since(self.started).unwrap_or_default();
        Spent { account, requests: self.granted, bytes: self.bytes, time }
    }

    /// The end of the site's time budget; none without one.
    #[must_use]
    pub fn deadline(&self) -> Option<SystemTime> {
        self.budget.time.and_then(|time| self.started.checked_add(time))
    }

    /// Asks for one more exchange, which can move `largest` bytes at most. A granted exchange counts.
    pub fn grant(&mut self, now: SystemTime, largest: u64) -> BudgetDecision {
        if self.deadline().is_some_and(|end| now >= end) {
            return BudgetDecision::UsedUp(SpentBudget::Time);
        }
        if self.budget.requests.is_some_and(|limit| self.granted >= limit) {
            return BudgetDecision::UsedUp(SpentBudget::Requests);
        }
        let mut byte_limit = largest;
        if let Some(limit) = self.budget.bytes {
            let remaining = limit.saturating_sub(self.bytes + self.ahead);
            if self.in_flight > 0 && remaining < largest.saturating_mul(self.in_flight + 1) {
                return BudgetDecision::Wait;
            }
            if remaining < LEAST_BYTES.min(largest) {
                return BudgetDecision::UsedUp(SpentBudget::Bytes);
            }
            byte_limit = largest.min(remaining);
        }
        self.granted += 1;
        self.counted += 1;
        self.in_flight += 1;
        BudgetDecision::Granted { byte_limit }
    }

    /// An exchange of an earlier run is on record: its permit was granted then.
    pub fn recall(&mut self) {
        self.granted += 1;
        self.counted += 1;
        self.in_flight += 1;
    }

    /// The number of exchanges of this tree so far, without those that were lost.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// Adds exchanges of earlier runs that have no response on record: they were granted, and each may have
    /// moved `largest` bytes.
    #[must_use]
    pub fn with_lost(self, exchanges: u64, largest: u64) -> Self {
        let bytes = self.bytes.saturating_add(largest.saturating_mul(exchanges));
        Self { granted: self.granted + exchanges, bytes, ..self }
    }

    /// A granted exchange ended; books its cost.
    pub fn book(&mut self, wire: Wire) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.bytes += wire.sent + wire.received;
    }
}
