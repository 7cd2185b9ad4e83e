//! What becomes of a response once it is here: it is read ahead, by an agent, or by a process of its own where an earlier one
//! ended at it.

pub(super) mod foresight;
#[cfg(feature = "hazards")]
pub(super) mod hazards;
pub(super) mod quarantine;
pub(super) mod worker;
