use super::intervals::Statistic;
use super::sampled_rate::SampledRate;
use super::units::Units;
use super::{LevelCost, Trees};

/// A sum over site trees as a share of all of it: load rates and pair coverage.
pub(super) struct Ratio {
    depths: usize,
    /// Where the levels of each unit begin in `beyond`, and one more for the end.
    starts: Vec<usize>,
    beyond: Vec<f64>,
    whole: Vec<f64>,
}

impl Ratio {
    pub(super) fn new(trees: &Trees, units: &Units, amount: impl Fn(&LevelCost) -> f64) -> Self {
        let depths = trees.depths();
        let mut members: Vec<(u32, usize)> = units.of_tree.iter().copied().zip(0..).collect();
        members.sort_unstable();
        let mut ratio =
            Self { depths, starts: vec![0], beyond: Vec::new(), whole: Vec::with_capacity(units.count) };
        let mut levels = Vec::new();
        for unit in members.chunk_by(|one, other| one.0 == other.0) {
            levels.clear();
            for (_, tree) in unit {
                for (depth, level) in trees.levels(*tree).iter().enumerate() {
                    levels.resize(levels.len().max(depth + 1), 0.0);
                    levels[depth] += amount(level);
                }
            }
            ratio.add_unit(&levels);
        }
        ratio
    }

    /// From what each level has to what lies below each level.
    fn add_unit(&mut self, levels: &[f64]) {
        let first = self.beyond.len();
        self.beyond.resize(first + levels.len(), 0.0);
        let mut below = 0.0;
        for (depth, amount) in levels.iter().enumerate().rev() {
            self.beyond[first + depth] = below;
            below += amount;
        }
        self.whole.push(below);
        self.starts.push(self.beyond.len());
    }
}

impl Statistic for Ratio {
    fn read(&mut self, chosen: &[Vec<u32>]) -> SampledRate {
        let mut reading = SampledRate::new(self.depths);
        for stratum in chosen {
            reading.begin_stratum();
            for unit in stratum {
                let unit = *unit as usize;
                reading.add(self.whole[unit], &self.beyond[self.starts[unit]..self.starts[unit + 1]]);
            }
        }
        reading.sum_up();
        reading
    }
}
