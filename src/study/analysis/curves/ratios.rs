use crate::analysis::intervals::sampled_rate::SampledRate;
use crate::analysis::intervals::units::Units;
use crate::analysis::{LevelCost, Trees};

/// A sum over site trees down to each depth, as a share of its total: load rates and pair coverage.
pub(in crate::analysis) fn ratio(
    trees: &Trees,
    units: &Units,
    amount: impl Fn(&LevelCost) -> f64,
) -> SampledRate {
    let mut members: Vec<(u32, usize)> = units.unit_by_tree.iter().copied().zip(0..).collect();
    members.sort_unstable();
    let members: Vec<&[(u32, usize)]> = members.chunk_by(|a, b| a.0 == b.0).collect();
    let mut rate = SampledRate::new(trees.depths());
    let mut levels = Vec::new();
    for stratum in &units.strata {
        rate.begin_stratum();
        for unit in stratum {
            levels.clear();
            for (_, tree) in members[*unit as usize] {
                for (depth, level) in trees.levels(*tree).iter().enumerate() {
                    levels.resize(levels.len().max(depth + 1), 0.0);
                    levels[depth] += amount(level);
                }
            }
            let total_amount = to_amounts_beyond(&mut levels);
            rate.add(total_amount, &levels);
        }
    }
    rate.sum_up();
    rate
}

/// Replaces the amount of each level by the amount below it. Returns the total.
fn to_amounts_beyond(levels: &mut [f64]) -> f64 {
    let mut below = 0.0;
    for level in levels.iter_mut().rev() {
        below += std::mem::replace(level, below);
    }
    below
}
