use std::fmt;
use std::net::IpAddr;
use std::time::SystemTime;

use foldhash::HashMap;

use super::LargestExchange;
use super::share::{Headroom, LoadAccount};
use crate::address::Neighbourhood;
use crate::exchange::Response;
use crate::settings::SharedBudget;

/// Servers that share more than their address: a data centre and its link, or an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Network {
    /// A block of neighbouring addresses.
    Neighbourhood(Neighbourhood),
    /// An autonomous system, by its number.
    System(u32),
}

/// The budgets of networks, and the load on each network that has a budget.
///
/// An account takes about 200 bytes of memory until the survey ends. It is not stored, because it is the sum
/// over the servers of the network.
pub struct Networks {
    neighbourhood: SharedBudget,
    system: SharedBudget,
    system_of: SystemOf,
    load: HashMap<Network, NetworkLoad>,
}

/// Maps an address to its autonomous system, if that is known.
type SystemOf = Box<dyn Fn(IpAddr) -> Option<u32> + Send + Sync>;

#[derive(Debug, Default)]
struct NetworkLoad {
    account: LoadAccount,
    in_flight: u32,
}

impl Networks {
    /// Sets the budget of each neighbourhood and of each autonomous system. An address whose system is
    /// unknown counts only against its neighbourhood.
    #[must_use]
    pub fn new(neighbourhood: SharedBudget, system: SharedBudget, system_of: SystemOf) -> Self {
        Self { neighbourhood, system, system_of, load: HashMap::default() }
    }

    /// Whether the networks of an address have budget for one more exchange.
    pub(super) fn headroom(&self, address: IpAddr, now: SystemTime, largest: LargestExchange) -> Headroom {
        let empty = NetworkLoad::default();
        self.networks_at(address).fold(Headroom::For(largest.bytes), |headroom, network| {
            let NetworkLoad { account, in_flight } = self.load.get(&network).unwrap_or(&empty);
            headroom.and(self.budget(network).headroom(now, account, *in_flight, largest))
        })
    }

    pub(super) fn begin(&mut self, address: IpAddr) {
        self.update_each(address, |load| load.in_flight += 1);
    }

    pub(super) fn end(&mut self, address: IpAddr) {
        self.update_each(address, |load| load.in_flight = load.in_flight.saturating_sub(1));
    }

    pub(super) fn book(&mut self, address: IpAddr, response: &Response) {
        self.update_each(address, |load| load.account.book(response));
    }

    pub(super) fn book_lost(&mut self, address: IpAddr, requested_at: SystemTime) {
        self.update_each(address, |load| load.account.book_lost(requested_at));
    }

    /// Adds the load on a server of an earlier run.
    pub(super) fn join(&mut self, address: IpAddr, server: &LoadAccount) {
        self.update_each(address, |load| load.account.join(server));
    }

    /// The load on the networks of an address that have a budget: requests, bytes and microseconds, in total
    /// and on the day of the last exchange.
    #[cfg(test)]
    pub(super) fn amounts(&self, address: IpAddr) -> impl Iterator<Item = (Network, [[u64; 3]; 2])> {
        self.networks_at(address)
            .filter_map(|network| Some((network, self.load.get(&network)?.account.amounts())))
    }

    fn update_each(&mut self, address: IpAddr, change: impl Fn(&mut NetworkLoad)) {
        for network in self.networks_at(address) {
            change(self.load.entry(network).or_default());
        }
    }

    /// The networks of an address that have a budget.
    fn networks_at(&self, address: IpAddr) -> impl Iterator<Item = Network> + use<> {
        let neighbourhood = (!self.neighbourhood.is_unbounded())
            .then(|| Network::Neighbourhood(Neighbourhood::from_address(address)));
        let system =
            if self.system.is_unbounded() { None } else { (self.system_of)(address).map(Network::System) };
        neighbourhood.into_iter().chain(system)
    }

    fn budget(&self, network: Network) -> &SharedBudget {
        match network {
            Network::Neighbourhood(_) => &self.neighbourhood,
            Network::System(_) => &self.system,
        }
    }
}

/// No network has a budget.
impl Default for Networks {
    fn default() -> Self {
        Self::new(SharedBudget::default(), SharedBudget::default(), Box::new(|_| None))
    }
}

impl fmt::Debug for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { neighbourhood, system, load, .. } = self;
        f.debug_struct("Networks")
            .field("neighbourhood", neighbourhood)
            .field("system", system)
            .field("load", load)
            .finish_non_exhaustive()
    }
}
