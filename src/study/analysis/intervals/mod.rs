//! Intervals for shares over site trees.
//!
//! Site trees differ very much: a handful of them hold a large part of all load and of all external links. An
//! interval is the hull of two intervals, each of which fails in cases where the other does not:
//!
//! - *Drawn Webs*: the share in Webs that might have given the survey, whose large trees are drawn from
//!   Pareto's law ([`HeavyTail`]). A sample without the largest trees of its Web does not show what it lacks,
//!   the less the fewer trees it has. The distance of the low end from the median of the draws is therefore
//!   multiplied by [`downward_factor`]. In a Web whose trees do not follow that law to the end, because the size
//!   of sites is bounded, the draws of a large survey all lie too low: with 3,400 trees the high end was the
//!   share itself, and 73 of 100 intervals held.
//! - *Linearised*: a number of standard errors down from the corrected share and up from the measured share,
//!   on the scale of log-odds. It takes no account of trees that the survey lacks, and full account of the
//!   trees it has. It starts at both shares because it is not known whether there is anything to correct: if
//!   large sites are no deeper than others, there is not.
//!
//! [`NoInterval`] is the rule for which shares have an interval. Low ends never fall with depth, because a
//! deeper level covers at least as much; the same holds for high ends. The constants were tuned on the Webs
//! that `reports/intervals` lists as tuned on, for intervals that hold in 93 of 100 surveys of every size.
//! The same report measures how often they hold on other Webs.

pub(super) mod chance;
pub(super) mod corrected;
pub(super) mod estimate;
pub(super) mod heavy_tail;
pub(super) mod no_interval;
pub(super) mod proportion;
pub(super) mod sampled_rate;
pub(super) mod sampling;
pub(super) mod units;

use chance::Chance;
use corrected::{corrected, from_log_odds, log_odds, spread};
use estimate::Estimate;
use heavy_tail::{DrawnShare, HeavyTail};
use no_interval::NoInterval;
use sampled_rate::SampledRate;
use sampling::Sampling;

/// Computes an interval for the share up to each depth. At most `most_weights` small units are drawn
/// individually.
pub(super) fn intervals(
    all: &SampledRate,
    most_weights: usize,
    sampling: &Sampling,
    chance: &mut Chance,
) -> Vec<Estimate> {
    let depths = all.beyond.len();
    let reasons = NoInterval::by_depth(all);
    let value = |depth: usize| 1.0 - all.missing(depth);
    let is_part = |depth: usize| value(depth) > 0.0 && value(depth) < 1.0;
    if !(0..depths).any(is_part) {
        return (0..depths).map(|depth| Estimate::exact(value(depth))).collect();
    }
    let drawn = HeavyTail::new(all, most_weights).drawn_shares(sampling.replicates, sampling.tail(), chance);
    let estimate = |depth: usize| {
        let (uncorrected, is_part) = (Estimate::exact(value(depth)), is_part(depth));
        let corrected = corrected(all, depth, drawn[depth]);
        let without_interval =
            Estimate { corrected, no_interval: reasons[depth].filter(|_| is_part), ..uncorrected };
        // At the deepest level the share is 1 by definition.
        let has_interval = is_part && depth + 1 < depths && reasons[depth].is_none();
        if has_interval {
            hull(without_interval, all, depth, drawn[depth], sampling)
        } else {
            without_interval
        }
    };
    (0..depths).map(estimate).collect()
}

/// The hull of both intervals and of both values, for a share between 0 and 1, both excluded.
fn hull(
    estimate: Estimate,
    all: &SampledRate,
    depth: usize,
    drawn: DrawnShare,
    sampling: &Sampling,
) -> Estimate {
    let Estimate { value, corrected, .. } = estimate;
    let half_width = sampling.normal_quantile() * spread(all, depth);
    let median = log_odds(drawn.median);
    let low_log_odds = median - downward_factor(all.units) * (median - log_odds(drawn.low));
    let low = from_log_odds(low_log_odds.min(log_odds(corrected) - half_width)).min(corrected);
    let high = from_log_odds(log_odds(value) + half_width).max(drawn.high).max(value);
    Estimate { low, high, ..estimate }
}

/// The factor on the distance of the low end from the median of the drawn Webs, for a survey of `trees`
/// trees.
fn downward_factor(trees: u32) -> f64 {
    1.0 + (WIDENING / f64::from(trees).sqrt()).min(MAX_WIDENING)
}

const WIDENING: f64 = 26.0;
const MAX_WIDENING: f64 = 2.0;

/// Makes the ends of intervals and the corrected shares grow with depth, as the shares themselves do.
pub(super) fn in_order(mut estimates: Vec<Estimate>) -> Vec<Estimate> {
    let (mut low, mut corrected) = (0.0_f64, 0.0_f64);
    for estimate in &mut estimates {
        corrected = corrected.max(estimate.corrected);
        estimate.corrected = corrected;
        if estimate.interval().is_some() {
            low = low.max(estimate.low);
            estimate.low = low;
        }
    }
    let mut high = 1.0_f64;
    for estimate in estimates.iter_mut().rev().filter(|estimate| estimate.interval().is_some()) {
        high = high.min(estimate.high);
        // A corrected share that was raised may exceed the high end of a deeper level.
        estimate.high = high.max(estimate.corrected);
    }
    estimates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_without_an_interval_leave_the_ends_of_others_alone() {
        let with_ends = |low, value, high| Estimate { low, high, ..Estimate::exact(value) };
        let ordered =
            in_order(vec![Estimate::exact(0.5), with_ends(0.3, 0.6, 0.9), with_ends(0.2, 0.7, 0.8)]);
        assert_eq!(ordered, [Estimate::exact(0.5), with_ends(0.3, 0.6, 0.8), with_ends(0.3, 0.7, 0.8)]);
    }

    #[test]
    fn fewer_trees_reach_further_down() {
        assert_eq!(
            [downward_factor(50), downward_factor(169), downward_factor(676), downward_factor(2704)],
            [3.0, 3.0, 2.0, 1.5]
        );
    }
}
