//! The range of a share in the Web that a sample of site trees was drawn from, if a few trees hold a large
//! part of it.
//!
//! A draw is a Web that might have given the sample. Its small trees are the small trees of the sample with
//! random weights (the Bayesian bootstrap: Rubin, Annals of Statistics 9, 1981). Its large trees are new: a
//! sample without the largest trees of a Web does not show what it lacks, and these trees are the largest
//! part of the Web. Their number follows the weights of the large trees of the sample. Their sizes follow
//! Pareto's law, whose exponent is drawn too, given the sizes of the large trees (Hill, Annals of Statistics
//! 3, 1975). Each takes its depth from a weighted tree of *like size* of the sample, stretched in two ways:
//! by a random factor, because no two trees are the same (the smoothed bootstrap: Silverman and Young,
//! Biometrika 74, 1987), and by the growth of depth with size in the sample, for up to half a unit of the
//! logarithm of size.

use super::chance::Chance;
use super::sampled_rate::SampledRate;
use super::sampling::quantile;

/// The size of a drawn Web as a multiple of the sample. Without a limit, the largest tree would be the whole
/// Web.
const WEB_TO_SAMPLE: f64 = 10.0;
/// The number of large trees that are drawn in one batch: one operation on many trees is faster than all
/// operations on one tree after the other.
const BATCH: usize = 128;
/// The number of trees nearest in size that count as trees of like size.
const SIMILAR_TREES: usize = 15;
/// Depths are stretched by whole steps of their logarithm.
const STEP: f64 = 0.1;
const FIRST_STEP: i32 = -10;
const STEPS: usize = 36;
/// The steepest slope of the logarithm of depth over the logarithm of size, and the largest difference in the
/// logarithm of size to which it applies.
const MAX_SLOPE: f64 = 0.5;
const MAX_SIZE_DIFFERENCE: f64 = 0.5;

/// Draws shares from a sample.
pub(in crate::analysis) struct HeavyTail<'a> {
    sample: &'a SampledRate,
    /// The trees of the sample that have anything.
    own: LevelRows,
    /// By level, the amount that no tree has alone.
    shared: Vec<f64>,
    large_trees: LargeTrees,
}

/// The distribution of a share over the drawn Webs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct DrawnShare {
    pub(in crate::analysis) low: f64,
    /// The value below which a fifth of the draws lie.
    pub(in crate::analysis) lower_quintile: f64,
    pub(in crate::analysis) median: f64,
    pub(in crate::analysis) high: f64,
}

impl<'a> HeavyTail<'a> {
    /// At most `max_small` small trees have weights of their own.
    pub(in crate::analysis) fn new(sample: &'a SampledRate, max_small: usize) -> Self {
        let large_trees = LargeTrees::from_trees(sample);
        let own = LevelRows::new(sample, large_trees.threshold, max_small);
        Self { sample, own, shared: sample.shared(), large_trees }
    }

    /// The distribution of the share down to each depth over `draws` draws: the ends, outside which a share
    /// of `outside` of the draws lies on either side, and the values below which a fifth and half of the
    /// draws lie.
    pub(in crate::analysis) fn drawn_shares(
        &self,
        draws: u32,
        outside: f64,
        chance: &mut Chance,
    ) -> Vec<DrawnShare> {
        let depths = self.sample.beyond.len();
        let mut shares = vec![Vec::with_capacity(draws as usize); depths];
        for _ in 0..draws {
            let covered = self.draw(chance);
            let total_amount = covered.last().copied().unwrap_or_default();
            for (shares, covered) in shares.iter_mut().zip(covered).filter(|_| total_amount > 0.0) {
                shares.push((covered / total_amount).clamp(0.0, 1.0));
            }
        }
        let distribution = |mut shares: Vec<f64>| {
            shares.sort_unstable_by(f64::total_cmp);
            if shares.is_empty() {
                // Nothing is known, so nothing is corrected.
                return DrawnShare { low: 0.0, lower_quintile: 1.0, median: 0.5, high: 1.0 };
            }
            let below = |share| quantile(&shares, share);
            DrawnShare {
                low: below(outside),
                lower_quintile: below(0.2),
                median: below(0.5),
                high: below(1.0 - outside),
            }
        };
        shares.into_iter().map(distribution).collect()
    }

