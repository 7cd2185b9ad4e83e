use serde::{Deserialize, Serialize};

/// The expected and the actual yield of a group of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct YieldEvidence {
    pub expected: f64,
    pub found: f64,
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

impl YieldEvidence {
    pub(super) fn add(&mut self, expected: f64, found: f64) {
        self.expected += expected;
        self.found += found;
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
        let mean = |expected, found| YieldEvidence { expected, found }.factor(2.0, 1.0).mean;
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
}
