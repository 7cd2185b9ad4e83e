//! A survey over several machines: agents put its questions and read the answers, over NATS JetStream.
//!
//! **Who does what.** The coordinator is a survey like any other: it has the frontier, the walks, the load and the tables in
//! its folder. What it does not do itself is to put questions to servers and to read the answers: that takes most of the
//! processor time (`reports/machines/THROUGHPUT.md`), and all of the network. Site trees are dealt to agents (`roster::Dealer`), and each question of a
//! tree goes to its agent as an [`Order`](crate::survey::RemoteRequest) when the server's turn has come. So the survey has one
//! ledger, one clock and one rule of delay, however many agents ask: budgets of networks, the rate of the whole survey,
//! opt-outs and quiet hours hold over all of them as they do on one machine.
//! The rate is in the coordinator's hands too: an order names what is reserved for its response, and of a larger body
//! an agent reads on when the coordinator replies that it may (`TreeEntry::ReadOn`).
//!
//! **No question is put twice**, but for one whose answer is lost with its agent, or perhaps on that agent's link
//! (`survey::visit::exchange`). A site tree has a subject on the bus. Before an agent puts a question it publishes there that
//! it is asked (`TreeEntry::Asked`), with the sequence that the order names as the last one on the subject
//! (`Nats-Expected-Last-Subject-Sequence`). What came of it goes to the coordinator at once; where that is away it follows on
//! the subject, under the sequence of that entry. An order that is not obeyed in time is *fenced*: the coordinator publishes an
//! entry of its own on the subject. Whatever the agent publishes later is refused, so that it puts nothing: that is why an
//! agent may be stopped for minutes, cut off or dead. (Servers of a cluster compare with what they have applied, so that an entry
//! may slip in behind a fence that is on its way; therefore there are two, and what stands before the second counts.) What stands before the fence tells whether the question was put. If it
//! was, and no answer came, the agent may still be at it: the server is left alone until no exchange can take longer, and for
//! the longest pause. A tree begins with a fence, so
//! that no order is as old as an empty subject.
//!
//! **No request is sent on old knowledge.** Orders may wait in the bus, and agents may be stopped, for any time. So an agent pings
//! the coordinator twice a second, and sends a request only while it has a reply (`permission`) by which the coordinator looked at the
//! opt-out list at most [`OBEYED_WITHIN`](crate::address::OBEYED_WITHIN) ago. An order that was decided by an older list is
//! returned, and so is one whose time is over: it is older than [`FRESH`], quiet hours have
//! begun, or its robots.txt is a day old. So the time of the order and [`FRESH`] is the latest at which its
//! request may have begun; a server that an agent may still be talking to is left alone for the longest exchange from then on, and
//! then for the longest pause.
//!
//! **Times** are those of the coordinator, which each reply to a ping tells. From then on an agent counts by a clock that only
//! counts, and says so when an exchange began: never earlier than it did, and as much later at most as the ping took. So the clocks of agents, of the
//! servers of the bus and of the survey may differ by any amount, and messages may be late.
//!
//! **Deaths.** An agent that is not heard of for [`SILENCE`] is gone, and its trees are dealt to others. A coordinator that
//! died finds the answers that came meanwhile on the bus when it is resumed (`kept_replies`); agents wait for it. While the
//! bus is away nobody asks anything. It is away in many ways ([`Outage`]): everybody who uses it notes what it finds, and the
//! coordinator (in the status and the log) and agents (in words) tell of it at once. A survey that is finished says so on the bus
//! before its stream goes: a stream that is only gone is one that was lost.
//!
//! **Of no use.** An agent whose dispatches come to nothing, three times in a row, gets no more (`load::OwnLink`): it may be alive, and its
//! link slow or its rights too few. Its trees go on elsewhere, and it is tried now and then. From one that is slow they move to agents
//! that have room.
//!
//! **Strangers.** What comes from the bus is checked like what comes from the disk: version, size and form (`message`).

mod agent;
mod bus;
mod bus_worker;
mod coordinator;
mod error;
mod kept_replies;
mod limits;
mod login;
mod machine;
mod message;
mod outage;
mod permission;
mod tree_subjects;
#[cfg(test)]
mod tree_subjects_tests;

use std::time::Duration;

use crate::survey::FRESH;
pub use agent::{Agent, AgentEnd};
pub use bus::Bus;
pub use coordinator::{Coordinator, RunningCoordinator};
pub use error::ClusterError;
pub use limits::AgentLimits;
pub use login::Login;
pub use outage::{DatedOutage, Outage};

/// How often agents and the coordinator say that they are there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);
/// Whoever needs the bus waits for it for so long.
const PATIENCE: Duration = Duration::from_mins(10);
/// An agent that was not heard of for so long is gone. Longer than an order is obeyed, so that who is given up asks nothing.
pub const SILENCE: Duration = Duration::from_secs(12);
