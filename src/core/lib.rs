//! The pure rooms of `ccsurvey`: no clock, no socket, no disk; times and seeds are arguments.
//!
//! What to request, and how one request went:
//! - [`settings`]: every setting of a survey, declared once.
//! - [`starts`]: a start list in any common form: start URLs, and the lines that hold none.
//! - [`exchange`]: one request to a server and its response.
//!
//! What responses mean:
//! - [`robots`]: robots.txt, and what a missing one means.
//! - [`page`]: any bytes read as a page: links, charset, title.
//!
//! Which requests are allowed, when, and in which order:
//! - [`load`]: permits, pace, back-off, budgets, and the ledger of the load on each server.
//! - [`promises`]: the promises to server owners, and one judge for the survey, the report and tests.
//! - [`roster`]: which site trees are visited now, and which wait for a server.
//! - [`walk`]: **the core**: one site tree as a machine without clock or network.
//!
//! The documentation of each room has the details. In these rooms `address` is the package
//! `ccsurvey-address`.

#![warn(clippy::print_stdout, clippy::print_stderr)] // `cli::output` prints.

use ccsurvey_address as address;

pub mod exchange;
pub mod load;
pub mod page;
pub mod promises;
pub mod robots;
pub mod roster;
pub mod settings;
pub mod starts;
pub mod walk;
