//! The servers of a survey: location, software and response times.

pub(super) mod doors;
pub(super) mod histogram;
pub(super) mod infrastructure;
pub(super) mod technology;
pub(super) mod times;
