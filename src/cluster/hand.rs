use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_nats::Subject;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::Instant;

use super::bus::{dispatch_subject, tree_subject};
use super::message::{Dispatch, Parts, TreeEntry, encode};
use super::office::{Event, Office};
use super::{ClusterError, FRESH};
use crate::exchange::{Request, Response};
use crate::fetch::Meter;
use crate::survey::{Hand, Order, Put, Reply};

/// An agent, as the coordinator has questions put by it.
pub(super) struct AgentHand {
    pub office: Arc<Office>,
    /// Of this run of the agent.
    pub id: String,
    /// Becomes true when it is gone.
    pub gone: watch::Receiver<bool>,
    /// How long an exchange may take.
    pub longest: Duration,
}

/// While the bus is away nothing is asked, and its return is noticed within this time.
const WHILE_AWAY: Duration = Duration::from_secs(1);
/// How often the bus is checked for a reply that did not arrive directly; most exchanges are over before that.
const BETWEEN_LOOKS: Duration = Duration::from_secs(10);
/// To read an answer, and to tell of it, takes no longer, or the agent is of no use.
const READING: Duration = Duration::from_secs(30);

impl std::fmt::Debug for AgentHand {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AgentHand").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Hand for AgentHand {
    fn send<'a>(&'a self, order: Order, meter: &'a dyn Meter) -> BoxFuture<'a, Put> {
        async move {
            let tree = order.tree;
            match self.dispatch(order, meter).await {
                Ok(put) => put,
                Err(error) => {
                    tracing::error!(tree, "whether a question was put is unknown");
                    self.office.fail(error);
                    // Nothing tells that it was not.
                    Put::Lost
                }
            }
        }
        .boxed()
    }

    fn forget(&self, tree: u64) {
        let office = self.office.clone();
        office.forget(tree);
        tokio::spawn(async move {
            if let Err(error) = office.bus.purge(&office.name, tree_subject(&office.name, tree)).await {
                tracing::warn!(tree, wrong = %error, "what the bus kept of a tree is left there");
            }
        });
    }
}

impl AgentHand {
    async fn dispatch(&self, order: Order, meter: &dyn Meter) -> Result<Put, ClusterError> {
        let mut gone = self.gone.clone();
        if *gone.borrow() {
            return Ok(Put::Undispatched);
        }
        let (tree, asked, office) = (order.tree, order.asked, &*self.office);
        let mut case = Case::new(&order);
        let mut ears = office.subscribe(tree);
        let after = office.last_sequence(tree).await?;
        if !office.bus.is_connected() {
            // An order that waits for the bus would be obeyed when all else has changed.
            tokio::time::sleep(WHILE_AWAY).await;
            return Ok(Put::Undispatched);
        }
        office
            .bus
            .send(
                dispatch_subject(&office.name, &self.id),
                encode(&Dispatch { after, order: order.clone() })?,
            )
            .await?;
        let sent = Instant::now();
        let (mut reader, mut look) = (Reader::default(), sent + BETWEEN_LOOKS);
        loop {
            let until = sent + if case.was_put { self.longest + READING } else { FRESH };
            let next = tokio::select! {
                biased;
                Some(event) = ears.events.recv() => Next::Event(event),
                reply = reader.may_read_on() => Next::Granted(reply),
                _ = gone.wait_for(|gone| *gone) => break,
                () = tokio::time::sleep_until(until.min(look)) => Next::Late,
            };
            match next {
                Next::Granted(reply) => office.bus.reply(reply, encode(&true)?).await?,
                Next::Event(Event {
                    told: TreeEntry::ReadOn { asked: of, moved },
                    reply: Some(reply),
                    ..
                }) => {
                    if of == asked {
                        case.was_put = true;
                        reader.wait_to_read(moved, reply, || meter.read_on(moved));
                    }
                    continue;
                }
                Next::Event(event) => {
                    // An agent whose entry was refused tells of itself alone: its order may have come twice.
                    let is_unrecorded = event.sequence.is_some_and(|sequence| sequence <= after);
                    match case.take(event) {
                        Some(Put::Unsent) if is_unrecorded && !case.was_put => {
                            case.was_put = office.was_accepted(tree, after, asked).await?;
                            if !case.was_put {
                                break;
                            }
                        }
                        Some(Put::Unsent) if is_unrecorded => {}
                        Some(put) => return Ok(put),
                        None => {}
                    }
                }
                Next::Late => {
                    // What was told while the connection of either was down stands on the subject, and nobody hears it.
                    let mut so_far = Case::new(&order);
                    let is_told = |event| so_far.take(event).is_some();
                    if case.was_put && office.events_so_far(tree, after).await?.into_iter().any(is_told) {
                        break;
                    }
                    look = Instant::now() + BETWEEN_LOOKS;
                }
            }
            if Instant::now() >= until {
                // Most answers have come by then; of a question that takes longer its entry tells.
                if case.was_put || !office.was_accepted(tree, after, asked).await? {
                    break;
                }
                case.was_put = true;
            }
        }
        // What stands before the fence was done, and nothing else ever will be.
        let fence = office.fence(tree).await?;
        let mut case = Case::new(&order);
        let told = office.read(tree, after, fence).await?.into_iter().find_map(|event| case.take(event));
        Ok(told.unwrap_or_else(|| case.outcome_if_given_up()))
    }
}

