//! The most likely value of a share among all sites like the surveyed ones.
//!
//! A share over site trees is a ratio of sums, and a few trees hold most of both sums. The largest trees are
//! the deepest. Most samples hold fewer of them than their fair part, and a few samples hold far more. So the
//! curve of a sample lies above the curve of its Web in most samples, and too high on average. The
//! *corrected* share lies, on the scale of log-odds, halfway between the measured share and the value below
//! which a fifth of the Webs lie that might have given the sample ([`HeavyTail`]). A sample that lacks the
//! largest trees does not show it, but the sizes of the trees that it has show how large others are. The
//! corrected share is never above the measured one. Large surveys contain the largest trees: above three
//! hundred trees, the correction shrinks in proportion.
//!
//! `reports/intervals` measures how much bias this removes and how much remains, on Webs that the method was
//! not tuned on. It compares the jackknife and Beale's ratio estimator, which hardly correct the mean of deep
//! levels and have larger errors; a tail of Pareto's law in place of the large trees; and, where keys are
//! counted once in the survey, the richness estimators of Chao and of Good and Turing. Until November 2026
//! the log-odds were lowered by their squared standard error, which is small in just those samples that lack
//! the largest trees: that removed a third of the bias of 100 trees and made the error larger. Among real
//! documentation packages, whose large sites are no deeper than others, shares of 30 and 60 sites come out
//! about two points too low.
//!
//! [`HeavyTail`]: super::heavy_tail::HeavyTail

use super::heavy_tail::DrawnShare;
use super::sampled_rate::SampledRate;

/// The position of the corrected share between the measured share (0) and the value below which a fifth of
/// the drawn Webs lie (1).
const CORRECTED_PART: f64 = 0.5;
/// Up to this number of trees the full correction applies; above it, the correction shrinks in proportion.
const FULL_CORRECTION_TREES: f64 = 300.0;
/// The maximum distance in log-odds between the two: a greater one means that the draws hold none of it.
const MAX_DISTANCE: f64 = 3.0;

/// The share down to a depth, with most of its bias removed.
pub(in crate::analysis) fn corrected(all: &SampledRate, depth: usize, drawn: DrawnShare) -> f64 {
    let value = 1.0 - all.missing(depth);
    if value <= 0.0 || value >= 1.0 {
        return value;
    }
    let distance = (log_odds(value) - log_odds(drawn.lower_quintile)).clamp(0.0, MAX_DISTANCE);
    let part = CORRECTED_PART * (FULL_CORRECTION_TREES / f64::from(all.units)).min(1.0);
    from_log_odds(log_odds(value) - part * distance).min(value)
}

/// The standard error of the log-odds of a share between 0 and 1, both excluded, by linearisation.
pub(in crate::analysis) fn spread(all: &SampledRate, depth: usize) -> f64 {
    let missing = all.missing(depth);
    all.spread(depth) / (missing * (1.0 - missing))
}

/// The log-odds of a share. Shares of 0 and 1 are replaced by values next to them.
pub(in crate::analysis) fn log_odds(share: f64) -> f64 {
    let share = share.clamp(1e-12, 1.0 - 1e-12);
    (share / (1.0 - share)).ln()
}

/// The share with these log-odds.
pub(in crate::analysis) fn from_log_odds(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::intervals::chance::Chance;
    use crate::analysis::intervals::heavy_tail::HeavyTail;

    fn trees(levels: &[[f64; 2]], times: usize) -> SampledRate {
        let mut rate = SampledRate::new(2);
        rate.begin_stratum();
        for _ in 0..times {
            levels.iter().for_each(|[above, below]| rate.add(above + below, &[*below, 0.0]));
        }
        rate.sum_up();
        rate
    }

    fn corrected_of(trees: &SampledRate, depth: usize) -> f64 {
        let drawn = HeavyTail::new(trees, 1000).drawn_shares(400, 0.025, &mut Chance::new(1, 1));
        corrected(trees, depth, drawn[depth])
    }

    #[test]
    fn uneven_trees_are_corrected_downwards_and_less_as_they_are_more() {
        // Larger trees have a larger part below.
        let uneven: Vec<[f64; 2]> = (1..=60).map(|tree| [2.0, 60.0 / f64::from(tree)]).collect();
        let (few, many) = (trees(&uneven, 1), trees(&uneven, 40));
        let value = 1.0 - few.missing(0);
        let (few, many) = (corrected_of(&few, 0), corrected_of(&many, 0));
        assert!(few < value - 0.02 && few < many && many <= value, "{few} {many} {value}");
    }

    #[test]
    fn a_share_is_never_corrected_upwards_nor_without_end() {
        let trees = trees(&[[3.0, 1.0], [1.0, 3.0]], 10);
        let corrected_at = |lower_quintile| {
            corrected(&trees, 0, DrawnShare { low: 0.0, lower_quintile, median: 0.5, high: 1.0 })
        };
        assert_eq!(corrected_at(0.9), 0.5);
        let lowest = from_log_odds(-CORRECTED_PART * MAX_DISTANCE);
        assert!((corrected_at(0.0) - lowest).abs() < 1e-12, "{} {lowest}", corrected_at(0.0));
    }

    #[test]
    fn trees_that_are_all_the_same_need_no_correction() {
        let same = trees(&[[3.0, 1.0]], 60);
        assert!((corrected_of(&same, 0) - 0.75).abs() < 1e-9);
        assert_eq!(corrected_of(&same, 1), 1.0);
    }

    #[test]
    fn log_odds_and_shares_are_each_others_inverse() {
        for share in [0.001, 0.3, 0.5, 0.96] {
            assert!((from_log_odds(log_odds(share)) - share).abs() < 1e-12);
        }
    }
}