    /// Draws the amount down to each depth.
    fn draw(&self, chance: &mut Chance) -> Vec<f64> {
        // Each key that several trees know counts independently: a Poisson count, close to normal.
        let count = |shared: &f64| (shared + shared.max(0.0).sqrt() * chance.normal()).max(0.0);
        let mut levels: Vec<f64> = self.shared.iter().map(count).collect();
        let large = self.own.add_to(&mut levels, chance);
        self.large_trees.add_drawn(large, &mut levels, chance);
        let mut sum = 0.0;
        levels
            .iter()
            .map(|level| {
                sum += level;
                sum
            })
            .collect()
    }
}

/// The amounts of trees at each level, in rows of equal width, so that the steps of adding them up do not
/// depend on the data. The last columns hold marks, whose sums are weights.
///
/// If there are many small trees, they share rows (the method of random groups: Wolter, Introduction to
/// Variance Estimation, 2007, chapter 2). The variance of their sum has two parts: the differences between
/// trees, and the sum of their weights. Random groups give the first part as well as single trees do, and the
/// second far too large. So the weights of rows determine only the shares of the sum, and its total comes
/// from the mean of as many weights as there are trees.
struct LevelRows {
    width: usize,
    rows: Vec<f64>,
    /// The number of small trees, and of the rows that they share; none if each tree has its own row.
    shared: Option<(usize, usize)>,
}

/// The column, from the end, that marks a large tree: its amounts are left out and its weight is counted.
const LARGE: usize = 1;
/// The column, from the end, that marks a row of several small trees.
const SHARED: usize = 2;

impl LevelRows {
    /// Builds the rows of the trees that have anything. If there are more than `max_small` small trees, they
    /// are summed up in `max_small` rows.
    fn new(trees: &SampledRate, threshold: f64, max_small: usize) -> Self {
        let width = (trees.beyond.len() + SHARED).next_multiple_of(4);
        let has_any = |unit: &usize| trees.levels_of(*unit).iter().any(|level| *level != 0.0);
        let is_large = |unit: &usize| trees.unit_totals[*unit] > threshold;
        let units: Vec<usize> = (0..trees.unit_totals.len()).filter(has_any).collect();
        let small = units.iter().filter(|unit| !is_large(unit)).count();
        let shared = (small > max_small).then_some((small, max_small));
        let mut rows = vec![0.0; shared.map_or(0, |(_, rows)| rows * width)];
        rows.chunks_mut(width).for_each(|row| row[width - SHARED] = 1.0);
        for (number, unit) in units.into_iter().enumerate() {
            let own_start = rows.len();
            let position = match shared {
                Some((_, rows)) if !is_large(&unit) => number % rows * width,
                _ => own_start,
            };
            rows.resize(own_start.max(position + width), 0.0);
            let row = &mut rows[position..position + width];
            if is_large(&unit) {
                row[width - LARGE] = 1.0;
            } else {
                add(trees.levels_of(unit), row, 1.0);
            }
        }
        Self { width, rows, shared }
    }

    /// Adds all trees to `levels` with random weights. Returns the total weight of the large trees.
    fn add_to(&self, levels: &mut [f64], chance: &mut Chance) -> f64 {
        let mut sums = vec![0.0; self.width];
        if self.shared.is_none() {
            sums[..levels.len()].copy_from_slice(levels);
            levels.fill(0.0);
        }
        match self.width {
            8 => self.add_rows::<8>(&mut sums, chance),
            12 => self.add_rows::<12>(&mut sums, chance),
            16 => self.add_rows::<16>(&mut sums, chance),
            24 => self.add_rows::<24>(&mut sums, chance),
            width => self.rows.chunks(width).for_each(|row| add(row, &mut sums, chance.exponential())),
        }
        let weights = sums[self.width - SHARED];
        let scale =
            self.shared.map_or(1.0, |(trees, rows)| mean_weight(trees, chance) * rows as f64 / weights);
        add(&sums[..levels.len()], levels, scale);
        sums[self.width - LARGE]
    }

    /// With a width known at compile time, the sums stay in registers.
    fn add_rows<const WIDTH: usize>(&self, sums: &mut [f64], chance: &mut Chance) {
        let mut local_sums = [0.0; WIDTH];
        local_sums.copy_from_slice(sums);
        for row in self.rows.as_chunks::<WIDTH>().0 {
            add(row, &mut local_sums, chance.exponential());
        }
        sums.copy_from_slice(&local_sums);
    }
}

