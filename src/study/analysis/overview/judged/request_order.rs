use std::collections::HashMap;
use std::time::Duration;

use polars::prelude::{DataFrame, PolarsResult};

use super::rate::Standstills;
use crate::address::{Host, Site};
use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::ListedTrees;
use crate::analysis::overview::names::Names;
use crate::analysis::tables::{ByKey, key};
use crate::exchange::Failure;
use crate::promises::{Judge, TreeRequests};
use crate::settings::Budget;

/// Checks promises against the requests of each tree, in request order.
#[derive(Default)]
pub(in crate::analysis::overview) struct TreeRequestChecks {
    tree: Option<TreeCost>,
    trees: Vec<TreeCost>,
    tree_requests: TreeRequests,
    /// By site and seed: the number of robots.txt responses that are recorded in other trees.
    shared: HashMap<(u32, u32), u64>,
    /// Hosts that opted out, with the time when the survey learned of it.
    opted_out: ByKey<(i64, Box<str>)>,
    last_request: ByKey<i64>,
}

/// The cost of one tree, and the start of its first and its last request, in microseconds.
#[derive(Clone, Copy)]
struct TreeCost {
    site: u32,
    seed: u32,
    requests: u64,
    bytes: u64,
    first: i64,
    last: i64,
}

/// The cost of the trees of a site that are charged to one budget account.
struct AccountCost {
    site: u32,
    requests: u64,
    bytes: u64,
    time: Duration,
}

pub(in crate::analysis::overview) const LEVELS: &[&str] = &["site", "seed", SHARED];
const SHARED: &str = "shared_robots";

impl TreeRequestChecks {
    pub(in crate::analysis::overview) fn add_levels(
        &mut self,
        frame: &DataFrame,
        listed: &ListedTrees,
    ) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let shared = frame.column(SHARED)?.u64()?;
        for row in 0..frame.height() {
            let shared = shared.get(row).unwrap_or_default();
            if shared > 0
                && let Some(seed) = seeds.get(row)
                && let Some(tree) = listed.tree(sites.get(row), Some(seed))
            {
                *self.shared.entry((listed.trees[tree as usize].site, seed)).or_default() += shared;
            }
        }
        Ok(())
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        if exchange.is_first {
            self.end_tree();
            self.tree_requests
                .allow_shared(self.shared.remove(&(exchange.site, exchange.seed)).unwrap_or_default());
        }
        if exchange.failure == Some(Failure::OptedOut.as_str()) {
            let known = (exchange.started, exchange.host.into());
            self.opted_out.entry(key(exchange.host)).or_insert(known);
        }
        if let Some(tree_request) = exchange.tree_request() {
            self.tree_requests.note(&tree_request);
        }
        if exchange.reached_server() {
            self.account(exchange);
        }
    }

    fn account(&mut self, exchange: &ExchangeView<'_>) {
        let at = exchange.started;
        let (site, seed) = (exchange.site, exchange.seed);
        let new_tree = TreeCost { site, seed, requests: 0, bytes: 0, first: at, last: at };
        let tree = self.tree.get_or_insert(new_tree);
        tree.requests += 1;
        tree.bytes += exchange.bytes();
        (tree.first, tree.last) = (tree.first.min(at), tree.last.max(at));
        let last = self.last_request.entry(key(exchange.host)).or_insert(at);
        *last = at.max(*last);
    }

    fn end_tree(&mut self) {
        self.tree_requests.end_tree();
        self.trees.extend(self.tree.take());
    }

    /// Reports all trees to the judge. Standstills of the whole survey do not count towards the time of a
    /// tree.
    pub(in crate::analysis::overview) fn feed(
        &mut self,
        judge: &mut Judge,
        sites: &Names,
        standstills: &Standstills,
    ) {
        self.end_tree();
        let mut order = self.tree_requests.order().clone();
        for AccountCost { site, requests, bytes, time } in self.charged(judge.limits().tree, standstills) {
            let Ok(host) = Host::parse(sites.name(site)) else { continue };
            // Violations of the order are collected over all trees and reported with the first tree.
            let order = std::mem::take(&mut order);
            judge.note_tree(&Site::new(host), [requests, bytes], time, &order);
        }
    }

    /// Sums the cost of the trees by the budget account that they are charged to.
    fn charged(&self, budget: Budget, standstills: &Standstills) -> Vec<AccountCost> {
        let mut accounts = HashMap::new();
        let mut all: Vec<AccountCost> = Vec::new();
        for cost in &self.trees {
            let account = (cost.site, budget.account_of(cost.seed));
            let at = *accounts.entry(account).or_insert(all.len());
            if at == all.len() {
                all.push(AccountCost { site: cost.site, requests: 0, bytes: 0, time: Duration::ZERO });
            }
            let idle = standstills.idle_between(cost.first, cost.last);
            let used = u64::try_from(cost.last - cost.first - idle).unwrap_or_default();
            let sums = &mut all[at];
            sums.requests += cost.requests;
            sums.bytes += cost.bytes;
            sums.time += Duration::from_micros(used);
        }
        all
    }

    /// Hosts that received a request after the survey knew of their opt-out.
    pub(in crate::analysis::overview) fn hosts_requested_after_opt_out(&self) -> Vec<&str> {
        let was_requested = |(host, (known, _)): &(&u64, &(i64, Box<str>))| {
            self.last_request.get(host).is_some_and(|last| last > known)
        };
        let mut hosts: Vec<&str> =
            self.opted_out.iter().filter(was_requested).map(|(_, (_, name))| &**name).collect();
        hosts.sort_unstable();
        hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_that_try_to_open_a_site_share_an_account() {
        let cost = |site, seed| TreeCost { site, seed, requests: 10, bytes: 100, first: 0, last: 1_000_000 };
        let trees = vec![cost(1, 0), cost(2, 0), cost(1, 1), cost(2, 1), cost(2, 2)];
        let checks = TreeRequestChecks { trees, ..TreeRequestChecks::default() };
        let charged = |accounts| {
            let all = checks
                .charged(Budget { accounts, ..Budget::default() }, &Standstills::find(&[], Duration::ZERO));
            let seconds = |it: &AccountCost| it.time.as_secs();
            all.iter().map(|it| (it.site, it.requests, it.bytes, seconds(it))).collect::<Vec<_>>()
        };
        assert_eq!(charged(1), [(1, 20, 200, 2), (2, 30, 300, 3)]);
        assert_eq!(charged(2), [(1, 10, 100, 1), (2, 10, 100, 1), (1, 10, 100, 1), (2, 20, 200, 2)]);
    }
}
