use std::fmt::Display;

use redb::TableDefinition;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::entry::Lease;

pub(super) const META: TableDefinition<'static, &str, u64> = TableDefinition::new("meta");
pub(super) const TREES: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("trees");
/// Unfinished trees that may be walked now.
pub(super) const WAITING: TableDefinition<'static, QueueKey, ()> = TableDefinition::new("waiting");
pub(super) const SITES: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("sites");
/// Findings of finished trees that are not merged yet, because a tree before them is still being walked.
pub(super) const FOUND: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("found");

/// The state of each tree of a survey with rounds.
pub(super) const ROUNDS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("rounds");

/// The position of a tree in the queue: trees of greater priority first, and among equals in the order
/// offered.
pub(super) type QueueKey = (u32, u64);

pub(super) fn queue_key(lease: &Lease) -> QueueKey {
    (lease.priority.abs_diff(i32::MAX), lease.order)
}

pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    // postcard writes any serde value into a growing vector; it cannot fail on our types.
    postcard::to_stdvec(value).unwrap_or_default()
}

/// Decodes a value, which must extend to the last byte; anything else is damage, which the message names.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8], what: impl Display) -> Result<T, redb::Error> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(redb::Error::Corrupted(format!("{what} cannot be read"))),
    }
}
