use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_nats::jetstream::stream::Stream;
use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use xxhash_rust::xxh3::xxh3_64;

use super::agent::is_name;
use super::bus::{
    Bus, Published, coordinator_subject, finished_subject, heartbeat_subject, ping_subject, report_subject,
    subject_word,
};
use super::bus_worker::BusWorker;
use super::kept_replies::kept_replies;
use super::message::{Event, Heartbeat, HeartbeatReply, PingReply, Report, SurveyTerms, decode, encode};
use super::outage::DatedOutage;
use super::tree_subjects::TreeSubjects;
use super::{AGENT_TIMEOUT, ClusterError, HEARTBEAT_INTERVAL, PATIENCE};
use crate::fetch::{self, Clock};
use crate::load::Fault;
use crate::records::Manifest;
use crate::roster::{AgentCapacity, AgentNumber};
use crate::settings::Settings;
use crate::survey::{
    AgentPool, AgentSeen, BusProblem, CAPACITIES, CAPACITIES_TEXT, KeptReplies, LinkStatus, OptOutCheck,
    Progress, Survey,
};

/// The side of the bus on which the survey is.
///
/// It is opened before the survey, because the bus may hold responses to the survey's requests. It begins
/// with the survey.
pub struct Coordinator {
    bus: Bus,
    name: String,
    stream: Stream,
    replies: KeptReplies,
    presence: Presence,
}

/// A coordinator announces its presence every [`HEARTBEAT_INTERVAL`]: after this much silence there is none.
const TAKEOVER_TIMEOUT: Duration = HEARTBEAT_INTERVAL.saturating_add(Duration::from_secs(1));
/// Pause before the next attempt to add copies.
const REPLICA_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A running coordinator.
pub struct RunningCoordinator {
    subjects: Arc<TreeSubjects>,
    tasks: JoinSet<()>,
}

impl Coordinator {
    /// Checks the bus for a survey that is to be started in this folder.
    ///
    /// # Errors
    /// When another survey of its name is on the bus.
    pub async fn check(bus: &Bus, dir: &Path) -> Result<(), ClusterError> {
        let name = survey_name(dir);
        if bus.has(&name).await? { Err(bus.name_taken_error(&name)) } else { Ok(()) }
    }

    /// Opens the coordinator of the survey in this folder, which is not open yet.
    ///
    /// # Errors
    /// When another survey of its name is on the bus, or another process coordinates this one.
    pub async fn open(bus: Bus, dir: &Path) -> Result<Self, ClusterError> {
        let name = survey_name(dir);
        let id = survey_id(dir)?;
        let stream = bus.open(&name, &id).await?;
        let last = last_presence(&bus, &stream, &name).await?;
        let replies = kept_replies(&bus, &stream, &name, Clock::system()).await?;
        let (announced_at, process) = (watch::Sender::new(None), std::process::id());
        let presence = Presence { bus: bus.clone(), name: name.clone(), last, announced_at, process };
        Ok(Self { bus, name, stream, replies, presence })
    }

    /// Removes from the bus all that a finished survey has left there.
    ///
    /// # Errors
    /// When an operation of the bus fails.
    pub async fn clear(bus: &Bus, dir: &Path) -> Result<(), ClusterError> {
        let (name, id) = (survey_name(dir), survey_id(dir)?);
        if bus.has(&name).await? {
            bus.open(&name, &id).await?;
            finish_survey(bus, &name).await?;
        }
        Ok(())
    }

    /// The responses that agents published while no coordinator was there.
    #[must_use]
    pub fn replies(&self) -> &KeptReplies {
        &self.replies
    }

