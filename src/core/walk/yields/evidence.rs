use serde::{Deserialize, Serialize};

/// The expected and the actual yield of a group of pages, and how its latest pages did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct YieldEvidence {
    pub expected: f64,
    pub found: f64,
    /// The number of pages.
    pub pages: u32,
    /// The number of pages that brought something.
    pub hits: u32,
    /// The mean yield, in which each page counts [`RECENT`] and all before it the rest.
    pub recent: f64,
    /// The number of pages since the last that brought something.
    pub dry: u32,
}

/// A factor of the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factor {
    /// The posterior mean.
    pub mean: f64,
    /// The evidence behind it, in finds, those of the prior included: the standard deviation of the factor is
    /// its mean over the square root of this.
    pub shape: f64,
}

/// The weight of the latest page in the recent mean.
const RECENT: f64 = 0.15;

impl YieldEvidence {
    pub(super) fn add(&mut self, expected: f64, found: f64) {
        self.recent = if self.pages == 0 { found } else { self.recent + RECENT * (found - self.recent) };
        self.expected += expected;
        self.found += found;
        self.pages = self.pages.saturating_add(1);
        if found > 0.0 {
            self.hits = self.hits.saturating_add(1);
            self.dry = 0;
        } else {
            self.dry = self.dry.saturating_add(1);
        }
    }

    /// Adds the evidence of the same group in another tree.
    pub(super) fn join(&mut self, other: &Self) {
        if other.pages == 0 {
            return;
        }
        let [own, others] = [self.pages, other.pages].map(f64::from);
        self.recent = (self.recent * own + other.recent * others) / (own + others);
        self.dry = other.dry;
        self.expected += other.expected;
        self.found += other.found;
        self.pages = self.pages.saturating_add(other.pages);
        self.hits = self.hits.saturating_add(other.hits);
    }

    /// How much more the group brings than its pages alone would lead to expect, if factors above it explain
    /// `above` of that. The prior is a gamma distribution with mean 1 and the weight of `prior` expected
    /// finds.
    pub(super) fn factor(self, prior: f64, above: f64) -> Factor {
        let weight = prior + above * self.expected;
        Factor { mean: (prior + self.found) / weight, shape: prior + self.found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_begins_at_one_and_moves_as_evidence_comes() {
        let mean = |expected, found| {
            YieldEvidence { expected, found, ..YieldEvidence::default() }.factor(2.0, 1.0).mean
        };
        assert!((mean(0.0, 0.0) - 1.0).abs() < 1e-12);
        assert!((mean(0.2, 0.0) - 2.0 / 2.2).abs() < 1e-12, "little was expected, so nothing says little");
        assert!((mean(6.0, 0.0) - 0.25).abs() < 1e-12);
        assert!((mean(6.0, 22.0) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn what_a_factor_above_explains_is_not_counted_twice() {
        let mut evidence = YieldEvidence::default();
        (0..10).for_each(|_| evidence.add(1.0, 3.0));
        let of_site = evidence.factor(1.0, 1.0).mean;
        let of_branch = evidence.factor(1.0, of_site).mean;
        assert!((of_site - 31.0 / 11.0).abs() < 1e-12);
        assert!((of_branch - 31.0 / (1.0 + 310.0 / 11.0)).abs() < 1e-12, "{of_branch}");
    }

    #[test]
    fn the_latest_pages_count_most_and_what_came_of_two_trees_is_added() {
        let mut evidence = YieldEvidence::default();
        [4.0, 0.0, 0.0].into_iter().for_each(|found| evidence.add(1.0, found));
        assert_eq!((evidence.pages, evidence.hits, evidence.dry), (3, 1, 2));
        assert!((evidence.recent - 4.0 * 0.85 * 0.85).abs() < 1e-12);
        let mut both = evidence;
        both.join(&YieldEvidence::default());
        assert_eq!(both, evidence, "a group that the other tree does not have");
        both.join(&evidence);
        assert_eq!((both.pages, both.hits, both.dry, both.found), (6, 2, 2, 8.0));
        assert!((both.recent - evidence.recent).abs() < 1e-12);
    }
}
