//! TODO

pub(super) mod card;
pub(super) mod counted;
pub(super) mod doors;
pub(super) mod funnel;
pub(super) mod infrastructure;
pub(super) mod kept_back;
pub(super) mod links;
pub(super) mod method;
pub(super) mod outcomes;
pub(super) mod sites;
pub(super) mod technology;