    /// Starts to dispatch the requests of the survey to agents, until `stop` becomes true.
    ///
    /// # Errors
    /// When an operation of the bus fails, or the survey is one whose sites this process walks.
    pub async fn begin(
        self,
        survey: &Survey,
        stop: watch::Receiver<bool>,
    ) -> Result<RunningCoordinator, ClusterError> {
        let Self { bus, name, stream, mut presence, .. } = self;
        let clock = survey.clock();
        let Some(pool) = survey.agent_pool() else {
            return Err(ClusterError::Message("this survey has no agents".to_owned()));
        };
        let lacks_copies = bus.lacks_copies(&stream).then(|| stream.clone());
        let subjects = Arc::new(TreeSubjects::new(bus.clone(), name.clone(), stream, clock));
        let (mut stop_signal, mut tasks, progress) = (stop, JoinSet::new(), survey.progress());
        tasks.spawn(report_outages(bus.clone(), survey.progress()));
        tokio::select! {
            biased;
            announced = Box::pin(presence.announce()) => announced?,
            _ = stop_signal.wait_for(|stop| *stop) => {
                subjects.stop();
                return Ok(RunningCoordinator { subjects, tasks });
            }
        }
        let reports = bus.subscribe(report_subject(&name)).await?;
        let arrivals = bus.subscribe(heartbeat_subject(&name)).await?;
        let pings = bus.subscribe(ping_subject(&name)).await?;
        let register = AgentRegister {
            subjects: subjects.clone(),
            pool,
            terms: survey_terms(survey.settings())?,
            longest: fetch::Settings::from(survey.settings()).longest_exchange(),
            clock,
            progress: survey.progress(),
            agents: Mutex::default(),
        };
        let register = Arc::new(register);
        let mut spawn_watched = |work: BoxFuture<'static, Result<(), ClusterError>>| {
            let subjects = subjects.clone();
            tasks.spawn(async move {
                if let Err(error) = work.await {
                    subjects.fail(error);
                }
            });
        };
        spawn_watched(Box::pin(listen(reports, subjects.clone())));
        spawn_watched(Box::pin(reply_to_heartbeats(arrivals, register.clone())));
        let present = presence.announced_at.subscribe();
        spawn_watched(Box::pin(reply_to_pings(pings, subjects.clone(), survey.opt_out_checks(), present)));
        spawn_watched(Box::pin(run_register(register)));
        spawn_watched(Box::pin(async move { presence.announce_periodically().await }));
        if let Some(stream) = lacks_copies {
            spawn_watched(Box::pin(add_copies(bus, stream, progress)));
        }
        let subjects_to_stop = subjects.clone();
        spawn_watched(Box::pin(async move {
            if stop_signal.wait_for(|stop| *stop).await.is_ok() {
                subjects_to_stop.stop();
            }
            Ok(())
        }));
        Ok(RunningCoordinator { subjects, tasks })
    }
}

impl RunningCoordinator {
    /// Becomes true when the survey is to stop: the user asked for it, or the bus failed.
    #[must_use]
    pub fn stop(&self) -> watch::Receiver<bool> {
        self.subjects.stopped()
    }

    /// Ends with the survey. A finished survey leaves nothing on the bus, and its agents end.
    ///
    /// # Errors
    /// The failure that stopped the survey, or that a finished survey could not be removed from the bus.
    pub async fn end(mut self, is_finished: bool) -> Result<(), ClusterError> {
        self.tasks.shutdown().await;
        if is_finished {
            return finish_survey(&self.subjects.bus, &self.subjects.name).await;
        }
        self.subjects.failure().map_or(Ok(()), Err)
    }
}

/// Announces that a survey is finished, and leaves nothing on the bus.
async fn finish_survey(bus: &Bus, name: &str) -> Result<(), ClusterError> {
    let announcement = bus.send(finished_subject(name), encode(&())?);
    // An agent that is cut off now will find that the survey is gone.
    let _ = tokio::time::timeout(HEARTBEAT_INTERVAL, announcement).await;
    bus.remove(name).await
}

/// Shows an outage of the bus in the status for as long as it lasts.
async fn report_outages(bus: Bus, progress: Arc<Progress>) {
    let mut outage = bus.watch();
    loop {
        let problem = outage.borrow_and_update().as_ref().map(|DatedOutage { outage, at }| BusProblem {
            since: *at,
            what: format!("{}: {outage}", bus.server()),
        });
        progress.update(|now| now.bus_problem = problem);
        if outage.changed().await.is_err() {
            return;
        }
    }
}

/// Adds the usual copies of the stream once the cluster can keep them, if servers of it were down when the
/// survey began.
async fn add_copies(bus: Bus, stream: Stream, progress: Arc<Progress>) -> Result<(), ClusterError> {
    let mut why = None;
    while let Err(outage) = bus.add_copies(&stream).await {
        let warning = format!(
            "{}: its cluster keeps one copy of the survey, because fewer than three servers could store one ({outage}); \
             if the server with that copy is lost, so is the survey; more copies are added as soon as possible",
            bus.server()
        );
        if why.replace(outage.clone()).as_ref() != Some(&outage) {
            tracing::warn!("{warning}");
        }
        progress.update(|now| now.bus_warning = Some(warning));
        tokio::time::sleep(REPLICA_RETRY_INTERVAL).await;
    }
    tracing::info!("the servers of the cluster keep three copies of the survey");
    progress.update(|now| now.bus_warning = None);
    Ok(())
}

/// The name of a survey on the bus, which is that of its folder.
fn survey_name(dir: &Path) -> String {
    let absolute_path = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    subject_word(&absolute_path.file_name().unwrap_or_default().to_string_lossy())
}

