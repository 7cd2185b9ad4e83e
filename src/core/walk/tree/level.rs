use std::time::Duration;

use crate::exchange::{Class, ClassCounts, Response};

/// The cost and the yield of one depth level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelCount {
    /// Exchanges at this depth that reached the network; robots.txt has no depth.
    pub requests: u64,
    /// Responses with status 2xx that are HTML or XHTML and were read, and pages that an earlier survey read
    /// and that have not changed.
    pub pages: u64,
    /// On the wire, to servers.
    pub sent_bytes: u64,
    /// On the wire, from servers.
    pub received_bytes: u64,
    /// Opened for these requests.
    pub connections: u64,
    /// The servers' busy time.
    pub busy: Duration,
    /// New in the tree at this depth.
    pub external_urls: u64,
    /// New in the tree at this depth.
    pub external_hosts: u64,
    /// New in the tree at this depth.
    pub external_sites: u64,
    /// Responses for robots.txt, redirects included, that the tree shares with another one: no requests of
    /// this tree.
    pub shared_robots: u64,
    /// The number of new external hosts that the pages of the class [`Class::Yield`] were expected to bring.
    pub expected_hosts: f64,
    /// Internal URLs of this depth, by class.
    pub classes: ClassCounts,
}

impl LevelCount {
    /// Internal URLs of this depth that ended in `class`.
    #[must_use]
    pub fn class(&self, class: Class) -> u64 {
        self.classes[class]
    }

    /// Internal URLs of this depth: the sum of the classes.
    #[must_use]
    pub fn internal_urls(&self) -> u64 {
        self.classes.total()
    }

    pub(in crate::walk) fn count(&mut self, class: Class) {
        self.classes[class] += 1;
    }

    /// Moves a URL that was counted in one class to another.
    pub(in crate::walk) fn recount(&mut self, from: Class, to: Class) {
        self.classes[from] = self.classes[from].saturating_sub(1);
        self.count(to);
    }

    pub(in crate::walk) fn book(&mut self, response: &Response) {
        if response.was_sent() {
            self.requests += 1;
        }
        self.sent_bytes += response.wire.sent;
        self.received_bytes += response.wire.received;
        self.connections += u64::from(response.wire.connections);
        self.busy += response.timings.total;
    }
}
