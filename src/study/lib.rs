//! The results of a survey by `ccsurvey` and their evaluation. Nothing here sends a request.
//!
//! - [`records`]: tables and their dictionary, Parquet in and out, the manifest.
//! - [`analysis`]: from tables only: curves, coverage, intervals, the choice of a depth.
//! - [`report`]: the results as one HTML file; same input, same bytes.

#![warn(clippy::print_stdout, clippy::print_stderr)] // `cli::output` prints.

use ccsurvey_address as address;
use ccsurvey_core::{exchange, load, promises, roster, settings, walk};

pub mod analysis;
pub mod records;
pub mod report;