/// Distinguishes a survey from others of its name.
fn survey_id(dir: &Path) -> Result<String, ClusterError> {
    let manifest = Manifest::load(dir).map_err(|error| ClusterError::Message(error.to_string()))?;
    let begun = serde_json::to_string(&manifest.created).unwrap_or_default();
    let settings = xxh3_64(manifest.settings.to_string().as_bytes());
    Ok(format!("the survey that was begun at {begun}, {settings:016x}"))
}

fn survey_terms(settings: &Settings) -> Result<SurveyTerms, ClusterError> {
    let read = |path: &std::path::PathBuf| {
        let to_error = |source| ClusterError::Certificate { path: path.clone(), source };
        std::fs::read_to_string(path).map_err(to_error)
    };
    let roots = settings.ca.iter().map(read).collect::<Result<_, _>>()?;
    let settings_text =
        toml::to_string(settings).map_err(|error| ClusterError::Message(error.to_string()))?;
    Ok(SurveyTerms { settings: settings_text, roots })
}

/// The claim of one process to coordinate the survey: an entry on the bus, which no entry of another process
/// may follow.
struct Presence {
    bus: Bus,
    name: String,
    last: u64,
    /// When the presence was last announced and stored; time that the machine slept counts.
    announced_at: watch::Sender<Option<SystemTime>>,
    /// Makes the announcements of two processes differ.
    process: u32,
}

impl Presence {
    async fn announce(&mut self) -> Result<(), ClusterError> {
        let subject = coordinator_subject(&self.name);
        let id = format!("coordinator-{}-{:?}-{}", self.process, Clock::system().now(), self.last);
        let system = Clock::system();
        system.slept();
        let begun = system.now();
        match self.bus.publish(subject, Some(self.last), &id, encode(&())?, PATIENCE).await? {
            Published::At(sequence) => {
                self.last = sequence;
                self.announced_at.send_replace(Some(begun));
                Ok(())
            }
            Published::Refused => Err(self.why_refused().await?),
        }
    }

    /// Our last entry is no longer the last one: either another process has added an entry, or there is no
    /// later one.
    async fn why_refused(&self) -> Result<ClusterError, ClusterError> {
        let (name, server) = (self.name.clone(), self.bus.server().to_owned());
        let stream = self.bus.stream(&name).await?;
        let is_later = self.bus.last(&stream, &coordinator_subject(&name)).await? > self.last;
        Ok(if is_later { ClusterError::Deposed(name) } else { ClusterError::LostEntries { server, name } })
    }

    async fn announce_periodically(&mut self) -> Result<(), ClusterError> {
        loop {
            tokio::time::sleep(HEARTBEAT_INTERVAL).await;
            self.announce().await?;
        }
    }
}

/// The sequence of the last presence entry of a coordinator; 0 if there never was one. If a new one appears
/// within the interval of these entries, a coordinator is at work.
async fn last_presence(bus: &Bus, stream: &Stream, name: &str) -> Result<u64, ClusterError> {
    let subject = coordinator_subject(name);
    let last = async || bus.last(stream, &subject).await;
    let before = last().await?;
    if before > 0 {
        tokio::time::sleep(TAKEOVER_TIMEOUT).await;
        if last().await? != before {
            return Err(ClusterError::Coordinated { server: bus.server().to_owned(), name: name.to_owned() });
        }
    }
    Ok(before)
}

async fn listen(mut reports: Subscriber, subjects: Arc<TreeSubjects>) -> Result<(), ClusterError> {
    while let Some(message) = reports.next().await {
        let is_taken = match decode::<Report>(&message.payload) {
            Ok(report) if matches!(report.event, Event::ReadMore { .. }) => {
                if subjects.note(report, message.reply.clone()) {
                    continue;
                }
                false
            }
            Ok(report) => subjects.note(report, None),
            Err(error) => {
                tracing::error!(wrong = %error, "a report of an agent cannot be read");
                false
            }
        };
        if let Some(reply) = message.reply {
            subjects.bus.reply(reply, encode(&is_taken)?).await?;
        }
    }
    Err(ClusterError::Message("the connection to the bus has ended".to_owned()))
}

/// The agents of a survey.
struct AgentRegister {
    subjects: Arc<TreeSubjects>,
    pool: AgentPool,
    terms: SurveyTerms,
    longest: Duration,
    clock: Clock,
    progress: Arc<Progress>,
    agents: Mutex<BTreeMap<String, RegisteredAgent>>,
}

