//! Decides which trees are visited now: the schedule of a survey's site trees, as a machine without clock or
//! tasks.
//!
//! A survey visits a limited number of sites at once, and a limited number at one server or in one
//! neighbourhood. A tree comes out of the queue once and is visited. When its visit ends, it is done, or it
//! comes back ([`Requeue`]). A tree that found no slot at its server is *parked* there until another visit
//! leaves. A tree whose server gets no requests until some time is *put off* until then.
//!
//! The owner of a [`Roster`] polls it for the next step ([`VisitStep`]), and reports when a visit takes a
//! slot ([`Roster::enter`]) and how it ends ([`Roster::leave`]). A survey drives it with visits, a forecast
//! with recorded exchanges: so both take the trees in the same order.
//!
//! **Several agents.** If agents walk the trees of a survey, a tree that has its slot waits at a [`Dealer`]
//! for one of them, by one [`Partition`] or another.
//!
//! **Rounds.** A survey with a budget of requests goes by rounds. A [`RoundPlanner`] says, from what waits in
//! all trees, which of them send requests in the next round, and how many.
//!
//! This room never sends a request, never looks at a clock, and knows nothing of pauses: `load` decides when
//! a request may be sent to a server.

mod dealer;
mod limits;
mod machine;
mod partition;
mod rounds;
mod visit_slots;

#[cfg(test)]
mod dealer_tests;
#[cfg(test)]
mod rounds_tests;
#[cfg(test)]
mod tests;

pub use dealer::{AgentCapacity, AgentNumber, Dealer, Priority, WaitingTree};
pub use limits::VisitLimits;
pub use machine::{Requeue, Roster, VisitStep};
pub use partition::Partition;
pub use rounds::{RoundPlan, RoundPlanner, TreeBetweenRounds};
pub use visit_slots::VisitScope;
