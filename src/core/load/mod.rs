//! What we may spend on servers, and what we spent.
//!
//! **The life of an exchange's permit.** The driver of a walk asks [`Load::permit`] for a turn at an
//! address. The answer is *go*, *not before*, or *busy*: an exchange in flight must end first. With the
//! [`Permit`] the exchange happens; its answer comes back through [`Load::settle`], which frees the
//! address and the site, books what it cost in the ledger, and sets when the address may be asked again.
//! That time follows from one function, [`delay_after`]: the delay rule stands nowhere else.
//!
//! With shared hosting, politeness to hosts is not enough: the pace is kept per *address*, over the
//! whole survey and for every purpose: pages, redirects, robots.txt. A site has one exchange
//! in flight at a time even if its hosts have several addresses.
//!
//! Where servers share a link, the same places and pauses are kept per neighbourhood too
//! ([`Pace::per_neighbourhood`](crate::settings::Pace)).
//!
//! A server that is in trouble is asked ever more seldom, then put off for minutes and hours, then given up
//! for this survey; nothing that goes wrong ever makes an exchange come sooner. Where only one site of many is in trouble,
//! that site is put off and given up.
//!
//! When everything fails at once, [`OwnLink`] takes that for our own trouble, pauses the survey and probes.
//!
//! [`SiteBudget`] says when one site has had its share, in all its trees that share an account ([`Budget`](crate::settings::Budget));
//! [`SharedBudget`](crate::settings::SharedBudget) says when a server has, or one of the [`Networks`] that it stands in, for today or for good. [`Ledger`] rows are measured from the answers'
//! own times, apart from the permits. Whether that keeps what was promised is judged elsewhere, by the rules of this room.
//!
//! This room has no clock: `now` is an argument. States of addresses can be taken out and put back, for
//! delays must outlast the process.

mod bucket;
mod budget;
mod health;
mod ledger;
mod networks;
mod own_link;
mod permits;
mod server;
mod server_link;
mod share;
mod slots;

pub use bucket::{Bucket, Claim};
pub use budget::{BudgetDecision, SiteBudget, Spent, SpentBudget, least_bytes};
pub use health::delay::delay_after;
pub use health::site_troubles::SiteCoolDown;
pub use health::{Backoff, Health, Observation, Symptom, symptom_of};
pub use ledger::Ledger;
pub use networks::Networks;
pub use own_link::{Fault, LinkDecision, LinkSignal, LossCause, OwnLink};
pub use permits::{Load, Permit, PermitDecision};
pub use server::ServerState;
pub use server_link::{Flow, HALF_A_DAY, IN_FLIGHT, LEAST_BYTES, MOST_QUIET, SHORTEST, ServerLink};
pub use share::{LargestExchange, least_busy};

#[cfg(test)]
mod networks_tests;
#[cfg(test)]
mod tests;
