use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::OwnerObjections;
use crate::address::{Site, special_range};

/// The worst observation for each promise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observations {
    /// Number of exchanges that reached a server.
    pub exchanges: u64,
    /// Most exchanges at once at a server.
    pub at_server: Peak,
    /// Most exchanges at once in a site.
    pub in_site: Peak,
    /// Most exchanges at once in a neighbourhood.
    pub in_neighbourhood: Peak,
    /// The shortest time from the end of an exchange at a server to the start of the next, in microseconds.
    pub least_gap: Option<u64>,
    /// The server of the shortest gap.
    pub least_gap_at: String,
    /// Exchanges that began before the pause after an earlier exchange was over.
    pub short_rests: ShortPauses,
    /// The load on a server in total: requests, bytes, microseconds.
    pub server: [Peak; 3],
    /// The same on its worst day.
    pub server_day: [Peak; 3],
    /// The load on a neighbourhood of addresses, if it has a budget: requests, bytes, microseconds.
    pub network: [Peak; 3],
    /// The same on its worst day.
    pub network_day: [Peak; 3],
    /// The load on an autonomous system, if it has a budget: requests, bytes, microseconds.
    pub system: [Peak; 3],
    /// The same on its worst day.
    pub system_day: [Peak; 3],
    /// The cost of the trees of a site that share an account: requests, bytes.
    pub tree: [Peak; 2],
    /// The time of these trees from the first request of each to its last, in microseconds, without the time
    /// in which the survey sent no requests.
    pub tree_time: Peak,
    /// Bytes above the survey's rate and its saved-up bytes.
    pub above_rate: u64,
    /// Exchanges with addresses in special ranges.
    pub special: Count,
    /// Exchanges whose owner had opted out.
    pub opted_out: Count,
    /// Exchanges in quiet hours, by the clock of the server.
    pub in_quiet_hours: Count,
    /// Breaches in the order of requests, in site trees that are finished.
    pub order: OrderBreaches,
}

/// Exchanges that began before a server's pause was over, by the reason for the pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShortPauses {
    /// The least pause, if a server has several slots.
    pub least: Count,
    /// A multiple of the time of the last response.
    pub slow: Count,
    /// The pause in which at most the promised share of the server's link is taken.
    pub link: Count,
    /// The longer pauses of a server in trouble.
    pub trouble: Count,
    /// The pause that the server requested in a response (Retry-After) …
    pub retry_after: Count,
    /// … and in its robots.txt.
    pub crawl_delay: Count,
    /// A server, or a site at one, was in trouble again and again and was to cool down, or was to get no more
    /// requests.
    pub put_off: Count,
    /// The pauses that a neighbourhood shares.
    pub neighbourhood: Count,
}

/// Requests that should not have been sent at their position in the order of their site tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrderBreaches {
    /// Pages without an earlier request for their robots.txt.
    pub before_robots: Count,
    /// Pages whose robots.txt could not be fetched.
    pub despite_robots: Count,
    /// Pages that their robots.txt forbids.
    pub against_robots: Count,
    /// Pages that had been delivered before.
    pub twice: Count,
}

/// The largest amount, and the server, network or site that had it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peak {
    /// In the unit of the field.
    pub most: u64,
    /// Empty if there was none.
    pub who: String,
}

/// How often something happened, and the first case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Number of times.
    pub times: u64,
    /// Empty if it never happened.
    pub first: String,
}

impl Observations {
    /// Counts an exchange. The counts do not depend on the order of the exchanges.
    pub fn count(&mut self, site: &Site, address: IpAddr, objections: OwnerObjections) {
        self.exchanges += 1;
        if special_range(address).is_some() {
            self.special.add(|| address.to_string());
        }
        let who = || format!("{address} for {}", site.as_str());
        if objections.had_opted_out {
            self.opted_out.add(who);
        }
        if objections.in_quiet_hours {
            self.in_quiet_hours.add(who);
        }
    }

    /// Adds the counts of other exchanges.
    pub fn add_counts(&mut self, other: &Self) {
        self.exchanges += other.exchanges;
        self.special.join(&other.special);
        self.opted_out.join(&other.opted_out);
        self.in_quiet_hours.join(&other.in_quiet_hours);
        self.order.join(&other.order);
    }

    /// The worst of both, with the counts of this one.
    #[must_use]
    pub fn max(self, other: &Self) -> Self {
        let (gap, theirs) = (self.least_gap.unwrap_or(u64::MAX), other.least_gap.unwrap_or(u64::MAX));
        let (least_gap, least_gap_at) = if theirs < gap {
            (other.least_gap, other.least_gap_at.clone())
        } else {
            (self.least_gap, self.least_gap_at)
        };
        Self {
            least_gap,
            least_gap_at,
            short_rests: self.short_rests.max(&other.short_rests),
            at_server: self.at_server.max(&other.at_server),
            in_site: self.in_site.max(&other.in_site),
            in_neighbourhood: self.in_neighbourhood.max(&other.in_neighbourhood),
            server: max_each(self.server, &other.server),
            server_day: max_each(self.server_day, &other.server_day),
            network: max_each(self.network, &other.network),
            network_day: max_each(self.network_day, &other.network_day),
            system: max_each(self.system, &other.system),
            system_day: max_each(self.system_day, &other.system_day),
            tree: max_each(self.tree, &other.tree),
            tree_time: self.tree_time.max(&other.tree_time),
            above_rate: self.above_rate.max(other.above_rate),
            ..self
        }
    }
}

impl ShortPauses {
    /// The larger count of each kind.
    fn max(self, other: &Self) -> Self {
        Self {
            least: self.least.max(&other.least),
            slow: self.slow.max(&other.slow),
            link: self.link.max(&other.link),
            trouble: self.trouble.max(&other.trouble),
            retry_after: self.retry_after.max(&other.retry_after),
            crawl_delay: self.crawl_delay.max(&other.crawl_delay),
            put_off: self.put_off.max(&other.put_off),
            neighbourhood: self.neighbourhood.max(&other.neighbourhood),
        }
    }
}

impl OrderBreaches {
    fn join(&mut self, other: &Self) {
        self.before_robots.join(&other.before_robots);
        self.despite_robots.join(&other.despite_robots);
        self.against_robots.join(&other.against_robots);
        self.twice.join(&other.twice);
    }
}

impl Peak {
    pub(super) fn raise_to(&mut self, amount: u64, who: impl FnOnce() -> String) {
        if amount > self.most {
            (self.most, self.who) = (amount, who());
        }
    }

    fn max(mut self, other: &Self) -> Self {
        self.raise_to(other.most, || other.who.clone());
        self
    }
}

impl Count {
    /// Counts one more case.
    pub fn add(&mut self, who: impl FnOnce() -> String) {
        if self.times == 0 {
            self.first = who();
        }
        self.times += 1;
    }

    fn max(self, other: &Self) -> Self {
        if other.times > self.times { other.clone() } else { self }
    }

    fn join(&mut self, other: &Self) {
        if self.times == 0 {
            self.first.clone_from(&other.first);
        }
        self.times += other.times;
    }
}

pub(super) fn raise_each<const N: usize>(worst: &mut [Peak; N], amounts: [u64; N], who: impl Fn() -> String) {
    for (worst, amount) in worst.iter_mut().zip(amounts) {
        worst.raise_to(amount, &who);
    }
}

fn max_each<const N: usize>(mut worst: [Peak; N], other: &[Peak; N]) -> [Peak; N] {
    for (worst, other) in worst.iter_mut().zip(other) {
        worst.raise_to(other.most, || other.who.clone());
    }
    worst
}
