use serde::Serialize;

use crate::analysis::tables::in_turn::parallel_array;
use crate::analysis::{Estimate, Kind, Occurrences, Recorded, Sampling};

/// The total number of external URLs, hosts, sites and addresses, including the ones that no surveyed tree
/// links to.
///
/// This is Chao's estimate from incidences with site trees as samples (Chao, Biometrics 43, 1987: Chao2),
/// with the log-normal interval of the same paper, and the sample coverage after Good and Turing for
/// incidences (Chao and Jost, Ecology 93, 2012). Chao's variance assumes that keys are found independently,
/// but a single tree may bring thousands of keys that no other tree knows. The variance is therefore at least
/// twice the jackknife variance, which leaves out trees one by one (Efron and Stein, Annals of Statistics 9,
/// 1981): if a few trees hold most of the keys, half of the variance is in trees that the survey does not
/// have (measured in `reports/intervals`).
#[derive(Clone, Debug, Serialize)]
pub struct Unseen {
    /// One estimate for each kind.
    pub kinds: Vec<UnseenOfKind>,
    /// The assumptions of the estimates, as text.
    pub caveat: &'static str,
}

/// The estimate for one kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UnseenOfKind {
    /// The kind that is counted.
    pub kind: Kind,
    /// Keys known from the survey.
    pub known: u64,
    /// Keys known from exactly one site tree.
    pub in_one_tree: u64,
    /// Keys known from exactly two site trees.
    pub in_two_trees: u64,
    /// A lower bound on the number of all keys, known ones included, with its interval.
    pub all: Estimate,
    /// The share of links that would lead to known keys if more trees were walked; none for a single tree or
    /// a single link, which do not show how often further links lead to the same key.
    pub sample_coverage: Option<f64>,
}

/// The caveat that must be shown with the estimate.
pub const UNSEEN_CAVEAT: &str = "This is a lower bound. It is an estimate only if all targets are equally \
    likely to be linked to. They are not: popular targets are linked to together and from everywhere, rare ones \
    hardly at all, so the true number is higher. The interval covers chance alone. It assumes that many more site trees \
    exist than were surveyed: if a quarter or more of them were surveyed, its low end is too high. Targets that no tree \
    links to are not counted.";

impl Unseen {
    /// Estimates the number of unseen keys of every kind.
    #[must_use]
    pub fn estimate(recorded: &Recorded, sampling: &Sampling) -> Self {
        let trees = recorded.trees.len();
        let kinds: [UnseenOfKind; 4] = parallel_array(|number| {
            let kind = Kind::ALL[number];
            let (known, occurrences) =
                (recorded.known.counts(kind).total(), recorded.known.occurrences(kind));
            let all = Frequencies::count(occurrences, known);
            let without = Frequencies::without_each_tree(all, occurrences, trees);
            all.estimate(kind, &without, sampling)
        });
        Self { kinds: kinds.into(), caveat: UNSEEN_CAVEAT }
    }
}

/// The number of known keys, of keys known from exactly one and exactly two trees, and of all incidences.
#[derive(Clone, Copy, Debug)]
struct Frequencies {
    known: f64,
    once: f64,
    twice: f64,
    incidences: f64,
}

impl Frequencies {
    /// Counts the keys. If only a sample of keys is in memory, its counts are scaled up.
    fn count(occurrences: &Occurrences, known: u64) -> Self {
        let count = |trees| occurrences.keys().filter(|key| key.len() == trees).count() as f64;
        let share = occurrences.share();
        Self {
            known: known as f64,
            once: count(1) / share,
            twice: count(2) / share,
            incidences: occurrences.list().len() as f64 / share,
        }
    }

    /// For each tree, the counts without that tree.
    fn without_each_tree(all: Self, occurrences: &Occurrences, trees: usize) -> Vec<Self> {
        let each = occurrences.share().recip();
        let mut without = vec![all; trees];
        for key in occurrences.keys() {
            for one in key {
                let frequencies = &mut without[one.tree as usize];
                frequencies.incidences -= each;
                match key.len() {
                    1 => {
                        (frequencies.known, frequencies.once) =
                            (frequencies.known - each, frequencies.once - each);
                    }
                    2 => {
                        (frequencies.once, frequencies.twice) =
                            (frequencies.once + each, frequencies.twice - each);
                    }
                    3 => frequencies.twice += each,
                    _ => {}
                }
            }
        }
        without
    }

    fn estimate(self, kind: Kind, without: &[Self], sampling: &Sampling) -> UnseenOfKind {
        let trees = without.len() as f64;
        let (unseen, variance) = self.chao2(trees);
        let variance = variance.max(2.0 * Self::jackknife(without));
        let factor = if unseen > 0.0 {
            (sampling.normal_quantile() * (variance / unseen.powi(2)).ln_1p().sqrt()).exp()
        } else {
            1.0
        };
        let all = |unseen: f64| self.known + unseen;
        UnseenOfKind {
            kind,
            known: self.known.round() as u64,
            in_one_tree: self.once.round() as u64,
            in_two_trees: self.twice.round() as u64,
            all: Estimate::between(all(unseen / factor), all(unseen), all(unseen * factor)),
            sample_coverage: self.coverage(trees),
        }
    }

