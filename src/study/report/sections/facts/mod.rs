//! Sections on the findings: counts and shares, each with the table behind it.

pub(in crate::report) mod card;
pub(super) mod counted;
pub(in crate::report) mod doors;
pub(in crate::report) mod funnel;
pub(in crate::report) mod graph;
pub(in crate::report) mod infrastructure;
pub(in crate::report) mod links;
pub(in crate::report) mod method;
pub(in crate::report) mod outcomes;
pub(in crate::report) mod sites;
pub(in crate::report) mod skipped;
pub(in crate::report) mod technology;
