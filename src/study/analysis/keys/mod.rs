//! External URLs, hosts, sites and addresses as keys, and at which depth level of which site tree each
//! occurs.

pub(super) mod cells;
pub(super) mod grouped_keys;
pub(super) mod groups;
pub(super) mod key_table;
pub(super) mod known_keys;
pub(super) mod links;
pub(super) mod occurrences;
pub(super) mod packed;
pub(super) mod partition;
pub(super) mod sample;
