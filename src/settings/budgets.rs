use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::table::{Rules, value};
use super::{Settings, Size, Span};

/// What places may bear for a survey, whatever sites stand there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// One server address.
    pub server: Allowance,
    /// One neighbourhood of addresses (/24 in IPv4, /48 in IPv6).
    pub network: Allowance,
    /// One autonomous system, as `geo` tells it.
    pub system: Allowance,
}

impl Budgets {
    /// Whether they bound the time in which servers are busy.
    #[must_use]
    pub fn bound_busy(&self) -> bool {
        let all = [self.server, self.network, self.system];
        all.iter().any(|place| place.in_all.busy.is_some() || place.per_day.busy.is_some())
    }
}

/// What one place may bear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allowance {
    /// Over the whole survey.
    pub in_all: Bearable,
    /// On a day (UTC).
    pub per_day: Bearable,
}

/// How much of each kind; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bearable {
    /// Exchanges, robots.txt included.
    pub requests: Option<u64>,
    /// On the wire, both ways.
    pub bytes: Option<Size>,
    /// Time in which servers are busy with us.
    pub busy: Option<Span>,
}

/// What a place may bear for a survey, in units, whatever sites stand there; none: no bound. A place is a server address, or a
/// network of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedBudget {
    /// In one day, by UTC.
    pub per_day: Burden,
    /// In the whole survey.
    pub in_all: Burden,
}

/// Load of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burden {
    /// Exchanges that reach the network.
    pub requests: Option<u64>,
    /// On the wire, both ways.
    pub bytes: Option<u64>,
    /// Time that exchanges take, summed.
    pub busy: Option<Duration>,
}

impl From<&Allowance> for SharedBudget {
    fn from(allowance: &Allowance) -> Self {
        Self { per_day: Burden::from(&allowance.per_day), in_all: Burden::from(&allowance.in_all) }
    }
}

impl From<&Bearable> for Burden {
    fn from(bearable: &Bearable) -> Self {
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

/// Rules of the three kinds of budgets. None may be 0: a place that is to bear nothing is left out by an opt-out.
pub(super) const REQUESTS: Rules = value("N|none").above_zero().less_is_gentler();
pub(super) const BYTES: Rules = value("BYTES|none").least_bytes().less_is_gentler();
pub(super) const BUSY: Rules = value("TIME|none").least_busy().less_is_gentler();
