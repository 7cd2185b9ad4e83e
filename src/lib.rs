//! `ccsurvey` surveys the Web servers of a country-code domain at low load.
//!
//! The rooms, in the order data flows through them. Each has its story in its own documentation.
//!
//! What is asked, and of whom:
//! - [`address`]: hosts, URLs in canonical form, public suffixes, scope, and where no request may go.
//! - [`settings`]: everything a survey can be told, declared once.
//! - [`starts`]: a start list in any form people have: start URLs, and the lines that hold none.
//! - [`exchange`]: one question to a server and its answer.
//!
//! What answers mean:
//! - [`robots`]: robots.txt, and what its absence means.
//! - [`page`]: any bytes as a page: links, charset, title.
//!
//! What may be asked, when, and in which order:
//! - [`load`]: permits, pace, back-off, budgets, and the ledger of what servers bore.
//! - [`promises`]: what owners of servers are promised, and one judge for the survey, the report and tests.
//! - [`frontier`]: which sites wait, are being walked, are done; durable.
//! - [`roster`]: which site trees are visited now, and which wait for a server.
//! - [`walk`]: **the core**: one site tree as a machine without clock or network.
//!
//! Doing it:
//! - [`fetch`]: the only room with sockets to servers; or asks a Web in this process in their place.
//! - [`records`]: tables and their dictionary, Parquet in and out, the manifest.
//! - [`survey`]: joins all of the above; checkpoints, progress, resuming.
//! - [`cluster`]: agents on many machines, over NATS JetStream, ask and read for one survey.
//!
//! Making sense of it:
//! - [`analysis`]: from tables only: curves, coverage, intervals, the choice of a depth.
//! - [`report`]: what was found as one HTML file; same input, same bytes.
//!
//! Trying it:
//! - [`space`]: a virtual Web space that knows its own ground truth, drawn from a seed or recorded by a survey.
//! - [`rehearsal`]: surveys of virtual Webs in this process, on a virtual clock; recorded surveys walked again.
//! - [`cli`]: flags and file to settings; one file a command.
//!
//! The first nine are pure: no clock, no sockets, no disk except behind the frontier's store. Time is
//! always an argument. `tests/repository/architecture.rs` holds which room may name which.

#![warn(clippy::print_stdout, clippy::print_stderr)] // `cli::output` prints.

pub mod address;
pub mod analysis;
pub mod cli;
pub mod cluster;
pub mod exchange;
pub mod fetch;
pub mod frontier;
pub mod load;
pub mod page;
pub mod promises;
pub mod records;
pub mod rehearsal;
pub mod report;
pub mod robots;
pub mod roster;
pub mod settings;
pub mod space;
pub mod starts;
pub mod survey;
pub mod walk;
