use super::chance::Chance;
use crate::analysis::{Grouping, Trees};

/// What is drawn: site trees, or random groups of trees where there are more than can be drawn, in strata by
/// country domain.
#[derive(Debug)]
pub(in crate::analysis) struct Units {
    /// The unit of each tree.
    pub(in crate::analysis) of_tree: Vec<u32>,
    pub(in crate::analysis) count: usize,
    /// The units of each stratum.
    pub(in crate::analysis) strata: Vec<Vec<u32>>,
}

/// Beyond it trees are gathered into random groups, so that the work is bounded whatever the survey: the
/// method of random groups (Wolter, Introduction to Variance Estimation, 2007, chapter 2). An interval from
/// so many groups is as good as one from so many trees.
pub(in crate::analysis) const MOST_UNITS: usize = 1 << 16;

/// Small units with a weight of their own, at most; where there are more they are gathered once more, in a way that leaves
/// their sum as uncertain as it is ([`HeavyTail`](super::heavy_tail::HeavyTail)).
const MOST_WEIGHTS: usize = 1 << 12;
const FEWEST_WEIGHTS: usize = 1 << 8;

/// So many things chance deals with at most.
#[derive(Clone, Copy, Debug)]
pub(in crate::analysis) struct DrawLimits {
    pub(in crate::analysis) units: usize,
    pub(in crate::analysis) weights: usize,
}

impl DrawLimits {
    /// In a survey as a whole.
    pub(in crate::analysis) const IN_ALL: Self = Self { units: MOST_UNITS, weights: MOST_WEIGHTS };

    /// In each of so many groups of a survey of so many trees: together as much as in the survey, or little more.
    pub(in crate::analysis) fn of_each(groups: usize, trees: usize) -> Self {
        let share = |most: usize| if trees > most { most / groups } else { most };
        Self { units: share(MOST_UNITS), weights: share(MOST_WEIGHTS).max(FEWEST_WEIGHTS) }
    }
}

/// Country domains of fewer trees are one stratum: of a sixteenth of a stratum, two trees at least are needed to
/// tell how unlike each other they are.
const SMALLEST_STRATUM: usize = 32;

impl Units {
    /// As many as `most`, or a few more: the trees of a stratum are gathered by themselves.
    pub(in crate::analysis) fn draw(trees: &Trees, most: usize, chance: &mut Chance) -> Self {
        let mut units = Self { of_tree: vec![0; trees.len()], count: 0, strata: Vec::new() };
        let a_unit = trees.len().div_ceil(most).max(1);
        for mut stratum in strata(trees) {
            if a_unit > 1 {
                let all = stratum.len();
                chance.choose(&mut stratum, all);
            }
            units.add_stratum(&stratum, a_unit);
        }
        units
    }

    fn add_stratum(&mut self, trees: &[u32], a_unit: usize) {
        let mut stratum = Vec::with_capacity(trees.len() / a_unit + 1);
        for group in trees.chunks(a_unit) {
            let unit = u32::try_from(self.count).unwrap_or(u32::MAX);
            group.iter().for_each(|tree| self.of_tree[*tree as usize] = unit);
            stratum.push(unit);
            self.count += 1;
        }
        self.strata.push(stratum);
    }
}

/// So many trees (rounded in each country domain), from every country domain in proportion, in their old order.
pub(in crate::analysis) fn sample(trees: &Trees, count: usize, chance: &mut Chance) -> Vec<u32> {
    let mut chosen = Vec::with_capacity(count);
    for mut stratum in strata(trees) {
        let share = stratum.len() as f64 / trees.len() as f64;
        let wanted = ((count as f64 * share).round() as usize).min(stratum.len());
        chance.choose(&mut stratum, wanted);
        chosen.extend_from_slice(&stratum[..wanted]);
    }
    chosen.sort_unstable();
    chosen
}

/// The trees of each country domain; those of small ones together.
fn strata(trees: &Trees) -> Vec<Vec<u32>> {
    let mut list: Vec<(u32, u32)> = (0..)
        .zip(0..trees.len())
        .map(|(number, tree)| (trees.group(tree, Grouping::Cctld), number))
        .collect();
    list.sort_unstable();
    let of_same = list.chunk_by(|one, other| one.0 == other.0);
    let (large, small): (Vec<_>, Vec<_>) = of_same.partition(|stratum| stratum.len() >= SMALLEST_STRATUM);
    let numbers = |stratum: &[(u32, u32)]| stratum.iter().map(|(_, tree)| *tree).collect::<Vec<_>>();
    let mut strata: Vec<_> = large.into_iter().map(numbers).collect();
    let small: Vec<_> = small.into_iter().flat_map(numbers).collect();
    if !small.is_empty() {
        strata.push(small);
    }
    strata
}
