use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::partition::Partition;
use crate::address::{Site, server_at};

/// The number of an agent of a survey, in the order in which the agents joined.
pub type AgentNumber = u32;

/// The capacity of an agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentCapacity {
    /// The number of site trees that it walks at once.
    pub places: usize,
    /// The work that it does per unit of time; the unit of work is the same for all agents.
    pub capacity: f64,
}

/// The priority by which an agent is dealt trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Trees as they come.
    #[default]
    Usual,
    /// Only trees for which agents of usual priority have no room.
    Last,
    /// No trees, while any agent has another priority.
    Paused,
}

/// A tree that waits for an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingTree<T> {
    /// Its number in the survey.
    pub number: u64,
    /// The site of the tree.
    pub site: Site,
    /// The work that an earlier survey found in it, in a unit that is the same for all trees.
    pub size: Option<f64>,
    /// The server of its start URL.
    pub server: Option<IpAddr>,
    /// It was walked before, and comes before trees that were not.
    pub is_again: bool,
    /// Another agent is to walk it, if one has room.
    pub avoided: Option<AgentNumber>,
    /// The owner's handle for it.
    pub tree: T,
}

/// Deals site trees to agents that join and leave, as a machine without clock or tasks.
///
/// A tree is offered when it may be walked, and dealt when an agent has room for it ([`Dealer::deal`]); the
/// owner reports when it is no longer walked. The trees of a server go to the agent that walked the last one
/// there, if that agent has room and not many more servers than others: a server gets requests at its own
/// pace, whichever agent sends them, so an agent that walks at many servers sends many requests. Equal trees
/// that are offered in equal order are dealt alike.
///
/// ```
/// use ccsurvey_address::{Host, Site};
/// use ccsurvey_core::roster::{AgentCapacity, Dealer, Partition, WaitingTree};
/// let mut dealer = Dealer::new(Partition::DynamicSize, 1);
/// let slow = dealer.join(AgentCapacity { places: 1, capacity: 10.0 });
/// let quick = dealer.join(AgentCapacity { places: 1, capacity: 20.0 });
/// for (number, size) in [(0, 5.0), (1, 500.0), (2, 50.0)] {
///     let site = Site::new(Host::parse(&format!("site{number}.ke")).unwrap());
///     dealer.offer(WaitingTree {
///         number,
///         site,
///         size: Some(size),
///         server: None,
///         is_again: false,
///         avoided: None,
///         tree: number,
///     });
/// }
/// assert_eq!(dealer.deal(), Some((quick, 1)));
/// assert_eq!(dealer.deal(), Some((slow, 2)));
/// assert_eq!(dealer.deal(), None);
/// dealer.done(2);
/// assert_eq!(dealer.deal(), Some((slow, 0)));
/// ```
#[derive(Debug)]
pub struct Dealer<T> {
    partition: Partition,
    seed: u64,
    agents: BTreeMap<AgentNumber, AgentQueue<T>>,
    /// Trees that any agent may walk.
    pool: Queue<T>,
    /// The trees that are walked, with the agent and the server of each.
    walked: HashMap<u64, (AgentNumber, Option<IpAddr>)>,
    /// The agent that walked the last tree of each server.
    servers: HashMap<IpAddr, AgentNumber>,
    /// The agents of sites that were known in advance.
    planned: HashMap<Site, AgentNumber>,
    joined: AgentNumber,
    offered: u64,
    /// The agent that had the last turn, or that took the last tree.
    latest: Option<AgentNumber>,
    handed_over: u64,
    has_server_affinity: bool,
    /// The size assumed for a site whose size is not known: the mean of the known sizes.
    usual_size: f64,
}

/// Trees in the order in which they are dealt.
type Queue<T> = BTreeMap<DealOrder, WaitingTree<T>>;
/// Trees that come again first, then by the criterion of the partition, then by number.
type DealOrder = (Reverse<bool>, u64, u64);

