//! Reading of responses: ahead of time, by an agent, or by a separate process if an earlier process died at
//! the response.

#[cfg(feature = "hazards")]
pub(super) mod hazards;
pub(super) mod prefetch;
pub(super) mod quarantine;
pub(super) mod worker;
