//! Which trees are visited now: the schedule of a survey's site trees, as a machine without clock or tasks.
//!
//! A survey visits only so many sites at once, and only so many at one server or in one neighbourhood. A tree comes
//! out of the queue once and is visited. When its visit ends it is done, or it comes back ([`Requeue`]): one that found no
//! place at its server is *parked* there until another visit leaves, one whose server is to be left alone until some time
//! is *put off* until then.
//!
//! The owner of a [`Roster`] polls it for what to do next ([`VisitStep`]), and tells it when a visit takes a place
//! ([`Roster::enter`]) and how it ends ([`Roster::leave`]). A survey drives it with visits, a forecast with recorded
//! exchanges: so both take the trees in the same order.
//!
//! **Several agents.** Where a survey is walked by agents, a tree that has its place waits at a [`Dealer`] for one of them,
//! by one [`Partition`] or another.
//!
//! This room never asks a server, never looks at a clock, and knows nothing of pauses: when a server may be asked is
//! the matter of `load`.

mod dealer;
mod limits;
mod machine;
mod partition;
mod visit_slots;

#[cfg(test)]
mod dealer_tests;
#[cfg(test)]
mod tests;

pub use dealer::{AgentCapacity, AgentNumber, Dealer, Priority, WaitingTree};
pub use limits::VisitLimits;
pub use machine::{Requeue, Roster, VisitStep};
pub use partition::Partition;
pub use visit_slots::VisitScope;