/// An agent that may want to read on.
#[derive(Default)]
struct Reader<'a> {
    /// How many bytes it waits for, until when, and where that is to be said.
    reading: Option<(u64, BoxFuture<'a, ()>, Subject)>,
}

impl<'a> Reader<'a> {
    /// It asks to read on up to so many bytes; one that asks again keeps its place among those who wait.
    fn wait_to_read(&mut self, moved: u64, reply: Subject, read_on: impl FnOnce() -> BoxFuture<'a, ()>) {
        match &mut self.reading {
            Some((waiting, _, last)) if *waiting == moved => *last = reply,
            _ => self.reading = Some((moved, read_on(), reply)),
        }
    }

    /// When it may: where that is to be said.
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

/// What comes next of a question that was sent to an agent.
enum Next {
    Event(Event),
    /// The agent that waits for this reply may read on.
    Granted(Subject),
    Late,
}

/// What is known by now of a question that an agent is to put.
struct Case {
    asked: SystemTime,
    ask: Request,
    address: IpAddr,
    was_put: bool,
    parts: Parts,
}

impl Case {
    fn new(order: &Order) -> Self {
        let Order { asked, ask, address, .. } = order.clone();
        Self { asked, ask, address, was_put: false, parts: Parts::default() }
    }

    fn take(&mut self, Event { at, told, .. }: Event) -> Option<Put> {
        match told {
            TreeEntry::Asked { asked } if asked == self.asked => {
                self.was_put = true;
                None
            }
            TreeEntry::Unsent { asked } if asked == self.asked => Some(Put::Unsent),
            TreeEntry::Lost { asked } if asked == self.asked => Some(Put::Lost),
            TreeEntry::Part { asked, number, of, began, bytes } if asked == self.asked => {
                match self.parts.take(number, of, &bytes) {
                    Ok(None) => None,
                    Ok(Some(reply)) if self.is_answer(&reply) => {
                        Some(Put::Heard(Box::new(begun_at(reply, began, asked, at))))
                    }
                    Ok(Some(_)) => Some(self.invalid_report("the answer to another question")),
                    Err(error) => Some(self.invalid_report(&error.to_string())),
                }
            }
            _ => None,
        }
    }

    /// Whether it can be the answer to this question: strangers may be on the bus.
    fn is_answer(&self, reply: &Reply) -> bool {
        reply.ask == self.ask
            && reply.answer.address.is_none_or(|address| address == self.address)
            && reply.has_possible_times()
    }

    fn invalid_report(&self, what: &str) -> Put {
        tracing::error!(url = self.ask.url.as_str(), what, "an agent told what is no answer");
        Put::Lost
    }

