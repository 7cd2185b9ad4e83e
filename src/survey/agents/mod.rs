//! The agents that send the requests of a survey: remote workers, or simulated agents in this process.

pub(super) mod doubts;
pub(super) mod remote_worker;
pub(super) mod simulation;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::error::SurveyError;
use crate::address::{Host, Site};
use crate::fetch::Clock;
use crate::frontier::Lease;
use crate::load::{Fault, LinkDecision, OwnLink};
use crate::records::{SiteRow, read_table};
use crate::roster::{AgentCapacity, AgentNumber, Dealer, Partition, Priority, WaitingTree};
use crate::settings::Settings;
use doubts::Doubts;
use remote_worker::RemoteWorker;

/// The agents that walk the site trees of a survey.
#[derive(Clone, Debug)]
pub struct Team {
    /// How trees are dealt to them.
    pub partition: Partition,
    /// Whether trees of a server go to the agent that was there last.
    pub keeps_servers: bool,
    /// The capacity of each agent: responses per second, which it reads one after the other, one
    /// of [`CAPACITIES`].
    pub agents: Vec<AgentCapacity>,
    /// The size of sites, from an earlier survey.
    pub sizes: HashMap<Site, f64>,
    /// Trees that come within this time are dealt together. If each was dealt as it came, the first would go
    /// to agents before it is known that a larger one waits.
    pub gathered: Duration,
    /// How simulated agents die and others replace them; none if all live to the end.
    pub lives: Option<Lives>,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Team {
    /// The team of a survey whose agents are processes that join over time.
    pub(super) fn of_remote_agents(settings: &Settings) -> Result<Self, SurveyError> {
        /// A tree that waits for an agent costs nothing, and start URLs are looked up one after the other.
        const GATHERED: Duration = Duration::from_millis(50);
        let sizes = settings.since.as_deref().map(requests_of_sites).transpose()?;
        Ok(Self {
            partition: Partition::default(),
            keeps_servers: true,
            agents: Vec::new(),
            sizes: sizes.unwrap_or_default(),
            gathered: GATHERED,
            lives: None,
            seed: settings.seed,
        })
    }
}

/// The number of requests that each site took in an earlier survey.
///
/// # Errors
/// When its tables cannot be read.
pub fn requests_of_sites(dir: &Path) -> Result<HashMap<Site, f64>, SurveyError> {
    let mut sizes = HashMap::new();
    for segment in read_table::<SiteRow>(dir)? {
        for row in segment? {
            if let Ok(host) = Host::parse(&row.site) {
                *sizes.entry(Site::new(host)).or_default() += row.requests as f64;
            }
        }
    }
    Ok(sizes)
}

/// The capacities that an agent may have: it needs at most an hour per response, because anything slower is
/// not an agent, and a number above the highest measures nothing.
pub const CAPACITIES: RangeInclusive<f64> = 1.0 / 3600.0..=1e9;

/// [`CAPACITIES`] for messages.
pub const CAPACITIES_TEXT: &str = "responses per second, from 0.00028 (one per hour) to 1000000000";

/// The mean lifetime of agents. Lives end by chance, with the same probability at any moment.
#[derive(Clone, Copy, Debug)]
pub struct Lives {
    /// From joining to death.
    pub life: Duration,
    /// From death to the arrival of a replacement.
    pub gap: Duration,
}

/// The agents of a survey, with the trees that wait for them.
#[derive(Debug)]
pub(super) struct Agents {
    team: Team,
    clock: Clock,
    state: Mutex<DealingState>,
    /// Notified when a tree comes.
    offered: Notify,
    /// Notified when an agent joins, or when the link of an agent breaks or recovers.
    pub changed: Notify,
    pub doubts: Doubts,
    /// The longest pause at a server, which sets how links of agents are probed.
    longest_pause: Duration,
}

/// The dealer, and the agents that it deals to.
#[derive(Debug)]
struct DealingState {
    dealer: Dealer<oneshot::Sender<Arc<AssignedAgent>>>,
    assigned_agents: BTreeMap<AgentNumber, Arc<AssignedAgent>>,
    /// Trees that are moving from a slow agent to one that has room.
    moving: HashSet<u64>,
    /// When an agent was last lost while another one remained, or the survey was resumed.
    last_loss: Option<SystemTime>,
}

/// A lost agent is usually replaced within this time, and agents find a coordinator that starts again.
const REPLACED_IN: Duration = Duration::from_secs(20);

/// An agent that walks trees.
#[derive(Debug)]
pub(super) struct AssignedAgent {
    /// As in the table `exchanges`.
    pub name: String,
    pub(in crate::survey) number: AgentNumber,
    kind: AgentKind,
    /// Becomes true when the agent dies or leaves.
    is_gone: watch::Sender<bool>,
}

/// The kind of an agent.
#[derive(Debug)]
enum AgentKind {
    /// It is simulated: this process sends its requests, and the agent reads responses one after the other.
    Simulated(SimulatedReader),
    /// It is a process of its own, with its own link to the Internet.
    Remote(Arc<dyn RemoteWorker>, Mutex<AgentLink>),
}

/// The state of an agent's links.
#[derive(Debug)]
pub(super) struct AgentLink {
    pub state: OwnLink,
    /// Connections that failed at this agent and succeeded at another one.
    pub failed_only_here: u64,
    lag: Lag,
}

/// How much longer dispatches to an agent take than their exchanges, as an average of the last ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lag {
    average: Duration,
    is_slow: bool,
    noted_at: Option<SystemTime>,
}

