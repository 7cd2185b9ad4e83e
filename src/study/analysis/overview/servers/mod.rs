//! The servers of a survey: where they are, what they run, how long they take.

pub(super) mod doors;
pub(super) mod histogram;
pub(super) mod infrastructure;
pub(super) mod technology;
pub(super) mod times;
