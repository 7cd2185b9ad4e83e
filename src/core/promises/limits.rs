use std::time::Duration;

use crate::settings::{Budget, Budgets, Pace, QuietHours, Settings, SharedBudget};

/// The limits that one survey promised, in base units; none: no limit was set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromisedLimits {
    /// Pauses, and the number of exchanges at once.
    pub pace: Pace,
    /// Budget of the trees of a site that share an account.
    pub tree: Budget,
    /// The most requests of the whole survey.
    pub survey: Option<u64>,
    /// Rate of the whole survey, in bytes per second.
    pub rate: Option<u64>,
    /// The most bytes that one exchange may move: this much of the rate may be saved up.
    pub largest: u64,
    /// Budget of a server.
    pub server: SharedBudget,
    /// Budget of a neighbourhood of addresses.
    pub network: SharedBudget,
    /// Budget of an autonomous system.
    pub system: SharedBudget,
    /// Hours in which no server gets a request.
    pub quiet_hours: Option<QuietHours>,
    /// Loopback and private addresses may get requests.
    pub permits_special_addresses: bool,
    /// The largest error in the times of facts: tables and logs round them.
    pub rounding: Duration,
}

impl PromisedLimits {
    /// The promises of these settings; one exchange moves `largest` bytes at most.
    #[must_use]
    pub fn new(settings: &Settings, largest: u64) -> Self {
        let Budgets { server, network, system } = &settings.budgets;
        Self {
            pace: Pace::from(settings),
            tree: Budget::from(settings),
            survey: None,
            rate: settings.rate.map(|size| size.0),
            largest,
            server: server.into(),
            network: network.into(),
            system: system.into(),
            quiet_hours: settings.quiet_hours,
            permits_special_addresses: settings.permit_special_addresses,
            rounding: Duration::ZERO,
        }
    }

    /// The same with the most requests of the whole survey.
    #[must_use]
    pub fn with_survey_budget(self, requests: Option<u64>) -> Self {
        Self { survey: requests, ..self }
    }
}
