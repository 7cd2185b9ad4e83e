//! The pure rooms of `ccsurvey`: no clock, no socket, no disk; times and seeds are arguments.
//!
//! What is asked:
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
//! - [`roster`]: which site trees are visited now, and which wait for a server.
//! - [`walk`]: **the core**: one site tree as a machine without clock or network.
//!
//! Each room's own documentation has its story. The rooms name addresses as `address`: the package `ccsurvey-address`.

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
