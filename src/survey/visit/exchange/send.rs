use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use super::doubt::{LinkResult, MAX_TIMES_LOST, broke_off};
use super::requester::{
    AGENT_LEFT, Attempt, AttemptEnd, ReadyServer, Requester, STOPPED, UnreadResponse, WantedExchange,
};
use crate::exchange::{Failure, Purpose, Request, Response, Validators};
use crate::fetch::Manner;
use crate::survey::agents::AssignedAgent;
use crate::survey::agents::remote_worker::{DISPATCH_LIFETIME, RemoteOutcome, RemoteRequest, RemoteWorker};
use crate::survey::earlier::EarlierPage;
use crate::survey::error::SurveyError;
use crate::survey::journal::entry::{Entry, ExchangeRecord};
use crate::survey::parts::Parts;
use crate::survey::parts::access::{Access, stop_requested};
use crate::survey::reading::prefetch::PendingPrefetch;
use crate::survey::reading::quarantine::{ReceivedResponse, ResponseBody};
use crate::survey::visit::own_link::{self, Link};
use crate::survey::visit::turn::HeldPermit;

/// The time in which an exchange in flight may finish when the survey is stopping.
const GRACE: Duration = Duration::from_secs(5);

/// A request whose turn has come, whichever process sends it.
struct OutgoingRequest<'r> {
    request: &'r Request,
    address: IpAddr,
    /// When the journal says that it is being sent.
    requested_at: SystemTime,
    /// The version of the page that is already known.
    known: Validators,
    byte_limit: u64,
    manner: Manner,
}

/// The result of sending a request.
enum SendOutcome {
    Answered(Box<Response>, ResponseBody),
    /// It was not sent and never will be.
    Unsent,
    /// It was not sent: one of our own rules forbids it.
    Refused(Failure),
    /// It may have been sent, and there will be no response.
    Lost,
    Stopped,
}

/// Sends requests: this process or an agent.
trait Sender {
    async fn send(self, outgoing: OutgoingRequest<'_>, permit: &HeldPermit<'_>) -> SendOutcome;
}

/// This process.
struct LocalSender<'a> {
    access: &'a Access,
    /// The request was lost again and again: either it is very slow, or the process often stands still. Its
    /// response is accepted even if the process stood still.
    may_stand_still: bool,
}

impl Sender for LocalSender<'_> {
    async fn send(self, outgoing: OutgoingRequest<'_>, permit: &HeldPermit<'_>) -> SendOutcome {
        let Self { access, may_stand_still } = self;
        let OutgoingRequest { request, address, known, byte_limit, manner, .. } = outgoing;
        let fetching =
            Box::pin(access.fetcher.fetch_with(manner, &known, request, address, byte_limit, permit));
        let fetched =
            async { if may_stand_still { Some(fetching.await) } else { access.awake(fetching).await } };
        match unless_stopped(access, fetched).await {
            Some(Some((response, body))) => {
                SendOutcome::Answered(Box::new(response), ResponseBody::Unread(body))
            }
            Some(None) => {
                let url = request.url.as_str();
                tracing::warn!(url, "this process stood still: the request counts as lost");
                SendOutcome::Lost
            }
            None => SendOutcome::Stopped,
        }
    }
}

/// An agent that is a process of its own.
struct RemoteSender<'a> {
    requester: &'a Requester<'a>,
    wanted: &'a WantedExchange,
    assigned: &'a AssignedAgent,
    worker: &'a dyn RemoteWorker,
    link: &'a Link<'a>,
    /// The version of the opt-out list under which it may be sent.
    opt_outs: u64,
}

