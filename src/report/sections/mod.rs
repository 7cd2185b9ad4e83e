//! The chapters of a report, one file and one function each: what the analysis found becomes a
//! [`Section`](super::Section).
