use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::RequestErrorKind;
use futures_util::future::{BoxFuture, FusedFuture};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};
use xxhash_rust::xxh3::xxh3_64;

use super::bus::{
    Bus, Published, dispatch_subject, finished_subject, heartbeat_subject, report_subject, tree_subject,
};
use super::machine::MachineMonitor;
use super::message::{
    Dispatch, Event, Heartbeat, HeartbeatReply, Report, SurveyTerms, decode, encode, split_reply,
};
use super::outage::{DatedOutage, SubjectRefusal};
use super::permission::Permission;
use super::{AgentLimits, ClusterError, DISPATCH_LIFETIME, HEARTBEAT_INTERVAL, Outage, PATIENCE};
use crate::address::OBEYED_WITHIN;
use crate::exchange::{Purpose, RECEIVE_WINDOW};
use crate::fetch::{Clock, Meter};
use crate::promises::units;
use crate::survey::{Worker, process_stalled};
use crate::walk::Content;

/// Sends the requests of a survey on behalf of its coordinator, and reads the responses.
pub struct Agent {
    /// Name in the tables.
    pub name: String,
    /// Number of site trees that it walks at once.
    pub sites: u32,
    /// Work that it does per unit of time, in a unit that is the same for all agents of the survey.
    pub capacity: f64,
    /// Name of the survey, in case there are several on the bus.
    pub survey: Option<String>,
    /// Program that is started to read a response at which a process died.
    pub program: Option<PathBuf>,
    /// Limits on what the survey may do on this machine.
    pub limits: AgentLimits,
}

/// Why an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// The survey is finished.
    Finished,
    /// The agent was told to stop.
    Stopped,
}

/// Pause between two searches for a survey.
const SEARCH_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between two status messages.
const STATUS_INTERVAL: Duration = Duration::from_mins(1);
const LONGEST_NAME: usize = 64;
/// How long an agent that is to end may spend on publishing the result of a request; as long as the survey
/// gives its own exchanges to end.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);
/// The agent ends once it has found this many times in a row that its survey is not on the bus: the message
/// that the survey is finished may be on its way.
const MAX_TIMES_GONE: u32 = 2;

impl Agent {
    /// Works until the survey is over or `stop` becomes true; calls `log_line` with status messages.
    ///
    /// # Errors
    /// When the name is invalid, the coordinator refuses the agent, or the bus fails.
    pub async fn work(
        self,
        bus: Bus,
        mut stop: watch::Receiver<bool>,
        log_line: impl Fn(&str),
    ) -> Result<AgentEnd, ClusterError> {
        if !is_name(&self.name) {
            return Err(ClusterError::Name(self.name));
        }
        let found = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => return Ok(AgentEnd::Stopped),
            found = find(&bus, self.survey.as_deref(), &log_line) => found?,
        };
        log_line(&format!("agent '{}' of the survey '{found}' on {}", self.name, bus.server()));
        AgentRun::new(self, bus, found).work(stop, &log_line).await
    }
}

/// Whether `name` can be the name of an agent, in tables and on terminals.
pub(super) fn is_name(name: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_word)
}

/// Name of the survey to work for; waits until there is one.
async fn find(bus: &Bus, wanted: Option<&str>, log_line: &impl Fn(&str)) -> Result<String, ClusterError> {
    let mut last_message = String::new();
    let mut log_once = |message: String| {
        if message != last_message {
            log_line(&message);
            last_message = message;
        }
    };
    loop {
        let mut found = match bus.surveys().await {
            Ok(found) => found,
            // A cluster whose leader has died takes some seconds to choose another.
            Err(error) => {
                log_once(format!("waiting: {error}"));
                tokio::time::sleep(SEARCH_INTERVAL).await;
                continue;
            }
        };
        match wanted {
            Some(name) if found.iter().any(|it| it == name) => return Ok(name.to_owned()),
            None if found.len() > 1 => {
                return Err(ClusterError::Several {
                    server: bus.server().to_owned(),
                    names: found.join(", "),
                });
            }
            None if let Some(only) = found.pop() => return Ok(only),
            _ => {}
        }
        let which = wanted.map_or_else(|| "a survey".to_owned(), |name| format!("the survey '{name}'"));
        let others = if found.is_empty() { String::new() } else { format!(" (found: {})", found.join(", ")) };
        log_once(format!("waiting for {which} on {}{others}", bus.server()));
        tokio::time::sleep(SEARCH_INTERVAL).await;
    }
}

