//! What a share is, in all likelihood, among all sites like those that were surveyed.
//!
//! A share that site trees make up together is a ratio of sums, and few trees hold most of both. The largest trees are the
//! deepest; most samples hold fewer of them than their part, and a few samples far more. So the curve of a sample lies above
//! that of its Web in most samples, and too high on average. The *corrected* share lies, on the scale of log-odds, halfway between
//! what was measured and what a fifth of the Webs lie below that might have given the sample ([`HeavyTail`]): a sample that
//! lacks the largest trees does not know it, but the sizes of those that it has tell how large others are. It is never above what
//! was measured. Large surveys have their giants; of more than three hundred trees less is taken, in proportion.
//!
//! `reports/intervals` measures what that takes away and what remains, on Webs that it was not chosen on, beside the jackknife and
//! Beale's ratio estimator, which correct the mean of deep levels hardly and err by more; a tail of Pareto's law in the place of
//! the large trees; and, where keys are counted once in the survey, the richness of Chao and that of Good and Turing. Until
//! November 2026 the log-odds were lowered by their squared standard error, which is small in just those samples that lack giants:
//! that took a third of the bias of 100 trees away and made the error larger. Among real documentation packages, whose large
//! sites are no deeper than others, shares of 30 and 60 sites come out some two points too low.
//!
//! [`HeavyTail`]: super::heavy_tail::HeavyTail

use super::heavy_tail::DrawnShare;
use super::sampled_rate::SampledRate;

/// How far it lies from what was measured to what a fifth of drawn Webs lie below.
const HALFWAY: f64 = 0.5;
/// So many trees are corrected in full, and more in proportion less.
const IN_FULL: f64 = 300.0;
/// Of the log-odds the farthest that a fifth of the draws tells of: beyond it lies what draws have none of.
const FARTHEST: f64 = 3.0;

/// The share down to a depth without most of its bias.
pub(in crate::analysis) fn corrected(all: &SampledRate, depth: usize, drawn: DrawnShare) -> f64 {
    let value = 1.0 - all.missing(depth);
    if value <= 0.0 || value >= 1.0 {
        return value;
    }
    let down = (log_odds(value) - log_odds(drawn.fifth)).clamp(0.0, FARTHEST);
    let part = HALFWAY * (IN_FULL / f64::from(all.units)).min(1.0);
    from_log_odds(log_odds(value) - part * down).min(value)
}

/// The standard error of the log-odds of a share that is neither nothing nor all, by linearisation.
pub(in crate::analysis) fn spread(all: &SampledRate, depth: usize) -> f64 {
    let missing = all.missing(depth);
    all.spread(depth) / (missing * (1.0 - missing))
}

/// Of a share; of nothing and all, of shares as near as they can be told from it.
pub(in crate::analysis) fn log_odds(share: f64) -> f64 {
    let share = share.clamp(1e-12, 1.0 - 1e-12);
    (share / (1.0 - share)).ln()
}

/// The share that has these.
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
        let drawn = HeavyTail::new(trees, 1000).ends(400, 0.025, &mut Chance::new(1, 1));
        corrected(trees, depth, drawn[depth])
    }

    #[test]
    fn uneven_trees_are_corrected_downwards_and_less_as_they_are_more() {
        // The larger a tree, the more of it lies below.
        let uneven: Vec<[f64; 2]> = (1..=60).map(|tree| [2.0, 60.0 / f64::from(tree)]).collect();
        let (few, many) = (trees(&uneven, 1), trees(&uneven, 40));
        let value = 1.0 - few.missing(0);
        let (few, many) = (corrected_of(&few, 0), corrected_of(&many, 0));
        assert!(few < value - 0.02 && few < many && many <= value, "{few} {many} {value}");
    }

    #[test]
    fn a_share_is_never_corrected_upwards_nor_without_end() {
        let trees = trees(&[[3.0, 1.0], [1.0, 3.0]], 10);
        let at = |fifth| corrected(&trees, 0, DrawnShare { low: 0.0, fifth, median: 0.5, high: 1.0 });
        assert_eq!(at(0.9), 0.5);
        let least = from_log_odds(-HALFWAY * FARTHEST);
        assert!((at(0.0) - least).abs() < 1e-12, "{} {least}", at(0.0));
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
