use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::budgets::{Allowance, LoadBudget};
use super::declared::Settings;

/// The load budget of a server address or of a network, in base units, for all its sites together; none: no
/// limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedBudget {
    /// On one day (UTC).
    pub per_day: LoadLimits,
    /// In the whole survey.
    pub in_all: LoadLimits,
}

/// Limits on the load of one server or network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadLimits {
    /// Exchanges that reach the network.
    pub requests: Option<u64>,
    /// Wire bytes in both directions.
    pub bytes: Option<u64>,
    /// Sum of the durations of the exchanges.
    pub busy: Option<Duration>,
}

impl SharedBudget {
    /// Whether there is no limit at all.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        *self == Self::default()
    }
}

impl From<&Allowance> for SharedBudget {
    fn from(allowance: &Allowance) -> Self {
        Self { per_day: LoadLimits::from(&allowance.per_day), in_all: LoadLimits::from(&allowance.in_all) }
    }
}

impl From<&LoadBudget> for LoadLimits {
    fn from(load_budget: &LoadBudget) -> Self {
        Self {
            requests: load_budget.requests,
            bytes: load_budget.bytes.map(|size| size.0),
            busy: load_budget.busy.map(|span| span.0),
        }
    }
}

/// The load budget of one site, for each start URL that it may have; none: no limit.
///
/// A tree that is walked because earlier trees could not enter the site has no budget of its own: it goes on
/// with the account of the last of them ([`Budget::account_of`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Exchanges that reach the network.
    pub requests: Option<u64>,
    /// Wire bytes in both directions.
    pub bytes: Option<u64>,
    /// From the start of the walk, pauses included.
    pub time: Option<Duration>,
    /// Start URLs that a site may have, each with an account of its own; 0 counts as 1.
    pub accounts: u32,
}

impl Budget {
    /// The account that a tree of a site is charged to, counted from 0; `seed` is the number of the tree in
    /// its site.
    #[must_use]
    pub fn account_of(&self, seed: u32) -> u32 {
        seed.min(self.accounts.saturating_sub(1))
    }
}

impl From<&Settings> for Budget {
    fn from(settings: &Settings) -> Self {
        Self {
            requests: settings.max_requests,
            bytes: settings.max_bytes.map(|size| size.0),
            time: settings.max_time.map(|span| span.0),
            accounts: settings.seeds_per_site,
        }
    }
}
