//! Which sites are pending, active and finished, and in what order; durable.
//!
//! **The life of a site.** A start URL is offered. If its site is new, a site tree is queued and gets the
//! next order number, for good. [`Frontier::lease`] hands trees out in that order, trees of greater priority
//! before all others. When a tree is finished, [`Frontier::finish`] takes in its external URLs. They are
//! *merged in the order of the trees*, not in the order in which walks happened to end: a tree that ended
//! early waits for those before it. So the page from which a site is found, its generation and its position
//! in the queue do not depend on how many sites are walked at once, and an interrupted survey that is resumed
//! ends the same.
//!
//! **Trees of one site** are walked one after another. The next one may be handed out as soon as the one
//! before it has ended ([`Frontier::free_next`]), before that one is finished: its position in the queue has
//! been fixed long before (`ahead`).
//!
//! **A site that did not open.** The first URL that leads to a site may be dead. Where all trees of a site
//! are merged and none brought a page, the next URL that leads to the site makes one more tree, up to
//! [`MAX_TREES`]. URLs that arrive before it is known whether the site opens are kept as spares (`gate`).
//! Both follow the order of trees, too.
//!
//! **What is durable.** The queue, the findings of finished trees, and the states of the servers live in one
//! redb file, and each `finish` is one transaction: either all of it happened or nothing. A lease is not
//! durable, on purpose: after a crash every tree that is not finished is simply handed out again, and its
//! journal shows how far it had come. The file is locked, so that only one process uses it at a time.
//!
//! **Rounds.** In a survey with a budget the trees that take part in a round are handed out once each
//! ([`Frontier::members`]); what waits in each at its end is stored, and [`Frontier::next_round`] weighs it
//! by what its caller plans. After a crash the round goes on with the trees whose part
//! has not ended.
//!
//! **robots.txt.** Finished trees leave the responses to their robots.txt requests for trees that start
//! within a day; the next `finish` removes older ones.
//!
//! Memory use is that of the store's cache; nothing here grows with the number of sites.

mod ahead;
mod entry;
mod error;
mod gate;
mod layout;
mod queue;
mod rounds;
mod store;

pub use entry::{Finished, KeptRobots, Lease, MAX_TREES, Offer, Spread, StartCandidate};
pub use error::FrontierError;
pub use rounds::{Allowances, EndedPart, Round, RoundMember, UnfinishedTree, UnfinishedTrees};
pub use store::{Batch, Counts, Frontier, Store, WrittenBatch};

#[cfg(test)]
mod tests;
