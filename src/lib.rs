//! `ccsurvey` surveys the Web servers of a country-code domain at low load.
//!
//! The rooms, in the order data flows through them, by package. Each has its story in its own documentation.
//!
//! `ccsurvey-address`:
//! - [`address`]: hosts, URLs in canonical form, public suffixes, scope, and where no request may go.
//!
//! `ccsurvey-core`, what is asked, what answers mean, and what may be asked when and in which order:
//! - [`settings`]: everything a survey can be told, declared once.
//! - [`starts`]: a start list in any form people have: start URLs, and the lines that hold none.
//! - [`exchange`]: one question to a server and its answer.
//! - [`robots`]: robots.txt, and what its absence means.
//! - [`page`]: any bytes as a page: links, charset, title.
//! - [`load`]: permits, pace, back-off, budgets, and the ledger of what servers bore.
//! - [`promises`]: what owners of servers are promised, and one judge for the survey, the report and tests.
//! - [`roster`]: which site trees are visited now, and which wait for a server.
//! - [`walk`]: **the core**: one site tree as a machine without clock or network.
//!
//! `ccsurvey-space`:
//! - [`space`]: a virtual Web space that knows its own ground truth, drawn from a seed or recorded by a survey.
//!
//! `ccsurvey-study`, making sense of what was found:
//! - [`records`]: tables and their dictionary, Parquet in and out, the manifest.
//! - [`analysis`]: from tables only: curves, coverage, intervals, the choice of a depth.
//! - [`report`]: what was found as one HTML file; same input, same bytes.
//!
//! `ccsurvey`, this package, doing it:
//! - [`frontier`]: which sites wait, are being walked, are done; durable.
//! - [`fetch`]: the only room with sockets to servers; or asks a Web in this process in their place.
//! - [`survey`]: joins all of the above; checkpoints, progress, resuming.
//! - [`cluster`]: agents on many machines, over NATS JetStream, ask and read for one survey.
//! - [`rehearsal`]: surveys of virtual Webs in this process, on a virtual clock; recorded surveys walked again.
//! - [`cli`]: flags and file to settings; one file a command.
//!
//! `ccsurvey-address` and `ccsurvey-core` are pure: no clock, no sockets, no disk. Time is always an argument.
//! `tests/repository/architecture.rs` holds which room may name which.

#![warn(clippy::print_stdout, clippy::print_stderr)] // `cli::output` prints.

pub mod cli;
pub mod cluster;
pub mod fetch;
pub mod frontier;
pub mod rehearsal;
pub mod survey;

pub use ccsurvey_address as address;
pub use ccsurvey_core::{exchange, load, page, promises, robots, roster, settings, starts, walk};
pub use ccsurvey_space as space;
pub use ccsurvey_study::{analysis, records, report};
