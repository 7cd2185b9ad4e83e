//! Intervals for shares that site trees make up together.
//!
//! Site trees are very unlike each other: a handful hold a large part of all load and of all external links, so
//! that the percentile bootstrap, which knows only the trees that were drawn, gives intervals that are far too
//! short (measured in `reports/intervals`), and for distinct unions it is biased besides, because a
//! tree drawn twice brings nothing new. Therefore: **studentised subsampling**. Trees are drawn without
//! replacement in each stratum, half of them or fewer; for each such subsample it is noted by how many of *its
//! own* standard errors its logit is off; and as many standard errors are allowed to the survey. Politis,
//! Romano and Wolf, Subsampling (1999), chapter 11, show that this holds for means with infinite variance too,
//! where bootstraps fail, if the subsample is a vanishing part of the sample; standard errors are those of
//! linearised ratios and, for unions, of the jackknife (Efron and Stein, 1981: on average not too small).
//!
//! - *Centre*: a union grows with the sample, so a subsample's coverage is compared with the mean over subsamples.
//! - *Size*: subsamples are the smallest power-of-two part of the sample in which on average 5 trees still have
//!   something below the depth and 5 something above it, down to n^0.65 trees for external URLs, most of which
//!   very few trees hold, and to n^0.79 for load. A subsample of a part 1/f shares trees with the sample, and
//!   varies around it by √(1 − 1/f) of its standard error.
//! - *Ends*: each end lies midway between that of the equal-tailed and that of the symmetric interval. The first
//!   is better for few very large trees, the second for small subsamples.
//! - *Few trees*: where fewer than 40 trees hold all that lies below a depth (or above), subsamples tell
//!   little. What these trees hold is then taken to be log-normal, with their number as a Poisson count. Where no
//!   tree alone holds any of it, for others know it too, each key counts for itself. At the deepest level walked
//!   all is known that is known, by definition.
//! - *Order*: what is covered at least up to a depth is covered up to deeper ones, and the other way round.
//!
//! The numbers were chosen for intervals that hold the truth in 90 to 98 of 100 surveys of two virtual Webs;
//! `reports/intervals` has where they do and where not.

use super::chance::Chance;
use super::sampled_rate::SampledRate;
use super::units::Units;
use super::{Estimate, Sampling};

/// What can be computed from any set of sampling units.
pub(super) trait Statistic {
    /// The reading of the chosen units, stratum by stratum.
    fn read(&mut self, chosen: &[Vec<u32>]) -> SampledRate;
}

/// The least expected number of units on the rarer side of a depth in a subsample.
const ENOUGH_UNITS: f64 = 5.0;
/// Fewer than these in the sample are counted.
const FEW_UNITS: u32 = 40;
/// Of fewer than these, another one might hold as much below a depth as a mean unit holds in all.
const VERY_FEW_UNITS: u32 = 5;

/// How unevenly units hold what a share is of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spread {
    /// Most units have some: load.
    Wide,
    /// A few units have most of it: external URLs and what they lead to.
    Narrow,
}

impl Spread {
    /// Subsamples of n units are not smaller than a part n^−x; this is x.
    fn smallest_part(self) -> f64 {
        match self {
            Self::Wide => 0.21,
            Self::Narrow => 0.35,
        }
    }
}