/// The number of dispatches in the average.
const AVERAGED_ROUNDS: u32 = 4;
/// An agent is slow from this average on, until the average is down to half of it. Each dispatch crosses the
/// link to the agent four times, so an agent behind a satellite link (0.3 s each way) is slow, and one around
/// the earth is not. The shortest pause at a server is 2 s.
const SLOW_FROM: Duration = Duration::from_secs(1);

impl Lag {
    /// Notes a dispatch that was made at `dispatched` and has ended now. Returns whether the agent became
    /// slow or stopped being slow.
    fn note(&mut self, dispatched: SystemTime, now: SystemTime, extra_time: Duration) -> bool {
        // An agent that stands still for a moment delays all its parallel dispatches once. It is not slow.
        if self.noted_at.is_some_and(|noted_at| dispatched < noted_at) {
            return false;
        }
        self.noted_at = Some(now);
        self.average =
            (self.average * (AVERAGED_ROUNDS - 1) + extra_time.min(SLOW_FROM * 2)) / AVERAGED_ROUNDS;
        let was_slow = self.is_slow;
        self.is_slow = self.average >= if was_slow { SLOW_FROM / 2 } else { SLOW_FROM };
        self.is_slow != was_slow
    }
}

/// What is known about the links of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkStatus {
    /// What is broken, and since when.
    pub broken: Option<(Fault, SystemTime)>,
    /// Connections that failed at this agent and succeeded at another one.
    pub failed_only_here: u64,
    /// How much longer dispatches take than their exchanges, if that is so long that its sites go to other
    /// agents.
    pub slow_by: Option<Duration>,
}

#[derive(Debug)]
struct SimulatedReader {
    clock: Clock,
    response_time: Duration,
    /// Until then it reads earlier responses.
    busy_until: Mutex<SystemTime>,
}

/// The agents that walk the site trees of a survey over several machines. They come and go.
#[derive(Clone, Debug)]
pub struct AgentPool(Arc<Agents>);

impl AgentPool {
    pub(super) fn new(agents: Arc<Agents>) -> Self {
        Self(agents)
    }

    /// Adds an agent under this name.
    pub fn join(&self, name: String, agent: AgentCapacity, worker: Arc<dyn RemoteWorker>) -> AgentNumber {
        let state = OwnLink::for_agent(self.0.longest_pause);
        let link = AgentLink { state, failed_only_here: 0, lag: Lag::default() };
        self.0.add_agent(agent, |_number| name, AgentKind::Remote(worker, Mutex::new(link)))
    }

    /// What is known about the links of an agent.
    #[must_use]
    pub fn link_of(&self, number: AgentNumber) -> LinkStatus {
        let assigned = self.0.state().assigned_agents.get(&number).cloned();
        let link = assigned.as_ref().and_then(|assigned| assigned.link());
        link.map_or_else(LinkStatus::default, |link| LinkStatus {
            broken: link.state.outage(),
            failed_only_here: link.failed_only_here,
            slow_by: link.lag.is_slow.then_some(link.lag.average),
        })
    }

