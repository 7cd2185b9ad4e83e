use serde::Serialize;

use crate::analysis::{Kind, NotFetched, Recorded, TreeEnd, Trees};

/// Bounds on coverage, whatever the trees hold below the level where they were cut.
///
/// Coverage is a share of what the survey knows, and a tree that was cut may hold more. The lower bound
/// assumes that everything in the cut trees is new: every URL that a cut tree did not fetch (too deep, beyond
/// a limit, taken for a trap, opted out) is a page, and this page with everything below it brings as much as
/// a page of that depth with everything below it brought in the trees that ended by themselves, or as much as
/// a page of its own tree, whichever is more. The upper bound assumes that the cut trees bring nothing more:
/// it is the measured coverage.
///
/// The lower bound belongs to this model and is not the worst case: an endless tree may bring anything.
#[derive(Clone, Debug, Serialize)]
pub struct Censoring {
    /// Trees that a limit of the survey ended.
    pub cut_trees: u64,
    /// URLs of cut trees that were found and not fetched.
    pub unasked_urls: u64,
    /// What these URLs would bring if all of it were new: external URLs, hosts, sites and server addresses.
    pub might_bring: [f64; 4],
    /// The levels, from depth 0 down.
    pub levels: Vec<CensoredLevel>,
}

/// Bounds on the coverage of levels 0 to `depth`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CensoredLevel {
    /// The deepest level that is counted.
    pub depth: u16,
    /// External URLs, hosts and sites, each counted once in every site tree.
    pub pair: [Bounds; 3],
    /// External URLs, hosts, sites and server addresses, each counted once in the survey.
    pub union: [Bounds; 4],
}

/// The lower and the upper bound on coverage, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bounds {
    /// The coverage if all that the cut trees might bring were new.
    pub low: f64,
    /// The coverage if the cut trees brought nothing more.
    pub high: f64,
}

impl Censoring {
    /// Computes the bounds for a survey.
    #[must_use]
    pub fn measure(recorded: &Recorded) -> Self {
        let trees = &recorded.trees;
        let is_cut = |tree: usize| trees.get(tree).ended == TreeEnd::Cut;
        let not_fetched = |entry: &NotFetched| if is_cut(entry.tree as usize) { entry.urls() } else { 0 };
        let might_bring = might_bring(recorded, not_fetched);
        let cut_trees = (0..trees.len()).filter(|tree| is_cut(*tree)).count() as u64;
        let unasked_urls = trees.not_fetched().iter().map(not_fetched).sum();
        Self { cut_trees, unasked_urls, levels: levels(recorded, might_bring), might_bring }
    }
}

/// What unfetched URLs would bring if all of it were new: external URLs, hosts, sites and server addresses.
/// `count_urls` gives the number of URLs for each tree and depth.
pub(in crate::analysis) fn might_bring(
    recorded: &Recorded,
    count_urls: impl Fn(&NotFetched) -> u64,
) -> [f64; 4] {
    let trees = &recorded.trees;
    let yields = Yields::from_trees(trees);
    let mut found = [0.0; 3];
    for entry in trees.not_fetched() {
        let per_page = yields.yield_per_page(trees, entry.tree as usize, entry.depth);
        add(&mut found, per_page.map(|per_page| count_urls(entry) as f64 * per_page));
    }
    with_addresses(recorded, found)
}

/// Adds server addresses, in the ratio of known addresses to known hosts.
fn with_addresses(recorded: &Recorded, [urls, hosts, sites]: [f64; 3]) -> [f64; 4] {
    let known = |kind| recorded.known.counts(kind).total() as f64;
    let addresses = hosts * share(known(Kind::Addresses), known(Kind::Hosts));
    [urls, hosts, sites, addresses]
}

fn levels(recorded: &Recorded, might_bring: [f64; 4]) -> Vec<CensoredLevel> {
    let mut by_depth = vec![[0.0; 3]; usize::from(recorded.trees.deepest()) + 1];
    for tree in 0..recorded.trees.len() {
        for (sums, level) in by_depth.iter_mut().zip(recorded.trees.levels(tree)) {
            add(sums, level.found());
        }
    }
    let all = by_depth.iter().fold([0.0; 3], |mut sums, level| {
        add(&mut sums, *level);
        sums
    });
    let mut up_to = [0.0; 3];
    (0..)
        .zip(by_depth)
        .map(|(depth, level)| {
            add(&mut up_to, level);
            let known = |kind: usize| &recorded.known.counts[kind];
            CensoredLevel {
                depth,
                pair: std::array::from_fn(|kind| bounds(up_to[kind], all[kind], might_bring[kind])),
                union: std::array::from_fn(|kind| {
                    bounds(known(kind).up_to(depth) as f64, known(kind).total() as f64, might_bring[kind])
                }),
            }
        })
        .collect()
}

