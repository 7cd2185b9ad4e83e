//! What a share might be in the Web that a sample of site trees was drawn from, a few of which hold a large part of it.
//!
//! A draw is a Web that might have given the sample. Small trees are those of the sample with random weights (the
//! Bayesian bootstrap: Rubin, Annals of Statistics 9, 1981). Large ones are new: a sample without the largest trees of
//! a Web does not know what it lacks, and they are its largest part. How many there are follows the weights of the
//! large trees of the sample; their sizes follow Pareto's law, whose exponent is drawn too, from what the sizes of the
//! large trees say of it (Hill, Annals of Statistics 3, 1975). How deep each is it takes from a tree of *like size*,
//! weighted as well, made deeper or less deep in two ways: by a random factor, because no two are the same (the
//! smoothed bootstrap: Silverman and Young, Biometrika 74, 1987), and by what the sample says of how depth grows with
//! size, up to half a unit of the logarithm.

use super::chance::Chance;
use super::intervals::quantile;
use super::sampled_rate::SampledRate;

/// So many times the sample is the Web that is drawn. Without an end, the largest tree would be all of it.
const TIMES_THE_SAMPLE: f64 = 20.0;
/// A tree is of like size if it is one of so many nearest in size.
const OF_LIKE_SIZE: usize = 15;
/// Depths are stretched by whole steps of their logarithm, from the first to the last.
const STEP: f64 = 0.1;
const FIRST_STEP: i32 = -10;
const STEPS: usize = 36;
/// Of the logarithm of depth by that of size: the most, and over what of the logarithm of size.
const STEEPEST: f64 = 0.5;
const FARTHEST: f64 = 0.5;

/// Shares of a sample, drawn anew.
pub(super) struct HeavyTail<'a> {
    sample: &'a SampledRate,
    /// What no tree has alone, by level.
    shared: Vec<f64>,
    tail: Tail,
    /// Whether a tree is one of the large ones.
    is_large: Vec<bool>,
}

/// The large trees of the sample, the largest first.
struct Tail {
    units: Vec<usize>,
    sizes: Vec<f64>,
    /// The size of the largest tree that is not one of them.
    threshold: f64,
    /// The sum of the logarithms of their sizes in that unit.
    logarithms: f64,
    /// How the logarithm of depth grows with that of size, and its standard deviation among trees of like size.
    slope: f64,
    spread: f64,
    /// By stretch, tree and depth: the share of the tree down to the depth.
    covered: Vec<f64>,
}

impl<'a> HeavyTail<'a> {
    pub(super) fn of(sample: &'a SampledRate) -> Self {
        let tail = Tail::of(sample);
        let mut is_large = vec![false; sample.wholes.len()];
        tail.units.iter().for_each(|unit| is_large[*unit] = true);
        Self { sample, shared: sample.shared(), tail, is_large }
    }

    /// The ends between which the share down to each depth lies in all but `outside` of so many draws, and as many on
    /// the other side.
    pub(super) fn ends(&self, draws: u32, outside: f64, chance: &mut Chance) -> Vec<(f64, f64)> {
        let depths = self.sample.beyond.len();
        let mut shares = vec![Vec::with_capacity(draws as usize); depths];
        for _ in 0..draws {
            let covered = self.draw(chance);
            let whole = covered.last().copied().unwrap_or_default();
            for (shares, covered) in shares.iter_mut().zip(covered) {
                shares.push(if whole > 0.0 { covered / whole } else { 0.0 });
            }
        }
        let ends = |mut shares: Vec<f64>| {
            shares.sort_unstable_by(f64::total_cmp);
            (quantile(&shares, outside), quantile(&shares, 1.0 - outside))
        };
        shares.into_iter().map(ends).collect()
    }

    /// What there is down to each depth.
    fn draw(&self, chance: &mut Chance) -> Vec<f64> {
        // Of what several trees know, each key counts for itself: a Poisson count, as good as normal.
        let count = |shared: &f64| (shared + shared.max(0.0).sqrt() * chance.normal()).max(0.0);
        let mut levels: Vec<f64> = self.shared.iter().map(count).collect();
        let mut weights = Vec::with_capacity(self.tail.units.len());
        for (unit, is_large) in self.is_large.iter().enumerate() {
            let weight = chance.exponential();
            if *is_large {
                weights.push((unit, weight));
            } else {
                let own = self.sample.levels_of(unit);
                levels.iter_mut().zip(own).for_each(|(level, own)| *level += weight * own);
            }
        }
        let weight_of = |unit: &usize| {
            weights.binary_search_by_key(unit, |weight| weight.0).map_or(0.0, |place| weights[place].1)
        };
        let weights: Vec<f64> = self.tail.units.iter().map(weight_of).collect();
        let mut covered: Vec<f64> = levels
            .iter()
            .scan(0.0, |sum, level| {
                *sum += level;
                Some(*sum)
            })
            .collect();
        self.tail.add_drawn(&weights, &mut covered, chance);
        covered
    }
}