    /// The number of site trees that each agent walks now.
    #[must_use]
    pub fn walking(&self) -> BTreeMap<AgentNumber, usize> {
        self.0.state().dealer.walking()
    }

    /// Notes that an agent has left or died. Its trees continue elsewhere as soon as none of its requests is
    /// open.
    pub fn leave(&self, number: AgentNumber) {
        self.0.remove_agent(number);
    }
}

/// A tree that waits for an agent or is walked by one. Dropping it ends both.
#[derive(Debug)]
pub(super) struct Assignment {
    agents: Arc<Agents>,
    number: u64,
    assigned: Option<Arc<AssignedAgent>>,
}

impl Agents {
    /// The agents of a survey that begins or, if `is_resumed`, goes on.
    pub(super) fn new(team: Team, clock: Clock, longest_pause: Duration, is_resumed: bool) -> Arc<Self> {
        let mut dealer = Dealer::new(team.partition, team.seed);
        if !team.keeps_servers {
            dealer = dealer.without_server_affinity();
        }
        let state = Mutex::new(DealingState {
            dealer,
            assigned_agents: BTreeMap::new(),
            moving: HashSet::new(),
            last_loss: is_resumed.then(|| clock.now()),
        });
        let agents = Self {
            clock,
            state,
            team,
            offered: Notify::new(),
            changed: Notify::new(),
            doubts: Doubts::default(),
            longest_pause,
        };
        for agent in &agents.team.agents {
            agents.join(*agent);
        }
        agents.state().dealer.plan(agents.team.sizes.iter().map(|(site, size)| (site.clone(), *size)));
        Arc::new(agents)
    }

    /// Waits for an agent to walk this tree; `is_again` says that an agent walked it before.
    pub(super) async fn assign(
        self: Arc<Self>,
        lease: &Lease,
        server: Option<IpAddr>,
        is_again: bool,
    ) -> Option<Assignment> {
        let (sender, receiver) = oneshot::channel();
        let size = self.team.sizes.get(&lease.site).copied();
        let (number, site) = (lease.order, lease.site.clone());
        let mut assignment = Assignment { agents: self.clone(), number, assigned: None };
        let avoided = self.doubts.avoided(number);
        self.state().dealer.offer(WaitingTree {
            number,
            site,
            size,
            server,
            is_again,
            avoided,
            tree: sender,
        });
        self.offered.notify_one();
        assignment.assigned = Some(receiver.await.ok()?);
        Some(assignment)
    }

    /// Deals trees, and lets agents die and others replace them, for as long as the tasks are kept.
    pub(super) fn run_agents(self: &Arc<Self>) -> JoinSet<()> {
        let mut lives = JoinSet::new();
        let agents = self.clone();
        lives.spawn(async move {
            loop {
                agents.offered.notified().await;
                tokio::time::sleep(agents.team.gathered).await;
                agents.state().deal();
            }
        });
        let Some(Lives { life, gap }) = self.team.lives else { return lives };
        for (number, agent) in (0..).zip(self.team.agents.clone()) {
            let agents = self.clone();
            lives.spawn(async move {
                let (mut number, mut draw) = (number, u64::from(number) << 32);
                let mut chance = |mean: Duration| {
                    draw += 1;
                    mean.mul_f64(exponential(xxh3_64_with_seed(&draw.to_le_bytes(), agents.team.seed)))
                };
                loop {
                    tokio::time::sleep(chance(life)).await;
                    agents.remove_agent(number);
                    tokio::time::sleep(chance(gap)).await;
                    number = agents.join(agent);
                }
            });
        }
        lives
    }

    /// Another agent whose own link works, as far as is known: the one that walks the fewest trees.
    pub(super) fn other_agent(&self, excluded: &AssignedAgent) -> Option<Arc<AssignedAgent>> {
        let state = self.state();
        let walking = state.dealer.walking();
        let others = state
            .assigned_agents
            .values()
            .filter(|assigned| assigned.number != excluded.number && assigned.has_working_link());
        others.min_by_key(|assigned| walking.get(&assigned.number)).cloned()
    }