/// One run of an agent.
struct AgentRun {
    agent: Agent,
    bus: Bus,
    survey: String,
    id: String,
    clock: Clock,
    begun: Instant,
    counts: Arc<AgentCounts>,
    permission: Arc<Permission>,
    /// Locked while the bus is being checked.
    bus_check: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct AgentCounts {
    dispatches: AtomicU64,
    requests: AtomicU64,
    pages: AtomicU64,
}

/// The settings of the survey, as this agent last received them.
#[derive(Default)]
struct ReceivedTerms {
    terms: u64,
    worker: Option<Arc<Worker>>,
}

impl AgentRun {
    fn new(agent: Agent, bus: Bus, survey: String) -> Self {
        let clock = Clock::system();
        let moment = clock.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        // No two runs of the same name are in one process at the same moment.
        let id = xxh3_64(format!("{} {} {moment}", agent.name, std::process::id()).as_bytes());
        Self {
            id: format!("{id:016x}"),
            agent,
            bus,
            survey,
            clock,
            begun: Instant::now(),
            counts: Arc::default(),
            permission: Arc::new(Permission::new()),
            bus_check: Arc::default(),
        }
    }

    async fn work(
        &self,
        mut stop: watch::Receiver<bool>,
        log_line: &impl Fn(&str),
    ) -> Result<AgentEnd, ClusterError> {
        let mut refusal = self.bus.watch_refusals();
        let mut dispatch_messages = self.bus.subscribe(dispatch_subject(&self.survey, &self.id)).await?;
        let mut finished = self.bus.subscribe(finished_subject(&self.survey)).await?;
        let (mut outage, mut times_gone) = (self.bus.watch(), 0);
        let mut pings = JoinSet::new();
        let (permission, bus, survey) = (self.permission.clone(), self.bus.clone(), self.survey.clone());
        pings.spawn(async move { permission.keep_fresh(&bus, &survey).await });
        let (mut received_terms, mut machine, mut last_message) =
            (ReceivedTerms::default(), MachineMonitor::default(), String::new());
        let (mut exchanges, stop_signal) = (JoinSet::new(), stop.clone());
        let mut heartbeat_timer = tokio::time::interval(HEARTBEAT_INTERVAL);
        heartbeat_timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut status_timer = tokio::time::interval_at(Instant::now() + STATUS_INTERVAL, STATUS_INTERVAL);
        let mut pending_heartbeat = pin!(futures_util::future::Fuse::terminated());
        let mut is_leaving = false;
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop), if !is_leaving => {
                    log_line("stopping politely: exchanges in flight are finished");
                    is_leaving = true;
                    heartbeat_timer.reset_immediately();
                }
                Some(_) = finished.next() => return Ok(AgentEnd::Finished),
                Some(received) = dispatch_messages.next() => match (decode::<Dispatch>(&received.payload), &received_terms.worker) {
                    (Ok(dispatch), Some(worker)) => {
                        exchanges.spawn(self.execute(worker.clone(), dispatch, stop_signal.clone()));
                    }
                    (Err(error), _) => log_line(&format!("warning: cannot read a dispatch: {error}")),
                    // Before the agent has joined, it gets no dispatches.
                    (Ok(_), None) => {}
                },
                Some(done) = exchanges.join_next() => {
                    match done {
                        Ok(Ok(Executed::Reported)) | Err(_) => {}
                        Ok(Ok(Executed::Lost)) => {
                            log_line("warning: this process stood still: a request counts as lost");
                        }
                        Ok(Err(error)) => {
                            log_line(&format!("warning: cannot report the result of a request: {error}"));
                        }
                    }
                }
                Ok(()) = refusal.changed() => {
                    if let Some(SubjectRefusal { what, .. }) = &*refusal.borrow_and_update() {
                        let outage = Outage::NotPermitted(what.clone());
                        log_line(&format!("warning: {}: {outage}", self.bus.server()));
                    }
                }
                Ok(()) = outage.changed() => log_line(&self.describe_outage(&mut outage)),
                response = &mut pending_heartbeat => match response {
                    Ok(heartbeat_reply) => {
                        times_gone = 0;
                        if matches!(heartbeat_reply, HeartbeatReply::NewTerms(..)) {
                            // Now the agent can join.
                            heartbeat_timer.reset_immediately();
                        }
                        if let Some(message) = self.handle_reply(heartbeat_reply, &mut received_terms)? {
                            if message != last_message {
                                log_line(&message);
                            }
                            last_message = message;
                        }
                        if !last_message.is_empty() && received_terms.worker.is_some() {
                            last_message.clear();
                        }
                    }
                    Err(NoReply::Gone) if times_gone + 1 >= MAX_TIMES_GONE => {
                        let (server, name) = (self.bus.server().to_owned(), self.survey.clone());
                        return Err(ClusterError::Gone { server, name });
                    }
                    Err(NoReply::Gone) => times_gone += 1,
                    // The outage of the bus has been reported already.
                    Err(NoReply::Silent) if outage.borrow().is_some() => times_gone = 0,
                    Err(NoReply::Silent) => {
                        times_gone = 0;
                        let message = format!("waiting for the coordinator of '{}'", self.survey);
                        if message != last_message {
                            log_line(&message);
                        }
                        last_message = message;
                    }
                },
                _ = heartbeat_timer.tick(), if pending_heartbeat.is_terminated() => {
                    let heartbeat = self.heartbeat(&received_terms, &mut machine, is_leaving, exchanges.len());
                    pending_heartbeat.set(self.send_heartbeat(heartbeat).fuse());
                }
                _ = status_timer.tick() => log_line(&self.describe_progress()),
            }
            if is_leaving && exchanges.is_empty() {
                let last_heartbeat =
                    self.send_heartbeat(self.heartbeat(&received_terms, &mut machine, true, 0));
                let _ = tokio::time::timeout(LEAVE_TIMEOUT, last_heartbeat).await;
                return Ok(AgentEnd::Stopped);
            }
        }
    }

    fn describe_outage(&self, outage: &mut watch::Receiver<Option<DatedOutage>>) -> String {
        let server = self.bus.server();
        match &*outage.borrow_and_update() {
            Some(DatedOutage { outage, .. }) => format!("waiting: {server}: {outage}"),
            None => format!("{server}: the NATS server works again"),
        }
    }

    fn describe_progress(&self) -> String {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (requests, pages) = (count(&self.counts.requests), count(&self.counts.pages));
        let rate = pages as f64 / self.begun.elapsed().as_secs_f64().max(1.0);
        format!("{}, {}, {rate:.1} pages/s", units::count(requests, "request"), units::count(pages, "page"))
    }

    fn heartbeat(
        &self,
        received_terms: &ReceivedTerms,
        machine: &mut MachineMonitor,
        is_leaving: bool,
        in_flight: usize,
    ) -> Heartbeat {
        Heartbeat {
            id: self.id.clone(),
            name: self.agent.name.clone(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            sites: self.agent.sites,
            capacity: self.agent.capacity,
            terms: received_terms.terms,
            is_leaving,
            in_flight: in_flight as u64,
            requests: self.counts.requests.load(Ordering::Relaxed),
            pages: self.counts.pages.load(Ordering::Relaxed),
            machine: machine.sample(),
            ping_age: self.permission.age(),
        }
    }

    async fn send_heartbeat(&self, heartbeat: Heartbeat) -> Result<HeartbeatReply, NoReply> {
        let Ok(bytes) = encode(&heartbeat) else { return Err(NoReply::Silent) };
        if !self.bus.is_connected() {
            return Err(NoReply::Silent);
        }
        match self.bus.client.request(heartbeat_subject(&self.survey), bytes.into()).await {
            // A coordinator of another version cannot be understood, so a new request to it would not help.
            Ok(response) => {
                Ok(decode(&response.payload)
                    .unwrap_or_else(|error| HeartbeatReply::Refused(error.to_string())))
            }
            Err(error) if error.kind() == RequestErrorKind::NoResponders => {
                let is_there = self.bus.has(&self.survey).await.unwrap_or(true);
                Err(if is_there { NoReply::Silent } else { NoReply::Gone })
            }
            Err(_) => {
                self.check_bus();
                Err(NoReply::Silent)
            }
        }
    }

    /// Finds out whether the coordinator or the bus does not respond; the bus notes the finding. One check at
    /// a time, beside the heartbeats: on a slow link a check takes as long as several of them.
    fn check_bus(&self) {
        let (bus, survey, bus_check) = (self.bus.clone(), self.survey.clone(), self.bus_check.clone());
        tokio::spawn(async move {
            if let Ok(_guard) = bus_check.try_lock() {
                let _ = bus.has(&survey).await;
            }
        });
    }

    /// Handles the coordinator's reply to a heartbeat; returns a message for the user.
    fn handle_reply(
        &self,
        heartbeat_reply: HeartbeatReply,
        received_terms: &mut ReceivedTerms,
    ) -> Result<Option<String>, ClusterError> {
        match heartbeat_reply {
            HeartbeatReply::Accepted => Ok(None),
            HeartbeatReply::NewTerms(terms, now) => {
                *received_terms =
                    ReceivedTerms { terms: terms.hash(), worker: Some(Arc::new(self.worker(&terms, now)?)) };
                Ok(None)
            }
            HeartbeatReply::Wait(why) => Ok(Some(format!("waiting: {why}"))),
            HeartbeatReply::Refused(why) => Err(ClusterError::NotTaken(why)),
        }
    }

    fn worker(&self, terms: &SurveyTerms, now: SystemTime) -> Result<Worker, ClusterError> {
        let settings = self.agent.limits.settings(terms)?;
        // The coordinator's clock judges certificates and dates in responses, whatever this machine's clock
        // shows.
        let worker = Worker::new(&settings, self.clock.with_system_time(now))
            .map_err(|error| ClusterError::Terms(error.to_string()))?;
        if let Some(program) = &self.agent.program {
            worker.read_suspects_with(program.clone());
        }
        Ok(worker)
    }

    /// Sends a request, if it may be sent now and the coordinator has not given it up, and reports the
    /// result.
    fn execute(
        &self,
        worker: Arc<Worker>,
        dispatch: Dispatch,
        stop: watch::Receiver<bool>,
    ) -> impl Future<Output = Result<Executed, ClusterError>> + Send + use<> {
        let (bus, counts, clock) = (self.bus.clone(), self.counts.clone(), self.clock);
        let permission = self.permission.clone();
        let is_leaving = *stop.borrow();
        let (tree, requested_at) = (dispatch.remote_request.tree, dispatch.remote_request.requested_at);
        let attempt = counts.dispatches.fetch_add(1, Ordering::Relaxed);
        let mut record = RequestReporter {
            tree,
            subject: tree_subject(&self.survey, tree),
            report_to: report_subject(&self.survey),
            after: dispatch.after,
            what: format!("{}-{attempt}", self.id),
            number: 0,
            stop,
            bus: bus.clone(),
        };
        let deadline = Instant::now() + DISPATCH_LIFETIME;
        async move {
            if is_leaving
                || permission.obtain(&dispatch, deadline).await.is_none()
                || !record.publish(&Event::Sending { requested_at }, DISPATCH_LIFETIME).await?
            {
                // It may not be sent, or has been given up, or does not follow the entry that it names.
                record.report(Event::Unsent { requested_at }).await?;
                return Ok(Executed::Reported);
            }
            // Publishing the entry may have taken a while.
            let Some(permit) = permission.obtain(&dispatch, deadline).await else {
                record.report_or_publish(Event::Unsent { requested_at }).await?;
                return Ok(Executed::Reported);
            };
            counts.requests.fetch_add(1, Ordering::Relaxed);
            let granted = AtomicU64::new(dispatch.remote_request.reserved.unwrap_or(u64::MAX));
            let meter = record.meter(requested_at, granted, permission.clone());
            let slept = clock.slept();
            let completed = tokio::select! {
                biased;
                // A connection may have been opened while this process stood still, and the request may be
                // about to be sent.
                () = process_stalled(OBEYED_WITHIN) => None,
                reply = worker.execute(&dispatch.remote_request, &meter) => reply.ok(),
            };
            // The result of a request is also unknown if the machine slept meanwhile.
            let Some(reply) = completed.filter(|_| clock.slept() == slept) else {
                record.report_or_publish(Event::Lost { requested_at }).await?;
                return Ok(Executed::Lost);
            };
            let is_page =
                matches!(reply.content, Content::Page(_)) && reply.request.purpose != Purpose::Probe;
            counts.pages.fetch_add(u64::from(is_page), Ordering::Relaxed);
            let began = permit.coordinator_time(reply.response.started, clock);
            let parts = split_reply(requested_at, began, &reply, bus.max_payload_bytes())?;
            for part in &parts {
                match record.report(part.clone()).await? {
                    Some(true) => {}
                    Some(false) => return Ok(Executed::Reported),
                    // The coordinator is away: the bus keeps all parts of the reply.
                    None => {
                        for part in &parts {
                            if !record.publish(part, PATIENCE).await? {
                                break;
                            }
                        }
                        return Ok(Executed::Reported);
                    }
                }
            }
            Ok(Executed::Reported)
        }
    }
}

