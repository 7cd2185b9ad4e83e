//! The chapters of a report, one file and one function each: what the analysis found becomes a
//! [`Section`](super::Section).

pub mod card;
pub mod certainty;
pub mod choice;
mod counted;
pub mod curves;
pub mod deepest;
pub mod doors;
pub mod forecast;
pub mod funnel;
pub mod groups;
pub mod infrastructure;
pub mod kept_back;
pub mod ledger;
pub mod links;
pub mod load_coverage;
pub mod method;
mod names;
pub mod outcomes;
pub mod sites;
pub mod technology;
pub mod times;
