use std::collections::BTreeMap;

use serde::Serialize;

use super::super::chance::Chance;
use super::exchange::Exchange;

/// What the rule of one query URL a script hid, estimated from the sites that were probed (`--probe-scripts`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probes {
    /// Site trees in which scripts were probed.
    pub site_trees: u64,
    /// That were probed.
    pub scripts: u64,
    /// Requests that it took.
    pub requests: u64,
    /// Query URLs that the rule kept back in the whole survey.
    pub withheld: u64,
    /// External URLs and hosts, new to its tree, that a query URL kept back would have brought on average.
    pub external_urls: Mean,
    /// The same of hosts.
    pub external_hosts: Mean,
}

/// A mean with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Mean {
    /// Over the probes.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

#[derive(Default)]
pub(super) struct ProbesMaker {
    /// By tree and script.
    scripts: BTreeMap<(u32, u64), Script>,
    requests: u64,
}

#[derive(Clone, Copy, Default)]
struct Script {
    withheld: f64,
    probed: f64,
    urls: f64,
    hosts: f64,
}

/// What a tree's scripts kept back, and what that would have brought.
#[derive(Clone, Copy, Default)]
struct Tree {
    withheld: f64,
    urls: f64,
    hosts: f64,
}

/// With so many draws the ends of an interval rest on fifty each.
const DRAWS: usize = 2000;
const TAIL: usize = DRAWS / 40;

impl ProbesMaker {
    pub(super) fn add(&mut self, exchange: &Exchange<'_>) {
        if exchange.purpose != "probe" {
            return;
        }
        self.requests += u64::from(exchange.was_asked());
        let Some(withheld) = exchange.withheld_urls else { return };
        let script = self.scripts.entry((exchange.site, script_of(exchange.url))).or_default();
        script.withheld = f64::from(withheld);
        script.probed += 1.0;
        script.urls += f64::from(exchange.new_external_urls.unwrap_or_default());
        script.hosts += f64::from(exchange.new_external_hosts.unwrap_or_default());
    }

    /// `withheld` is what the rule kept back in the whole survey.
    pub(super) fn finish(self, withheld: u64) -> Option<Probes> {
        let mut trees: BTreeMap<u32, Tree> = BTreeMap::new();
        for ((tree, _), script) in &self.scripts {
            let tree = trees.entry(*tree).or_default();
            tree.withheld += script.withheld;
            tree.urls += script.withheld * script.urls / script.probed;
            tree.hosts += script.withheld * script.hosts / script.probed;
        }
        let site_trees = trees.len() as u64;
        let trees: Vec<Tree> = trees.into_values().collect();
        (site_trees > 0).then(|| Probes {
            site_trees,
            scripts: self.scripts.len() as u64,
            requests: self.requests,
            withheld,
            external_urls: Mean::of(&trees, |tree| tree.urls),
            external_hosts: Mean::of(&trees, |tree| tree.hosts),
        })
    }
}

impl Mean {
    /// A ratio of sums over trees; its interval by the percentile bootstrap, trees being drawn.
    fn of(trees: &[Tree], brought: impl Fn(&Tree) -> f64) -> Self {
        let ratio = |drawn: &mut dyn Iterator<Item = &Tree>| {
            let (brought, withheld) =
                drawn.fold((0.0, 0.0), |sums, tree| (sums.0 + brought(tree), sums.1 + tree.withheld));
            if withheld > 0.0 { brought / withheld } else { 0.0 }
        };
        let mut chance = Chance::new(1, 0x0070_726f_6265);
        let mut ratios: Vec<f64> = (0..DRAWS)
            .map(|_| ratio(&mut (0..trees.len()).map(|_| &trees[chance.below(trees.len())])))
            .collect();
        ratios.sort_by(f64::total_cmp);
        Self { value: ratio(&mut trees.iter()), low: ratios[TAIL], high: ratios[DRAWS - 1 - TAIL] }
    }
}

/// Tells the scripts of a tree apart: the URL without its query and path parameters, as the walk does it.
fn script_of(url: &str) -> u64 {
    let script = crate::address::WebUrl::parse(url).ok().and_then(|url| url.script());
    script.map_or_else(|| super::super::tables::key(url), |script| script.0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maker(scripts: &[(u32, u64, Script)]) -> ProbesMaker {
        let scripts = scripts.iter().map(|(tree, script, counts)| ((*tree, *script), *counts)).collect();
        ProbesMaker { scripts, requests: 9 }
    }

    #[test]
    fn scripts_count_by_what_they_keep_back() {
        let busy = Script { withheld: 90.0, probed: 3.0, urls: 6.0, hosts: 0.0 };
        let dull = Script { withheld: 10.0, probed: 2.0, urls: 0.0, hosts: 0.0 };
        let probes = maker(&[(0, 1, busy), (0, 2, dull), (1, 1, dull)]).finish(1000).unwrap();
        assert_eq!((probes.site_trees, probes.scripts, probes.requests, probes.withheld), (2, 3, 9, 1000));
        assert!((probes.external_urls.value - 180.0 / 110.0).abs() < 1e-12);
        assert!(probes.external_urls.low.abs() < 1e-12, "the dull tree alone may be drawn");
        assert!((probes.external_urls.high - 1.8).abs() < 1e-12, "or the busy one");
        assert_eq!(probes.external_hosts, Mean::default());
    }

    #[test]
    fn without_probes_there_is_nothing_to_tell() {
        assert_eq!(ProbesMaker::default().finish(5), None);
    }
}