/// The end of a dispatch.
enum Executed {
    /// Its result was reported: a response, or that nothing was sent.
    Reported,
    /// This process stood still, so that the result of the request is unknown.
    Lost,
}

/// Why there is no reply.
enum NoReply {
    /// Nobody replies, or not for now.
    Silent,
    /// The survey has no stream on the bus.
    Gone,
}

/// Reports and publishes what happens to one request.
struct RequestReporter {
    bus: Bus,
    tree: u64,
    subject: String,
    report_to: String,
    /// Sequence of the agent's last entry on the subject of the tree.
    after: u64,
    /// Identifies this run of the agent and this dispatch, so that its entries differ from all others even if
    /// a dispatch arrives twice.
    what: String,
    number: u32,
    /// Becomes true when the agent is to end.
    stop: watch::Receiver<bool>,
}

impl RequestReporter {
    /// Meter of this exchange, for which the survey has granted this number of bytes of its rate.
    fn meter(
        &self,
        requested_at: SystemTime,
        granted: AtomicU64,
        permission: Arc<Permission>,
    ) -> CoordinatorMeter {
        let (bus, report_to) = (self.bus.clone(), self.report_to.clone());
        CoordinatorMeter {
            bus,
            permission,
            report_to,
            tree: self.tree,
            sequence: self.after,
            requested_at,
            granted,
        }
    }

