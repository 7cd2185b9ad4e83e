use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_nats::Subject;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::Instant;

use super::bus::{dispatch_subject, tree_subject};
use super::message::{Dispatch, Event, ReplyParts, encode};
use super::tree_subjects::{ReceivedEvent, TreeSubjects};
use super::{ClusterError, DISPATCH_LIFETIME};
use crate::exchange::{Request, Response};
use crate::fetch::Meter;
use crate::survey::{RemoteOutcome, RemoteRequest, RemoteResponse, RemoteWorker};

/// An agent to which the coordinator dispatches requests.
pub(super) struct BusWorker {
    pub subjects: Arc<TreeSubjects>,
    /// Identifies this run of the agent.
    pub id: String,
    /// Becomes true when the agent is gone.
    pub agent_gone: watch::Receiver<bool>,
    /// The longest that an exchange may take.
    pub longest: Duration,
}

/// While the bus is away, no request is dispatched. Its return is noticed within this time.
const AWAY_PAUSE: Duration = Duration::from_secs(1);
/// How often the bus is checked for a reply that did not arrive directly; most exchanges are over before
/// that.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// How long the last response of an agent that has gone may be under way.
const LATE_REPLY: Duration = Duration::from_secs(1);
/// Reading a response and reporting it takes no longer, or the agent is useless.
const READING_TIMEOUT: Duration = Duration::from_secs(30);

impl std::fmt::Debug for BusWorker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AgentHand").field("id", &self.id).finish_non_exhaustive()
    }
}

impl RemoteWorker for BusWorker {
    fn send<'a>(
        &'a self,
        remote_request: RemoteRequest,
        meter: &'a dyn Meter,
    ) -> BoxFuture<'a, RemoteOutcome> {
        async move {
            let tree = remote_request.tree;
            match self.dispatch(remote_request, meter).await {
                Ok(outcome) => outcome,
                Err(error) => {
                    tracing::error!(tree, "it is unknown whether a request was sent");
                    self.subjects.fail(error);
                    // Nothing proves that it was not sent.
                    RemoteOutcome::Lost
                }
            }
        }
        .boxed()
    }

    fn forget(&self, tree: u64) {
        let subjects = self.subjects.clone();
        subjects.forget(tree);
        tokio::spawn(async move {
            if let Err(error) = subjects.bus.purge(&subjects.name, tree_subject(&subjects.name, tree)).await {
                tracing::warn!(tree, wrong = %error, "cannot remove the entries of a tree from the bus");
            }
        });
    }
}

impl BusWorker {
    async fn dispatch(
        &self,
        remote_request: RemoteRequest,
        meter: &dyn Meter,
    ) -> Result<RemoteOutcome, ClusterError> {
        let mut agent_gone = self.agent_gone.clone();
        if *agent_gone.borrow() {
            return Ok(RemoteOutcome::Undispatched);
        }
        let (tree, requested_at, subjects) =
            (remote_request.tree, remote_request.requested_at, &*self.subjects);
        let mut state = DispatchState::new(&remote_request);
        let mut subscription = subjects.subscribe(tree);
        let after = subjects.last_sequence(tree).await?;
        if !subjects.bus.is_connected() {
            // A dispatch that waits for the bus would be executed when all else has changed.
            tokio::time::sleep(AWAY_PAUSE).await;
            return Ok(RemoteOutcome::Undispatched);
        }
        subjects
            .bus
            .send(
                dispatch_subject(&subjects.name, &self.id),
                encode(&Dispatch { after, remote_request: remote_request.clone() })?,
            )
            .await?;
        let sent = Instant::now();
        let (mut reader, mut next_check) = (PendingRead::default(), sent + CHECK_INTERVAL);
        loop {
            let until =
                sent + if state.was_sent { self.longest + READING_TIMEOUT } else { DISPATCH_LIFETIME };
            let next = tokio::select! {
                biased;
                Some(event) = subscription.events.recv() => DispatchEvent::Event(event),
                reply = reader.may_read_on() => DispatchEvent::Granted(reply),
                _ = agent_gone.wait_for(|agent_gone| *agent_gone) => break,
                () = tokio::time::sleep_until(until.min(next_check)) => DispatchEvent::Late,
            };
            match next {
                DispatchEvent::Granted(reply) => subjects.bus.reply(reply, encode(&true)?).await?,
                DispatchEvent::Event(ReceivedEvent {
                    event: Event::ReadMore { requested_at: reported_request, moved },
                    reply: Some(reply),
                    ..
                }) => {
                    if reported_request == requested_at {
                        state.was_sent = true;
                        reader.wait_to_read(moved, reply, || meter.read_on(moved));
                    }
                    continue;
                }
                DispatchEvent::Event(event) => {
                    // An agent whose entry was refused reports only on itself: its dispatch may have arrived
                    // twice.
                    let is_unrecorded = event.sequence.is_some_and(|sequence| sequence <= after);
                    match state.take(event) {
                        Some(RemoteOutcome::Unsent) if is_unrecorded && !state.was_sent => {
                            state.was_sent = subjects.was_accepted(tree, after, requested_at).await?;
                            if !state.was_sent {
                                break;
                            }
                        }
                        Some(RemoteOutcome::Unsent) if is_unrecorded => {}
                        Some(outcome) => return Ok(outcome),
                        None => {}
                    }
                }
                DispatchEvent::Late => {
                    // An event that was reported while either side was disconnected stands on the subject,
                    // and no subscription receives it.
                    let mut state_so_far = DispatchState::new(&remote_request);
                    let is_final = |event| state_so_far.take(event).is_some();
                    if state.was_sent && subjects.events_so_far(tree, after).await?.into_iter().any(is_final)
                    {
                        break;
                    }
                    next_check = Instant::now() + CHECK_INTERVAL;
                }
            }
            if Instant::now() >= until {
                // Most responses have come by then. If a request takes longer, its entry on the subject tells
                // that it was sent.
                if state.was_sent || !subjects.was_accepted(tree, after, requested_at).await? {
                    break;
                }
                state.was_sent = true;
            }
        }
        // Entries before the fence tell what was done; nothing else will ever be done.
        let fence = subjects.fence(tree).await?;
        let mut on_record = DispatchState::new(&remote_request);
        let outcome =
            subjects.read(tree, after, fence).await?.into_iter().find_map(|event| on_record.take(event));
        if let Some(outcome) = outcome {
            return Ok(outcome);
        }
        // An agent that leaves reports its last response before it says so, and the two may arrive in either
        // order.
        let late_reply = async {
            loop {
                let event = subscription.events.recv().await?;
                if let Some(outcome) = state.take(event) {
                    return Some(outcome);
                }
            }
        };
        if on_record.was_sent
            && let Ok(Some(outcome)) = tokio::time::timeout(LATE_REPLY, late_reply).await
        {
            return Ok(outcome);
        }
        Ok(on_record.outcome_if_given_up())
    }
}