struct RegisteredAgent {
    number: AgentNumber,
    agent_gone: watch::Sender<bool>,
    /// Whole seconds without a heartbeat, counting only seconds in which this process was running.
    silent: u64,
    seen: AgentSeen,
    /// Time of its last heartbeat that updated the page rate, and its number of pages by then.
    last_rate_update: SystemTime,
    pages: u64,
}

async fn reply_to_heartbeats(
    mut arrivals: Subscriber,
    register: Arc<AgentRegister>,
) -> Result<(), ClusterError> {
    while let Some(message) = arrivals.next().await {
        let heartbeat_reply = match decode::<Heartbeat>(&message.payload) {
            Ok(heartbeat) => register.handle_heartbeat(heartbeat),
            Err(error) => HeartbeatReply::Refused(error.to_string()),
        };
        register.reply(message, &heartbeat_reply).await?;
    }
    Ok(())
}

/// Replies to pings with the time and the age of our last look at the opt-out list. Agents need this to send
/// requests.
async fn reply_to_pings(
    mut pings: Subscriber,
    subjects: Arc<TreeSubjects>,
    opt_out_checks: watch::Receiver<Option<OptOutCheck>>,
    present: watch::Receiver<Option<SystemTime>>,
) -> Result<(), ClusterError> {
    while let Some(message) = pings.next().await {
        // Before the first look at the list, no request is permitted.
        let Some(OptOutCheck { time, version: opt_outs }) = *opt_out_checks.borrow() else { continue };
        subjects.clock.slept();
        // A coordinator that stood still meanwhile may have been replaced by another process.
        let system = Clock::system().now();
        if present.borrow().is_none_or(|announced_at| {
            system.duration_since(announced_at).is_ok_and(|age| age > TAKEOVER_TIMEOUT)
        }) {
            continue;
        }
        let now = subjects.clock.now();
        let list_age = now.duration_since(time).unwrap_or_default();
        if let Some(reply) = message.reply {
            subjects.bus.reply(reply, encode(&PingReply { now, list_age, opt_outs })?).await?;
        }
    }
    Ok(())
}

/// Counts the silence of each agent, and shows the state of the agents in the status.
async fn run_register(register: Arc<AgentRegister>) -> Result<(), ClusterError> {
    let mut every_second = tokio::time::interval(Duration::from_secs(1));
    // If this process was held up, agents were not silent all the time: their heartbeats are still to be
    // read.
    every_second.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut missing_since = None;
    loop {
        every_second.tick().await;
        register.tick_second(&mut missing_since);
    }
}

impl AgentRegister {
    async fn reply(&self, message: Message, heartbeat_reply: &HeartbeatReply) -> Result<(), ClusterError> {
        let Some(reply) = message.reply else { return Ok(()) };
        self.subjects.bus.reply(reply, encode(heartbeat_reply)?).await
    }

    fn handle_heartbeat(&self, heartbeat: Heartbeat) -> HeartbeatReply {
        let now = self.clock.now();
        let mut agents = self.agents.lock();
        if let Some(error) = invalid_heartbeat(&heartbeat) {
            return HeartbeatReply::Refused(error);
        }
        if heartbeat.is_leaving {
            // The agent is assigned nothing more, and its exchanges in flight end.
            match agents.get_mut(&heartbeat.id) {
                Some(agent) if heartbeat.in_flight > 0 => {
                    agent.note(&heartbeat, now);
                    self.pool.leave(agent.number);
                }
                Some(_) => {
                    if let Some(agent) = agents.remove(&heartbeat.id) {
                        self.dismiss(agent, "leaves");
                    }
                }
                None => {}
            }
            return HeartbeatReply::Accepted;
        }
        if let Some(agent) = agents.get_mut(&heartbeat.id) {
            agent.note(&heartbeat, now);
            return self.terms_for(&heartbeat).unwrap_or(HeartbeatReply::Accepted);
        }
        if agents.values().any(|agent| agent.seen.name == heartbeat.name) {
            return HeartbeatReply::Wait(format!("an agent named '{}' is already running", heartbeat.name));
        }
        if let Some(terms) = self.terms_for(&heartbeat) {
            return terms;
        }
        let (agent_gone, is_gone) = watch::channel(false);
        let worker = BusWorker {
            subjects: self.subjects.clone(),
            id: heartbeat.id.clone(),
            agent_gone: is_gone,
            longest: self.longest,
        };
        let agent = AgentCapacity { places: heartbeat.sites as usize, capacity: heartbeat.capacity };
        let number = self.pool.join(heartbeat.name.clone(), agent, Arc::new(worker));
        tracing::info!(agent = heartbeat.name, sites = heartbeat.sites, "an agent joins");
        let seen = AgentSeen {
            since: Some(self.clock.system_time_at(now)),
            places: u64::from(heartbeat.sites),
            ..AgentSeen::default()
        };
        let mut agent = RegisteredAgent {
            number,
            agent_gone,
            silent: 0,
            seen,
            last_rate_update: now,
            pages: heartbeat.pages,
        };
        agent.note(&heartbeat, now);
        agents.insert(heartbeat.id, agent);
        HeartbeatReply::Accepted
    }

