use serde::Serialize;

use crate::analysis::{Estimate, Recorded, Sampling, TreeEnd};

/// The depth of site trees: how many end at each level, and what share continues below it.
///
/// A tree that was cut reaches at least its last level; where it ends is not known. The share of trees that
/// are deeper than a level is therefore the product-limit estimate of Kaplan and Meier (1958), in which a cut
/// tree counts for the levels at which it was seen. The estimate holds if the reasons for cutting trees are
/// independent of how much deeper the trees are.
#[derive(Clone, Debug, Serialize)]
pub struct Deepest {
    /// Trees with at least one page that was read.
    pub trees: u64,
    /// Trees without a page. They are left out.
    pub without_page: u64,
    /// The levels, from depth 0 to the deepest level of all trees.
    pub levels: Vec<DeepestLevel>,
    /// The share of trees that continue below the deepest level walked: endless as far as the survey can
    /// tell.
    pub share_without_end: Estimate,
}

/// The trees whose deepest level is `depth`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DeepestLevel {
    /// The depth: levels below the start URL.
    pub depth: u16,
    /// Trees that ended at this level by themselves.
    pub ended: u64,
    /// Trees that were cut at this level by the depth, a budget, a trap or a stop.
    pub cut: u64,
    /// The share of all trees that are deeper than this.
    pub deeper: Estimate,
}

impl Deepest {
    /// Counts the trees of a survey by their deepest level.
    #[must_use]
    pub fn measure(recorded: &Recorded, sampling: &Sampling) -> Self {
        let counts = counts(recorded);
        let trees = counts.iter().map(|(ended, cut)| ended + cut).sum();
        let mut survival = Survival { share: 1.0, spread: 0.0, quantile: sampling.normal_quantile() };
        let (mut at_risk, mut levels) = (trees, Vec::with_capacity(counts.len()));
        for (depth, (ended, cut)) in (0..).zip(counts) {
            survival.add_level(ended, at_risk);
            at_risk -= ended + cut;
            levels.push(DeepestLevel { depth, ended, cut, deeper: survival.estimate() });
        }
        let share_without_end = levels.last().map_or_else(Estimate::default, |level| level.deeper);
        Self { trees, without_page: recorded.trees.len() as u64 - trees, levels, share_without_end }
    }
}

/// Trees that ended and trees that were cut, by their deepest level.
fn counts(recorded: &Recorded) -> Vec<(u64, u64)> {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for tree in recorded.trees.iter() {
        let deepest = usize::from(tree.deepest.unwrap_or(0));
        if tree.ended != TreeEnd::NoPage && counts.len() <= deepest {
            counts.resize(deepest + 1, (0, 0));
        }
        match tree.ended {
            TreeEnd::ByItself => counts[deepest].0 += 1,
            TreeEnd::Cut => counts[deepest].1 += 1,
            TreeEnd::NoPage => {}
        }
    }
    counts
}

/// The product-limit estimate, computed level by level.
struct Survival {
    share: f64,
    /// Greenwood's sum (1926): ended / (at risk × (at risk − ended)) over the levels.
    spread: f64,
    quantile: f64,
}

impl Survival {
    /// Adds a level. Trees cut at the level are at risk there: the cut shows that something lies below.
    fn add_level(&mut self, ended: u64, at_risk: u64) {
        if at_risk > 0 {
            let (ended, at_risk) = (ended as f64, at_risk as f64);
            self.share *= 1.0 - ended / at_risk;
            self.spread += ended / (at_risk * (at_risk - ended));
        }
    }

    /// The estimate, with an interval on the scale of log(−log), where it cannot leave the range from 0 to 1
    /// (Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, 1980).
    fn estimate(&self) -> Estimate {
        let value = self.share;
        if value <= 0.0 || value >= 1.0 {
            return Estimate::exact(value);
        }
        let factor = (self.quantile * self.spread.sqrt() / value.ln().abs()).exp();
        Estimate::between(value.powf(factor), value, value.powf(factor.recip()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::curves::worlds::{survey, tree};

    fn levels(
        outcome: &'static str,
        levels: usize,
        trees: usize,
    ) -> Vec<crate::analysis::curves::worlds::TestTree> {
        vec![tree(outcome, &vec![(1, &[] as &[u64]); levels]); trees]
    }

    #[test]
    fn trees_that_were_cut_count_for_the_levels_they_were_seen_at() {
        let site_trees = [
            levels("complete", 1, 4),
            levels("complete", 2, 3),
            levels("request_budget", 2, 1),
            levels("complete", 3, 2),
            levels("depth", 4, 2),
            levels("unreachable", 0, 5),
        ];
        let found = Deepest::measure(&survey(&site_trees.concat()), &Sampling::default());
        assert_eq!((found.trees, found.without_page), (12, 5));
        let counts: Vec<_> = found.levels.iter().map(|level| (level.ended, level.cut)).collect();
        assert_eq!(counts, [(4, 0), (3, 1), (2, 0), (0, 2)]);
        // 8/12, then 5/8 and 2/4 of that. The intervals were computed separately by the formulas of Greenwood
        // and of Kalbfleisch and Prentice.
        let expected =
            [(0.66667, 0.33702, 0.85971), (0.41667, 0.15247, 0.66530), (0.20833, 0.03534, 0.47898)];
        for (level, (value, low, high)) in found.levels.iter().zip(expected) {
            let off = [level.deeper.value - value, level.deeper.low - low, level.deeper.high - high];
            assert!(off.iter().all(|off| off.abs() < 1e-4), "{level:?}");
        }
        assert_eq!(found.share_without_end, found.levels[2].deeper);
    }

    #[test]
    fn where_all_trees_ended_none_goes_on() {
        let site_trees = [levels("complete", 1, 1), levels("complete", 3, 2)].concat();
        let found = Deepest::measure(&survey(&site_trees), &Sampling::default());
        assert_eq!(found.share_without_end, Estimate::exact(0.0));
        let nothing = Deepest::measure(&survey(&levels("unreachable", 0, 2)), &Sampling::default());
        assert_eq!((nothing.trees, nothing.levels.len()), (0, 0));
    }
}
