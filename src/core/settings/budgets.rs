use super::table::{SettingRules, value};
use super::{Size, Span};

/// The load budgets of servers and networks for a survey, for all their sites together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// One server address.
    pub server: Allowance,
    /// One neighbourhood of addresses (/24 in IPv4, /48 in IPv6).
    pub network: Allowance,
    /// One autonomous system, as found in the `geo` database.
    pub system: Allowance,
}

impl Budgets {
    /// Whether any of them limits the busy time of servers.
    #[must_use]
    pub fn limits_busy_time(&self) -> bool {
        let all = [self.server, self.network, self.system];
        all.iter().any(|allowance| allowance.in_all.busy.is_some() || allowance.per_day.busy.is_some())
    }
}

/// The load budget of one server or network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allowance {
    /// For the whole survey.
    pub in_all: LoadBudget,
    /// On a day (UTC).
    pub per_day: LoadBudget,
}

/// Limits on each kind of load; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadBudget {
    /// Exchanges, robots.txt included.
    pub requests: Option<u64>,
    /// Wire bytes in both directions.
    pub bytes: Option<Size>,
    /// Time in which servers work on our requests.
    pub busy: Option<Span>,
}

/// Rules of the three kinds of budgets. None may be 0: to send a server no requests at all, use an opt-out.
pub(super) const REQUESTS: SettingRules = value("N|none").above_zero().lower_is_more_polite();
pub(super) const BYTES: SettingRules = value("BYTES|none").least_bytes().lower_is_more_polite();
pub(super) const BUSY: SettingRules = value("TIME|none").least_busy().lower_is_more_polite();
