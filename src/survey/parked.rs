use std::collections::{HashMap, VecDeque};

use super::places::Spot;
use crate::frontier::Lease;

/// Site trees whose server, or its neighbourhood, is being visited by others.
#[derive(Default)]
pub(super) struct Parked {
    by_spot: HashMap<Spot, VecDeque<Lease>>,
    /// Parked in all.
    pub count: usize,
    /// Their spot has become free.
    pub ready: VecDeque<Lease>,
    /// Trees that were woken, each with the spot that had become free for it.
    woken: HashMap<u64, Spot>,
}

impl Parked {
    pub(super) fn park(&mut self, lease: Lease, spot: Spot) {
        self.by_spot.entry(spot).or_default().push_back(lease);
        self.count += 1;
    }

    /// A tree that was woken has been visited. If that was elsewhere (its name leads to another server by
    /// now, or to none, or another spot was full), the next one at the spot is woken in its place.
    pub(super) fn pass_on(&mut self, order: u64, been: &[Spot]) {
        if let Some(spot) = self.woken.remove(&order)
            && !been.contains(&spot)
        {
            self.wake(spot);
        }
    }

    pub(super) fn wake(&mut self, spot: Spot) {
        let Some(waiting) = self.by_spot.get_mut(&spot) else { return };
        if let Some(lease) = waiting.pop_front() {
            self.count -= 1;
            self.woken.insert(lease.order, spot);
            self.ready.push_back(lease);
        }
        if waiting.is_empty() {
            self.by_spot.remove(&spot);
        }
    }
}