fn bounds(up_to: f64, all: f64, might_bring: f64) -> Bounds {
    Bounds { low: share(up_to, all + might_bring), high: share(up_to, all) }
}

pub(in crate::analysis) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn add(sums: &mut [f64; 3], more: [f64; 3]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

/// By depth, what a page brought with everything below it in the trees that ended by themselves: external
/// URLs, hosts and sites.
struct Yields {
    by_depth: Vec<[f64; 3]>,
}

impl Yields {
    fn from_trees(trees: &Trees) -> Self {
        let mut pages = vec![0.0; usize::from(trees.deepest()) + 1];
        let mut found = vec![[0.0; 3]; pages.len()];
        let ended = (0..trees.len()).filter(|tree| trees.get(*tree).ended == TreeEnd::ByItself);
        for tree in ended {
            for (depth, level) in trees.levels(tree).iter().enumerate().take(pages.len()) {
                pages[depth] += f64::from(level.pages);
                add(&mut found[depth], level.found());
            }
        }
        for depth in (1..found.len()).rev() {
            let below = found[depth];
            add(&mut found[depth - 1], below);
        }
        let by_depth = found.iter().zip(&pages).map(|(found, pages)| found.map(|sum| share(sum, *pages)));
        Self { by_depth: by_depth.collect() }
    }

    /// What an unfetched page of a tree might bring. A page deeper than all trees that ended by themselves
    /// brings as much as the mean page of its own tree.
    fn yield_per_page(&self, trees: &Trees, tree: usize, depth: u16) -> [f64; 3] {
        let (mut pages, mut own) = (0.0, [0.0; 3]);
        for level in trees.levels(tree) {
            pages += f64::from(level.pages);
            add(&mut own, level.found());
        }
        let average = self.by_depth.get(usize::from(depth)).copied().unwrap_or_default();
        std::array::from_fn(|kind| average[kind].max(share(own[kind], pages)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::curves::worlds::{TestTree, survey, tree};

    #[test]
    fn without_cut_trees_coverage_is_what_was_measured() {
        let found = Censoring::measure(&survey(&[tree("complete", &[(1, &[1, 2]), (2, &[3, 4])])]));
        assert_eq!((found.cut_trees, found.unasked_urls, found.might_bring), (0, 0, [0.0; 4]));
        assert_eq!(found.levels[0].union, [Bounds { low: 0.5, high: 0.5 }; 4]);
        assert_eq!(found.levels[1].pair, [Bounds { low: 1.0, high: 1.0 }; 3]);
    }

    #[test]
    fn unasked_urls_bring_what_pages_of_their_depth_and_below_brought_elsewhere() {
        let ended = tree("complete", &[(1, &[1]), (2, &[2, 3]), (2, &[4, 5, 6, 7])]);
        let cut = TestTree { not_fetched: 3, ..tree("depth", &[(1, &[1])]) };
        let found = Censoring::measure(&survey(&[ended, cut]));
        // Two pages at depth 1 brought six with everything below them, so three would bring nine.
        assert_eq!((found.cut_trees, found.unasked_urls, found.might_bring), (1, 3, [9.0; 4]));
        assert_eq!(found.levels[0].pair[0], Bounds { low: 2.0 / 17.0, high: 2.0 / 8.0 });
        assert_eq!(found.levels[0].union[1], Bounds { low: 1.0 / 16.0, high: 1.0 / 7.0 });
        assert_eq!(found.levels[2].union[1], Bounds { low: 7.0 / 16.0, high: 1.0 });
    }

    #[test]
    fn a_tree_that_is_deeper_than_all_others_is_its_own_measure() {
        let cut =
            TestTree { not_fetched: 5, ..tree("request_budget", &[(1, &[1]), (3, &[2, 3, 4, 5, 6, 7, 8])]) };
        let found = Censoring::measure(&survey(&[tree("complete", &[(1, &[])]), cut]));
        assert_eq!(found.might_bring, [10.0; 4]);
    }
}
