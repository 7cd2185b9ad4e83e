//! TODO

pub(super) mod foresight;
#[cfg(feature = "hazards")]
pub(super) mod hazards;
pub(super) mod quarantine;
pub(super) mod worker;
