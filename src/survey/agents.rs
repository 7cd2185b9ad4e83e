use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::address::Site;
use crate::fetch::Clock;
use crate::frontier::Lease;
use crate::roster::{Agent, AgentNumber, Dealer, Partition, Ready};

/// The agents that walk the site trees of a simulated survey.
#[derive(Clone, Debug)]
pub struct Team {
    /// By which trees are dealt to them.
    pub partition: Partition,
    /// Whether trees of a server go to the agent that was there last.
    pub keeps_servers: bool,
    /// What each can do; capacity is pages per second, which it reads one after the other.
    pub agents: Vec<Agent>,
    /// How large sites are, as an earlier survey knows.
    pub sizes: HashMap<Site, f64>,
    /// How agents die and others come in their place; none: all live to the end.
    pub lives: Option<Lives>,
    /// Of all chance.
    pub seed: u64,
}

/// How long agents live, on average: their lives end by chance, at any moment alike.
#[derive(Clone, Copy, Debug)]
pub struct Lives {
    /// From when one joins to its death.
    pub life: Duration,
    /// From then to when another comes in its place.
    pub gap: Duration,
}

/// The agents at work, with the trees that wait for them.
#[derive(Debug)]
pub(super) struct Agents {
    team: Team,
    clock: Clock,
    dealer: Mutex<Dealer<oneshot::Sender<Arc<Desk>>>>,
    desks: Mutex<BTreeMap<AgentNumber, Arc<Desk>>>,
}

/// An agent where a tree is walked.
#[derive(Debug)]
pub(super) struct Desk {
    /// As the table `exchanges` has it.
    pub name: String,
    clock: Clock,
    a_page: Duration,
    /// Until then it reads the pages that came before.
    busy_until: Mutex<SystemTime>,
    /// Becomes true when the agent dies.
    is_gone: watch::Sender<bool>,
}

/// A tree that waits for an agent, or is walked by one; dropped, it is neither.
#[derive(Debug)]
pub(super) struct Place {
    agents: Arc<Agents>,
    number: u64,
    desk: Option<Arc<Desk>>,
}

impl Agents {
    pub(super) fn new(team: Team, clock: Clock) -> Arc<Self> {
        let mut dealer = Dealer::new(team.partition, team.seed);
        if !team.keeps_servers {
            dealer = dealer.handing_servers_over();
        }
        let agents = Self { clock, dealer: Mutex::new(dealer), desks: Mutex::default(), team };
        for agent in &agents.team.agents {
            agents.join(*agent);
        }
        agents.dealer().plan(agents.team.sizes.iter().map(|(site, size)| (site.clone(), *size)));
        Arc::new(agents)
    }

    /// Waits for an agent that walks this tree; `is_again` says that one did before.
    pub(super) async fn place(
        self: Arc<Self>,
        lease: &Lease,
        server: Option<IpAddr>,
        is_again: bool,
    ) -> Option<Place> {
        let (sender, receiver) = oneshot::channel();
        let size = self.team.sizes.get(&lease.site).copied();
        let (number, site) = (lease.order, lease.site.clone());
        let mut place = Place { agents: self.clone(), number, desk: None };
        self.dealer().offer(Ready { number, site, size, server, is_again, tree: sender });
        self.deal();
        place.desk = Some(receiver.await.ok()?);
        Some(place)
    }

    /// Agents die and others come, for as long as the tasks are kept.
    pub(super) fn live(self: &Arc<Self>) -> JoinSet<()> {
        let mut lives = JoinSet::new();
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
                    agents.die(number);
                    tokio::time::sleep(chance(gap)).await;
                    number = agents.join(agent);
                    agents.deal();
                }
            });
        }
        lives
    }

    /// How often the trees of a server went on at another agent.
    pub(super) fn handed_over(&self) -> u64 {
        self.dealer().handed_over()
    }

    fn join(&self, agent: Agent) -> AgentNumber {
        let number = self.dealer().join(agent);
        let desk = Desk {
            name: format!("agent-{}", number + 1),
            clock: self.clock,
            a_page: Duration::try_from_secs_f64(1.0 / agent.capacity).unwrap_or_default(),
            busy_until: Mutex::new(self.clock.now()),
            is_gone: watch::Sender::new(false),
        };
        held(&self.desks).insert(number, Arc::new(desk));
        number
    }

    fn die(&self, number: AgentNumber) {
        // The trees that it walked come back by themselves, when their visits end.
        self.dealer().leave(number);
        if let Some(desk) = held(&self.desks).remove(&number) {
            desk.is_gone.send_replace(true);
        }
        self.deal();
    }

    fn deal(&self) {
        let mut dealer = self.dealer();
        while let Some((agent, tree)) = dealer.deal() {
            if let Some(desk) = held(&self.desks).get(&agent) {
                // Who does not wait any more withdraws its tree.
                let _ = tree.send(desk.clone());
            }
        }
    }

    fn dealer(&self) -> MutexGuard<'_, Dealer<oneshot::Sender<Arc<Desk>>>> {
        held(&self.dealer)
    }
}

impl Desk {
    /// The agent has read one more page.
    pub(super) async fn read(&self) {
        let until = {
            let mut busy_until = held(&self.busy_until);
            *busy_until = self.clock.now().max(*busy_until) + self.a_page;
            *busy_until
        };
        self.clock.until(until).await;
    }

    /// Waits for its death.
    pub(super) async fn gone(&self) {
        // The sender is this desk's own.
        let _ = self.is_gone.subscribe().wait_for(|is_gone| *is_gone).await;
    }
}

impl Place {
    /// Where the tree is walked.
    pub(super) fn desk(&self) -> Option<&Arc<Desk>> {
        self.desk.as_ref()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        match self.desk {
            Some(_) => self.agents.dealer().done(self.number),
            None => self.agents.dealer().withdraw(self.number),
        }
        self.agents.deal();
    }
}

/// Drawn from the exponential distribution of mean 1.
fn exponential(chance: u64) -> f64 {
    let uniform = ((chance >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -uniform.ln()
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
