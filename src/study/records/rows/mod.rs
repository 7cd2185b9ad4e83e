//! The row types, one per table.

pub(super) mod changes;
pub(super) mod exchanges;
pub(super) mod hosts;
pub(super) mod levels;
pub(super) mod links;
pub(super) mod other_users;
#[cfg(test)]
pub(super) mod samples;
pub(super) mod segment;
pub(super) mod servers;
pub(super) mod sites;
