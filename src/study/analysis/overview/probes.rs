use std::collections::BTreeMap;

use serde::Serialize;

use super::super::Sampling;
use super::exchange::ExchangeView;
use crate::exchange::Purpose;

/// An estimate of what a rule missed, from the sites that were probed: the rule of one query URL per script
/// (`--probe-scripts`), or the rule that skips pages of low expected yield (`--probe-depth`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probes {
    /// Site trees with at least one probe.
    pub site_trees: u64,
    /// Scripts that were probed. For pages left out, this is the number of site trees again.
    pub scripts: u64,
    /// Requests sent as probes.
    pub requests: u64,
    /// URLs that the rule skipped in the whole survey.
    pub withheld: u64,
    /// External URLs, new in its tree, that a skipped URL would have brought on average.
    pub external_urls: Mean,
    /// External hosts, new in its tree, that a skipped URL would have brought on average.
    pub external_hosts: Mean,
    /// The site trees over which the means are taken.
    #[serde(skip)]
    pub trees: Vec<ProbedTree>,
}

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Mean {
    /// The mean over the probes.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// Collects the probes of both rules.
#[derive(Default)]
pub(super) struct ProbesMaker {
    pub script_probes: ProbesOfRule,
    pub left_out_probes: ProbesOfRule,
}

#[derive(Default)]
pub(super) struct ProbesOfRule {
    /// By tree and script. All pages left out of a tree count as one script.
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

/// The URLs that a rule skipped in a tree, and what they would have brought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbedTree {
    /// URLs that the rule skipped.
    pub withheld: f64,
    /// External URLs that the skipped URLs would have brought.
    pub urls: f64,
    /// External hosts that the skipped URLs would have brought.
    pub hosts: f64,
}

impl ProbesMaker {
    pub(super) fn add(&mut self, exchange: &ExchangeView<'_>) {
        if exchange.purpose != Purpose::Probe.as_str() {
            return;
        }
        match (exchange.withheld_urls, exchange.left_out_urls) {
            (Some(withheld), _) => self.script_probes.add(exchange, withheld, script_of(exchange.url)),
            (None, Some(left_out)) => self.left_out_probes.add(exchange, left_out, 0),
            // No response was received, so the probe says nothing.
            (None, None) => {}
        }
    }
}

impl ProbesOfRule {
    fn add(&mut self, exchange: &ExchangeView<'_>, withheld: u32, script: u64) {
        self.requests += u64::from(exchange.reached_server());
        let script = self.scripts.entry((exchange.site, script)).or_default();
        script.withheld = f64::from(withheld);
        script.probed += 1.0;
        script.urls += f64::from(exchange.new_external_urls.unwrap_or_default());
        script.hosts += f64::from(exchange.new_external_hosts.unwrap_or_default());
    }

    /// Computes the estimate. `withheld` is the number of URLs that the rule skipped in the whole survey.
    pub(super) fn finish(self, withheld: u64) -> Option<Probes> {
        let mut trees: BTreeMap<u32, ProbedTree> = BTreeMap::new();
        for ((tree, _), script) in &self.scripts {
            let tree = trees.entry(*tree).or_default();
            tree.withheld += script.withheld;
            tree.urls += script.withheld * script.urls / script.probed;
            tree.hosts += script.withheld * script.hosts / script.probed;
        }
        let site_trees = trees.len() as u64;
        let trees: Vec<ProbedTree> = trees.into_values().collect();
        (site_trees > 0).then(|| Probes {
            site_trees,
            scripts: self.scripts.len() as u64,
            requests: self.requests,
            withheld,
            external_urls: Mean::ratio(&trees, |tree| tree.urls),
            external_hosts: Mean::ratio(&trees, |tree| tree.hosts),
            trees,
        })
    }
}

impl Mean {
    /// A ratio of sums over trees, with a log-normal 95 % interval. A few trees bring most, and the bootstrap
    /// knows no larger trees, so its intervals are too short (80 % of surveys of 30 trees, measured as in
    /// `reports/intervals`). The standard error of the linearised ratio is increased by a quarter of the
    /// standard error of the number of trees that bring anything, a Poisson count. If no tree brings any, the
    /// interval ends where the interval of a share of trees does (Wilson, 1927).
    #[must_use]
    pub fn ratio(trees: &[ProbedTree], amount: impl Fn(&ProbedTree) -> f64) -> Self {
        let count = trees.len() as f64;
        let (sum, withheld) =
            trees.iter().fold((0.0, 0.0), |sums, tree| (sums.0 + amount(tree), sums.1 + tree.withheld));
        if withheld <= 0.0 {
            return Self::default();
        }
        let quantile = Sampling::default().normal_quantile();
        if sum <= 0.0 {
            return Self { value: 0.0, low: 0.0, high: quantile * quantile / (count + quantile * quantile) };
        }
        let value = sum / withheld;
        let squared_error = |tree: &ProbedTree| (amount(tree) - value * tree.withheld).powi(2);
        let squares: f64 = trees.iter().map(squared_error).sum();
        let error = (squares * count / (count - 1.0).max(1.0)).sqrt() / sum;
        let nonzero = trees.iter().filter(|tree| amount(tree) > 0.0).count() as f64;
        let factor = (quantile * (error + nonzero.sqrt().recip() / 4.0)).exp();
        Self { value, low: value / factor, high: value * factor }
    }
}

/// The key of a script: the URL without its query and path parameters, as in the walk.
fn script_of(url: &str) -> u64 {
    let script = crate::address::WebUrl::parse(url).ok().and_then(|url| url.script());
    script.map_or_else(|| super::super::tables::key(url), |script| script.0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maker(scripts: &[(u32, u64, Script)]) -> ProbesOfRule {
        let scripts = scripts.iter().map(|(tree, script, counts)| ((*tree, *script), *counts)).collect();
        ProbesOfRule { scripts, requests: 9 }
    }

    #[test]
    fn scripts_count_by_what_they_keep_back() {
        let busy = Script { withheld: 90.0, probed: 3.0, urls: 6.0, hosts: 0.0 };
        let dull = Script { withheld: 10.0, probed: 2.0, urls: 0.0, hosts: 0.0 };
        let probes = maker(&[(0, 1, busy), (0, 2, dull), (1, 1, dull)]).finish(1000).unwrap();
        assert_eq!((probes.site_trees, probes.scripts, probes.requests, probes.withheld), (2, 3, 9, 1000));
        assert!((probes.external_urls.value - 180.0 / 110.0).abs() < 1e-12);
        // The residuals are 180 − 100 v and −10 v with v = 180/110, and one of two trees brings any. Computed
        // separately.
        assert!((probes.external_urls.low - 0.7020).abs() < 1e-3, "{:?}", probes.external_urls);
        assert!((probes.external_urls.high - 3.815).abs() < 1e-2, "{:?}", probes.external_urls);
        assert_eq!((probes.external_hosts.value, probes.external_hosts.low), (0.0, 0.0));
        assert!((probes.external_hosts.high - 0.6576).abs() < 1e-3, "{:?}", probes.external_hosts);
    }

    #[test]
    fn without_probes_there_is_nothing_to_tell() {
        assert_eq!(ProbesOfRule::default().finish(5), None);
    }
}
