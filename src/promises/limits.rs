use std::time::Duration;

use crate::load::{Budget, Pace, SharedBudget};
use crate::settings::QuietHours;

/// What one survey promised, in units; none: no bound was set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    pub pace: Pace,
    /// Of a site tree.
    pub tree: Budget,
    /// Of the whole survey, in bytes per second.
    pub rate: Option<u64>,
    /// The most that one exchange may move: so much of the rate may be saved up.
    pub largest: u64,
    /// Of a server, of a neighbourhood of addresses, and of an autonomous system.
    pub server: SharedBudget,
    pub network: SharedBudget,
    pub system: SharedBudget,
    pub quiet_hours: Option<QuietHours>,
    pub permits_special_addresses: bool,
    /// How far the times of facts may be off: tables and logs round them.
    pub rounding: Duration,
}