/// An agent that may want to read on.
#[derive(Default)]
struct PendingRead<'a> {
    /// The number of bytes up to which it wants to read, the grant that it waits for, and where to send the
    /// reply.
    reading: Option<(u64, BoxFuture<'a, ()>, Subject)>,
}

impl<'a> PendingRead<'a> {
    /// It asks to read on up to `moved` bytes. If it asks again for the same number, it keeps its turn in the
    /// queue.
    fn wait_to_read(&mut self, moved: u64, reply: Subject, read_on: impl FnOnce() -> BoxFuture<'a, ()>) {
        match &mut self.reading {
            Some((waiting, _, last)) if *waiting == moved => *last = reply,
            _ => self.reading = Some((moved, read_on(), reply)),
        }
    }

    /// Waits until it may read on; returns where to send the reply.
    async fn may_read_on(&mut self) -> Subject {
        match &mut self.reading {
            Some((_, reading, _)) => reading.await,
            None => std::future::pending().await,
        }
        match self.reading.take() {
            Some((_, _, reply)) => reply,
            None => std::future::pending().await,
        }
    }
}

/// The next thing that happens to a dispatched request.
enum DispatchEvent {
    Event(ReceivedEvent),
    /// The agent that waits for this reply may read on.
    Granted(Subject),
    Late,
}

/// What is known so far of a dispatched request.
struct DispatchState {
    requested_at: SystemTime,
    request: Request,
    address: IpAddr,
    was_sent: bool,
    parts: ReplyParts,
}

impl DispatchState {
    fn new(remote_request: &RemoteRequest) -> Self {
        let RemoteRequest { requested_at, request, address, .. } = remote_request.clone();
        Self { requested_at, request, address, was_sent: false, parts: ReplyParts::default() }
    }

    fn take(&mut self, ReceivedEvent { at, event, .. }: ReceivedEvent) -> Option<RemoteOutcome> {
        match event {
            Event::Sending { requested_at } if requested_at == self.requested_at => {
                self.was_sent = true;
                None
            }
            Event::Unsent { requested_at } if requested_at == self.requested_at => {
                Some(RemoteOutcome::Unsent)
            }
            Event::Lost { requested_at } if requested_at == self.requested_at => Some(RemoteOutcome::Lost),
            Event::ResponsePart { requested_at, number, part_count, began, bytes }
                if requested_at == self.requested_at =>
            {
                match self.parts.take(number, part_count, &bytes) {
                    Ok(None) => None,
                    Ok(Some(reply)) if self.is_matching_response(&reply) => Some(RemoteOutcome::Received(
                        Box::new(with_start_time(reply, began, requested_at, at)),
                    )),
                    Ok(Some(_)) => Some(self.invalid_report("a response to another request")),
                    Err(error) => Some(self.invalid_report(&error.to_string())),
                }
            }
            _ => None,
        }
    }

    /// Whether it can be the response to this request: strangers may be on the bus.
    fn is_matching_response(&self, reply: &RemoteResponse) -> bool {
        reply.request == self.request
            && reply.response.address.is_none_or(|address| address == self.address)
            && reply.has_possible_times()
    }

    fn invalid_report(&self, what: &str) -> RemoteOutcome {
        tracing::error!(url = self.request.url.as_str(), what, "an agent reported an invalid response");
        RemoteOutcome::Lost
    }

