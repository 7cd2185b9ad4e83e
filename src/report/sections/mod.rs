//! The chapters of a report, one file and one function each: what the analysis found becomes a
//! [`Section`](super::Section).

pub mod certainty;
pub mod curves;
pub mod deepest;
pub mod load_coverage;
mod names;