    fn outcome_if_given_up(self) -> Put {
        if self.was_put { Put::Lost } else { Put::Unsent }
    }
}

/// A reply whose exchange began at this time, as far as that can be: not before it was recorded as asked, and it is over by now.
pub(super) fn begun_at(reply: Reply, began: SystemTime, asked: SystemTime, now: SystemTime) -> Reply {
    let latest = now.checked_sub(reply.answer.timings.total).unwrap_or(asked);
    Reply { answer: Response { started: began.min(latest).max(asked), ..reply.answer }, ..reply }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::address::WebUrl;
    use crate::cluster::message::parts_of;
    use crate::exchange::{Failure, Purpose};
    use crate::fetch::Manner;
    use crate::walk::Content;

    const ASKED: SystemTime = UNIX_EPOCH;

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn reply() -> Reply {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let ask = Request { number: 3, url, purpose: Purpose::Page, depth: None };
        let answer = Response::not_sent(at(9999), None, Failure::Reset, None);
        Reply {
            ask,
            answer,
            after_head: 0,
            may_speak_older_tls: false,
            challenge: None,
            content: Content::Nothing,
        }
    }

    pub(in crate::cluster) fn order() -> Order {
        let (ask, address, known) = (reply().ask, [41, 90, 0, 1].into(), Default::default());
        Order {
            tree: 1,
            ask,
            address,
            asked: ASKED,
            known,
            byte_limit: 0,
            reserved: None,
            manner: Manner::WithoutLibrary,
            is_suspect: false,
            opt_outs: 1,
            valid_until: ASKED,
        }
    }

    fn told(told: TreeEntry) -> Event {
        Event { at: at(100), sequence: None, told, reply: None }
    }

    #[test]
    fn an_answer_is_taken_with_the_time_at_which_its_exchange_began() {
        let mut case = Case::new(&order());
        assert!(case.take(told(TreeEntry::Asked { asked: ASKED })).is_none());
        let part = parts_of(ASKED, at(93), &reply(), 1 << 20).unwrap().remove(0);
        let Some(Put::Heard(heard)) = case.take(told(part)) else { panic!() };
        assert_eq!(heard.answer.started, at(93), "whatever the agent's clock says");
        assert_eq!(
            Reply { answer: Response { started: at(9999), ..heard.answer.clone() }, ..*heard },
            reply()
        );
    }

    #[test]
    fn what_is_no_answer_to_the_question_is_none() {
        let mut other = reply();
        other.ask.number += 1;
        let mut elsewhere = reply();
        elsewhere.answer.address = Some([41, 90, 0, 2].into());
        let mut endless = reply();
        endless.answer.timings.total = Duration::MAX;
        for reply in [other, elsewhere, endless] {
            let part = parts_of(ASKED, at(93), &reply, 1 << 20).unwrap().remove(0);
            assert_eq!(Case::new(&order()).take(told(part)), Some(Put::Lost));
        }
    }

    #[test]
    fn an_exchange_began_after_it_was_recorded_and_early_enough_to_be_over() {
        let mut long = reply();
        long.answer.timings.total = Duration::from_secs(5);
        for (asked, told_to_begin, begins) in
            [(90, 93, 93), (94, 93, 94), (90, 97, 95), (98, 97, 98), (90, 9999, 95)]
        {
            let mut case = Case::new(&Order { asked: at(asked), ..order() });
            let part = parts_of(at(asked), at(told_to_begin), &long, 1 << 20).unwrap().remove(0);
            let Some(Put::Heard(heard)) = case.take(told(part)) else { panic!() };
            assert_eq!(heard.answer.started, at(begins), "{asked} {told_to_begin}");
        }
    }

    #[test]
    fn what_was_not_put_is_unsent_and_what_was_put_is_lost() {
        assert_eq!(Case::new(&order()).outcome_if_given_up(), Put::Unsent);
        // What is told of another question of the tree counts for nothing.
        let mut case = Case::new(&order());
        case.take(told(TreeEntry::Asked { asked: at(5) }));
        assert_eq!(case.outcome_if_given_up(), Put::Unsent);
        let mut case = Case::new(&order());
        case.take(told(TreeEntry::Asked { asked: ASKED }));
        assert_eq!(case.outcome_if_given_up(), Put::Lost);
        let mut case = Case::new(&order());
        assert_eq!(case.take(told(TreeEntry::Unsent { asked: ASKED })), Some(Put::Unsent));
    }
}