    /// Reports to the coordinator or, where that is away, publishes on the bus, which keeps the event.
    async fn report_or_publish(&mut self, event: Event) -> Result<(), ClusterError> {
        if self.report(event.clone()).await?.is_none() {
            self.publish(&event, PATIENCE).await?;
        }
        Ok(())
    }

    /// Reports to the coordinator. Returns whether it wants more, or `None` where it is away.
    async fn report(&mut self, event: Event) -> Result<Option<bool>, ClusterError> {
        if !self.bus.is_connected() {
            return Ok(None);
        }
        let report = Report { tree: self.tree, sequence: self.after, event };
        let response = self.bus.client.request(self.report_to.clone(), encode(&report)?.into()).await;
        Ok(response.ok().and_then(|response| decode(&response.payload).ok()))
    }

    /// Publishes an entry that follows the last one. Returns whether the bus took it: the coordinator may
    /// have given the request up.
    async fn publish(&mut self, event: &Event, patience: Duration) -> Result<bool, ClusterError> {
        let id = format!("{}-{}", self.what, self.number);
        self.number += 1;
        let bytes = encode(event)?;
        let published = self.bus.publish(self.subject.clone(), Some(self.after), &id, bytes, patience);
        let published = tokio::select! {
            biased;
            published = published => published?,
            () = overdue(self.stop.clone()) => return Err(ClusterError::Leaving),
        };
        match published {
            Published::At(sequence) => {
                self.after = sequence;
                Ok(true)
            }
            Published::Refused => Ok(false),
        }
    }
}