impl Tail {
    fn of(sample: &SampledRate) -> Self {
        let size = |unit: &usize| sample.wholes[*unit];
        let mut units: Vec<usize> = (0..sample.wholes.len()).filter(|unit| size(unit) > 0.0).collect();
        units.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let count = Self::count(units.len());
        let threshold = units.get(count).map_or(1.0, size);
        let (slope, spread) = depth_by_size(sample, &units[..units.len().min(3 * count)]);
        units.truncate(count);
        let sizes: Vec<f64> = units.iter().map(size).collect();
        let logarithms = sizes.iter().map(|size| (size / threshold).ln()).sum();
        // The rule of thumb for the width of a normal kernel (Silverman, Density Estimation, 1986, 3.4.2).
        let spread = spread * (count as f64).powf(-0.2);
        let mut tail = Self { units, sizes, threshold, logarithms, slope, spread, covered: Vec::new() };
        tail.covered = (0..STEPS).flat_map(|step| tail.stretched(sample, stretch(step))).collect();
        tail
    }

    /// Of so many trees the large ones: few enough that Pareto's law holds among them.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    fn count(units: usize) -> usize {
        ((2.0 * (units as f64).powf(0.4)) as usize).max(5).min(units / 3)
    }

    /// The share of each tree down to each depth, were it so many times as deep.
    fn stretched(&self, sample: &SampledRate, times: f64) -> Vec<f64> {
        let depths = sample.beyond.len();
        let mut shares = Vec::with_capacity(self.units.len() * depths);
        for (unit, size) in self.units.iter().zip(&self.sizes) {
            let mut covered = vec![0.0];
            for level in sample.levels_of(*unit) {
                covered.push(covered[covered.len() - 1] + level / size);
            }
            let last = covered.len() - 1;
            shares.extend((1..=depths).map(|levels| {
                let place = (levels as f64 / times).min(last as f64);
                let (above, below) = (covered[place.floor() as usize], covered[place.ceil() as usize]);
                above + (below - above) * place.fract()
            }));
        }
        shares
    }

    /// Adds large trees, of which there are as many as the weights of the sample's say.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    fn add_drawn(&self, weights: &[f64], covered: &mut [f64], chance: &mut Chance) {
        let Some(largest) = self.sizes.len().checked_sub(1) else { return };
        let (like, depths) = (OF_LIKE_SIZE.min(self.sizes.len()), covered.len());
        let mut sums = vec![0.0];
        weights.iter().for_each(|weight| sums.push(sums[sums.len() - 1] + weight));
        // The exponent of Pareto's law has a gamma distribution: a sum of exponential ones.
        let exponent = weights.iter().map(|_| chance.exponential()).sum::<f64>() / self.logarithms;
        let count = (TIMES_THE_SAMPLE * sums[sums.len() - 1]).round().max(1.0) as usize;
        let mut drawn = vec![0.0; STEPS * self.sizes.len()];
        for _ in 0..count {
            let size = self.threshold * (chance.exponential() / exponent).exp();
            let place = self.sizes.partition_point(|other| *other > size);
            let first = place.saturating_sub(like / 2).min(self.sizes.len() - like);
            let at = sums[first] + chance.uniform() * (sums[first + like] - sums[first]);
            let tree = sums.partition_point(|sum| *sum <= at).saturating_sub(1).min(largest);
            let larger = (size / self.sizes[tree]).ln().clamp(-FARTHEST, FARTHEST);
            let stretch = self.spread * chance.normal() + self.slope * larger;
            // Between two steps, the one or the other in proportion.
            let step = (stretch / STEP + chance.uniform()).floor() - f64::from(FIRST_STEP);
            let step = step.clamp(0.0, (STEPS - 1) as f64) as usize;
            drawn[step * self.sizes.len() + tree] += size / TIMES_THE_SAMPLE;
        }
        for (size, shares) in drawn.iter().zip(self.covered.chunks(depths)).filter(|(size, _)| **size > 0.0) {
            covered.iter_mut().zip(shares).for_each(|(covered, share)| *covered += size * share);
        }
    }
}

/// How many times as deep a step makes a tree.
fn stretch(step: usize) -> f64 {
    (STEP * (step as f64 + f64::from(FIRST_STEP))).exp()
}

/// Of trees from the largest down, how the logarithm of their mean depth grows with that of their size, and by how
/// much it differs from that of the next in size (von Neumann, Annals of Mathematical Statistics 12, 1941).
fn depth_by_size(sample: &SampledRate, units: &[usize]) -> (f64, f64) {
    let mean_depth = |unit: &usize| {
        let levels = (1..).zip(sample.levels_of(*unit));
        levels.map(|(depth, level)| f64::from(depth) * level).sum::<f64>() / sample.wholes[*unit]
    };
    let points: Vec<(f64, f64)> =
        units.iter().map(|unit| (sample.wholes[*unit].ln(), mean_depth(unit).max(1.0).ln())).collect();
    let count = points.len() as f64;
    let (sum_size, sum_depth) =
        points.iter().fold((0.0, 0.0), |sums, point| (sums.0 + point.0, sums.1 + point.1));
    let (size, depth) = (sum_size / count, sum_depth / count);
    let squares: f64 = points.iter().map(|point| (point.0 - size).powi(2)).sum();
    let products: f64 = points.iter().map(|point| (point.0 - size) * (point.1 - depth)).sum();
    let slope = if squares > 0.0 { (products / squares).clamp(0.0, STEEPEST) } else { 0.0 };
    let differences: f64 = points.windows(2).map(|pair| (pair[1].1 - pair[0].1).powi(2)).sum();
    let spread = if count > 1.0 { (differences / (count - 1.0) / 2.0).sqrt() } else { 0.0 };
    (slope, spread)
}