/// An agent with the trees that wait for it.
#[derive(Debug)]
struct AgentQueue<T> {
    agent: AgentCapacity,
    walking: usize,
    /// The servers of the trees that it walks, each with the number of these trees.
    servers: HashMap<IpAddr, usize>,
    /// The number of its trees whose server is not known: each may be at a server of its own.
    without_server: usize,
    priority: Priority,
    /// The size of all sites assigned to it in advance.
    work: f64,
    waiting: Queue<T>,
}

/// The number of servers whose last agent is remembered, about 50 bytes each: beyond that all are forgotten,
/// and may be handed over.
const MAX_SERVERS: usize = 1 << 17;

impl<T> AgentQueue<T> {
    fn has_room(&self) -> bool {
        self.walking < self.agent.places
    }

    /// The number of servers at which it walks plus `added`, relative to its capacity.
    fn busyness(&self, added: usize) -> f64 {
        (self.servers.len() + self.without_server + added) as f64 / self.agent.capacity
    }

    fn begin(&mut self, server: Option<IpAddr>) {
        self.walking += 1;
        match server {
            Some(server) => *self.servers.entry(server).or_default() += 1,
            None => self.without_server += 1,
        }
    }

    fn end(&mut self, server: Option<IpAddr>) {
        self.walking -= 1;
        let Some(server) = server else {
            self.without_server -= 1;
            return;
        };
        if let Some(trees) = self.servers.get_mut(&server) {
            *trees -= 1;
            if *trees == 0 {
                self.servers.remove(&server);
            }
        }
    }
}

/// Whether paused agents are passed over: if all are paused, none is.
fn has_active_agent<T>(agents: &BTreeMap<AgentNumber, AgentQueue<T>>) -> bool {
    agents.values().any(|agent_queue| agent_queue.priority != Priority::Paused)
}

impl<T> Dealer<T> {
    /// A dealer without agents and trees; `seed` determines its random choices.
    #[must_use]
    pub fn new(partition: Partition, seed: u64) -> Self {
        Self {
            partition,
            seed,
            agents: BTreeMap::new(),
            pool: BTreeMap::new(),
            walked: HashMap::new(),
            servers: HashMap::new(),
            planned: HashMap::new(),
            joined: 0,
            offered: 0,
            latest: None,
            handed_over: 0,
            has_server_affinity: true,
            usual_size: 1.0,
        }
    }

    /// Deals the trees of a server to any agent.
    #[must_use]
    pub fn without_server_affinity(self) -> Self {
        Self { has_server_affinity: false, ..self }
    }

    /// Adds an agent; trees that waited for any agent are dealt anew.
    pub fn join(&mut self, agent: AgentCapacity) -> AgentNumber {
        let number = self.joined;
        self.joined += 1;
        self.agents.insert(
            number,
            AgentQueue {
                agent,
                walking: 0,
                servers: HashMap::new(),
                without_server: 0,
                priority: Priority::Usual,
                work: 0.0,
                waiting: BTreeMap::new(),
            },
        );
        if self.partition.has_agent_queues() {
            std::mem::take(&mut self.pool).into_values().for_each(|ready| self.offer(ready));
        }
        number
    }

    /// Sets the priority by which an agent is dealt trees from now on. It keeps the trees that it walks.
    pub fn set_priority(&mut self, number: AgentNumber, priority: Priority) {
        if let Some(agent_queue) = self.agents.get_mut(&number) {
            agent_queue.priority = priority;
        }
    }

    /// The number of trees for which agents of usual priority have room, besides those that wait for any
    /// agent.
    #[must_use]
    pub fn free_slots(&self) -> usize {
        let usual = self.agents.values().filter(|agent_queue| agent_queue.priority == Priority::Usual);
        let free: usize =
            usual.map(|agent_queue| agent_queue.agent.places.saturating_sub(agent_queue.walking)).sum();
        free.saturating_sub(self.pool.len())
    }

