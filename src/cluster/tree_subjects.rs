use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use async_nats::Subject;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::Stream;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::Instant;

use super::bus::{Bus, Published, tree_subject};
use super::message::{Event, Report, decode, encode};
use super::{ClusterError, PATIENCE};
use crate::fetch::Clock;

/// The subjects of site trees, and the subscriptions to their events.
pub(super) struct TreeSubjects {
    pub bus: Bus,
    pub name: String,
    stream: Stream,
    pub clock: Clock,
    fences: AtomicU64,
    /// Becomes true when the survey is to stop.
    stop: watch::Sender<bool>,
    inner: Mutex<SubjectState>,
}

struct SubjectState {
    /// The failure that stopped the survey.
    failed: Option<ClusterError>,
    /// The last sequence on the subject of each tree that has one.
    last: HashMap<u64, u64>,
    /// Subscriptions to the events of a tree.
    subscribers: HashMap<u64, UnboundedSender<ReceivedEvent>>,
}

/// An event of a tree, with the time of the survey at which it was read.
#[derive(Debug)]
pub(super) struct ReceivedEvent {
    pub at: SystemTime,
    /// Sequence of the reporting agent's last entry on the subject of the tree; none if the event was read
    /// from the subject.
    pub sequence: Option<u64>,
    pub event: Event,
    /// Where an agent waits for the reply that it may read on.
    pub reply: Option<Subject>,
}

/// Receives the events of a tree until it is dropped.
pub(super) struct Subscription<'a> {
    subjects: &'a TreeSubjects,
    tree: u64,
    pub events: UnboundedReceiver<ReceivedEvent>,
}

impl Drop for Subscription<'_> {
    fn drop(&mut self) {
        self.subjects.inner().subscribers.remove(&self.tree);
    }
}

impl TreeSubjects {
    pub(super) fn new(bus: Bus, name: String, stream: Stream, clock: Clock) -> Self {
        let inner = SubjectState { failed: None, last: HashMap::new(), subscribers: HashMap::new() };
        Self {
            bus,
            name,
            stream,
            clock,
            fences: AtomicU64::new(0),
            stop: watch::Sender::new(false),
            inner: Mutex::new(inner),
        }
    }

    /// Takes an event that an agent has just reported. Returns whether there is a subscription to its tree.
    /// If the agent wants to read on, the subscriber replies to it.
    pub(super) fn note(&self, report: Report, reply: Option<Subject>) -> bool {
        let at = self.clock.now();
        let mut inner = self.inner();
        let Some(subscription) = inner.subscribers.get(&report.tree).cloned() else { return false };
        let last = inner.last.entry(report.tree).or_default();
        *last = report.sequence.max(*last);
        subscription
            .send(ReceivedEvent { at, sequence: Some(report.sequence), event: report.event, reply })
            .is_ok()
    }

