//! Intervals for shares that site trees make up together.
//!
//! Site trees are very unlike each other: a handful hold a large part of all load and of all external links. The
//! percentile bootstrap knows only the trees that were drawn, so that its intervals are far too short, and a survey
//! without the largest trees says too much of what is not deep. Therefore an interval is where the share would be in
//! Webs that might have given the survey, the large trees of which are drawn from Pareto's law ([`HeavyTail`]).
//!
//! - *Width*: draws from a model know nothing of how wrong it is. Both ends are a tenth farther from the value than
//!   draws say, by the logit.
//! - *Few trees*: where fewer than 20 trees hold all that lies below a depth (or above), draws tell
//!   little. What these trees hold is then taken to be log-normal, with their number as a Poisson count. Where no
//!   tree alone holds any of it, for others know it too, each key counts for itself. At the deepest level walked
//!   all is known that is known, by definition.
//! - *Order*: what is covered at least up to a depth is covered up to deeper ones, and the other way round.
//!
//! The numbers were chosen for intervals that hold the truth in 90 to 98 of 100 surveys of two virtual Webs;
//! `reports/intervals` has where they do and where not.

use super::chance::Chance;
use super::heavy_tail::HeavyTail;
use super::sampled_rate::SampledRate;
use super::units::Units;
use super::{Estimate, Sampling};

/// What can be computed from any set of sampling units.
pub(super) trait Statistic {
    /// The reading of the chosen units, stratum by stratum.
    fn read(&mut self, chosen: &[Vec<u32>]) -> SampledRate;
}

/// Fewer than these on the rarer side of a depth are counted.
const FEW_UNITS: u32 = 20;
/// Of fewer than these, another one might hold as much below a depth as a mean unit holds in all.
const VERY_FEW_UNITS: u32 = 5;

/// Of the distance from the value to either end as it is drawn, by the logit.
const WIDENING: f64 = 1.1;

/// An interval for the share up to each depth.
pub(super) fn intervals(
    statistic: &mut dyn Statistic,
    units: &Units,
    sampling: &Sampling,
    chance: &mut Chance,
) -> Vec<Estimate> {
    let all = statistic.read(&units.strata);
    let depths = 0..all.beyond.len();
    let mut estimates: Vec<Estimate> = depths.clone().map(|depth| counted(&all, depth, sampling)).collect();
    let are_many: Vec<bool> = depths.map(|depth| rarer(&all, depth) >= FEW_UNITS).collect();
    if are_many.contains(&true) {
        let drawn = HeavyTail::of(&all).ends(sampling.replicates, sampling.tail(), chance);
        for (estimate, ends) in
            estimates.iter_mut().zip(drawn).zip(are_many).filter_map(|(one, many)| many.then_some(one))
        {
            *estimate = widened(estimate.value, ends);
        }
    }
    estimates
}

/// The units on that side of a depth where there are fewer.
fn rarer(all: &SampledRate, depth: usize) -> u32 {
    all.units_below(depth).min(all.units_above(depth))
}

/// An interval that holds the value, from ends that are drawn.
fn widened(value: f64, (low, high): (f64, f64)) -> Estimate {
    if value <= 0.0 || value >= 1.0 {
        return Estimate::exact(value);
    }
    let centre = logit(value);
    let wider = |end: f64| 1.0 / (1.0 + (-(centre + (logit(end) - centre) * WIDENING)).exp());
    Estimate { value, low: wider(low.min(value)), high: wider(high.max(value)) }
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

fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// Of sorted values, at least one, between neighbours in proportion.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}
