//! The load that a survey may put on servers, and the load that it has put on them.
//!
//! **The life of a permit.** The driver of a walk asks [`Load::permit`] for an exchange at an address. The
//! decision is *granted*, *pause until*, or *busy*: an exchange in flight must end first. With the [`Permit`]
//! the driver runs the exchange. It then passes the response to [`Load::settle`], which frees the address and
//! the site, books the cost in the ledger, and sets the time of the next request to the address. That time
//! comes from one function, [`delay_after`]: no other code holds the delay rule.
//!
//! With shared hosting, politeness to hosts is not enough: the pace is kept per *address*, over the whole
//! survey and for every purpose: pages, redirects, robots.txt. A site has one exchange in flight at a time
//! even if its hosts have several addresses.
//!
//! Where servers share a link, the same slots and pauses are kept per neighbourhood too
//! ([`Pace::per_neighbourhood`](crate::settings::Pace)).
//!
//! A server in trouble gets requests at growing intervals. Then it cools down for minutes and hours, and in
//! the end the survey gives it up. No failure ever makes an exchange come sooner. Where only one site of many
//! is in trouble, only that site cools down and is given up.
//!
//! When everything fails at once, [`OwnLink`] takes our own link to be broken, pauses the survey and probes.
//!
//! [`SiteBudget`] says when a site has used up its budget, in all its trees that share an account
//! ([`Budget`](crate::settings::Budget)). [`SharedBudget`](crate::settings::SharedBudget) says the same of a
//! server and of its [`Networks`], for today or for the whole survey. [`Ledger`] rows are measured from the
//! times in the responses, independent of the permits. The room `promises` judges from the rules of this room
//! whether a survey has kept its promises.
//!
//! This room has no clock: `now` is an argument. The state of an address can be taken out and restored,
//! because delays must outlast the process.

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