/// The mean of the exponential weights of `trees` trees. Their sum has a gamma distribution, which for many
/// trees is close to normal.
fn mean_weight(trees: usize, chance: &mut Chance) -> f64 {
    1.0 + chance.normal() / (trees as f64).sqrt()
}

#[inline]
fn add(row: &[f64], sums: &mut [f64], weight: f64) {
    row.iter().zip(sums).for_each(|(own, sum)| *sum += weight * own);
}

/// The large trees of a sample, the largest first.
struct LargeTrees {
    /// The logarithms of their sizes.
    sizes: Vec<f64>,
    /// The size of the largest tree that is not a large tree.
    threshold: f64,
    /// The sum of the logarithms of their sizes, in units of the threshold.
    logarithms: f64,
    /// The slope of the logarithm of depth over the logarithm of size. `spread` is the kernel width for
    /// depths, from their standard deviation among trees of like size.
    slope: f64,
    spread: f64,
    depths: usize,
    /// By stretch, tree and level, the share of the tree at that level.
    shares: Vec<f64>,
}

impl LargeTrees {
    fn from_trees(trees: &SampledRate) -> Self {
        let depths = trees.beyond.len();
        let size = |unit: &usize| trees.unit_totals[*unit];
        let mut units: Vec<usize> = (0..trees.unit_totals.len()).filter(|unit| size(unit) > 0.0).collect();
        units.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let count = Self::count(units.len());
        // With too few trees, none is large.
        let threshold = units.get(count).filter(|_| count > 0).map_or(f64::INFINITY, size);
        let (slope, spread) = depth_by_size(trees, &units[..units.len().min(3 * count)]);
        units.truncate(count);
        let sizes: Vec<f64> = units.iter().map(|unit| size(unit).ln()).collect();
        Self {
            threshold,
            depths,
            logarithms: sizes.iter().map(|size| size - threshold.ln()).sum(),
            slope,
            // The rule of thumb for the width of a normal kernel (Silverman, Density Estimation, 1986,
            // 3.4.2).
            spread: spread * (count as f64).powf(-0.2),
            shares: (0..STEPS).flat_map(|step| stretched(trees, &units, depths, stretch(step))).collect(),
            sizes,
        }
    }

    /// The number of large trees among `units` trees: few enough that Pareto's law holds for them.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    fn count(units: usize) -> usize {
        ((2.0 * (units as f64).powf(0.4)) as usize).max(5).min(units / 3)
    }

    /// Adds newly drawn large trees to `levels`; their number follows `weight`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    fn add_drawn(&self, weight: f64, levels: &mut [f64], chance: &mut Chance) {
        let count = (WEB_TO_SAMPLE * weight + chance.uniform()) as usize;
        let mut sums = vec![0.0];
        self.sizes.iter().for_each(|_| sums.push(sums[sums.len() - 1] + chance.exponential()));
        // The exponent of Pareto's law has a gamma distribution, which is the distribution of a sum of
        // exponential numbers.
        let exponent = self.sizes.iter().map(|_| chance.exponential()).sum::<f64>() / self.logarithms;
        let mut drawn = vec![0.0; STEPS * self.sizes.len()];
        let mut trees = [DrawnTree::default(); BATCH];
        for first in (0..count).step_by(BATCH) {
            let trees = &mut trees[..BATCH.min(count - first)];
            trees.fill_with(|| DrawnTree::draw(chance));
            for tree in &mut *trees {
                tree.size = self.threshold.ln() + tree.size / exponent;
            }
            for tree in &mut *trees {
                tree.similar = self.pick_similar(tree, &sums);
            }
            for tree in trees {
                let position = self.step(tree) * self.sizes.len() + tree.similar;
                drawn[position] += tree.size.exp() / WEB_TO_SAMPLE;
            }
        }
        for (size, shares) in
            drawn.iter().zip(self.shares.chunks(self.depths)).filter(|(size, _)| **size > 0.0)
        {
            levels.iter_mut().zip(shares).for_each(|(level, share)| *level += size * share);
        }
    }

    /// Picks one of the trees of like size by their weights. `sums` holds the cumulative weights from the
    /// largest tree down.
    fn pick_similar(&self, tree: &DrawnTree, sums: &[f64]) -> usize {
        let (count, trees) = (SIMILAR_TREES.min(self.sizes.len()), self.sizes.len());
        let position = self.sizes.partition_point(|b| *b > tree.size);
        let first = position.saturating_sub(count / 2).min(trees - count);
        let sums = &sums[first..=first + count];
        let picked_weight = sums[0] + tree.similar_pick * (sums[count] - sums[0]);
        // Counting is faster than a search here.
        first + sums[1..count].iter().filter(|sum| **sum <= picked_weight).count()
    }

    /// The step by which the depth of a tree is stretched.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the steps")]
    fn step(&self, tree: &DrawnTree) -> usize {
        let larger = (tree.size - self.sizes[tree.similar]).clamp(-MAX_SIZE_DIFFERENCE, MAX_SIZE_DIFFERENCE);
        // A triangular kernel is as good as a normal kernel, and faster.
        let kernel = 6.0_f64.sqrt() * tree.kernel;
        let stretch = self.spread * kernel + self.slope * larger;
        // Between two steps, one of them is chosen at random, in proportion.
        let step = stretch / STEP + tree.step_pick - f64::from(FIRST_STEP);
        step.clamp(0.0, (STEPS - 1) as f64) as usize
    }
}

