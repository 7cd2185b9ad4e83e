use std::ops::AddAssign;

use crate::exchange::Purpose;

/// The cost of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Requests that reached the network.
    pub requests: u64,
    /// Wire bytes sent to servers.
    pub sent_bytes: u64,
    /// Wire bytes received from servers.
    pub received_bytes: u64,
    /// Busy time of servers, in milliseconds.
    pub busy_ms: f64,
}

impl Cost {
    /// The cost of a request that counts for the levels of its tree. Probes are sent after the walk and cost
    /// no level anything.
    #[must_use]
    pub fn from_request(purpose: Option<&str>, sent_bytes: u64, received_bytes: u64, busy_ms: f64) -> Self {
        match purpose {
            Some(purpose) if purpose == Purpose::Probe.as_str() => Self::default(),
            _ => Self { requests: 1, sent_bytes, received_bytes, busy_ms },
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.busy_ms += other.busy_ms;
    }
}

/// Assigns exchanges without a depth, above all those for robots.txt, to a level: that of the next page
/// requested in the same tree, which needed them. After the last page it is the level of the last page.
///
/// Takes the exchanges of a survey in table order, in which the exchanges of a tree are adjacent.
#[derive(Debug, Default)]
pub struct Unlevelled<T> {
    tree: Option<T>,
    waiting: Cost,
    last_depth: u16,
}

impl<T: PartialEq + Clone> Unlevelled<T> {
    /// Takes the next exchange. Returns the pending cost once its level is known: the tree, the depth and the
    /// cost.
    pub fn next(&mut self, tree: &T, depth: Option<u16>, cost: Cost) -> Option<(T, u16, Cost)> {
        let mut booked = None;
        if self.tree.as_ref() != Some(tree) {
            booked = self.book();
            (self.tree, self.last_depth) = (Some(tree.clone()), 0);
        }
        let Some(depth) = depth else {
            self.waiting += cost;
            return booked;
        };
        self.last_depth = depth;
        // No cost of a tree is pending when its first exchange comes.
        booked.or_else(|| self.book())
    }

    /// Ends the counting after the last exchange, and returns the cost that is still pending.
    pub fn end(mut self) -> Option<(T, u16, Cost)> {
        self.book()
    }

    fn book(&mut self) -> Option<(T, u16, Cost)> {
        let cost = std::mem::take(&mut self.waiting);
        (cost != Cost::default()).then(|| self.tree.clone().map(|tree| (tree, self.last_depth, cost)))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_costs_no_level() {
        let cost = |purpose| Cost::from_request(purpose, 200, 1000, 0.5).requests;
        assert_eq!([Some("page"), Some("robots"), Some("probe"), None].map(cost), [1, 1, 0, 1]);
    }

    #[test]
    fn robots_txt_counts_at_the_level_of_the_next_page_or_of_the_last_one() {
        let cost = |requests| Cost { requests, ..Cost::default() };
        let exchanges = [
            ("a.ke", None),
            ("a.ke", Some(0)),
            ("a.ke", Some(1)),
            ("a.ke", None),
            ("a.ke", None),
            ("a.ke", Some(2)),
            ("a.ke", None),
            ("b.ke", None),
            ("c.ke", Some(0)),
        ];
        let mut unlevelled = Unlevelled::default();
        let mut booked: Vec<_> =
            exchanges.iter().filter_map(|(tree, depth)| unlevelled.next(tree, *depth, cost(1))).collect();
        booked.extend(unlevelled.end());
        let expected = [("a.ke", 0, 1), ("a.ke", 2, 2), ("a.ke", 2, 1), ("b.ke", 0, 1)];
        assert_eq!(booked, expected.map(|(tree, depth, requests)| (tree, depth, cost(requests))));
    }
}
