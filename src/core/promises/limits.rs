use std::time::Duration;

use crate::settings::{Budget, Budgets, Pace, QuietHours, Settings, SharedBudget};

/// What one survey promised, in units; none: no bound was set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromisedLimits {
    /// Pauses, and how many exchanges at once.
    pub pace: Pace,
    /// Of the trees of a site that share an account.
    pub tree: Budget,
    /// Of the whole survey, in bytes per second.
    pub rate: Option<u64>,
    /// The most that one exchange may move: so much of the rate may be saved up.
    pub largest: u64,
    /// Of a server, of a neighbourhood of addresses, and of an autonomous system.
    pub server: SharedBudget,
    /// Of a neighbourhood of addresses.
    pub network: SharedBudget,
    /// Of an autonomous system.
    pub system: SharedBudget,
    /// In which no server is asked.
    pub quiet_hours: Option<QuietHours>,
    /// Loopback and private addresses may be asked.
    pub permits_special_addresses: bool,
    /// How far the times of facts may be off: tables and logs round them.
    pub rounding: Duration,
}

impl PromisedLimits {
    /// What these settings promise; one exchange moves `largest` bytes at most.
    #[must_use]
    pub fn new(settings: &Settings, largest: u64) -> Self {
        let Budgets { server, network, system } = &settings.budgets;
        Self {
            pace: Pace::from(settings),
            tree: Budget::from(settings),
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
}
