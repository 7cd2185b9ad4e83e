//! Which sites wait, are being walked, are done; in what order; and durably.
//!
//! **The life of a site.** A start URL is offered. If its site is new, a site tree is queued: it gets
//! the next order number, for good. [`Frontier::lease`] hands trees out in that order, those of greater priority
//! before all others. When a tree
//! is finished its external URLs are handed in with [`Frontier::finish`]. They are *merged in the order
//! of the trees*, not in the order in which walks happened to end: a tree that ended early waits for
//! those before it. So which site is found from where, its generation and its place in the queue do not
//! depend on how many sites are walked at once, and a survey that was interrupted goes on to the same end.
//!
//! **Trees of one site** are walked one after another. A further one may be handed out as soon as the one before it has
//! ended ([`Frontier::free_next`]), before that is finished: its place in the queue is long given (`ahead`).
//!
//! **A site that did not open.** The first URL that leads to a site may be dead. Where all trees of a site are merged and
//! none brought a page, the next URL that leads there makes one more tree, up to [`MOST_TREES`]; URLs that come before
//! the site's fate is known are kept as spares (`gate`). Both follow the order of trees, too.
//!
//! **What is durable.** The queue, what finished trees found, and the servers' states live in one redb
//! file, and each `finish` is one transaction: either all of it happened or nothing. A lease is not
//! durable, on purpose: after a crash every tree that is not finished is simply handed out again, and
//! its journal says how far it had come. One process at a time: the file is locked.
//!
//! **robots.txt.** Finished trees leave the responses that they got for it, for trees that come within a day; what is older
//! goes with the next `finish`.
//!
//! Memory is that of the store's cache; nothing here grows with the number of sites.

mod ahead;
mod entry;
mod error;
mod gate;
mod layout;
mod queue;
mod store;

pub use entry::{Finished, KeptRobots, Lease, MOST_TREES, Offer, Spread, StartCandidate};
pub use error::FrontierError;
pub use store::{Batch, Counts, Frontier, Store, WrittenBatch};

#[cfg(test)]
mod tests;