    /// Until when another agent is expected although none may be there now, if one is.
    pub(super) fn others_expected_until(&self) -> Option<SystemTime> {
        Some(self.state().last_loss? + REPLACED_IN)
    }

    /// An agent whose own link is broken and is to be probed now, while the link of the agent that walks the
    /// tree works.
    pub(super) fn agent_to_probe(
        &self,
        walking_agent: &AssignedAgent,
        now: SystemTime,
    ) -> Option<Arc<AssignedAgent>> {
        if !walking_agent.has_working_link() {
            return None;
        }
        let state = self.state();
        let probed = state.assigned_agents.values().find(|assigned| {
            assigned.link().is_some_and(|mut link| {
                link.state.outage().is_some() && link.state.decide(now) == LinkDecision::Probe
            })
        });
        probed.cloned()
    }

    /// Notes that a link of an agent has broken or recovered. While other links work, an agent with a broken
    /// one is dealt nothing.
    pub(super) fn note_link(&self, assigned: &AssignedAgent) {
        let priority = assigned.priority();
        if !assigned.has_working_link() {
            self.state().note_loss(assigned.number, self.clock.now());
        }
        self.change(|dealer| dealer.set_priority(assigned.number, priority));
        self.changed.notify_waiters();
    }

    /// Notes that a dispatch made at `dispatched` has ended now, with an exchange of this length.
    pub(super) fn note_lag(&self, assigned: &AssignedAgent, dispatched: SystemTime, exchange: Duration) {
        let now = self.clock.now();
        let round_trip = now.duration_since(dispatched).unwrap_or_default();
        let extra_time = round_trip.saturating_sub(exchange);
        let has_changed = assigned.link().is_some_and(|mut link| link.lag.note(dispatched, now, extra_time));
        if has_changed {
            self.note_link(assigned);
        }
    }

    /// Whether a tree that this agent walks should move to another one: this agent is slow and others have
    /// room, or it walks at far more servers than another one. If so, the tree counts as moving from then on.
    pub(super) fn should_move(&self, assigned: &AssignedAgent, tree: u64) -> bool {
        let mut state = self.state();
        let should = match assigned.priority() {
            // One at a time, because each move changes the basis for the next decision.
            Priority::Usual => state.moving.is_empty() && state.dealer.is_better_elsewhere(tree),
            Priority::Last | Priority::Paused => state.dealer.free_slots() > state.moving.len(),
        };
        should && state.moving.insert(tree)
    }

    /// How often the trees of a server continued at another agent.
    pub(super) fn handed_over(&self) -> u64 {
        self.state().dealer.handed_over()
    }

    fn join(&self, agent: AgentCapacity) -> AgentNumber {
        let reader = SimulatedReader {
            clock: self.clock,
            response_time: Duration::from_secs_f64(1.0 / agent.capacity),
            busy_until: Mutex::new(self.clock.now()),
        };
        self.add_agent(agent, |number| format!("agent-{}", number + 1), AgentKind::Simulated(reader))
    }

    fn add_agent(
        &self,
        agent: AgentCapacity,
        name: impl FnOnce(AgentNumber) -> String,
        kind: AgentKind,
    ) -> AgentNumber {
        let mut state = self.state();
        let number = state.dealer.join(agent);
        let assigned = AssignedAgent { name: name(number), number, kind, is_gone: watch::Sender::new(false) };
        state.assigned_agents.insert(number, Arc::new(assigned));
        state.deal();
        self.changed.notify_waiters();
        number
    }

    fn remove_agent(&self, number: AgentNumber) {
        let mut state = self.state();
        state.note_loss(number, self.clock.now());
        // The trees that it walked come back by themselves, when their visits end.
        state.dealer.leave(number);
        if let Some(assigned) = state.assigned_agents.remove(&number) {
            assigned.is_gone.send_replace(true);
        }
        state.deal();
    }

    fn change(&self, change: impl FnOnce(&mut Dealer<oneshot::Sender<Arc<AssignedAgent>>>)) {
        let mut state = self.state();
        change(&mut state.dealer);
        state.deal();
    }

    fn state(&self) -> MutexGuard<'_, DealingState> {
        self.state.lock()
    }
}