    /// Removes an agent that left or died; returns the trees that it walked. The trees that waited for it
    /// wait for others.
    pub fn leave(&mut self, number: AgentNumber) -> Vec<u64> {
        let Some(agent_queue) = self.agents.remove(&number) else { return Vec::new() };
        self.planned.retain(|_, agent| *agent != number);
        let mut unfinished: Vec<u64> =
            self.walked.iter().filter(|(_, (agent, _))| *agent == number).map(|(tree, _)| *tree).collect();
        unfinished.sort_unstable();
        self.walked.retain(|_, (agent, _)| *agent != number);
        agent_queue.waiting.into_values().for_each(|ready| self.offer(ready));
        unfinished
    }

    /// Sets the sizes of sites that are known in advance. If the partition assigns sites in advance, it
    /// assigns these now.
    pub fn plan(&mut self, sizes: impl IntoIterator<Item = (Site, f64)>) {
        if self.partition != Partition::StaticSize {
            return;
        }
        let mut sizes: Vec<(Site, f64)> = sizes.into_iter().collect();
        sizes.sort_by(|(one, size), (other, than)| than.total_cmp(size).then_with(|| one.cmp(other)));
        if !sizes.is_empty() {
            self.usual_size = sizes.iter().map(|(_, size)| size).sum::<f64>() / sizes.len() as f64;
        }
        for (site, size) in sizes {
            self.assign(site, size);
        }
    }

    /// Takes in a tree that may be walked.
    pub fn offer(&mut self, ready: WaitingTree<T>) {
        let rank = self.rank(&ready);
        let agent = if self.partition.has_agent_queues() { self.agent_of(&ready) } else { None };
        let queue =
            agent.and_then(|agent| self.agents.get_mut(&agent)).map(|agent_queue| &mut agent_queue.waiting);
        queue.unwrap_or(&mut self.pool).insert(rank, ready);
        self.offered += 1;
    }

    /// The next tree that an agent begins with, if an agent has room and there is a tree for it.
    pub fn deal(&mut self) -> Option<(AgentNumber, T)> {
        let (agent, ready) = if self.partition.has_agent_queues() {
            self.next_from_agent_queues()?
        } else {
            self.next_from_pool()?
        };
        let server = ready.server.map(server_at);
        if let Some(server) = server {
            if self.servers.len() >= MAX_SERVERS {
                self.servers.clear();
            }
            let previous = self.servers.insert(server, agent);
            self.handed_over += u64::from(previous.is_some_and(|previous| previous != agent));
        }
        self.agents.get_mut(&agent)?.begin(server);
        self.walked.insert(ready.number, (agent, server));
        if self.partition == Partition::Competition {
            self.latest = Some(agent);
        }
        Some((agent, ready.tree))
    }

    /// Reports that a tree is no longer walked.
    pub fn done(&mut self, number: u64) {
        if let Some((agent, server)) = self.walked.remove(&number)
            && let Some(agent_queue) = self.agents.get_mut(&agent)
        {
            agent_queue.end(server);
        }
    }

    /// Withdraws a tree that is no longer wanted: it waits no more, or is no longer walked.
    pub fn withdraw(&mut self, number: u64) {
        self.pool.retain(|_, ready| ready.number != number);
        self.agents
            .values_mut()
            .for_each(|agent_queue| agent_queue.waiting.retain(|_, ready| ready.number != number));
        self.done(number);
    }

    /// The number of trees that each agent walks.
    #[must_use]
    pub fn walking(&self) -> BTreeMap<AgentNumber, usize> {
        self.agents.iter().map(|(number, agent_queue)| (*number, agent_queue.walking)).collect()
    }

    /// Whether a tree that is walked should move to another agent. This holds if its agent walks at more than
    /// twice as many servers, relative to its capacity, as another agent would that has room and nothing else
    /// to begin with; and if this tree is its agent's only one at its server.
    #[must_use]
    pub fn is_better_elsewhere(&self, number: u64) -> bool {
        if !self.pool.is_empty() || self.partition != Partition::DynamicSize {
            return false;
        }
        let Some((agent, server)) = self.walked.get(&number) else { return false };
        let Some(agent_queue) = self.agents.get(agent) else { return false };
        let is_only_tree = server.is_none_or(|server| agent_queue.servers.get(&server) == Some(&1));
        let others =
            self.agents.iter().filter(|(other, _)| *other != agent).map(|(_, agent_queue)| agent_queue);
        let mut available =
            others.filter(|agent_queue| agent_queue.has_room() && agent_queue.priority == Priority::Usual);
        is_only_tree && available.any(|other| agent_queue.busyness(0) > 2.0 * other.busyness(1))
    }

