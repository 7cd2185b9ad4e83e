//! TODO

pub(super) mod added;
pub(super) mod creating;
pub(super) mod crew;
pub(super) mod engine;
pub(super) mod recovery;
pub(super) mod reopening;
