//! The sections of a report, one file and one function each, which turns results of the analysis into a
//! [`Section`](super::Section).

pub(super) mod certainty;
pub(super) mod choice;
pub(super) mod curves;
pub(super) mod deepest;
pub(super) mod facts;
pub(super) mod forecast;
pub(super) mod groups;
pub(super) mod ledger;
pub(super) mod load_coverage;
mod names;
mod strategies;
pub(super) mod times;