    /// The number of servers at which each agent walks.
    #[cfg(test)]
    pub(super) fn servers(&self) -> Vec<usize> {
        self.agents.values().map(|agent_queue| agent_queue.servers.len()).collect()
    }

    /// The number of times a server went from one agent to another.
    #[must_use]
    pub fn handed_over(&self) -> u64 {
        self.handed_over
    }

    fn rank(&self, ready: &WaitingTree<T>) -> DealOrder {
        let sort_key = match self.partition {
            // The bits of positive numbers have the order of the numbers.
            Partition::StaticSize | Partition::DynamicSize => {
                u64::MAX - ready.size.unwrap_or_default().max(0.0).to_bits()
            }
            Partition::StaticRandom | Partition::DynamicRandom => self.chance(ready.number, 0),
            Partition::Distributor | Partition::Competition => self.offered,
        };
        (Reverse(ready.is_again), sort_key, ready.number)
    }

    /// The agent for which a tree must wait; none if there is no agent.
    fn agent_of(&mut self, ready: &WaitingTree<T>) -> Option<AgentNumber> {
        match self.partition {
            // The agent with the greatest hash (rendezvous hashing): if one leaves, only its own sites move.
            Partition::StaticRandom => {
                let key = xxh3_64_with_seed(ready.site.as_str().as_bytes(), self.seed);
                self.agents.keys().copied().max_by_key(|agent| self.chance(key, *agent))
            }
            Partition::StaticSize => {
                let planned = self.planned.get(&ready.site).copied();
                planned.or_else(|| self.assign(ready.site.clone(), ready.size.unwrap_or(self.usual_size)))
            }
            _ => self.server_agent(ready).or_else(|| {
                let next = |after| self.agents.range(after..).next().map(|(agent, _)| *agent);
                let agent = next(self.latest.map_or(0, |latest| latest + 1)).or_else(|| next(0));
                self.latest = agent;
                agent
            }),
        }
    }

    /// Assigns a site to the agent that then has the least work relative to its capacity.
    fn assign(&mut self, site: Site, size: f64) -> Option<AgentNumber> {
        let after = |agent_queue: &AgentQueue<T>| (agent_queue.work + size) / agent_queue.agent.capacity;
        let (agent, agent_queue) =
            self.agents.iter_mut().min_by(|(_, one), (_, other)| after(one).total_cmp(&after(other)))?;
        agent_queue.work += size;
        self.planned.insert(site, *agent);
        Some(*agent)
    }

    /// The agent that walked the last tree at this tree's server, if it has not left.
    fn server_agent(&self, ready: &WaitingTree<T>) -> Option<AgentNumber> {
        let server = ready.server.filter(|_| self.has_server_affinity).map(server_at)?;
        self.servers.get(&server).copied().filter(|agent| self.agents.contains_key(agent))
    }

    fn next_from_agent_queues(&mut self) -> Option<(AgentNumber, WaitingTree<T>)> {
        if self.partition == Partition::Distributor {
            self.balance();
        }
        let has_active_agent = has_active_agent(&self.agents);
        let may_begin = |(_, agent_queue): &(_, &mut AgentQueue<T>)| {
            let is_paused = agent_queue.priority == Priority::Paused && has_active_agent;
            agent_queue.has_room() && !agent_queue.waiting.is_empty() && !is_paused
        };
        let (agent, agent_queue) =
            self.agents.iter_mut().filter(may_begin).min_by_key(|(_, agent_queue)| agent_queue.walking)?;
        agent_queue.waiting.pop_first().map(|(_, ready)| (*agent, ready))
    }