    fn outcome_if_given_up(self) -> RemoteOutcome {
        if self.was_sent { RemoteOutcome::Lost } else { RemoteOutcome::Unsent }
    }
}

/// A reply with a plausible start of its exchange: not before the request was recorded, and early enough to
/// be over by now.
pub(super) fn with_start_time(
    reply: RemoteResponse,
    began: SystemTime,
    requested_at: SystemTime,
    now: SystemTime,
) -> RemoteResponse {
    let latest = now.checked_sub(reply.response.timings.total).unwrap_or(requested_at);
    RemoteResponse {
        response: Response { started: began.min(latest).max(requested_at), ..reply.response },
        ..reply
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::address::WebUrl;
    use crate::cluster::message::split_reply;
    use crate::exchange::{Failure, HostFacts, Purpose};
    use crate::fetch::Manner;
    use crate::page::PageFacts;
    use crate::walk::Content;

    const REQUESTED_AT: SystemTime = UNIX_EPOCH;

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn reply() -> RemoteResponse {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let request = Request { number: 3, url, purpose: Purpose::Page, depth: None };
        let response = Response::not_sent(at(9999), None, Failure::Reset, None);
        RemoteResponse {
            request,
            response,
            after_head: 0,
            may_speak_older_tls: false,
            challenge: None,
            facts: HostFacts::default(),
            page_facts: PageFacts::NONE,
            content: Content::Nothing,
        }
    }

    pub(in crate::cluster) fn remote_request() -> RemoteRequest {
        let (request, address, known) = (reply().request, [41, 90, 0, 1].into(), Default::default());
        RemoteRequest {
            tree: 1,
            request,
            address,
            requested_at: REQUESTED_AT,
            known,
            byte_limit: 0,
            reserved: None,
            manner: Manner::WithoutLibrary,
            is_suspect: false,
            opt_outs: 1,
            valid_until: REQUESTED_AT,
        }
    }

    fn received_event(event: Event) -> ReceivedEvent {
        ReceivedEvent { at: at(100), sequence: None, event, reply: None }
    }

    #[test]
    fn an_answer_is_taken_with_the_time_at_which_its_exchange_began() {
        let mut state = DispatchState::new(&remote_request());
        assert!(state.take(received_event(Event::Sending { requested_at: REQUESTED_AT })).is_none());
        let part = split_reply(REQUESTED_AT, at(93), &reply(), 1 << 20).unwrap().remove(0);
        let Some(RemoteOutcome::Received(received)) = state.take(received_event(part)) else { panic!() };
        assert_eq!(received.response.started, at(93), "whatever the agent's clock says");
        assert_eq!(
            RemoteResponse {
                response: Response { started: at(9999), ..received.response.clone() },
                ..*received
            },
            reply()
        );
    }

    #[test]
    fn what_is_no_answer_to_the_question_is_none() {
        let mut other = reply();
        other.request.number += 1;
        let mut elsewhere = reply();
        elsewhere.response.address = Some([41, 90, 0, 2].into());
        let mut endless = reply();
        endless.response.timings.total = Duration::MAX;
        for reply in [other, elsewhere, endless] {
            let part = split_reply(REQUESTED_AT, at(93), &reply, 1 << 20).unwrap().remove(0);
            assert_eq!(
                DispatchState::new(&remote_request()).take(received_event(part)),
                Some(RemoteOutcome::Lost)
            );
        }
    }

    #[test]
    fn an_exchange_began_after_it_was_recorded_and_early_enough_to_be_over() {
        let mut long = reply();
        long.response.timings.total = Duration::from_secs(5);
        for (requested_at, reported_start, expected_start) in
            [(90, 93, 93), (94, 93, 94), (90, 97, 95), (98, 97, 98), (90, 9999, 95)]
        {
            let mut state =
                DispatchState::new(&RemoteRequest { requested_at: at(requested_at), ..remote_request() });
            let part = split_reply(at(requested_at), at(reported_start), &long, 1 << 20).unwrap().remove(0);
            let Some(RemoteOutcome::Received(received)) = state.take(received_event(part)) else { panic!() };
            assert_eq!(received.response.started, at(expected_start), "{requested_at} {reported_start}");
        }
    }

    #[test]
    fn what_was_not_put_is_unsent_and_what_was_put_is_lost() {
        assert_eq!(DispatchState::new(&remote_request()).outcome_if_given_up(), RemoteOutcome::Unsent);
        // An event about another request of the tree has no effect.
        let mut state = DispatchState::new(&remote_request());
        state.take(received_event(Event::Sending { requested_at: at(5) }));
        assert_eq!(state.outcome_if_given_up(), RemoteOutcome::Unsent);
        let mut state = DispatchState::new(&remote_request());
        state.take(received_event(Event::Sending { requested_at: REQUESTED_AT }));
        assert_eq!(state.outcome_if_given_up(), RemoteOutcome::Lost);
        let mut state = DispatchState::new(&remote_request());
        assert_eq!(
            state.take(received_event(Event::Unsent { requested_at: REQUESTED_AT })),
            Some(RemoteOutcome::Unsent)
        );
    }
}
