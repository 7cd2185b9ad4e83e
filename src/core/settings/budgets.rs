use super::table::{SettingRules, value};
use super::{Size, Span};

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
    pub fn limits_busy_time(&self) -> bool {
        let all = [self.server, self.network, self.system];
        all.iter().any(|place| place.in_all.busy.is_some() || place.per_day.busy.is_some())
    }
}

/// What one place may bear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allowance {
    /// Over the whole survey.
    pub in_all: LoadBudget,
    /// On a day (UTC).
    pub per_day: LoadBudget,
}

/// How much of each kind; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadBudget {
    /// Exchanges, robots.txt included.
    pub requests: Option<u64>,
    /// On the wire, both ways.
    pub bytes: Option<Size>,
    /// Time in which servers are busy with us.
    pub busy: Option<Span>,
}

/// Rules of the three kinds of budgets. None may be 0: a place that is to bear nothing is left out by an opt-out.
pub(super) const REQUESTS: SettingRules = value("N|none").above_zero().lower_is_more_polite();
pub(super) const BYTES: SettingRules = value("BYTES|none").least_bytes().lower_is_more_polite();
pub(super) const BUSY: SettingRules = value("TIME|none").least_busy().lower_is_more_polite();
