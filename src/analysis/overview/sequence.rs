use std::collections::{HashMap, HashSet};

use super::super::recorded::key;
use super::exchange::Exchange;
use super::told::{Limit, Told};

/// What the order of the exchanges inside each tree says of promises.
#[derive(Default)]
pub(super) struct Sequence {
    tree: Option<Asked>,
    /// The origins of the tree whose robots.txt was asked for, and whether any answer allows anything.
    robots: HashMap<u64, bool>,
    answered_pages: HashSet<u64>,
    pub most_requests: Most,
    pub most_bytes: Most,
    /// Trees that were asked for longer than their time budget, pauses of the whole survey included:
    /// site, first start, last start.
    pub long_trees: Vec<(u32, i64, i64)>,
    /// In microseconds.
    pub longest: Most,
    pub before_robots: Seen,
    pub despite_robots: Seen,
    pub twice: Seen,
    /// Hosts that opted out, with the time when the survey knew; and when hosts were asked last.
    opted_out: HashMap<u64, (i64, Box<str>)>,
    last_asked: HashMap<u64, i64>,
}

/// The tree with the most of something: how much, and its site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Most {
    pub most: u64,
    pub site: Option<u32>,
}

/// Cases of something that should not be: how many, and the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub times: u64,
    pub first: String,
}

/// The account of one tree.
struct Asked {
    site: u32,
    requests: u64,
    bytes: u64,
    first: i64,
    last: i64,
}

impl Sequence {
    pub(super) fn add(&mut self, exchange: &Exchange<'_>, told: &Told) {
        if exchange.is_first {
            self.end_tree(told);
        }
        if exchange.failure == Some("opted_out") {
            let known = (exchange.started, exchange.host.into());
            self.opted_out.entry(key(exchange.host)).or_insert(known);
        }
        let origin = key(origin_of(exchange.url));
        if exchange.is_robots_request() {
            *self.robots.entry(origin).or_default() |= may_allow(exchange);
        }
        if exchange.was_asked() {
            self.account(exchange);
            self.check(exchange, origin);
        }
    }

    fn account(&mut self, exchange: &Exchange<'_>) {
        let at = exchange.started;
        let tree = self.tree.get_or_insert(Asked {
            site: exchange.site,
            requests: 0,
            bytes: 0,
            first: at,
            last: at,
        });
        tree.requests += 1;
        tree.bytes += exchange.bytes();
        (tree.first, tree.last) = (tree.first.min(at), tree.last.max(at));
        let last = self.last_asked.entry(key(exchange.host)).or_insert(at);
        *last = at.max(*last);
    }

    fn check(&mut self, exchange: &Exchange<'_>, origin: u64) {
        if !exchange.is_page_request() || exchange.method != "GET" {
            return;
        }
        match self.robots.get(&origin) {
            None => self.before_robots.note(exchange.url),
            Some(false) => self.despite_robots.note(exchange.url),
            Some(true) => {}
        }
        // Who says when to come back is asked again.
        let is_put_off = matches!(exchange.status, Some(429 | 503));
        let page = key(exchange.url);
        if self.answered_pages.contains(&page) {
            self.twice.note(exchange.url);
        } else if !is_put_off && !exchange.is_a_try() {
            self.answered_pages.insert(page);
        }
    }

    fn end_tree(&mut self, told: &Told) {
        self.robots.clear();
        self.answered_pages.clear();
        let Some(tree) = self.tree.take() else { return };
        let lasted = u64::try_from(tree.last - tree.first).unwrap_or_default();
        self.most_requests.note(tree.requests, tree.site);
        self.most_bytes.note(tree.bytes, tree.site);
        self.longest.note(lasted, tree.site);
        if let Limit::Most(most) = told.max_time
            && u128::from(lasted) > most.as_micros()
        {
            self.long_trees.push((tree.site, tree.first, tree.last));
        }
    }

    pub(super) fn finish(&mut self, told: &Told) {
        self.end_tree(told);
    }

    /// Hosts that were asked after the survey knew that they want to be left alone.
    pub(super) fn asked_after_opt_out(&self) -> Seen {
        let asked = |(host, (known, _)): &(&u64, &(i64, Box<str>))| {
            self.last_asked.get(host).is_some_and(|last| last > known)
        };
        let mut hosts: Vec<&str> =
            self.opted_out.iter().filter(asked).map(|(_, (_, name))| &**name).collect();
        hosts.sort_unstable();
        Seen { times: hosts.len() as u64, first: hosts.first().copied().unwrap_or("").to_owned() }
    }

    pub(super) fn opted_out_hosts(&self) -> u64 {
        self.opted_out.len() as u64
    }
}

impl Most {
    fn note(&mut self, amount: u64, site: u32) {
        if self.site.is_none() || amount > self.most {
            *self = Self { most: amount, site: Some(site) };
        }
    }
}

impl Seen {
    fn note(&mut self, what: &str) {
        if self.times == 0 {
            what.clone_into(&mut self.first);
        }
        self.times += 1;
    }
}

/// Scheme, host and port: whose robots.txt it is (RFC 9309 §2.3).
fn origin_of(url: &str) -> &str {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |at| begin + at);
    &url[..end]
}

/// Whether what came of a robots.txt can allow a page: 5xx and failures of the network forbid all (RFC 9309
/// §2.3.1.4), and so does 429 to a polite survey. A redirect can: what it leads to may stand at another origin.
pub(super) fn may_allow(exchange: &Exchange<'_>) -> bool {
    exchange.status.is_some_and(|status| status < 500 && status != 429)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_ends_before_the_path() {
        for (url, origin) in [
            ("http://a.ke/x?y", "http://a.ke"),
            ("https://a.ke:8443/", "https://a.ke:8443"),
            ("http://a.ke?x", "http://a.ke"),
            ("", ""),
        ] {
            assert_eq!(origin_of(url), origin);
        }
    }
}