    /// Subscribes to the events of a tree from now on.
    pub(super) fn subscribe(&self, tree: u64) -> Subscription<'_> {
        let (sender, events) = unbounded_channel();
        self.inner().subscribers.insert(tree, sender);
        Subscription { subjects: self, tree, events }
    }

    /// The last sequence on the subject of a tree. Publishes a fence if none is known, so that there is one.
    pub(super) async fn last_sequence(&self, tree: u64) -> Result<u64, ClusterError> {
        let last = self.inner().last.get(&tree).copied();
        match last {
            Some(last) => Ok(last),
            None => self.fence(tree).await,
        }
    }

    /// From now on earlier dispatches are carried out only if their entry is on the subject already. Returns
    /// the sequence from which on this holds.
    pub(super) async fn fence(&self, tree: u64) -> Result<u64, ClusterError> {
        let subject = tree_subject(&self.name, tree);
        fence(&self.bus, &subject, self.clock, &self.fences).await.inspect(|sequence| {
            let mut inner = self.inner();
            let last = inner.last.entry(tree).or_default();
            *last = *sequence.max(last);
        })
    }

    /// Whether the entry after `after` says that the request recorded at `requested_at` is being sent.
    pub(super) async fn was_accepted(
        &self,
        tree: u64,
        after: u64,
        requested_at: SystemTime,
    ) -> Result<bool, ClusterError> {
        let next = self.bus.next(&self.stream, &tree_subject(&self.name, tree), after + 1).await?;
        let event = next.and_then(|entry| decode::<Event>(&entry.payload).ok());
        Ok(event == Some(Event::Sending { requested_at }))
    }

    /// The entries on the subject of a tree after this sequence, as of now; more may come.
    pub(super) async fn events_so_far(
        &self,
        tree: u64,
        after: u64,
    ) -> Result<Vec<ReceivedEvent>, ClusterError> {
        let (subject, mut from, mut found) = (tree_subject(&self.name, tree), after + 1, Vec::new());
        while let Some(entry) = self.bus.next(&self.stream, &subject, from).await? {
            from = entry.sequence + 1;
            found.push(entry);
        }
        Ok(self.events(found))
    }

    /// The entries on the subject of a tree after this sequence and before a fence. No clock of the bus can
    /// tell when they were published: the clocks of its servers may differ.
    pub(super) async fn read(
        &self,
        tree: u64,
        after: u64,
        fence: u64,
    ) -> Result<Vec<ReceivedEvent>, ClusterError> {
        let subject = tree_subject(&self.name, tree);
        Ok(self.events(entries_up_to(&self.bus, &self.stream, &subject, after, fence).await?))
    }

    fn events(&self, found: Vec<StreamMessage>) -> Vec<ReceivedEvent> {
        let at = self.clock.now();
        let readable = found.into_iter().filter_map(|entry| decode(&entry.payload).ok());
        readable.map(|event| ReceivedEvent { at, sequence: None, event, reply: None }).collect()
    }

    /// The bus has failed: the survey stops.
    pub(super) fn fail(&self, error: ClusterError) {
        tracing::error!(wrong = %error, "the bus has failed: the survey stops");
        self.inner().failed.get_or_insert(error);
        self.stop();
    }

    /// The failure that stopped the survey.
    pub(super) fn failure(&self) -> Option<ClusterError> {
        self.inner().failed.take()
    }

    /// Stops the survey.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Becomes true when the survey is to stop.
    pub(super) fn stopped(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// A tree is over: its subject is not needed any more.
    pub(super) fn forget(&self, tree: u64) {
        self.inner().last.remove(&tree);
    }

    fn inner(&self) -> MutexGuard<'_, SubjectState> {
        self.inner.lock()
    }
}

/// Publishes two fences on a subject, and returns the sequence of the second. An entry whose expected
/// sequence the first fence made wrong stands before the second, or nowhere.
pub(super) async fn fence(
    bus: &Bus,
    subject: &str,
    clock: Clock,
    count: &AtomicU64,
) -> Result<u64, ClusterError> {
    let mut second = 0;
    for _ in 0..2 {
        // Each fence has its own ID, also after a fence of another process.
        let number = count.fetch_add(1, Ordering::Relaxed);
        let id = format!("fence-{}-{:?}-{number}", std::process::id(), clock.now());
        let payload = encode(&Event::Fence)?;
        second = match bus.publish(subject.to_owned(), None, &id, payload, PATIENCE).await? {
            Published::At(sequence) => sequence,
            Published::Refused => {
                return Err(ClusterError::Message("the bus refused a fence entry".to_owned()));
            }
        };
    }
    Ok(second)
}

/// All entries on a subject after a sequence and up to a fence. If a server does not know the fence yet, the
/// request is repeated.
pub(super) async fn entries_up_to<I: Send + Sync>(
    bus: &Bus,
    stream: &Stream<I>,
    subject: &str,
    after: u64,
    fence: u64,
) -> Result<Vec<StreamMessage>, ClusterError> {
    let (mut from, mut found) = (after + 1, Vec::new());
    let until = Instant::now() + PATIENCE;
    while from <= fence {
        match bus.next(stream, subject, from).await? {
            Some(entry) => {
                from = entry.sequence + 1;
                found.push(entry);
            }
            None if Instant::now() >= until => {
                return Err(ClusterError::Message(
                    "a fence entry is missing where it was published".to_owned(),
                ));
            }
            None => tokio::time::sleep(Duration::from_millis(250)).await,
        }
    }
    Ok(found)
}