    /// The jackknife variance: of the estimates without each single tree.
    fn jackknife(without: &[Self]) -> f64 {
        let other_trees = without.len() as f64 - 1.0;
        let estimates: Vec<f64> =
            without.iter().map(|frequencies| frequencies.known + frequencies.chao2(other_trees).0).collect();
        let mean = estimates.iter().sum::<f64>() / (other_trees + 1.0);
        estimates.iter().map(|one| (one - mean).powi(2)).sum::<f64>() * other_trees / (other_trees + 1.0)
    }

    /// The number of unseen keys and the variance of the estimate. If no key is in exactly two trees, the
    /// bias-corrected forms are used.
    fn chao2(self, trees: f64) -> (f64, f64) {
        let correction = (trees - 1.0).max(0.0) / trees.max(1.0);
        let (once, twice) = (self.once, self.twice);
        if twice > 0.0 {
            let ratio = once / twice;
            let terms = correction / 2.0 * ratio.powi(2)
                + correction.powi(2) * ratio.powi(3)
                + correction.powi(2) / 4.0 * ratio.powi(4);
            return (correction * once * ratio / 2.0, twice * terms);
        }
        let unseen = correction * once * (once - 1.0).max(0.0) / 2.0;
        let all = (self.known + unseen).max(1.0);
        let variance = unseen + correction.powi(2) * once * (2.0 * once - 1.0).powi(2) / 4.0
            - correction.powi(2) * once.powi(4) / (4.0 * all);
        (unseen, variance.max(0.0))
    }

    fn coverage(self, trees: f64) -> Option<f64> {
        if trees < 2.0 || self.incidences < 2.0 {
            return None;
        }
        let once = if self.twice > 0.0 { self.once } else { (self.once - 1.0).max(0.0) };
        let twice = self.twice.max(1.0);
        let weight = (trees - 1.0) * once;
        Some(1.0 - self.once / self.incidences * (weight / (weight + 2.0 * twice)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::curves::worlds::{TestTree, survey, tree};

    fn trees(names: &[&[u64]]) -> Vec<TestTree> {
        names.iter().map(|names| tree("complete", &[(1, names)])).collect()
    }

    #[test]
    fn unseen_hosts_are_told_from_those_seen_once_and_twice() {
        // Ten names: four in one tree, three in two, three in three. The values were computed separately by
        // Chao's formulas and the jackknife.
        let names: [&[u64]; 5] = [&[1, 2, 5, 8, 9], &[3, 5, 6, 8, 10], &[4, 6, 7, 8, 9], &[7, 9, 10], &[10]];
        let unseen = Unseen::estimate(&survey(&trees(&names)), &Sampling::default());
        let hosts = &unseen.kinds[Kind::Hosts as usize];
        assert_eq!((hosts.known, hosts.in_one_tree, hosts.in_two_trees), (10, 4, 3));
        for (found, expected) in [
            (hosts.all.value, 12.1333),
            (hosts.all.low, 10.2130),
            (hosts.all.high, 31.3672),
            (hosts.sample_coverage.unwrap(), 0.84689),
        ] {
            assert!((found - expected).abs() < 5e-4 * expected, "{found} is not {expected}");
        }
    }

    #[test]
    fn nothing_is_unseen_where_every_tree_links_to_the_same() {
        let unseen = Unseen::estimate(&survey(&trees(&[&[1, 2], &[1, 2], &[1, 2]])), &Sampling::default());
        let sites = &unseen.kinds[Kind::Sites as usize];
        assert_eq!(sites.all, Estimate::exact(2.0));
        assert!((sites.sample_coverage.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn surveys_without_links_or_with_one_tree_have_finite_estimates() {
        for names in [&[&[] as &[u64]] as &[&[u64]], &[&[1, 2, 3]], &[&[1], &[2]]] {
            let unseen = Unseen::estimate(&survey(&trees(names)), &Sampling::default());
            for kind in unseen.kinds {
                let figures = [kind.all.value, kind.all.low, kind.all.high];
                assert!(kind.sample_coverage.is_none_or(|share| (0.0..=1.0).contains(&share)), "{kind:?}");
                let has_coverage = trees(names).len() > 1;
                assert_eq!(kind.sample_coverage.is_some(), has_coverage, "{kind:?}");
                assert!(figures.iter().all(|figure| figure.is_finite() && *figure >= 0.0), "{kind:?}");
            }
        }
    }
}