/// An interval for the share up to each depth.
pub(super) fn intervals(
    statistic: &mut dyn Statistic,
    spread: Spread,
    units: &Units,
    sampling: &Sampling,
    chance: &mut Chance,
) -> Vec<Estimate> {
    let all = statistic.read(&units.strata);
    let most_parts = (units.count as f64).powf(spread.smallest_part());
    let parts: Vec<usize> = (0..all.beyond.len()).map(|depth| part(&all, depth, most_parts)).collect();
    let mut estimates: Vec<Estimate> =
        (0..all.beyond.len()).map(|depth| counted(&all, depth, sampling)).collect();
    let mut part = 2;
    while parts.iter().any(|wanted| *wanted >= part) {
        if parts.contains(&part) {
            let subsamples = Subsamples::draw(statistic, units, part, sampling, chance);
            for depth in (0..parts.len()).filter(|depth| parts[*depth] == part) {
                estimates[depth] = subsamples.estimate(&all, depth, sampling);
            }
        }
        part *= 2;
    }
    estimates
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

/// What part of the units makes a subsample for a depth: one in so many; 0 where they are too few.
fn part(all: &SampledRate, depth: usize, most_parts: f64) -> usize {
    let rarer = all.units_below(depth).min(all.units_above(depth));
    if rarer < FEW_UNITS || all.spread(depth) <= 0.0 {
        return 0;
    }
    let most = most_parts.min(f64::from(rarer) / ENOUGH_UNITS);
    let mut part = 2;
    while (part * 2) as f64 <= most {
        part *= 2;
    }
    part
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

/// Subsamples of one size.
struct Subsamples {
    /// Of each, at each depth, the share below and its standard error.
    shares: Vec<Vec<(f64, f64)>>,
    /// The mean over all: what is below each depth, and the whole.
    beyond: Vec<f64>,
    whole: f64,
    /// How much less subsamples vary around the sample than around the truth.
    nearness: f64,
}

impl Subsamples {
    fn draw(
        statistic: &mut dyn Statistic,
        units: &Units,
        part: usize,
        sampling: &Sampling,
        chance: &mut Chance,
    ) -> Self {
        let mut pools = units.strata.clone();
        let nearness = (1.0 - (part as f64).recip()).sqrt();
        let mut drawn = Self { shares: Vec::new(), beyond: Vec::new(), whole: 0.0, nearness };
        for _ in 0..sampling.replicates {
            let chosen: Vec<Vec<u32>> =
                pools.iter_mut().map(|pool| choose_part(pool, part, chance)).collect();
            drawn.add(&statistic.read(&chosen));
        }
        drawn
    }

    fn add(&mut self, reading: &SampledRate) {
        self.beyond.resize(reading.beyond.len(), 0.0);
        for (sum, beyond) in self.beyond.iter_mut().zip(&reading.beyond) {
            *sum += beyond;
        }
        self.whole += reading.whole;
        let share = |depth| (reading.missing(depth), reading.spread(depth));
        self.shares.push((0..reading.beyond.len()).map(share).collect());
    }

    fn estimate(&self, all: &SampledRate, depth: usize, sampling: &Sampling) -> Estimate {
        let (missing, spread) = (all.missing(depth), all.spread(depth));
        let value = 1.0 - missing;
        let mut errors = self.errors(depth);
        if missing <= 0.0 || value <= 0.0 || errors.is_empty() {
            return Estimate::exact(value);
        }
        let (least, most) = ends(&mut errors, sampling.tail());
        let unit = spread / (missing * value);
        let share = |error: f64| 1.0 / (1.0 + (logit(missing) - error * unit).exp());
        Estimate { value, low: share(least), high: share(most) }
    }

    /// By how many of its standard errors the logit of each subsample is off; those in which nothing varies say
    /// nothing.
    fn errors(&self, depth: usize) -> Vec<f64> {
        let centre = logit(self.beyond[depth] / self.whole);
        let error = |(missing, spread): (f64, f64)| {
            (logit(missing) - centre) * missing * (1.0 - missing) / (spread * self.nearness)
        };
        self.shares.iter().map(|share| error(share[depth])).filter(|error| error.is_finite()).collect()
    }
}

/// The least and the greatest error to allow for.
fn ends(errors: &mut [f64], tail: f64) -> (f64, f64) {
    errors.sort_unstable_by(f64::total_cmp);
    let (least, most) = (quantile(errors, tail), quantile(errors, 1.0 - tail));
    errors.iter_mut().for_each(|error| *error = error.abs());
    errors.sort_unstable_by(f64::total_cmp);
    let reach = quantile(errors, 1.0 - 2.0 * tail);
    (f64::midpoint(least, -reach).min(0.0), f64::midpoint(most, reach).max(0.0))
}

/// One unit in `part`, where that is no whole number sometimes one more.
fn choose_part(pool: &mut [u32], part: usize, chance: &mut Chance) -> Vec<u32> {
    let count = (pool.len() + chance.below(part)) / part;
    chance.choose(pool, count);
    pool[..count].to_vec()
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
