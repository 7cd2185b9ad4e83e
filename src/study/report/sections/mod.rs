//! The chapters of a report, one file and one function each: what the analysis found becomes a
//! [`Section`](super::Section).

pub(super) mod card;
pub(super) mod certainty;
pub(super) mod choice;
mod counted;
pub(super) mod curves;
pub(super) mod deepest;
pub(super) mod doors;
pub(super) mod forecast;
pub(super) mod funnel;
pub(super) mod groups;
pub(super) mod infrastructure;
pub(super) mod kept_back;
pub(super) mod ledger;
pub(super) mod links;
pub(super) mod load_coverage;
pub(super) mod method;
mod names;
pub(super) mod outcomes;
pub(super) mod sites;
mod strategies;
pub(super) mod technology;
pub(super) mod times;