/// Ends [`LEAVE_TIMEOUT`] after the agent was told to end.
async fn overdue(mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender is gone, so a stop can no longer come.
        return std::future::pending().await;
    }
    tokio::time::sleep(LEAVE_TIMEOUT).await;
}

/// The rate of the survey, as the coordinator grants it.
struct CoordinatorMeter {
    bus: Bus,
    permission: Arc<Permission>,
    report_to: String,
    tree: u64,
    sequence: u64,
    requested_at: SystemTime,
    granted: AtomicU64,
}

impl Meter for CoordinatorMeter {
    fn read_on(&self, bytes: u64) -> BoxFuture<'_, ()> {
        async move {
            if bytes <= self.granted.load(Ordering::Relaxed) {
                return;
            }
            // One message covers several pieces: bytes that are not needed are given back with the response.
            let moved = bytes + RECEIVE_WINDOW;
            let event = Event::ReadMore { requested_at: self.requested_at, moved };
            let report = Report { tree: self.tree, sequence: self.sequence, event };
            let Ok(report) = encode(&report) else { return };
            // Where the coordinator is away, no new request is sent either: an exchange in flight may end.
            while self.bus.is_connected() {
                let granted = self.bus.client.request(self.report_to.clone(), report.clone().into()).await;
                let waits = granted.is_err_and(|error| error.kind() == RequestErrorKind::TimedOut);
                // The coordinator is there, and the rate is used up for longer than the bus waits for a
                // reply.
                if !waits || !self.permission.is_fresh() {
                    break;
                }
            }
            self.granted.fetch_max(moved, Ordering::Relaxed);
        }
        .boxed()
    }
}