    /// Moves waiting trees from the agent that has most to the one that has least.
    fn balance(&mut self) {
        loop {
            let tree_count = |agent_queue: &AgentQueue<T>| agent_queue.waiting.len() + agent_queue.walking;
            let nonempty = self.agents.iter().filter(|(_, agent_queue)| !agent_queue.waiting.is_empty());
            let Some((&fullest, longest)) = nonempty.max_by_key(|(_, agent_queue)| tree_count(agent_queue))
            else {
                return;
            };
            let Some((&emptiest, shortest)) =
                self.agents.iter().min_by_key(|(_, agent_queue)| tree_count(agent_queue))
            else {
                return;
            };
            if tree_count(longest) <= tree_count(shortest) + 1 {
                return;
            }
            let last = self.agents.get_mut(&fullest).and_then(|agent_queue| agent_queue.waiting.pop_last());
            let (Some((rank, ready)), Some(agent_queue)) = (last, self.agents.get_mut(&emptiest)) else {
                return;
            };
            agent_queue.waiting.insert(rank, ready);
        }
    }

    fn next_from_pool(&mut self) -> Option<(AgentNumber, WaitingTree<T>)> {
        let (rank, first) = self.pool.first_key_value()?;
        let has_active_agent = has_active_agent(&self.agents);
        let is_paused =
            |agent_queue: &AgentQueue<T>| agent_queue.priority == Priority::Paused && has_active_agent;
        let available =
            self.agents.values().filter(|agent_queue| agent_queue.has_room() && !is_paused(agent_queue));
        let highest = available.map(|agent_queue| agent_queue.priority).min()?;
        let may_begin =
            |agent_queue: &AgentQueue<T>| agent_queue.has_room() && agent_queue.priority == highest;
        let is_other = |agent: &AgentNumber| first.avoided.as_ref() != Some(agent);
        let has_other =
            self.agents.iter().any(|(agent, agent_queue)| may_begin(agent_queue) && is_other(agent));
        let may_take = |agent: &AgentNumber| !has_other || is_other(agent);
        let has_room = |agent: &AgentNumber| may_take(agent) && self.agents.get(agent).is_some_and(may_begin);
        let with_free_slots =
            self.agents.iter().filter(|(agent, agent_queue)| may_begin(agent_queue) && may_take(agent));
        let least_busy =
            with_free_slots.clone().map(|(_, agent_queue)| agent_queue.busyness(1)).min_by(f64::total_cmp)?;
        let server = first.server.map(server_at);
        // At a server where it walks already, one more tree causes no additional requests.
        let is_no_busier = |agent: &AgentNumber| {
            self.agents.get(agent).is_some_and(|agent_queue| {
                server.is_some_and(|server| agent_queue.servers.contains_key(&server))
                    || agent_queue.busyness(1) <= 2.0 * least_busy
            })
        };
        let server_agent = self
            .server_agent(first)
            .filter(|server_agent| has_room(server_agent) && is_no_busier(server_agent));
        let agent = match (server_agent, self.partition) {
            (Some(server_agent), _) => server_agent,
            (None, Partition::DynamicSize) => {
                let busy = |agent_queue: &AgentQueue<T>| agent_queue.busyness(1);
                *with_free_slots
                    .min_by(|(one, agent_queue), (other, than)| {
                        busy(agent_queue)
                            .total_cmp(&busy(than))
                            .then_with(|| agent_queue.walking.cmp(&than.walking))
                            .then_with(|| one.cmp(other))
                    })?
                    .0
            }
            (None, Partition::Competition) if let Some(latest) = self.latest.filter(has_room) => latest,
            _ => {
                let number = first.number;
                *with_free_slots.map(|(agent, _)| agent).min_by_key(|agent| self.chance(number, **agent))?
            }
        };
        let rank = *rank;
        self.pool.remove(&rank).map(|ready| (agent, ready))
    }

    /// A random number that is the same in every run.
    fn chance(&self, key: u64, salt: AgentNumber) -> u64 {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&key.to_le_bytes());
        bytes[8..].copy_from_slice(&salt.to_le_bytes());
        xxh3_64_with_seed(&bytes, self.seed)
    }
}
