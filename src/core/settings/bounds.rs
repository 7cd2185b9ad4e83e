use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::budgets::{Allowance, LoadBudget};
use super::declared::Settings;

/// What a place may bear for a survey, in units, whatever sites stand there; none: no bound. A place is a server address, or a
/// network of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedBudget {
    /// In one day, by UTC.
    pub per_day: LoadLimits,
    /// In the whole survey.
    pub in_all: LoadLimits,
}

/// Load of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadLimits {
    /// Exchanges that reach the network.
    pub requests: Option<u64>,
    /// On the wire, both ways.
    pub bytes: Option<u64>,
    /// Time that exchanges take, summed.
    pub busy: Option<Duration>,
}

impl SharedBudget {
    /// Whether it bounds nothing.
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
    fn from(bearable: &LoadBudget) -> Self {
        Self {
            requests: bearable.requests,
            bytes: bearable.bytes.map(|size| size.0),
            busy: bearable.busy.map(|span| span.0),
        }
    }
}

/// What one site may cost its servers for each start URL that it may have; none: no bound.
///
/// A tree that is walked because the trees before it could not open the site has no budget of its own: it goes on with
/// the account of the last of them ([`Budget::account_of`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Exchanges that reach the network.
    pub requests: Option<u64>,
    /// Bytes on the wire, both ways.
    pub bytes: Option<u64>,
    /// From the beginning of the walk, pauses included.
    pub time: Option<Duration>,
    /// Start URLs that a site may have, each with an account of its own; 0 counts as 1.
    pub accounts: u32,
}

impl Budget {
    /// The account that a tree of a site is charged to, 0 the first; `seed` is the tree's place among those of its site.
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
