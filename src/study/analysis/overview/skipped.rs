use polars::prelude::{DataFrame, PolarsResult};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::exchange::ExchangeView;
use super::listed::ListedTrees;
use super::probes::{Probes, ProbesMaker};
use crate::exchange::{Class, ClassCounts};

/// URLs that were found and not fetched. Every internal URL is either fetched or in exactly one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SkippedUrls {
    /// Internal URLs that were found, over all trees.
    pub internal_urls: u64,
    /// Internal URLs that were fetched.
    pub fetched: u64,
    /// All reasons, in a fixed order.
    pub classes: Vec<SkipReason>,
    /// The levels, from depth 0 down.
    pub levels: Vec<Level>,
    /// Rows of the table of levels whose internal URLs are not the sum of fetched URLs and classes; 0 in a
    /// sound survey.
    pub rows_that_do_not_reconcile: u64,
    /// Requests for robots.txt, by the meaning of the response.
    pub robots: Robots,
    /// An estimate of what the rule on scripts missed, if scripts were probed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
    /// External hosts, new in their trees, that the pages skipped for their yield were expected to bring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_hosts: Option<f64>,
    /// An estimate of what the pages skipped for their yield would have brought, if they were probed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Probes>,
}

/// One reason why internal URLs were not fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkipReason {
    /// The NAME in the column `not_fetched_NAME` of the table of levels.
    pub name: &'static str,
    /// The class of these URLs.
    #[serde(skip)]
    pub class: Class,
    /// URLs found and not fetched for this reason.
    pub urls: u64,
    /// Site trees with at least one such URL.
    pub site_trees: u64,
}

/// One depth, over all trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Level {
    /// Internal URLs new at this depth.
    pub internal_urls: u64,
    /// Internal URLs by class.
    #[serde(flatten, serialize_with = "fetched_and_not")]
    pub classes: ClassCounts,
}

/// Writes the number of fetched URLs, and the others by reason in the order of [`SkippedUrls::classes`].
fn fetched_and_not<S: Serializer>(classes: &ClassCounts, serializer: S) -> Result<S::Ok, S::Error> {
    let mut level = serializer.serialize_struct("classes", 2)?;
    level.serialize_field("fetched", &classes[Class::Fetched])?;
    level
        .serialize_field("not_fetched", &Class::reasons().map(|class| classes[class]).collect::<Vec<_>>())?;
    level.end()
}

/// Responses to requests for robots.txt (RFC 9309 §2.3.1). If there were several attempts at a request, at
/// the next address of a host or with an older TLS version, the last counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Robots {
    /// Attempts, including those that reached no server.
    pub attempts: u64,
    /// 2xx: the rules apply.
    pub rules: u64,
    /// 4xx other than 429: all is allowed.
    pub allow_all: u64,
    /// 5xx, 429 or a failure of the network: all is forbidden.
    pub disallow_all: u64,
    /// 3xx: requested at another URL.
    pub redirects: u64,
}

/// The columns that are read from the table of levels.
pub(super) fn level_columns() -> Vec<&'static str> {
    let classes = Class::ALL.iter().map(|class| class.as_str());
    ["site", "seed", "depth", "internal_urls", EXPECTED].into_iter().chain(classes).collect()
}

/// The column with the number of hosts that skipped pages were expected to bring.
const EXPECTED: &str = "expected_external_hosts";

/// The deepest level that is counted: deeper levels come from a damaged table.
const DEEPEST: usize = 10_000;

#[derive(Default)]
pub(super) struct SkippedUrlsMaker {
    levels: Vec<Level>,
    /// By tree, one bit for each class that it has URLs in.
    tree_classes: Vec<u32>,
    unreconciled: u64,
    robots: Robots,
    probes: ProbesMaker,
    expected_hosts: f64,
}

impl SkippedUrlsMaker {
    pub(super) fn add_levels(&mut self, frame: &DataFrame, listed: &ListedTrees) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let depths = frame.column("depth")?.u32()?;
        let internal = frame.column("internal_urls")?.u64()?;
        let classes = Class::ALL.iter().map(|class| Ok((*class, frame.column(class.as_str())?.u64()?)));
        let classes: Vec<_> = classes.collect::<PolarsResult<_>>()?;
        let expected = frame.column(EXPECTED)?.f64()?;
        for row in 0..frame.height() {
            let Some(tree) = listed.tree(sites.get(row), seeds.get(row)) else { continue };
            let mut level =
                Level { internal_urls: internal.get(row).unwrap_or_default(), ..Level::default() };
            for (class, column) in &classes {
                level.classes[*class] = column.get(row).unwrap_or_default();
            }
            self.expected_hosts += expected.get(row).unwrap_or_default();
            self.add_level(tree, depths.get(row).unwrap_or_default(), &level);
        }
        Ok(())
    }

    fn add_level(&mut self, tree: u32, depth: u32, level: &Level) {
        let (tree, depth) = (tree as usize, (depth as usize).min(DEEPEST));
        if self.tree_classes.len() <= tree {
            self.tree_classes.resize(tree + 1, 0);
        }
        if self.levels.len() <= depth {
            self.levels.resize(depth + 1, Level::default());
        }
        for class in Class::ALL {
            self.tree_classes[tree] |= u32::from(level.classes[*class] > 0) << *class as u32;
        }
        add(&mut self.levels[depth].internal_urls, level.internal_urls);
        self.levels[depth].classes.add(&level.classes);
        self.unreconciled += u64::from(level.classes.total() != level.internal_urls);
    }

    pub(super) fn add(&mut self, exchange: &ExchangeView<'_>) {
        self.probes.add(exchange);
        if !exchange.is_robots_request() {
            return;
        }
        let robots = &mut self.robots;
        if exchange.attempt > 0 {
            // The previous attempt, which got no response, was not the last one.
            robots.attempts = robots.attempts.saturating_sub(1);
            robots.disallow_all = robots.disallow_all.saturating_sub(1);
        }
        robots.attempts += 1;
        match exchange.status {
            _ if !exchange.tree_request().is_some_and(|tree_request| tree_request.may_allow()) => {
                robots.disallow_all += 1;
            }
            Some(300..400) => robots.redirects += 1,
            Some(400..) => robots.allow_all += 1,
            _ => robots.rules += 1,
        }
    }

    pub(super) fn finish(self) -> SkippedUrls {
        let mut found = ClassCounts::default();
        self.levels.iter().for_each(|level| found.add(&level.classes));
        let trees_with = |class: Class| {
            self.tree_classes.iter().filter(|bits| **bits >> class as u32 & 1 == 1).count() as u64
        };
        let reason = |class: Class| SkipReason {
            name: class.reason(),
            class,
            urls: found[class],
            site_trees: trees_with(class),
        };
        let (by_script, by_yield) = (found[Class::Script], found[Class::Yield]);
        SkippedUrls {
            expected_hosts: (by_yield > 0).then_some(self.expected_hosts),
            probes: self.probes.script_probes.finish(by_script),
            left_out: self.probes.left_out_probes.finish(by_yield),
            internal_urls: total(self.levels.iter().map(|level| level.internal_urls)),
            fetched: found[Class::Fetched],
            classes: Class::reasons().map(reason).collect(),
            rows_that_do_not_reconcile: self.unreconciled,
            robots: self.robots,
            levels: self.levels,
        }
    }
}

/// Adds with saturation: damaged tables may hold any number.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
