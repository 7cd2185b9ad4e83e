use std::fmt::Debug;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::exchange::{Challenge, Request, Response, Validators};
use crate::fetch::{Manner, Meter};
use crate::survey::journal::entry::ExchangeRecord;
use crate::walk::Content;

/// A request that could not be sent so long after the survey recorded it is not sent.
pub const FRESH: Duration = Duration::from_secs(6);

/// A question that somebody is to put for the survey, now, to a server whose turn has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteRequest {
    /// The number of the site tree.
    pub tree: u64,
    /// The question.
    pub request: Request,
    /// The server.
    pub address: IpAddr,
    /// When the survey recorded that it is being put, by its own clock: this tells it from all others of its tree.
    pub asked: SystemTime,
    /// The version that is known already.
    pub known: Validators,
    /// Reading stops at so many bytes, both ways.
    pub byte_limit: u64,
    /// What is reserved of the rate of the survey; none where there is no rate. What goes beyond is to be asked for.
    pub reserved: Option<u64>,
    /// How the request is sent, by what is known of the server.
    pub manner: Manner,
    /// A process died when it read the answer.
    pub is_suspect: bool,
    /// The version of the opt-out list by which the request may be sent.
    pub opt_outs: u64,
    /// By the clock of the survey, the request may not be sent from then on: it is [`FRESH`] no more, quiet hours begin, or the
    /// robots.txt is a day old.
    pub valid_until: SystemTime,
}

/// A question with its answer, as who put it read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteResponse {
    /// The question.
    pub request: Request,
    /// What the server answered.
    pub response: Response,
    /// Bytes that came after the head, which an answer that is written down does not tell.
    pub after_head: u64,
    /// The server may speak older TLS, which an answer that is written down does not tell either.
    pub may_speak_older_tls: bool,
    /// What shows that it is a challenge, which an answer that is written down does not tell either.
    pub challenge: Option<Challenge>,
    /// What was read in it.
    pub content: Content,
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq)]
pub enum RemoteOutcome {
    /// It was put, and this came of it.
    Received(Box<RemoteResponse>),
    /// It was not put and never will be.
    Unsent,
    /// The same, for it was not even dispatched: the bus is away, or the agent is gone.
    Undispatched,
    /// It was put, or may have been, and there will be no answer: perhaps who was to read it died at it.
    Lost,
}

/// Somebody outside this process who puts questions for the survey.
pub trait RemoteWorker: Debug + Send + Sync {
    /// Has a question put, whose response is read no faster than the meter lets. Where nothing is told of it in the end, it may have been put.
    fn send<'a>(&'a self, order: RemoteRequest, meter: &'a dyn Meter) -> BoxFuture<'a, RemoteOutcome>;

    /// The tree is over: nothing that is kept of it is needed any more.
    fn forget(&self, tree: u64);
}

/// No exchange takes longer.
const LONGEST: Duration = Duration::from_hours(24);

impl RemoteResponse {
    /// Whether its times are such as an exchange can have: they may come from strangers.
    #[must_use]
    pub fn has_possible_times(&self) -> bool {
        self.response.timings.total <= LONGEST
    }

    /// As a survey has it.
    pub(in crate::survey) fn new(record: ExchangeRecord) -> Self {
        let ExchangeRecord { request, response, content, .. } = record;
        let Response { after_head, may_speak_older_tls, .. } = response;
        let challenge = response.head.challenge;
        Self { request, response, after_head, may_speak_older_tls, challenge, content }
    }

    /// As it was heard, with what is not written down.
    pub(in crate::survey) fn into_record(self) -> ExchangeRecord {
        let Self { request, mut response, after_head, may_speak_older_tls, challenge, content } = self;
        (response.after_head, response.may_speak_older_tls, response.head.challenge) =
            (after_head, may_speak_older_tls, challenge);
        ExchangeRecord { request, response, content, unchanged_bytes: None }
    }
}
