use std::fmt::Debug;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::exchange::{Challenge, HostFacts, Request, Response, Validators};
use crate::fetch::{Manner, Meter};
use crate::page::PageFacts;
use crate::survey::journal::entry::ExchangeRecord;
use crate::walk::Content;

/// A request that could not be sent within this time after the survey recorded it is not sent.
pub const DISPATCH_LIFETIME: Duration = Duration::from_secs(6);

/// A request that a remote worker has to send now, to a server whose turn has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteRequest {
    /// The number of the site tree.
    pub tree: u64,
    /// The request itself.
    pub request: Request,
    /// The address of the server.
    pub address: IpAddr,
    /// When the survey recorded that it is being sent, by the survey's clock. Identifies it among all
    /// requests of its tree.
    pub requested_at: SystemTime,
    /// The version of the page that is already known.
    pub known: Validators,
    /// Reading stops at this number of bytes, counted in both directions.
    pub byte_limit: u64,
    /// The bytes reserved from the survey's rate; none if there is no rate limit. More bytes have to be
    /// requested.
    pub reserved: Option<u64>,
    /// How the request is sent, according to what is known about the server.
    pub manner: Manner,
    /// A process died while it read the response.
    pub is_suspect: bool,
    /// The version of the opt-out list under which the request may be sent.
    pub opt_outs: u64,
    /// The time from which the request may no longer be sent, by the survey's clock: [`DISPATCH_LIFETIME`]
    /// has passed, quiet hours begin, or the robots.txt is a day old.
    pub valid_until: SystemTime,
}

/// A request with its response, as the remote worker read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteResponse {
    /// The request.
    pub request: Request,
    /// The server's response.
    pub response: Response,
    /// Bytes received after the head, which the serialized response does not include.
    pub after_head: u64,
    /// The server may speak older TLS, which the serialized response does not include either.
    pub may_speak_older_tls: bool,
    /// The challenge that the response is, if any, which the serialized response does not include either.
    pub challenge: Option<Challenge>,
    /// What it shows of the host, which the serialized response does not include either.
    pub facts: HostFacts,
    /// What its page tells of its site, which the serialized content does not include.
    pub page_facts: PageFacts,
    /// The content that was read from it.
    pub content: Content,
}

/// The result of a dispatched request.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteOutcome {
    /// It was sent, and this is the result.
    Received(Box<RemoteResponse>),
    /// It was not sent and never will be.
    Unsent,
    /// The same, but it was not even dispatched: the bus is away, or the agent is gone.
    Undispatched,
    /// It was sent, or may have been, and there will be no response: perhaps the process that was to read it
    /// died at it.
    Lost,
}

/// A worker outside this process that sends requests for the survey.
pub trait RemoteWorker: Debug + Send + Sync {
    /// Has a request sent; the response is read no faster than the meter allows. If no result is ever
    /// reported, the request may have been sent.
    fn send<'a>(
        &'a self,
        remote_request: RemoteRequest,
        meter: &'a dyn Meter,
    ) -> BoxFuture<'a, RemoteOutcome>;

    /// The tree is finished: nothing that is stored for it is needed any more.
    fn forget(&self, tree: u64);
}

/// The longest time that an exchange can take.
const LONGEST_EXCHANGE: Duration = Duration::from_hours(24);

impl RemoteResponse {
    /// Whether its times are possible for an exchange. They may come from an untrusted source.
    #[must_use]
    pub fn has_possible_times(&self) -> bool {
        self.response.timings.total <= LONGEST_EXCHANGE
    }

    /// Builds it from the survey's record.
    pub(in crate::survey) fn new(record: ExchangeRecord) -> Self {
        let ExchangeRecord { request, response, content, .. } = record;
        let Response { after_head, may_speak_older_tls, .. } = response;
        let (challenge, facts) = (response.head.challenge, response.facts.clone());
        let page_facts = content.page_facts().clone();
        Self { request, response, after_head, may_speak_older_tls, challenge, facts, page_facts, content }
    }

    /// Restores the record, including what is not serialized with the response.
    pub(in crate::survey) fn into_record(self) -> ExchangeRecord {
        let Self {
            request,
            mut response,
            after_head,
            may_speak_older_tls,
            challenge,
            facts,
            page_facts,
            mut content,
        } = self;
        (response.after_head, response.may_speak_older_tls, response.head.challenge, response.facts) =
            (after_head, may_speak_older_tls, challenge, facts);
        content.set_page_facts(page_facts);
        ExchangeRecord { request, response, content, unchanged_bytes: None }
    }
}
