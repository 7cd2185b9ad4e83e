//! `ccsurvey` surveys the Web servers of a country-code domain at low load.
//!
//! The rooms, by package, in the order in which data flows through them. Each room's own documentation says
//! more.
//!
//! `ccsurvey-address`:
//! - [`address`]: hosts, URLs in canonical form, public suffixes, scope, and where no request may go.
//!
//! `ccsurvey-core`, what to request, what responses mean, and when and in which order requests are allowed:
//! - [`settings`]: all settings of a survey, declared once.
//! - [`starts`]: start lists in any common form: start URLs, and the lines that have none.
//! - [`exchange`]: one request to a server and its response.
//! - [`robots`]: robots.txt, and what its absence means.
//! - [`page`]: any bytes as a page: links, charset, title.
//! - [`load`]: permits, pace, back-off, budgets, and the ledger of the load on servers.
//! - [`promises`]: the promises to server owners, and one judge for the survey, the report and the tests.
//! - [`roster`]: which site trees are visited now, and which wait for a server.
//! - [`walk`]: **the core**: one site tree as a state machine without clock or network.
//!
//! `ccsurvey-space`:
//! - [`space`]: a virtual Web that knows its own ground truth, generated from a seed or recorded by a survey.
//!
//! `ccsurvey-study`, the evaluation of the results:
//! - [`records`]: tables and their dictionary, Parquet in and out, the manifest.
//! - [`analysis`]: from tables only: curves, coverage, intervals, the choice of a depth.
//! - [`report`]: the results as one HTML file; same input, same bytes.
//!
//! `ccsurvey`, this package, which runs the survey:
//! - [`frontier`]: pending, active and finished sites; durable.
//! - [`fetch`]: the only room with sockets to servers; it can also send requests to a Web in this process
//!   instead.
//! - [`survey`]: joins all of the above; checkpoints, progress, resuming.
//! - [`cluster`]: agents on many machines, over NATS JetStream, send requests and read responses for one
//!   survey.
//! - [`rehearsal`]: surveys of virtual Webs in this process, on a virtual clock; recorded surveys replayed.
//! - [`cli`]: from flags and files to settings; one file per command.
//!
//! `ccsurvey-address` and `ccsurvey-core` are pure: no clock, no sockets, no disk. Time is always an
//! argument. `tests/repository/architecture.rs` checks which room may use which.

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
