//! What we may spend on servers, and what we spent.
//!
//! **The life of an exchange's permit.** Whoever drives a walk asks [`Load::permit`] for a turn at an
//! address. The answer is *go*, *not before*, or *busy*: an exchange in flight must end first. With the
//! [`Permit`] the exchange happens; its answer comes back through [`Load::settle`], which frees the
//! address and the site, books what it cost in the ledger, and sets when the address may be asked again.
//! That time follows from one function, [`delay_after`]: the delay rule stands nowhere else.
//!
//! Shared hosting makes politeness to hosts no politeness, so the pace is kept per *address*, over the
//! whole survey, whoever asks and for whatever: pages, redirects, robots.txt. A site has one exchange
//! in flight at a time even if its hosts have several addresses.
//!
//! [`SiteBudget`] says when one site has had its share. [`Ledger`] rows are measured from the answers'
//! own times, apart from the permits, so that they can show a promise broken.
//!
//! This room has no clock: `now` is an argument. States of addresses can be taken out and put back, for
//! delays must outlast the process.

mod bucket;
mod budget;
mod desk;
mod ledger;
mod pace;
mod server;

pub use bucket::Bucket;
pub use budget::{Budget, Grant, Limit, SiteBudget};
pub use desk::{Load, Permit, Turn};
pub use ledger::{Ledger, Promise};
pub use pace::{Pace, delay_after};
pub use server::{Backoff, ServerState, is_trouble};

#[cfg(test)]
mod tests;