impl Sender for RemoteSender<'_> {
    async fn send(self, outgoing: OutgoingRequest<'_>, permit: &HeldPermit<'_>) -> SendOutcome {
        let Self { requester, wanted, assigned, worker, link, opt_outs } = self;
        let OutgoingRequest { request, address, requested_at, known, byte_limit, manner } = outgoing;
        let Parts { access, suspects, .. } = requester.parts;
        if let Err(failure) = access.fetcher.permits(&request.url, address) {
            return SendOutcome::Refused(failure);
        }
        let (tree, valid_until) = (requester.tree, requester.valid_until(wanted, address, requested_at));
        let is_suspect = wanted.is_suspect || suspects.has(tree, request.number);
        let (request, reserved) = (request.clone(), permit.reserved());
        let number = request.number;
        #[rustfmt::skip]
        let remote_request = RemoteRequest {
            tree, request, address, requested_at, known, byte_limit, reserved, manner, is_suspect, opt_outs, valid_until,
        };
        let is_cut_short = valid_until < requested_at + DISPATCH_LIFETIME;
        let dispatched = DispatchInfo { time: access.now(), opt_outs, is_cut_short };
        let Some(outcome) = unless_stopped(access, worker.send(remote_request, permit)).await else {
            return SendOutcome::Stopped;
        };
        requester.note_outcome(link, assigned, &dispatched, &outcome);
        match outcome {
            RemoteOutcome::Received(reply) => {
                let ExchangeRecord { response, content, .. } = reply.into_record();
                SendOutcome::Answered(Box::new(response), ResponseBody::Read(content))
            }
            RemoteOutcome::Unsent | RemoteOutcome::Undispatched => SendOutcome::Unsent,
            RemoteOutcome::Lost => {
                suspects.add(tree, number);
                SendOutcome::Lost
            }
        }
    }
}

/// A dispatch to an agent.
struct DispatchInfo {
    time: SystemTime,
    /// The version of the opt-out list under which it may be sent.
    opt_outs: u64,
    /// Quiet hours begin, or robots.txt becomes a day old, before the request would expire.
    is_cut_short: bool,
}

impl<'a> Requester<'a> {
    pub(super) async fn send_request(
        &self,
        wanted: &WantedExchange,
        ready: ReadyServer<'a>,
        attempt: Attempt<'a>,
    ) -> Result<UnreadResponse<'a>, AttemptEnd<'a>> {
        let Parts { boundaries, access, storage, .. } = self.parts;
        let ReadyServer { address, dns, sender, mut permit, pass, pending_prefetch } = ready;
        let ahead = pending_prefetch.as_ref().and_then(PendingPrefetch::take);
        let request = wanted.request.clone();
        let earlier = self.earlier(&request)?;
        let known = earlier.as_ref().map(|page| page.validators.clone()).unwrap_or_default();
        let requested_at = access.now();
        self.journal.write(&Entry::Sending { number: request.number, address, at: requested_at })?;
        permit.note_sent(requested_at);
        if let Some(keeper) = &storage.keeper {
            keeper.keep((self.tree, request.number), address, requested_at).await?;
            // The disk may have taken any time for that.
            if let Err(attempt_end) = self.may_send(wanted, address).await {
                permit.record_unsent(self.journal, request.number)?;
                return Err(attempt_end);
            }
        }
        // Read before anything is decided by the list.
        let opt_outs = boundaries.opt_outs.version();
        let byte_limit = wanted.byte_limit.min(permit.byte_limit());
        let manner = wanted.fallbacks.manner(&request.url);
        let link = Link::of_agent(access, self.parts.agents.as_ref(), sender.as_ref());
        let outgoing =
            OutgoingRequest { request: &request, address, requested_at, known, byte_limit, manner };
        let sent = match sender.as_deref().and_then(|assigned| Some((assigned, assigned.remote_worker()?))) {
            Some((assigned, worker)) => {
                permit.note_latest_end(self.parts.latest_end(requested_at));
                let agent = RemoteSender { requester: self, wanted, assigned, worker, link: &link, opt_outs };
                agent.send(outgoing, &permit).await
            }
            None => {
                LocalSender { access, may_stand_still: wanted.times_lost >= MAX_TIMES_LOST }
                    .send(outgoing, &permit)
                    .await
            }
        };
        let (mut response, body) = match sent {
            SendOutcome::Answered(response, body) => (*response, body),
            SendOutcome::Stopped => return Err(STOPPED),
            SendOutcome::Lost => return Err(self.note_lost()),
            SendOutcome::Unsent => {
                permit.record_unsent(self.journal, request.number)?;
                return Err(AGENT_LEFT);
            }
            SendOutcome::Refused(failure) => {
                permit.record_unsent(self.journal, request.number)?;
                return Err(AttemptEnd::Exchanged(self.never_sent(wanted, Some(address), failure, dns)?));
            }
        };
        response.timings.dns = dns;
        // A host's first request is for its robots.txt. Whether that request waited for the look-up depends on
        // other sites.
        if request.purpose == Purpose::Robots {
            response.facts.lookup = access.fetcher.name_lookup(request.url.host()).await;
        }
        if manner == Manner::OldTls {
            wanted.fallbacks.settle(&request.url, &mut response);
        }
        let link_result =
            LinkResult { sender: sender.as_ref(), link: &link, address, requested_at, response: &response };
        if let Err(attempt_end) = self.judge_link(wanted, attempt, link_result, pass).await {
            if matches!(attempt_end, AttemptEnd::Doubtful(_) | AttemptEnd::OwnLinkBroken) {
                permit.record_unsent(self.journal, request.number)?;
            } else if response.failure.is_some_and(broke_off) {
                // What its agent reports has ended.
                permit.note_latest_end(response.ended());
            }
            return Err(attempt_end);
        }
        // The owner has just opted out, or the name now resolves to a different address.
        if !response.was_sent() {
            permit.record_unsent(self.journal, request.number)?;
            return Err(AttemptEnd::Exchanged(
                self.record(&wanted.fallbacks, ExchangeRecord::nothing(request, response))?,
            ));
        }
        let received =
            ReceivedResponse { request, response, body, earlier, is_suspect: wanted.is_suspect, ahead };
        Ok(UnreadResponse { address, permit, received })
    }

