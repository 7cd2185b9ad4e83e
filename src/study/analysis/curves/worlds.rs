//! Surveys made by hand, for tests of the figures computed from them.

use std::sync::Arc;

use crate::analysis::intervals::chance::Chance;
use crate::analysis::keys::cells::Cells;
use crate::analysis::keys::groups::Groups;
use crate::analysis::keys::links::Gatherer;
use crate::analysis::tables::key;
use crate::analysis::{
    Grouping, Kind, KnownKeys, Labels, LevelCost, NotFetched, Occurrence, Recorded, Tree, TreeEnd, Trees,
};
use crate::records::{Manifest, Timestamp};

/// A site tree: its outcome and, from level 0 down, the pages with the names of their link targets.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct TestTree {
    pub(in crate::analysis) cctld: &'static str,
    pub(in crate::analysis) outcome: &'static str,
    pub(in crate::analysis) levels: Vec<(u32, Vec<u64>)>,
    /// URLs not fetched, one level below the last.
    pub(in crate::analysis) not_fetched: u32,
}

pub(in crate::analysis) fn tree(outcome: &'static str, levels: &[(u32, &[u64])]) -> TestTree {
    let levels = levels.iter().map(|(pages, names)| (*pages, names.to_vec())).collect();
    TestTree { cctld: "ke", outcome, levels, not_fetched: 0 }
}

/// The survey that found these trees. Every name stands for a URL, a host, a site and an address at once.
pub(in crate::analysis) fn survey(planned: &[TestTree]) -> Recorded {
    let (mut trees, mut labels, mut found) = (Trees::default(), Labels::default(), Vec::new());
    for (number, planned) in (0..).zip(planned) {
        let pages = planned.levels.iter().map(|(pages, _)| u64::from(*pages)).sum();
        let deepest = u16::try_from(planned.levels.len()).unwrap().checked_sub(1);
        let groups = [labels.number(planned.cctld); Grouping::ALL.len()];
        let tree = Tree::new(
            &format!("site{number}.ke"),
            0,
            TreeEnd::by_outcome(planned.outcome, pages),
            deepest,
            groups,
        );
        let (first_level, level_count) = (trees.levels.len(), planned.levels.len());
        trees.trees.push(Tree { first_level, level_count, ..tree });
        Arc::make_mut(&mut trees.levels)
            .extend(planned.levels.iter().map(|(pages, names)| cost(*pages, names.len())));
        for (depth, (_, names)) in (0..).zip(&planned.levels) {
            let occurrence = |name: &u64| Occurrence { key: key(&name.to_string()), tree: number, depth };
            found.extend(names.iter().map(occurrence));
        }
        let depth = u16::try_from(level_count).unwrap();
        let (too_deep, skipped) =
            if planned.outcome == "depth" { (planned.not_fetched, 0) } else { (0, planned.not_fetched) };
        trees.not_fetched.push(NotFetched { tree: number, depth, too_deep, skipped });
    }
    trees.labels = labels;
    let manifest = Manifest::new(serde_json::Value::Null, Timestamp::default());
    let cells = Cells::single(trees.len());
    let (counts, sampled) = Gatherer::collect(&cells, &found);
    let occurrences = sampled.all_trees();
    let known = KnownKeys {
        counts: std::array::from_fn(|_| counts[0].clone()),
        occurrences: std::array::from_fn(|_| occurrences.clone()),
    };
    Recorded {
        manifest,
        trees,
        known,
        out_of_budget: 0,
        kinds: &Kind::ALL,
        index: Arc::default(),
        group_keys: None,
    }
}

/// The cells of `trees` trees by two groupings: by the number modulo three, and by first and second half.
pub(in crate::analysis) fn cells(trees: u32) -> Cells {
    let groups = |names: u32, group: &dyn Fn(u32) -> u32| Groups {
        names: (0..names).map(|name| name.to_string()).collect(),
        group_by_tree: (0..trees).map(group).collect(),
    };
    let by_threes = groups(3, &|tree| tree % 3);
    let halves = groups(2, &|tree| u32::from(tree >= trees / 2));
    Cells::single(trees as usize).and(&by_threes).and(&halves)
}

fn cost(pages: u32, found: usize) -> LevelCost {
    let found = u32::try_from(found).unwrap();
    LevelCost {
        requests: pages,
        pages,
        bytes: u64::from(pages) * 10_000,
        busy_ms: f64::from(pages) * 100.0,
        urls: found,
        hosts: found,
        sites: found,
    }
}

/// A country whose trees differ as much as the trees of real Webs: their sizes follow Pareto's law with
/// exponent 1.5 (finite mean, infinite variance), large trees are deep, and some of their link targets are
/// the same.
pub(in crate::analysis) fn country(trees: usize, depths: usize, seed: u64) -> Vec<TestTree> {
    let mut chance = Chance::new(seed, 0);
    let uniform = |chance: &mut Chance| (chance.below(1 << 30) as f64 + 0.5) / f64::from(1 << 30);
    let mut new_names = 0;
    let mut grow = |_| {
        let size = (uniform(&mut chance).powf(-1.0 / 1.5) * 2.0).min(3000.0);
        let height = 1 + (size.log2() * (0.5 + uniform(&mut chance))) as usize;
        let mut levels = vec![(1, Vec::new()); height.min(depths)];
        for _ in 0..size as usize {
            let level = chance.below(levels.len()).min(chance.below(levels.len() + 2));
            let popular = uniform(&mut chance).powi(3) * 500.0;
            new_names += 1;
            let name = if chance.below(3) == 0 { popular as u64 } else { 1000 + new_names };
            levels[level].0 += 1;
            if !levels.iter().any(|(_, names)| names.contains(&name)) {
                levels[level].1.push(name);
            }
        }
        TestTree { cctld: ["ke", "tz", "ug"][chance.below(3)], outcome: "complete", levels, not_fetched: 0 }
    };
    (0..trees).map(&mut grow).collect()
}
