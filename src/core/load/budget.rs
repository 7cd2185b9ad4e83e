use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::exchange::Wire;
use crate::settings::Budget;

/// What the trees of a site that share an account have cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Which of the site's accounts this is.
    pub account: u32,
    /// Exchanges that were granted.
    pub requests: u64,
    /// On the wire, both ways.
    pub bytes: u64,
    /// The time of each tree, one after the other.
    pub time: Duration,
}

/// Which budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpentBudget {
    /// [`Budget::requests`].
    Requests,
    /// [`Budget::bytes`].
    Bytes,
    /// [`Budget::time`].
    Time,
}

/// Whether one more exchange may be begun in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetDecision {
    /// Yes, and it may move so many bytes.
    Granted {
        /// On the wire, both ways.
        byte_limit: u64,
    },
    /// What is in flight may use up the budget.
    Wait,
    /// No: this budget is used up.
    UsedUp(SpentBudget),
}

/// What is left below this does not pay for a request: head and first packets of a page.
pub(super) const LEAST_BYTES: u64 = 8 * 1024;

/// The smallest budget of bytes in which an exchange can be begun that may move so many beyond its limit.
#[must_use]
pub fn least_bytes(ahead: u64) -> u64 {
    ahead + LEAST_BYTES
}

/// The running account of a site. No budget is ever exceeded, and no exchange is begun ahead of
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

    /// Earlier trees of the site have spent so much of the same account.
    #[must_use]
    pub fn after(self, earlier: Spent) -> Self {
        // Times before 1970 are of no survey.
        let started = self.started.checked_sub(earlier.time).unwrap_or(SystemTime::UNIX_EPOCH);
        Self { started, granted: self.granted + earlier.requests, bytes: self.bytes + earlier.bytes, ..self }
    }

    /// What has been spent of the account up to now, that of earlier trees included.
    #[must_use]
    pub fn spent(&self, account: u32, now: SystemTime) -> Spent {
        let time = now.duration_since(self.started).unwrap_or_default();
        Spent { account, requests: self.granted, bytes: self.bytes, time }
    }

    /// When the time of the site is over; none where it has no end.
    #[must_use]
    pub fn deadline(&self) -> Option<SystemTime> {
        self.budget.time.and_then(|time| self.started.checked_add(time))
    }

    /// Asks for one more exchange, which can move `largest` bytes at most; a *go* counts.
    pub fn grant(&mut self, now: SystemTime, largest: u64) -> BudgetDecision {
        if self.deadline().is_some_and(|end| now >= end) {
            return BudgetDecision::UsedUp(SpentBudget::Time);
        }
        if self.budget.requests.is_some_and(|most| self.granted >= most) {
            return BudgetDecision::UsedUp(SpentBudget::Requests);
        }
        let mut byte_limit = largest;
        if let Some(most) = self.budget.bytes {
            let left = most.saturating_sub(self.bytes + self.ahead);
            if self.in_flight > 0 && left < largest.saturating_mul(self.in_flight + 1) {
                return BudgetDecision::Wait;
            }
            if left < LEAST_BYTES.min(largest) {
                return BudgetDecision::UsedUp(SpentBudget::Bytes);
            }
            byte_limit = largest.min(left);
        }
        self.granted += 1;
        self.in_flight += 1;
        BudgetDecision::Granted { byte_limit }
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