/// A large tree that is drawn: its random numbers and the values derived from them.
#[derive(Clone, Copy, Default)]
struct DrawnTree {
    /// First a number from an exponential distribution, then the logarithm of the size.
    size: f64,
    /// Picks a tree of like size; from 0 to 1.
    similar_pick: f64,
    /// A number from a triangular distribution, from -1 to 1.
    kernel: f64,
    /// Picks one of two steps; from 0 to 1.
    step_pick: f64,
    /// The index of the tree of like size.
    similar: usize,
}

impl DrawnTree {
    fn draw(chance: &mut Chance) -> Self {
        Self {
            size: chance.exponential(),
            similar_pick: chance.uniform(),
            kernel: chance.uniform() + chance.uniform() - 1.0,
            step_pick: chance.uniform(),
            similar: 0,
        }
    }
}

/// The share of each tree at each level, if it were `times` times as deep.
fn stretched(trees: &SampledRate, units: &[usize], depths: usize, times: f64) -> Vec<f64> {
    let mut shares = Vec::with_capacity(units.len() * depths);
    for unit in units {
        let mut covered = vec![0.0];
        for level in trees.levels_of(*unit) {
            covered.push(covered[covered.len() - 1] + level / trees.unit_totals[*unit]);
        }
        let mut above = 0.0;
        shares.extend((1..=depths).map(|levels| {
            let position = (levels as f64 / times).min((covered.len() - 1) as f64);
            let (lower, upper) = (covered[position.floor() as usize], covered[position.ceil() as usize]);
            let covered_here = lower + (upper - lower) * position.fract();
            covered_here - std::mem::replace(&mut above, covered_here)
        }));
    }
    shares
}

/// The factor by which a step multiplies the depth of a tree.
fn stretch(step: usize) -> f64 {
    (STEP * (step as f64 + f64::from(FIRST_STEP))).exp()
}