    fn terms_for(&self, heartbeat: &Heartbeat) -> Option<HeartbeatReply> {
        let has_current_terms = heartbeat.terms == self.terms.hash();
        (!has_current_terms).then(|| HeartbeatReply::NewTerms(self.terms.clone(), self.clock.system_time()))
    }

    fn dismiss(&self, agent: RegisteredAgent, why: &str) {
        tracing::info!(agent = agent.seen.name, "an agent {why}");
        // First stop its worker, so that no request of a tree that is assigned to it is sent.
        let _ = agent.agent_gone.send(true);
        self.pool.leave(agent.number);
    }

    /// `missing_since` is when the last agent left, as long as there is none.
    fn tick_second(&self, missing_since: &mut Option<SystemTime>) {
        let mut agents = self.agents.lock();
        for agent in agents.values_mut() {
            agent.silent += 1;
        }
        let lost: Vec<String> = agents
            .iter()
            .filter(|(_, agent)| agent.silent > AGENT_TIMEOUT.as_secs())
            .map(|(id, _)| id.clone())
            .collect();
        for id in lost {
            if let Some(agent) = agents.remove(&id) {
                self.dismiss(agent, "has gone silent");
            }
        }
        let walking = self.pool.walking();
        let mut seen: Vec<(AgentNumber, AgentSeen)> = agents
            .values()
            .map(|agent| {
                let sites_walking = walking.get(&agent.number).map_or(0, |sites| *sites as u64);
                let LinkStatus { broken, failed_only_here, slow_by } = self.pool.link_of(agent.number);
                let broken_since = |fault| {
                    let (_, since) = broken.filter(|(broken, _)| *broken == fault)?;
                    Some(self.clock.system_time_at(since))
                };
                let seen = AgentSeen {
                    silent_seconds: agent.silent,
                    sites_walking,
                    link_broken_since: broken_since(Fault::Internet),
                    in_vain_since: broken_since(Fault::Dispatches),
                    slow_by_seconds: slow_by.map(|more| more.as_secs_f64()),
                    failed_only_here,
                    ..agent.seen.clone()
                };
                (agent.number, seen)
            })
            .collect();
        seen.sort_by_key(|(number, _)| *number);
        if !agents.is_empty() {
            *missing_since = None;
        } else if missing_since.is_none() {
            *missing_since = Some(self.clock.system_time());
            tracing::info!("waiting for agents: none is there");
        }
        self.progress.update(|now| {
            now.agents = seen.into_iter().map(|(_, seen)| seen).collect();
            now.agents_missing_since = *missing_since;
        });
    }
}

/// Why a heartbeat cannot come from an honest agent.
fn invalid_heartbeat(heartbeat: &Heartbeat) -> Option<String> {
    let Heartbeat { name, sites, capacity, program, .. } = heartbeat;
    if program != env!("CARGO_PKG_VERSION") {
        return Some(format!(
            "the agent has version {program} of ccsurvey (expected {})",
            env!("CARGO_PKG_VERSION")
        ));
    }
    let is_sound = is_name(name) && *sites > 0 && CAPACITIES.contains(capacity);
    (!is_sound).then(|| {
        format!(
            "its heartbeat has an invalid name, number of sites or capacity (expected 1 to 64 letters, digits, '-', '_' and '.'; \
             1 site or more; {CAPACITIES_TEXT})"
        )
    })
}

impl RegisteredAgent {
    fn note(&mut self, heartbeat: &Heartbeat, now: SystemTime) {
        let seconds = now.duration_since(self.last_rate_update).unwrap_or_default().as_secs_f64();
        if seconds >= HEARTBEAT_INTERVAL.as_secs_f64() / 2.0 {
            self.seen.pages_per_second = heartbeat.pages.saturating_sub(self.pages) as f64 / seconds;
            (self.last_rate_update, self.pages) = (now, heartbeat.pages);
        }
        self.silent = 0;
        self.seen.name.clone_from(&heartbeat.name);
        self.seen.version.clone_from(&heartbeat.program);
        (self.seen.requests, self.seen.pages, self.seen.machine) =
            (heartbeat.requests, heartbeat.pages, heartbeat.machine);
        self.seen.ping_age_seconds = heartbeat.ping_age.map(|age| age.as_secs());
    }
}
