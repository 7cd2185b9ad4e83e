use polars::prelude::{DataFrame, PolarsResult};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::exchange::ExchangeView;
use super::listed::ListedTrees;
use super::probes::{Probes, ProbesMaker};
use crate::exchange::{Class, ClassCounts};

/// What was found and not fetched: every internal URL is fetched or in exactly one of the classes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SkippedUrls {
    /// Found in the sites, over all trees.
    pub internal_urls: u64,
    /// Asked for.
    pub fetched: u64,
    /// All reasons, in one order.
    pub classes: Vec<SkipReason>,
    /// From level 0 down.
    pub levels: Vec<Level>,
    /// Rows of the table of levels whose internal URLs are not the sum of fetched and classes; none in a sound
    /// survey.
    pub rows_that_do_not_reconcile: u64,
    /// Requests for robots.txt by what it meant.
    pub robots: Robots,
    /// What the rule on scripts hid, where scripts were probed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,
    /// External hosts, new in their trees, that the pages left out for their yield were expected to bring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_hosts: Option<f64>,
    /// What these pages hid, where they were probed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Probes>,
}

/// One reason why internal URLs were not fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkipReason {
    /// As in the column `not_fetched_NAME` of the table of levels.
    pub name: &'static str,
    /// The same.
    #[serde(skip)]
    pub class: Class,
    /// Found and not fetched for this reason.
    pub urls: u64,
    /// Site trees with at least one.
    pub site_trees: u64,
}

/// One depth, over all trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Level {
    /// New at this depth.
    pub internal_urls: u64,
    /// By class.
    #[serde(flatten, serialize_with = "fetched_and_not")]
    pub classes: ClassCounts,
}

/// What was fetched, and what was not, in the order of [`SkippedUrls::classes`].
fn fetched_and_not<S: Serializer>(classes: &ClassCounts, serializer: S) -> Result<S::Ok, S::Error> {
    let mut level = serializer.serialize_struct("classes", 2)?;
    level.serialize_field("fetched", &classes[Class::Fetched])?;
    level
        .serialize_field("not_fetched", &Class::reasons().map(|class| classes[class]).collect::<Vec<_>>())?;
    level.end()
}

/// Answers to requests for robots.txt (RFC 9309 §2.3.1). Of several tries at one, at the next address of a host or by older
/// TLS, the last counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Robots {
    /// Attempts, those included that no server was asked for.
    pub attempts: u64,
    /// 2xx: the rules hold.
    pub rules: u64,
    /// 4xx other than 429: all is allowed.
    pub allow_all: u64,
    /// 5xx, 429 or a failure of the network: all is forbidden.
    pub disallow_all: u64,
    /// 3xx: asked elsewhere.
    pub redirects: u64,
}

/// The columns that are read of the table of levels.
pub(super) fn level_columns() -> Vec<&'static str> {
    let classes = Class::ALL.iter().map(|class| class.as_str());
    ["site", "seed", "depth", "internal_urls", EXPECTED].into_iter().chain(classes).collect()
}

/// What left out pages were expected to bring.
const EXPECTED: &str = "expected_external_hosts";

/// Deeper levels come from a damaged table.
const DEEPEST: usize = 10_000;

#[derive(Default)]
pub(super) struct SkippedUrlsMaker {
    levels: Vec<Level>,
    /// The classes that a tree has URLs in, a bit each.
    classes_of_trees: Vec<u32>,
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
        if self.classes_of_trees.len() <= tree {
            self.classes_of_trees.resize(tree + 1, 0);
        }
        if self.levels.len() <= depth {
            self.levels.resize(depth + 1, Level::default());
        }
        for class in Class::ALL {
            self.classes_of_trees[tree] |= u32::from(level.classes[*class] > 0) << *class as u32;
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
            // The try before, which brought no answer, was not the last.
            robots.attempts = robots.attempts.saturating_sub(1);
            robots.disallow_all = robots.disallow_all.saturating_sub(1);
        }
        robots.attempts += 1;
        match exchange.status {
            _ if !exchange.question().is_some_and(|question| question.may_allow()) => {
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
            self.classes_of_trees.iter().filter(|bits| **bits >> class as u32 & 1 == 1).count() as u64
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
            probes: self.probes.of_scripts.finish(by_script),
            left_out: self.probes.of_left_out.finish(by_yield),
            internal_urls: total(self.levels.iter().map(|level| level.internal_urls)),
            fetched: found[Class::Fetched],
            classes: Class::reasons().map(reason).collect(),
            rows_that_do_not_reconcile: self.unreconciled,
            robots: self.robots,
            levels: self.levels,
        }
    }
}

/// Damaged tables may count to any number.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
