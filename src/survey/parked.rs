use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use crate::frontier::Lease;

/// Site trees whose server is being visited by another.
#[derive(Default)]
pub(super) struct Parked {
    by_server: HashMap<IpAddr, VecDeque<Lease>>,
    /// Parked at servers.
    pub count: usize,
    /// Their server has become free.
    pub ready: VecDeque<Lease>,
    /// Trees that were woken, each with the server that had become free for it.
    woken: HashMap<u64, IpAddr>,
}

impl Parked {
    pub(super) fn park(&mut self, lease: Lease, address: IpAddr) {
        self.by_server.entry(address).or_default().push_back(lease);
        self.count += 1;
    }

    /// A tree that was woken has been visited. If that was elsewhere (its name leads to another server by
    /// now, or to none), the next one at the server is woken in its place.
    pub(super) fn pass_on(&mut self, order: u64, visited: Option<IpAddr>) {
        if let Some(address) = self.woken.remove(&order)
            && visited != Some(address)
        {
            self.wake(address);
        }
    }

    pub(super) fn wake(&mut self, address: IpAddr) {
        let Some(waiting) = self.by_server.get_mut(&address) else { return };
        if let Some(lease) = waiting.pop_front() {
            self.count -= 1;
            self.woken.insert(lease.order, address);
            self.ready.push_back(lease);
        }
        if waiting.is_empty() {
            self.by_server.remove(&address);
        }
    }
}
