//! TODO

pub(super) mod doors;
pub(super) mod histogram;
pub(super) mod infrastructure;
pub(super) mod technology;
pub(super) mod times;