/// For trees from the largest down: the slope of the logarithm of their mean depth over the logarithm of
/// their size, and the standard deviation of depth from the differences between neighbours in size (von
/// Neumann, Annals of Mathematical Statistics 12, 1941).
fn depth_by_size(sample: &SampledRate, units: &[usize]) -> (f64, f64) {
    let mean_depth = |unit: &usize| {
        let levels = (1..).zip(sample.levels_of(*unit));
        levels.map(|(depth, level)| f64::from(depth) * level).sum::<f64>() / sample.unit_totals[*unit]
    };
    let points: Vec<(f64, f64)> =
        units.iter().map(|unit| (sample.unit_totals[*unit].ln(), mean_depth(unit).max(1.0).ln())).collect();
    let count = points.len() as f64;
    let (sum_size, sum_depth) =
        points.iter().fold((0.0, 0.0), |sums, point| (sums.0 + point.0, sums.1 + point.1));
    let (size, depth) = (sum_size / count, sum_depth / count);
    let squares: f64 = points.iter().map(|point| (point.0 - size).powi(2)).sum();
    let products: f64 = points.iter().map(|point| (point.0 - size) * (point.1 - depth)).sum();
    let slope = if squares > 0.0 { (products / squares).clamp(0.0, MAX_SLOPE) } else { 0.0 };
    let differences: f64 = points.windows(2).map(|pair| (pair[1].1 - pair[0].1).powi(2)).sum();
    let spread = if count > 1.0 { (differences / (count - 1.0) / 2.0).sqrt() } else { 0.0 };
    (slope, spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of trees with these amounts at each level.
    fn trees(levels: &[&[f64]]) -> SampledRate {
        let depths = levels.iter().map(|levels| levels.len()).max().unwrap_or(0);
        let mut trees = SampledRate::new(depths);
        trees.begin_stratum();
        for levels in levels {
            let below: Vec<f64> = (1..=levels.len()).map(|from| levels[from..].iter().sum()).collect();
            trees.add(levels.iter().sum(), &below);
        }
        trees.sum_up();
        trees
    }

    fn drawn_shares(sample: &SampledRate) -> Vec<DrawnShare> {
        HeavyTail::new(sample, 1000).drawn_shares(400, 0.025, &mut Chance::new(1, 1))
    }

    #[test]
    fn a_tree_that_is_twice_as_deep_has_half_as_much_down_to_a_depth() {
        let trees = trees(&[&[2.0, 2.0, 4.0, 0.0]]);
        assert_eq!(stretched(&trees, &[0], 4, 1.0), [0.25, 0.25, 0.5, 0.0]);
        assert_eq!(stretched(&trees, &[0], 4, 2.0), [0.125, 0.125, 0.125, 0.125]);
    }

    #[test]
    fn depth_by_size_is_the_slope_of_the_logarithms() {
        // Sizes 16, 4 and 1 with mean depths 4, 2 and 1: half a power of the size.
        let trees = trees(&[&[0.0, 0.0, 0.0, 16.0], &[0.0, 4.0], &[1.0]]);
        let (slope, spread) = depth_by_size(&trees, &[0, 1, 2]);
        assert!((slope - 0.5).abs() < 1e-12 && (spread - 2.0_f64.ln() / 2.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn trees_that_are_all_the_same_leave_nothing_open() {
        let same: Vec<&[f64]> = vec![&[3.0, 1.0]; 30];
        let DrawnShare { low, high, .. } = drawn_shares(&trees(&same))[0];
        assert!((low - 0.75).abs() < 1e-9 && (high - 0.75).abs() < 1e-9);
    }

    #[test]
    fn trees_that_share_rows_leave_as_much_open_as_trees_by_themselves() {
        // Small trees of seven kinds, with large trees between them.
        let level = |tree: usize, of: usize| 1.0 + (tree * of % 7) as f64;
        let levels: Vec<[f64; 2]> =
            (0..3000)
                .map(|tree| {
                    if tree % 60 == 0 {
                        [40.0, 400.0 + tree as f64]
                    } else {
                        [level(tree, 3), level(tree, 5)]
                    }
                })
                .collect();
        let sample = trees(&levels.iter().map(<[f64; 2]>::as_slice).collect::<Vec<_>>());
        let spread = |max_small: usize, level: usize| {
            let (rows, mut chance) = (LevelRows::new(&sample, 39.0, max_small), Chance::new(3, 1));
            let draw = |_| {
                let mut levels = [0.0; 2];
                rows.add_to(&mut levels, &mut chance);
                levels[level]
            };
            let draws: Vec<f64> = (0..4000).map(draw).collect();
            let mean = draws.iter().sum::<f64>() / 4000.0;
            (mean, (draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 4000.0).sqrt())
        };
        for level in [0, 1] {
            let (alone, shared) = (spread(3000, level), spread(300, level));
            assert!((shared.0 / alone.0 - 1.0).abs() < 0.01, "{alone:?} {shared:?}");
            // The standard deviation is known to within 1.1 % from 4,000 draws, and to within 4 % from 300
            // groups.
            assert!((shared.1 / alone.1 - 1.0).abs() < 0.15, "{alone:?} {shared:?}");
        }
    }

    #[test]
    fn larger_and_deeper_trees_than_those_of_the_sample_are_reckoned_with() {
        let mut levels: Vec<Vec<f64>> = (1..=60).map(|tree| vec![1.0, 60.0 / f64::from(tree)]).collect();
        levels.push(vec![1.0, 1.0, 1.0]);
        let levels: Vec<&[f64]> = levels.iter().map(Vec::as_slice).collect();
        let sample = trees(&levels);
        let DrawnShare { low, high, .. } = drawn_shares(&sample)[0];
        let value = 1.0 - sample.missing(0);
        assert!(value - low > high - value, "{low} {value} {high}");
    }
}
