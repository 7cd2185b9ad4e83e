use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use crate::address::Site;
use crate::exchange::{Request, Response};
use crate::survey::agents::AssignedAgent;
use crate::survey::error::SurveyError;
use crate::survey::journal::Journal;
use crate::survey::journal::entry::ExchangeRecord;
use crate::survey::parts::Parts;
use crate::survey::reading::prefetch::PendingPrefetch;
use crate::survey::reading::quarantine::ReceivedResponse;
use crate::survey::visit::fallbacks::Fallbacks;
use crate::survey::visit::own_link::LinkPass;
use crate::survey::visit::turn::HeldPermit;

/// An exchange that a walk wants.
pub(in crate::survey) struct WantedExchange {
    pub request: Request,
    pub crawl_delay: Option<Duration>,
    pub byte_limit: u64,
    /// Another server of the site may be at work until then.
    pub not_before: Option<SystemTime>,
    /// A redirect asked for a pause until then.
    pub redirect_pause: Option<SystemTime>,
    /// A server that cannot be asked before this time is not waited for.
    pub deadline: SystemTime,
    pub fallbacks: Fallbacks,
    /// From then on the walk would ask for robots.txt first.
    pub good_until: Option<SystemTime>,
    /// A process died when it read the answer.
    pub is_suspect: bool,
    /// How often it was sent without an answer on record.
    pub times_lost: usize,
    /// How often requests of the tree were, with those that have an answer by now.
    pub lost_in_tree: u64,
}

/// What came of wanting an exchange.
pub(in crate::survey) enum ExchangeOutcome {
    /// It happened, and its answer is in the journal.
    Received(Box<ExchangeRecord>),
    /// Another tree got the response for this robots.txt, and it is in the journal: nothing was asked.
    Shared(Box<ExchangeRecord>),
    /// It brought nothing, as the journal says; it can be put again at this address, another one or the same.
    Attempted(FailedTry, IpAddr),
    /// The server is not to be asked before this time, which is too far to wait for.
    Postponed(SystemTime),
    /// The survey is being stopped; nothing was asked.
    Stopped,
    /// The agent that was to ask is gone.
    AgentLeft,
}

/// What came of a request that can be sent in another way.
pub(in crate::survey) struct FailedTry {
    pub record: Box<ExchangeRecord>,
    /// Where it begins in the journal.
    pub at: u64,
}

/// What asks: a visit of this site, which writes this journal.
pub(in crate::survey) struct Requester<'a> {
    pub parts: &'a Parts,
    pub journal: &'a Journal,
    pub site: &'a Site,
    /// The number of the tree.
    pub tree: u64,
    /// The agent that walks the tree; none: this process does.
    pub assigned: Option<&'a Arc<AssignedAgent>>,
    /// Where what came of the last question begins in the journal.
    pub recorded_at: AtomicU64,
}

/// A server whose turn has come.
pub(super) struct ReadyServer<'a> {
    pub(super) address: IpAddr,
    /// What it took to look the name up.
    pub(super) dns: Option<Duration>,
    /// The agent that sends the request; none: this process.
    pub(super) sender: Option<Arc<AssignedAgent>>,
    pub(super) pass: LinkPass<'a>,
    pub(super) permit: HeldPermit<'a>,
    /// The answer, in a simulation.
    pub(super) foreseen: Option<PendingPrefetch<'a>>,
}

/// What a server answered, before it is read.
pub(super) struct UnreadResponse<'a> {
    pub(super) address: IpAddr,
    pub(super) permit: HeldPermit<'a>,
    pub(super) received: ReceivedResponse,
}

/// Why an attempt ends before there is an answer to be booked.
pub(super) enum AttemptEnd<'a> {
    /// This came of it.
    Exchanged(ExchangeOutcome),
    /// Our own link was broken: the question was never sent.
    OwnLinkBroken,
    /// No connection came about at this agent, and another one may see otherwise.
    Doubtful(Box<DoubtfulFailure<'a>>),
    Error(SurveyError),
}

impl From<SurveyError> for AttemptEnd<'_> {
    fn from(error: SurveyError) -> Self {
        Self::Error(error)
    }
}

/// Which of two times a question is put; the second is there in case our own link broke at the first, or that of the agent.
pub(super) enum Attempt<'a> {
    First,
    Last,
    /// By another agent than the one at which no connection came about.
    Second(Box<DoubtfulFailure<'a>>),
}

/// No connection to a server came about at an agent. Nobody knows yet whether that was the server's fault.
pub(super) struct DoubtfulFailure<'a> {
    pub(super) at: Arc<AssignedAgent>,
    /// Of its link, which may have been probed.
    pub(super) _pass: LinkPass<'a>,
    pub(super) response: Response,
    /// Who tries it next.
    pub(super) other: Arc<AssignedAgent>,
}

pub(super) const STOPPED: AttemptEnd<'_> = AttemptEnd::Exchanged(ExchangeOutcome::Stopped);
pub(super) const LEFT: AttemptEnd<'_> = AttemptEnd::Exchanged(ExchangeOutcome::AgentLeft);

pub(super) fn put_off<'a>(until: SystemTime) -> AttemptEnd<'a> {
    AttemptEnd::Exchanged(ExchangeOutcome::Postponed(until))
}
