//! Intervals for shares that site trees make up together.
//!
//! Site trees are very unlike each other: a handful hold a large part of all load and of all external links. The
//! percentile bootstrap knows only the trees that were drawn, so that its intervals are far too short, and a survey
//! without the largest trees says too much of what is not deep. Therefore an interval is where the share would be in
//! Webs that might have given the survey, the large trees of which are drawn from Pareto's law ([`HeavyTail`]).
//!
//! - *Few trees*: where fewer than 20 trees hold all that lies below a depth (or above), draws tell little. A group of
//!   a survey is then drawn with trees of the survey. Of a survey as a whole, trees are counted: what they hold is taken
//!   to be log-normal, with their number as a Poisson count; from 5 trees on the interval is never shorter than that
//!   of draws. Where no tree alone holds any of it, for others know it too, each key counts for itself. At the deepest
//!   level walked all is known that is known, by definition.
//! - *Order*: what is covered at least up to a depth is covered up to deeper ones, and the other way round.
//!
//! The numbers were chosen for intervals that hold the truth in 90 to 98 of 100 surveys of two virtual Webs;
//! `reports/intervals` has where they do and where not.

use super::chance::Chance;
use super::heavy_tail::HeavyTail;
use super::sampled_rate::SampledRate;
use super::{Estimate, Sampling};

/// Fewer than these on the rarer side of a depth do not speak for themselves.
const FEW_UNITS: u32 = 20;
/// Of fewer than these, another one might hold as much below a depth as a mean unit holds in all.
const VERY_FEW_UNITS: u32 = 5;

/// An interval for the share up to each depth of what was read. Where few trees of a group say little, those of the
/// survey that it is part of help. Of small units no more than `most_weights` are drawn by themselves.
pub(super) fn intervals(
    all: &SampledRate,
    survey: Option<&SampledRate>,
    most_weights: usize,
    sampling: &Sampling,
    chance: &mut Chance,
) -> Vec<Estimate> {
    let depths = all.beyond.len();
    let mut drawn =
        |survey| HeavyTail::of(all, survey, most_weights).ends(sampling.replicates, sampling.tail(), chance);
    let least = if survey.is_some() { FEW_UNITS } else { VERY_FEW_UNITS };
    let is_of_use = (0..depths).any(|depth| rarer(all, depth) >= least);
    let own = if is_of_use { drawn(None) } else { vec![(0.0, 1.0); depths] };
    let is_group_of_few = (1..depths).any(|below| rarer(all, below - 1) < FEW_UNITS);
    let of_survey = survey.filter(|_| is_group_of_few).map(|survey| drawn(Some(survey)));
    let estimate = |depth: usize| {
        let (counted, own, rarer) = (counted(all, depth, sampling), own[depth], rarer(all, depth));
        // At the deepest level all is known that is known.
        if depth + 1 == depths || all.whole <= 0.0 {
            return counted;
        }
        match &of_survey {
            _ if rarer >= FEW_UNITS => between(own, counted.value),
            Some(ends) => between(ends[depth], counted.value),
            None if rarer >= VERY_FEW_UNITS => hull(counted, between(own, counted.value)),
            None => counted,
        }
    };
    (0..depths).map(estimate).collect()
}

/// From the lesser low end to the greater high end.
fn hull(one: Estimate, other: Estimate) -> Estimate {
    Estimate { value: one.value, low: one.low.min(other.low), high: one.high.max(other.high) }
}

/// The units on that side of a depth where there are fewer.
fn rarer(all: &SampledRate, depth: usize) -> u32 {
    all.units_below(depth).min(all.units_above(depth))
}

/// The interval between ends that are drawn; it holds the value.
fn between((low, high): (f64, f64), value: f64) -> Estimate {
    Estimate { value, low: low.min(value), high: high.max(value) }
}

/// Lets no end lie beyond that of a depth where it must be at least as far: what grows with depth has ends that do.
pub(super) fn in_order(mut estimates: Vec<Estimate>) -> Vec<Estimate> {
    for depth in 1..estimates.len() {
        estimates[depth].low = estimates[depth].low.max(estimates[depth - 1].low);
    }
    for depth in (1..estimates.len()).rev() {
        estimates[depth - 1].high = estimates[depth - 1].high.min(estimates[depth].high);
    }
    estimates
}

/// The interval for few units on the rarer side of a depth: what they hold is known up to a factor.
fn counted(all: &SampledRate, depth: usize, sampling: &Sampling) -> Estimate {
    let value = 1.0 - all.missing(depth);
    let (below, above) = (all.units_below(depth), all.units_above(depth));
    let (rarer, part) = if below <= above { (below, 1.0 - value) } else { (above, value) };
    if all.whole <= 0.0 || depth + 1 == all.beyond.len() {
        return Estimate::exact(value);
    }
    let reach = sampling.normal_quantile();
    if rarer == 0 && part > 0.0 {
        return score(value, all.whole, reach);
    }
    let spread = all.spread(depth) / part + f64::from(rarer).sqrt().recip();
    let factor = if part > 0.0 { (reach * spread).exp() } else { 1.0 };
    let (least, mut most) = (part / factor, part * factor);
    if rarer < VERY_FEW_UNITS {
        most = most.max(most_units(rarer, reach) * all.mean_share());
    }
    most = most.min(1.0);
    if below <= above {
        Estimate { value, low: 1.0 - most, high: 1.0 - least }
    } else {
        Estimate { value, low: least, high: most }
    }
}

/// The score interval (Wilson, 1927) of a share of `count`, each taken for itself: for what no single unit brings,
/// because several units know all of it.
fn score(value: f64, count: f64, reach: f64) -> Estimate {
    let square = reach * reach;
    let centre = (value + square / (2.0 * count)) / (1.0 + square / count);
    let half = reach / (1.0 + square / count)
        * (value * (1.0 - value) / count + square / (4.0 * count * count)).sqrt();
    Estimate { value, low: (centre - half).min(value), high: (centre + half).max(value) }
}

/// The upper end of the score interval of a Poisson mean.
fn most_units(count: u32, reach: f64) -> f64 {
    let (count, square) = (f64::from(count), reach * reach);
    count + square / 2.0 + reach * (count + square / 4.0).sqrt()
}
