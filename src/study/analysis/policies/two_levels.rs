use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::play::{Fetched, PolicyRun, TreeRun};
use super::recorded_graph::{NO_PAGE, ROBOTS, RecordedGraph};
use crate::analysis::{
    Exchanges, Kind, KnownKeys, LevelCost, Occurrence, Occurrences, Recorded, Tree, Trees,
};

/// The kinds of links that policies know: only hosts.
const KINDS: &[Kind] = &[Kind::Hosts];

impl RecordedGraph {
    /// The run of a policy in the form of a survey with two levels: the requests and finds of the policy at
    /// level 0, all others below. The load and coverage of level 0 are then those of the policy, with
    /// intervals over the same site trees and by the same rules as for a depth.
    #[must_use]
    pub(in crate::analysis) fn in_two_levels(&self, run: &PolicyRun, surveyed: &Recorded) -> Recorded {
        let tree_indices = self.tree_indices();
        let (full_run, mut levels, mut found) = (self.recorded_run(), Vec::new(), Vec::new());
        let mut trees = Vec::with_capacity(surveyed.trees.len());
        for (number, tree) in (0..).zip(surveyed.trees.iter()) {
            let first_level = levels.len();
            if let Some(position) = tree_indices.get(&(&*tree.site, tree.seed)) {
                let (run, full_run) = (&run.trees[*position], &full_run.trees[*position]);
                found.extend(occurrences(number, run, full_run));
                let beyond =
                    |all: u64, part: u64| u32::try_from(all.saturating_sub(part)).unwrap_or(u32::MAX);
                let [all, some] = [full_run, run].map(|run| run.hosts.len() as u64);
                let cost = |requests, hosts| LevelCost { requests, hosts, ..LevelCost::default() };
                levels.push(cost(beyond(run.requests, 0), beyond(some, 0)));
                levels.push(cost(beyond(full_run.requests, run.requests), beyond(all, some)));
            }
            let level_count = levels.len() - first_level;
            let deepest = (level_count > 0).then_some(1);
            trees.push(Tree { first_level, level_count, deepest, ..tree.clone() });
        }
        found.sort_unstable();
        let mut known = KnownKeys::default();
        let host_keys = Occurrences { list: found, halvings: 0 };
        known.counts[Kind::Hosts as usize] = host_keys.known_by_depth();
        known.occurrences[Kind::Hosts as usize] = host_keys;
        let trees = Trees {
            trees,
            levels: Arc::new(levels),
            not_fetched: Vec::new(),
            labels: surveyed.trees.labels.clone(),
        };
        Recorded {
            manifest: surveyed.manifest.clone(),
            trees,
            known,
            out_of_budget: surveyed.out_of_budget,
            kinds: KINDS,
            index: Arc::default(),
            group_keys: None,
        }
    }

    /// The exchanges that a policy would make, in the order of the survey. robots.txt is requested unless the
    /// policy leaves out all pages of the tree. Exchanges that were never sent go with the next page.
    #[must_use]
    pub(in crate::analysis) fn exchanges_of(
        &self,
        fetched: &Fetched,
        surveyed: &Recorded,
        all: &Exchanges,
    ) -> Exchanges {
        let tree_indices = self.tree_indices();
        let fetched_rows: Vec<Option<Vec<bool>>> = surveyed
            .trees
            .iter()
            .map(|tree| {
                let position = *tree_indices.get(&(&*tree.site, tree.seed))?;
                let pages = fetched[position].as_deref();
                let is_begun = pages.is_some_and(|pages| pages.is_empty() || pages.contains(&true));
                let mut is_next_fetched = false;
                let mut row_flags: Vec<bool> = Vec::with_capacity(self.trees[position].row_pages.len());
                for page in self.trees[position].row_pages.iter().rev() {
                    if *page != NO_PAGE && *page != ROBOTS {
                        is_next_fetched = pages.is_some_and(|pages| pages[*page as usize]);
                    }
                    row_flags.push(is_next_fetched || is_begun && *page == ROBOTS);
                }
                row_flags.reverse();
                Some(row_flags)
            })
            .collect();
        all.only(|tree, row| match fetched_rows.get(tree as usize) {
            Some(Some(row_flags)) => row_flags.get(row).copied().unwrap_or_default(),
            // Attempts that reached no server are made with every policy.
            _ => true,
        })
    }

    /// The index of each tree.
    fn tree_indices(&self) -> HashMap<(&str, u16), usize> {
        let trees = self.trees.iter().enumerate();
        trees.map(|(position, tree)| ((tree.name.0.as_str(), tree.name.1), position)).collect()
    }
}

