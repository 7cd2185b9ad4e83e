use serde::Serialize;

use crate::analysis::curves::LOAD;
use crate::analysis::curves::censoring::{might_bring, share};
use crate::analysis::{Kind, LevelCost, LoadUnit, NotFetched, Reading, Recorded};

/// The finds and the load of the levels walked, as a share of what a survey without a depth limit would have.
///
/// Coverage and load are shares of what the survey knows. So they reach 1 at the last level even if most
/// trees continue below it. What lies deeper is estimated in two ways. *With the next level*: every URL that
/// was not fetched because of the depth is a page and brings as much as a page of its tree, all of it new,
/// and nothing lies below it. *By the trend*: the amount that each further level adds shrinks at the same
/// rate as from the second-last to the last level. If it did not shrink, there is no trend, and only the next
/// level counts. The true share may be less than either estimate if levels still grow.
#[derive(Clone, Debug, Serialize)]
pub struct DepthShares {
    /// Site trees that continue below the depth of the survey.
    pub open_trees: u64,
    /// The share of external URLs, hosts and sites, each counted once in every site tree.
    pub pair: [DepthShare; 3],
    /// The share of external URLs, hosts, sites and server addresses, each counted once in the survey.
    pub union: [DepthShare; 4],
    /// The share of requests, bytes and busy time.
    pub load: [DepthShare; 3],
}

/// A share of what a survey without a depth limit would have, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DepthShare {
    /// The share if all URLs not fetched because of the depth bring something new, and no level lies below
    /// them.
    pub with_next: f64,
    /// The share if the levels continue to shrink at the same rate.
    pub by_trend: f64,
}

impl DepthShares {
    /// Compares what the last levels brought with the URLs that they did not fetch.
    #[must_use]
    pub fn measure(recorded: &Recorded) -> Self {
        let not_fetched = recorded.trees.not_fetched();
        let mut open: Vec<u32> =
            not_fetched.iter().filter(|entry| entry.too_deep > 0).map(|entry| entry.tree).collect();
        open.dedup();
        let too_deep = |entry: &NotFetched| u64::from(entry.too_deep);
        let might_bring = might_bring(recorded, too_deep);
        let pair = |kind: usize| {
            DepthShare::from_levels(&by_depth(recorded, |level| level.found()[kind]), might_bring[kind])
        };
        let union = |kind: Kind| {
            let depths = 0..=recorded.trees.deepest();
            let known: Vec<f64> =
                depths.map(|depth| recorded.known.counts(kind).up_to(depth) as f64).collect();
            DepthShare::from_levels(&increments(&known), might_bring[kind as usize])
        };
        let urls: u64 = not_fetched.iter().map(too_deep).sum();
        Self {
            open_trees: open.len() as u64,
            pair: std::array::from_fn(pair),
            union: Kind::ALL.map(union),
            load: LOAD.map(|amount| {
                let (load, requests) = (by_depth(recorded, amount), by_depth(recorded, LOAD[0]));
                let load_per_request = share(load.iter().sum(), requests.iter().sum());
                DepthShare::from_levels(&load, urls as f64 * load_per_request)
            }),
        }
    }

    /// The share of the finds that the survey knows.
    #[must_use]
    pub fn known_share(&self, kind: Kind, reading: Reading) -> DepthShare {
        match reading {
            Reading::Pair => self.pair.get(kind as usize).copied().unwrap_or(self.union[kind as usize]),
            Reading::Union => self.union[kind as usize],
        }
    }

    /// The share of the load that the survey spent.
    #[must_use]
    pub fn spent(&self, unit: LoadUnit) -> DepthShare {
        self.load[unit as usize]
    }
}

impl DepthShare {
    /// Computes the share from the amount of each level, from depth 0 down, and the expected amount of the
    /// next level.
    fn from_levels(levels: &[f64], next: f64) -> Self {
        let all: f64 = levels.iter().sum();
        if next <= 0.0 || all <= 0.0 {
            return Self { with_next: 1.0, by_trend: 1.0 };
        }
        let with_next = all / (all + next);
        let deeper = match levels {
            [.., before, last] if last < before => last * last / (before - last),
            _ => f64::INFINITY,
        };
        Self { with_next, by_trend: with_next.max(all / (all + deeper)) }
    }
}

/// The amount of all trees together at each depth.
fn by_depth(recorded: &Recorded, amount: impl Fn(&LevelCost) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; usize::from(recorded.trees.deepest()) + 1];
    for tree in 0..recorded.trees.len() {
        for (sum, level) in sums.iter_mut().zip(recorded.trees.levels(tree)) {
            *sum += amount(level);
        }
    }
    sums
}

/// The amount that each depth adds.
fn increments(up_to: &[f64]) -> Vec<f64> {
    let before = std::iter::once(&0.0).chain(up_to);
    up_to.iter().zip(before).map(|(known, before)| known - before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::curves::worlds::{TestTree, survey, tree};

    fn cut(levels: &[(u32, &[u64])], not_fetched: u32) -> TestTree {
        TestTree { not_fetched, ..tree("depth", levels) }
    }

    #[test]
    fn a_survey_that_saw_all_trees_to_their_ends_knows_all() {
        let shares = DepthShares::measure(&survey(&[tree("complete", &[(1, &[1, 2]), (2, &[3])])]));
        let all = DepthShare { with_next: 1.0, by_trend: 1.0 };
        assert_eq!((shares.open_trees, shares.union, shares.load), (0, [all; 4], [all; 3]));
    }

    #[test]
    fn urls_that_a_budget_or_a_trap_kept_back_are_not_deeper() {
        let trap_tree = TestTree { not_fetched: 9, ..tree("trap", &[(1, &[1, 2]), (2, &[3])]) };
        assert_eq!(DepthShares::measure(&survey(&[trap_tree])).open_trees, 0);
    }

    #[test]
    fn levels_that_bring_less_and_less_tell_how_much_is_left() {
        // Levels of 8, 4 and 2 continue as 1, a half and so on: 2 are left. Pages bring 14 links per 7 pages,
        // so ten unfetched URLs might bring 20.
        let names: Vec<u64> = (0..14).collect();
        let deep_tree = cut(&[(4, &names[..8]), (2, &names[8..12]), (1, &names[12..])], 10);
        let shares = DepthShares::measure(&survey(&[deep_tree]));
        let expected = DepthShare { with_next: 14.0 / 34.0, by_trend: 14.0 / 16.0 };
        assert_eq!((shares.open_trees, shares.union[0], shares.pair[1]), (1, expected, expected));
        assert_eq!(shares.load[0], DepthShare { with_next: 7.0 / 17.0, by_trend: 7.0 / 8.0 });
    }

    #[test]
    fn levels_that_bring_more_and_more_have_no_trend() {
        let shares = DepthShares::measure(&survey(&[cut(&[(1, &[1]), (2, &[2, 3, 4])], 3)]));
        assert_eq!(shares.union[0], DepthShare { with_next: 0.5, by_trend: 0.5 });
    }
}
