use super::chance::Chance;
use crate::analysis::{Grouping, Trees};

/// The sampling units: site trees, or random groups of trees if there are too many trees, in strata by
/// country domain.
#[derive(Debug)]
pub(in crate::analysis) struct Units {
    /// The unit of each tree.
    pub(in crate::analysis) unit_by_tree: Vec<u32>,
    pub(in crate::analysis) count: usize,
    /// The units of each stratum.
    pub(in crate::analysis) strata: Vec<Vec<u32>>,
}

/// The maximum number of units. More trees than this are gathered into random groups, which bounds the work
/// for any survey: the method of random groups (Wolter, Introduction to Variance Estimation, 2007, chapter
/// 2). An interval from this number of groups is as good as one from this number of trees.
pub(in crate::analysis) const MAX_UNITS: usize = 1 << 16;

/// The maximum number of small units with weights of their own. More are gathered once more, in a way that
/// keeps the uncertainty of their sum ([`HeavyTail`](super::heavy_tail::HeavyTail)).
const MAX_WEIGHTS: usize = 1 << 12;
const MIN_WEIGHTS: usize = 1 << 8;

/// Limits on the number of things that are drawn at random.
#[derive(Clone, Copy, Debug)]
pub(in crate::analysis) struct DrawLimits {
    pub(in crate::analysis) units: usize,
    pub(in crate::analysis) weights: usize,
}

impl DrawLimits {
    /// The limits for a survey as a whole.
    pub(in crate::analysis) const WHOLE_SURVEY: Self = Self { units: MAX_UNITS, weights: MAX_WEIGHTS };

    /// The limits for each of `groups` groups of a survey of `trees` trees: together as much as for the
    /// survey, or slightly more.
    pub(in crate::analysis) fn per_group(groups: usize, trees: usize) -> Self {
        let share = |limit: usize| if trees > limit { limit / groups } else { limit };
        Self { units: share(MAX_UNITS), weights: share(MAX_WEIGHTS).max(MIN_WEIGHTS) }
    }
}

/// Country domains with fewer trees form one stratum: at least two trees in a sixteenth of a stratum are
/// needed to show how much trees differ.
const SMALLEST_STRATUM: usize = 32;

impl Units {
    /// Draws `limit` units, or a few more, because the trees of each stratum are gathered separately.
    pub(in crate::analysis) fn draw(trees: &Trees, limit: usize, chance: &mut Chance) -> Self {
        let mut units = Self { unit_by_tree: vec![0; trees.len()], count: 0, strata: Vec::new() };
        let trees_per_unit = trees.len().div_ceil(limit).max(1);
        for mut stratum in strata(trees) {
            if trees_per_unit > 1 {
                let all = stratum.len();
                chance.choose(&mut stratum, all);
            }
            units.add_stratum(&stratum, trees_per_unit);
        }
        units
    }

    fn add_stratum(&mut self, trees: &[u32], trees_per_unit: usize) {
        let mut stratum = Vec::with_capacity(trees.len() / trees_per_unit + 1);
        for group in trees.chunks(trees_per_unit) {
            let unit = u32::try_from(self.count).unwrap_or(u32::MAX);
            group.iter().for_each(|tree| self.unit_by_tree[*tree as usize] = unit);
            stratum.push(unit);
            self.count += 1;
        }
        self.strata.push(stratum);
    }
}

/// Draws `count` trees (rounded in each country domain), from every country domain in proportion. Returns
/// them in their original order.
pub(in crate::analysis) fn sample(trees: &Trees, count: usize, chance: &mut Chance) -> Vec<u32> {
    let mut chosen = Vec::with_capacity(count);
    for mut stratum in strata(trees) {
        let share = stratum.len() as f64 / trees.len() as f64;
        let sample_size = ((count as f64 * share).round() as usize).min(stratum.len());
        chance.choose(&mut stratum, sample_size);
        chosen.extend_from_slice(&stratum[..sample_size]);
    }
    chosen.sort_unstable();
    chosen
}

/// The trees of each country domain; small country domains are joined.
fn strata(trees: &Trees) -> Vec<Vec<u32>> {
    let mut list: Vec<(u32, u32)> = (0..)
        .zip(0..trees.len())
        .map(|(number, tree)| (trees.group(tree, Grouping::Cctld), number))
        .collect();
    list.sort_unstable();
    let by_group = list.chunk_by(|a, b| a.0 == b.0);
    let (large, small): (Vec<_>, Vec<_>) = by_group.partition(|stratum| stratum.len() >= SMALLEST_STRATUM);
    let numbers = |stratum: &[(u32, u32)]| stratum.iter().map(|(_, tree)| *tree).collect::<Vec<_>>();
    let mut strata: Vec<_> = large.into_iter().map(numbers).collect();
    let small: Vec<_> = small.into_iter().flat_map(numbers).collect();
    if !small.is_empty() {
        strata.push(small);
    }
    strata
}