    /// Notes what the result of a dispatch reveals about the agent that sends.
    fn note_outcome(
        &self,
        link: &Link<'_>,
        assigned: &AssignedAgent,
        dispatched: &DispatchInfo,
        outcome: &RemoteOutcome,
    ) {
        let DispatchInfo { time, opt_outs, is_cut_short } = *dispatched;
        let exchange = match outcome {
            RemoteOutcome::Undispatched => return,
            // The agent returned it for a reason on our side.
            RemoteOutcome::Unsent if is_cut_short || opt_outs != self.parts.boundaries.opt_outs.version() => {
                return;
            }
            RemoteOutcome::Unsent | RemoteOutcome::Lost => {
                own_link::note_failed_dispatch(link, time);
                Duration::ZERO
            }
            RemoteOutcome::Received(reply) => {
                own_link::note_completed_dispatch(link);
                reply.response.timings.total
            }
        };
        if let Some(agents) = &self.parts.agents {
            agents.note_lag(assigned, time, exchange);
        }
    }

    /// The time until which a request dispatched at `requested_at` may be sent.
    fn valid_until(&self, wanted: &WantedExchange, address: IpAddr, requested_at: SystemTime) -> SystemTime {
        let latest = requested_at + DISPATCH_LIFETIME;
        let latest = wanted.rules_valid_until.map_or(latest, |until| until.min(latest));
        self.parts.access.awake_until(requested_at, latest, address, self.site)
    }

    /// What an earlier survey knows about the requested page. robots.txt is always fetched whole: if a server
    /// wrongly said that it has not changed, the survey would break its new rules.
    fn earlier(&self, request: &Request) -> Result<Option<EarlierPage>, SurveyError> {
        match &self.parts.storage.earlier_pages {
            // The text of a page is not on record, so it cannot be searched for words.
            Some(pages)
                if request.purpose == Purpose::Page && self.parts.settings.exclude_text.is_empty() =>
            {
                pages.find(&request.url)
            }
            _ => Ok(None),
        }
    }
}

/// Runs to the end, or until a grace period after the stop signal.
async fn unless_stopped<T>(access: &Access, work: impl Future<Output = T>) -> Option<T> {
    let overdue = async {
        stop_requested(&mut access.stop.clone()).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = overdue => None,
    }
}