/// The hosts of a tree, once each: at depth 0 if the policy found them, otherwise at depth 1.
fn occurrences<'a>(
    tree: u32,
    run: &'a TreeRun,
    full_run: &'a TreeRun,
) -> impl Iterator<Item = Occurrence> + 'a {
    let found: std::collections::HashSet<u32> = run.hosts.iter().copied().collect();
    full_run.hosts.iter().map(move |host| Occurrence {
        key: xxh3_64(&host.to_le_bytes()),
        tree,
        depth: u16::from(!found.contains(host)),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::play::Policy;
    use super::super::recorded_graph::{GraphPage, SiteTree};
    use super::*;
    use crate::address::WebUrl;
    use crate::analysis::curves::worlds::{survey, tree};
    use crate::analysis::{Curves, LoadUnit, Sampling};
    use crate::exchange::Depth;
    use crate::walk::yields::RatesSource;

    /// A chain of pages, each one level below the page before, with the hosts that each names.
    fn chain(number: usize, pages: &[Vec<u32>]) -> SiteTree {
        let last = pages.len() - 1;
        let page = |(position, hosts): (usize, &Vec<u32>)| GraphPage {
            url: WebUrl::parse(&format!("http://site{number}.ke/{position}")).unwrap(),
            depth: Depth(u16::try_from(position).unwrap()),
            requests: 1 + position as u64 % 2,
            redirect: None,
            links: (position < last).then(|| u32::try_from(position + 1).unwrap()).into_iter().collect(),
            hosts: hosts.clone(),
        };
        SiteTree {
            name: (format!("site{number}.ke"), 0),
            pages: pages.iter().enumerate().map(page).collect(),
            robots: 1,
            has_responded: true,
            ..SiteTree::default()
        }
    }

    fn graph(trees: &[Vec<Vec<u32>>]) -> RecordedGraph {
        let source = RatesSource { survey: "deep".to_owned(), trees: trees.len() as u64, pages: 0, hosts: 0 };
        let trees = trees.iter().enumerate().map(|(number, pages)| chain(number, pages)).collect();
        RecordedGraph { source, trees, unrecorded: 0 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_policy_has_the_load_and_coverage_of_its_run(
            trees in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_u32..9, 0..3), 1..6), 2..9),
            depth in 0_u16..5,
        ) {
            let graph = graph(&trees);
            let surveyed = survey(&vec![tree("complete", &[(1, &[])]); trees.len()]);
            let (run, fetched) = graph.trace(&Policy::Depth(depth), 20);
            let point = run.point(&graph.recorded_run());
            let sampling = Sampling { replicates: 20, ..Sampling::default() };
            let curves = Curves::measure(&graph.in_two_levels(&run, &surveyed), &sampling);
            let level = &curves.levels[0];
            let (load, coverage) = (level.load(LoadUnit::Requests), level.union(Kind::Hosts));
            prop_assert!((load.value - point.load).abs() < 1e-9, "{:?} {:?}", load, point);
            let hosts = trees.iter().flatten().flatten().count();
            if hosts > 0 {
                prop_assert!((coverage.value - point.coverage).abs() < 1e-9, "{:?} {:?}", coverage, point);
            }
            for (fetched, pages) in fetched.iter().zip(&trees) {
                let walked = pages.len().min(usize::from(depth) + 1);
                let fetched = fetched.iter().flatten().filter(|is_fetched| **is_fetched);
                prop_assert_eq!(fetched.count(), walked);
            }
        }
    }

    #[test]
    fn what_a_survey_tells_the_next_one_is_worth_most_where_hosts_were_found() {
        let rates = crate::walk::yields::Rates::new(
            Vec::new(),
            crate::walk::yields::Scale { by_depth: vec![1.0], ..Default::default() },
            crate::walk::yields::Scale { by_depth: vec![1.0], ..Default::default() },
        );
        let hub = vec![vec![], vec![], (0..9).collect()];
        let barren = vec![vec![]; 3];
        let graph = graph(&[hub, barren]);
        // Robots.txt, two entrances, and those of the four other pages that lead to the hosts.
        let (memories, focus) = graph.memories(&rates, 0.75);
        let requests: u64 = graph.recorded_run().trees.iter().map(|tree| tree.requests).sum();
        assert_eq!((focus.earlier_requests, focus.settled_requests), (requests, 4));
        let worth = |number: usize, page: usize| {
            let url = &graph.trees[number].pages[page].url;
            memories.get(&format!("site{number}.ke")).unwrap().worth(url).unwrap()
        };
        assert!(worth(0, 2) > 1.0 && worth(0, 1) > 1.0 && worth(1, 2) < 0.2, "{memories:?}");
        let (rates, price) = (std::sync::Arc::new(rates), focus.price.unwrap());
        let policy = Policy::Focus(rates, price, std::sync::Arc::new(memories));
        let run = graph.play(&policy, 20);
        assert_eq!(run.point(&graph.recorded_run()).coverage, 1.0);
        assert_eq!(run.trees[1].requests, 2, "of the barren site only what is asked for in any case");
    }
}
