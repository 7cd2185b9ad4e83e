//! A survey over several machines: agents send its requests and read the responses, over NATS JetStream.
//!
//! **Division of work.** The coordinator is a survey like any other: its folder holds the frontier, the
//! walks, the load and the tables. Only sending requests and reading responses is left to agents, because
//! that takes most of the processor time (`reports/machines/THROUGHPUT.md`) and all of the network. The
//! coordinator assigns site trees to agents (`roster::Dealer`). When the server's turn has come, it
//! dispatches each request of a tree to the tree's agent as a
//! [`RemoteRequest`](crate::survey::RemoteRequest). So the survey has one ledger, one clock and one rule of
//! delay, however many agents send requests: budgets of networks, the rate of the whole survey, opt-outs and
//! quiet hours hold over all of them as they do on one machine. The coordinator also controls the rate: a
//! dispatch names the number of bytes that are reserved for its response, and an agent reads on in a larger
//! body once the coordinator has replied that it may (`Event::ReadMore`).
//!
//! **No request is sent twice**, except one whose response is lost with its agent, or perhaps on that agent's
//! link (`survey::visit::exchange`). Each site tree has a subject on the bus. Before an agent sends a
//! request, it publishes an entry on that subject (`Event::Sending`) and states the last sequence on the
//! subject as the dispatch names it (`Nats-Expected-Last-Subject-Sequence`). The agent reports the result
//! directly to the coordinator. If the coordinator is away, the agent publishes the result on the subject
//! instead, directly after that entry. A dispatch that is not carried out in time is *fenced*: the
//! coordinator publishes an entry of its own on the subject. The bus then refuses whatever the agent
//! publishes later, so the agent sends nothing. This is why an agent may be stopped for minutes, cut off or
//! dead. (Servers of a cluster compare the expected sequence with the entries that they have applied, so an
//! entry may slip in behind a fence that is on its way. Therefore there are two fences, and all entries
//! before the second count.) The entries before the fence tell whether the request was sent. If it was, and
//! no response came, the agent may still be working on it: the server gets no request until no exchange can
//! take longer, and then for the longest pause. A tree begins with a fence, so that no dispatch can name an
//! empty subject.
//!
//! **No request is sent on old knowledge.** Dispatches may wait in the bus, and agents may be stopped, for
//! any time. So an agent pings the coordinator twice a second. It sends a request only while it has a reply
//! (`permission`) by which the coordinator looked at the opt-out list at most
//! [`OBEYED_WITHIN`](crate::address::OBEYED_WITHIN) ago. An agent returns a dispatch that was decided by an
//! older list. It also returns one whose time is over: the dispatch is older than [`DISPATCH_LIFETIME`],
//! quiet hours have begun, or its robots.txt is a day old. So a request can begin no later than
//! [`DISPATCH_LIFETIME`] after its dispatch. A server that an agent may still be talking to gets no request
//! for the longest exchange from then on, and then for the longest pause.
//!
//! **Times** are those of the coordinator, which it states in each reply to a ping. From then on an agent
//! counts by a monotonic clock and reports when an exchange began: never earlier than it did, and later by at
//! most the time that the ping took. So the clocks of agents, of the servers of the bus and of the survey may
//! differ by any amount, and messages may be late.
//!
//! **Deaths.** An agent that has been silent for [`AGENT_TIMEOUT`] is gone, and its trees are assigned to others.
//! When the survey of a dead coordinator is resumed, the new coordinator finds on the bus the responses that
//! came meanwhile (`kept_replies`); agents wait for it. While the bus is away, no request is sent. The bus
//! can fail in many ways ([`Outage`]): every user of the bus notes what it finds. The coordinator (in the
//! status and the log) and the agents (as messages) report it at once. A finished survey announces its end on
//! the bus before its stream is removed: a stream that disappears without that announcement was lost.
//!
//! **Useless agents.** An agent whose dispatches fail three times in a row gets no more (`load::OwnLink`): it
//! may be alive, but its link is slow or it lacks permissions. Its trees go on elsewhere, and it is tried now
//! and then. Trees of a slow agent move to agents that have room.
//!
//! **Untrusted input.** Messages from the bus are checked like files from the disk: version, size and form
//! (`message`).

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

use crate::survey::DISPATCH_LIFETIME;
pub use agent::{Agent, AgentEnd};
pub use bus::Bus;
pub use coordinator::{Coordinator, RunningCoordinator};
pub use error::ClusterError;
pub use limits::AgentLimits;
pub use login::Login;
pub use outage::{DatedOutage, Outage};

/// Interval between two heartbeats of an agent, and between two presence entries of the coordinator.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// How long an operation that needs the bus waits for it.
const PATIENCE: Duration = Duration::from_mins(10);
/// An agent that has been silent for this long is gone. Longer than a dispatch stays valid, so that an agent
/// that is given up sends no requests.
pub const AGENT_TIMEOUT: Duration = Duration::from_secs(12);