impl DealingState {
    /// Notes that an agent, or its link to the Internet, was lost.
    fn note_loss(&mut self, lost: AgentNumber, now: SystemTime) {
        if self.assigned_agents.values().any(|other| other.number != lost && other.has_working_link()) {
            self.last_loss = Some(now);
        }
    }

    fn deal(&mut self) {
        while let Some((agent, tree)) = self.dealer.deal() {
            if let Some(assigned) = self.assigned_agents.get(&agent) {
                // A receiver that no longer waits withdraws its tree itself.
                let _ = tree.send(assigned.clone());
            }
        }
    }
}

impl AssignedAgent {
    /// The remote worker that sends the requests, if the agent is another process.
    pub(super) fn remote_worker(&self) -> Option<&dyn RemoteWorker> {
        match &self.kind {
            AgentKind::Remote(worker, _) => Some(&**worker),
            AgentKind::Simulated(_) => None,
        }
    }

    /// The own link of an agent that is a process of its own.
    pub(super) fn link(&self) -> Option<MutexGuard<'_, AgentLink>> {
        match &self.kind {
            AgentKind::Remote(_, link) => Some(link.lock()),
            AgentKind::Simulated(_) => None,
        }
    }

    fn priority(&self) -> Priority {
        match self.link() {
            Some(link) if link.state.outage().is_some() => Priority::Paused,
            Some(link) if link.lag.is_slow => Priority::Last,
            _ => Priority::Usual,
        }
    }

    fn has_working_link(&self) -> bool {
        self.link().is_none_or(|link| link.state.outage().is_none())
    }

    /// Waits until a simulated agent has read one more response.
    pub(super) async fn read(&self) {
        let AgentKind::Simulated(SimulatedReader { clock, response_time, busy_until }) = &self.kind else {
            return;
        };
        let until = {
            let mut busy_until = busy_until.lock();
            *busy_until = clock.now().max(*busy_until) + *response_time;
            *busy_until
        };
        clock.until(until).await;
    }

    /// Waits for the death of a simulated agent. For any other agent, its remote worker reports the result of
    /// each request.
    pub(super) async fn wait_until_gone(&self) {
        if matches!(self.kind, AgentKind::Remote(..)) {
            return std::future::pending().await;
        }
        // This agent holds the sender, so the wait cannot fail.
        let _ = self.is_gone.subscribe().wait_for(|is_gone| *is_gone).await;
    }
}

impl Assignment {
    /// The agent that the tree was dealt to, if it is still alive.
    pub(super) fn agent(&self) -> Option<&Arc<AssignedAgent>> {
        self.assigned.as_ref().filter(|assigned| !*assigned.is_gone.borrow())
    }
}

impl Drop for Assignment {
    fn drop(&mut self) {
        let (number, was_dealt) = (self.number, self.assigned.is_some());
        self.agents.state().moving.remove(&number);
        self.agents.change(|dealer| if was_dealt { dealer.done(number) } else { dealer.withdraw(number) });
    }
}

/// Maps a random number to the exponential distribution of mean 1.
fn exponential(chance: u64) -> f64 {
    let uniform = ((chance >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -uniform.ln()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn an_agent_is_slow_after_some_rounds_and_not_because_it_stood_still_once() {
        let at = |second| UNIX_EPOCH + Duration::from_secs(second);
        let mut lag = Lag::default();
        // It stands still from 0 to 30 with many dispatches in flight, and again from 60 to 90.
        for (dispatched, ended) in [(0, 30), (60, 90)] {
            let changes = (0..64)
                .filter(|_| lag.note(at(dispatched), at(ended), Duration::from_secs(ended - dispatched)));
            assert_eq!(changes.count(), 0);
            (1..10)
                .for_each(|round| assert!(!lag.note(at(ended + round), at(ended + round), Duration::ZERO)));
        }
        let late = Duration::from_millis(1600);
        let changed: Vec<bool> = (100..110).map(|second| lag.note(at(second), at(second), late)).collect();
        assert_eq!(changed.iter().position(|changed| *changed), Some(3), "after four rounds");
        assert!(lag.is_slow && changed.iter().filter(|changed| **changed).count() == 1);
        assert!((200..210).any(|second| lag.note(at(second), at(second), Duration::ZERO)) && !lag.is_slow);
    }
}
