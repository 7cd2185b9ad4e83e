use std::collections::HashMap;
use std::time::Duration;

use super::super::tables::key;
use super::exchange::Exchange;
use super::names::Names;
use super::rate::Standstills;
use crate::address::{Host, Site};
use crate::promises::{Judge, Questions};

/// What the questions of each tree, in the order in which they were put, say of promises.
#[derive(Default)]
pub(super) struct TreeQuestions {
    tree: Option<Cost>,
    trees: Vec<Cost>,
    questions: Questions,
    /// Hosts that opted out, with the time when the survey knew; and when hosts were asked last.
    opted_out: HashMap<u64, (i64, Box<str>)>,
    last_asked: HashMap<u64, i64>,
}

/// What one tree cost, and when its first and its last request began: in microseconds.
#[derive(Clone, Copy)]
struct Cost {
    site: u32,
    requests: u64,
    bytes: u64,
    first: i64,
    last: i64,
}

impl TreeQuestions {
    pub(super) fn add(&mut self, exchange: &Exchange<'_>) {
        if exchange.is_first {
            self.end_tree();
        }
        if exchange.failure == Some("opted_out") {
            let known = (exchange.started, exchange.host.into());
            self.opted_out.entry(key(exchange.host)).or_insert(known);
        }
        if let Some(question) = exchange.question() {
            self.questions.note(&question);
        }
        if exchange.was_asked() {
            self.account(exchange);
        }
    }

    fn account(&mut self, exchange: &Exchange<'_>) {
        let at = exchange.started;
        let fresh = Cost { site: exchange.site, requests: 0, bytes: 0, first: at, last: at };
        let tree = self.tree.get_or_insert(fresh);
        tree.requests += 1;
        tree.bytes += exchange.bytes();
        (tree.first, tree.last) = (tree.first.min(at), tree.last.max(at));
        let last = self.last_asked.entry(key(exchange.host)).or_insert(at);
        *last = at.max(*last);
    }

    fn end_tree(&mut self) {
        self.questions.end_tree();
        self.trees.extend(self.tree.take());
    }

    /// Tells the judge of all trees. Nobody's time is used at a standstill of the whole survey.
    pub(super) fn tell(&mut self, judge: &mut Judge, sites: &Names, standstills: &Standstills) {
        self.end_tree();
        let mut order = self.questions.order().clone();
        for cost in &self.trees {
            let Ok(host) = Host::parse(sites.name(cost.site)) else { continue };
            let idle = standstills.within(cost.first, cost.last);
            let used = u64::try_from(cost.last - cost.first - idle).unwrap_or_default();
            let time = Duration::from_micros(used);
            // What is wrong with the order is told of all trees together, with the first.
            let order = std::mem::take(&mut order);
            judge.note_tree(&Site::new(host), [cost.requests, cost.bytes], time, &order);
        }
    }

    /// Hosts that were asked after the survey knew that they want to be left alone.
    pub(super) fn asked_after_opt_out(&self) -> Vec<&str> {
        let asked = |(host, (known, _)): &(&u64, &(i64, Box<str>))| {
            self.last_asked.get(host).is_some_and(|last| last > known)
        };
        let mut hosts: Vec<&str> =
            self.opted_out.iter().filter(asked).map(|(_, (_, name))| &**name).collect();
        hosts.sort_unstable();
        hosts
    }
}
