//! A run of a survey: creating or reopening its folder, recovery after earlier runs, the crew that visits
//! site trees, and start URLs that are added meanwhile.

pub(super) mod added;
pub(super) mod creating;
pub(super) mod crew;
pub(super) mod engine;
pub(super) mod recovery;
pub(super) mod reopening;
