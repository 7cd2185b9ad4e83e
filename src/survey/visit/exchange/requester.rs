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
use crate::survey::parts::access::Access;
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
    /// Another server of the site may be working until then.
    pub not_before: Option<SystemTime>,
    /// A redirect demanded a pause until then.
    pub redirect_pause: Option<SystemTime>,
    /// If no request may be sent to the server before this time, it is not waited for.
    pub latest_turn: SystemTime,
    /// The end of the site's time, if that has a limit: from then on nothing is sent.
    pub ends: Option<SystemTime>,
    pub fallbacks: Fallbacks,
    /// From then on the walk would fetch robots.txt first.
    pub rules_valid_until: Option<SystemTime>,
    /// A process died while it read the response.
    pub is_suspect: bool,
    /// How often it was sent without a response on record.
    pub times_lost: usize,
}

impl WantedExchange {
    /// Waits until the site's time is over.
    pub(super) async fn until_it_ends(&self, access: &Access) {
        match self.ends {
            Some(ends) => access.clock.until(ends).await,
            None => std::future::pending().await,
        }
    }
}

/// The result of a wanted exchange.
pub(in crate::survey) enum ExchangeOutcome {
    /// It happened, and its response is in the journal.
    Received(Box<ExchangeRecord>),
    /// Another tree fetched this robots.txt, and its response is in the journal: no request was sent.
    Shared(Box<ExchangeRecord>),
    /// It failed, as the journal records. It can be attempted again at this address, which may be the same
    /// one.
    Attempted(FailedTry, IpAddr),
    /// The server may not receive a request before this time, which is too far away to wait for.
    Postponed(SystemTime),
    /// The survey may send no further request; there is no response.
    SurveySpent,
    /// The survey is stopping; there is no response.
    Stopped,
    /// The visit has to start again from its journal, usually with another agent: the agent is gone or should
    /// not send the request, or the request was lost.
    AgentLeft,
}

/// A failed attempt at a request that has a fallback.
pub(in crate::survey) struct FailedTry {
    pub record: Box<ExchangeRecord>,
    /// The offset of its entry in the journal.
    pub at: u64,
}

/// Sends requests for a visit of this site and writes this journal.
pub(in crate::survey) struct Requester<'a> {
    pub parts: &'a Parts,
    pub journal: &'a Journal,
    pub site: &'a Site,
    pub tree: u64,
    /// The agent that walks the tree; none for this process.
    pub assigned: Option<&'a Arc<AssignedAgent>>,
    /// The journal offset of the entry with the result of the last request.
    pub recorded_at: AtomicU64,
}

/// A server whose turn has come.
pub(super) struct ReadyServer<'a> {
    pub(super) address: IpAddr,
    /// How long the name lookup took.
    pub(super) dns: Option<Duration>,
    /// The agent that sends the request; none for this process.
    pub(super) sender: Option<Arc<AssignedAgent>>,
    pub(super) pass: LinkPass<'a>,
    pub(super) permit: HeldPermit<'a>,
    /// The prefetched response, in a simulation.
    pub(super) pending_prefetch: Option<PendingPrefetch<'a>>,
}

/// The response of a server before it is read.
pub(super) struct UnreadResponse<'a> {
    pub(super) address: IpAddr,
    pub(super) permit: HeldPermit<'a>,
    pub(super) received: ReceivedResponse,
}

/// Why an attempt ends before there is a response to book.
pub(super) enum AttemptEnd<'a> {
    /// This was the result.
    Exchanged(ExchangeOutcome),
    /// Our own link was broken: the request was never sent.
    OwnLinkBroken,
    /// No connection could be made at this agent, and another agent may succeed.
    Doubtful(Box<DoubtfulFailure<'a>>),
    Error(SurveyError),
}

impl From<SurveyError> for AttemptEnd<'_> {
    fn from(error: SurveyError) -> Self {
        Self::Error(error)
    }
}

/// Which attempt at a request this is. There is a second one in case our own link, or that of the agent,
/// broke during the first.
pub(super) enum Attempt<'a> {
    First,
    Last,
    /// By an agent other than the one that could not connect.
    Second(Box<DoubtfulFailure<'a>>),
}

/// An agent could not connect to a server. It is not known yet whether the server is the cause.
pub(super) struct DoubtfulFailure<'a> {
    pub(super) first_agent: Arc<AssignedAgent>,
    /// The pass for the agent's link, which may have been a probe.
    pub(super) _pass: LinkPass<'a>,
    pub(super) response: Response,
    /// Whether it counts already as a sign of the link of the first agent.
    pub(super) is_noted: bool,
    /// The agent that tries next.
    pub(super) second_agent: Arc<AssignedAgent>,
}

pub(super) const STOPPED: AttemptEnd<'_> = AttemptEnd::Exchanged(ExchangeOutcome::Stopped);
pub(super) const AGENT_LEFT: AttemptEnd<'_> = AttemptEnd::Exchanged(ExchangeOutcome::AgentLeft);

pub(super) fn put_off<'a>(until: SystemTime) -> AttemptEnd<'a> {
    AttemptEnd::Exchanged(ExchangeOutcome::Postponed(until))
}
