//! What becomes of a response once it is here: it is read ahead, by an agent, or by a process of its own where an earlier one
//! ended at it.

#[cfg(feature = "hazards")]
pub(super) mod hazards;
pub(super) mod prefetch;
pub(super) mod quarantine;
pub(super) mod worker;
