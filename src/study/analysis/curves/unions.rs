use crate::analysis::Occurrences;
use crate::analysis::intervals::sampled_rate::SampledRate;
use crate::analysis::intervals::units::Units;

/// Union coverage: keys known from levels 0 to d as a share of all known keys, each counted once.
///
/// A unit contributes the keys that only it knows: the keys that would be lost without it (the jackknife's
/// influence).
pub(in crate::analysis) struct Union {
    depths: usize,
    /// The index in `known` where the keys of each unit begin, and one more for the end.
    starts: Vec<usize>,
    /// Key numbers, with their least depth in the unit.
    known: Vec<(u32, u16)>,
    /// By key, its occurrence in the chosen units; [`KeyOccurrence::EMPTY`] between readings.
    seen: Vec<KeyOccurrence>,
}

/// The occurrence of a key among the chosen units.
#[derive(Clone, Copy)]
struct KeyOccurrence {
    /// The unit that has it at the least depth.
    unit: u32,
    min_depth: u16,
    /// The least depth in any other unit.
    next: u16,
}

impl KeyOccurrence {
    const EMPTY: Self = Self { unit: u32::MAX, min_depth: u16::MAX, next: u16::MAX };

    fn note(&mut self, unit: u32, depth: u16) {
        if depth < self.min_depth || self.unit == u32::MAX {
            *self = Self { unit, min_depth: depth, next: self.min_depth };
        } else {
            self.next = self.next.min(depth);
        }
    }
}

/// The number of occurrences of a kind that is enough for an interval. Beyond it, keys chosen by hash stand
/// for all.
const MAX_OCCURRENCES: usize = 1 << 19;

impl Union {
    pub(in crate::analysis) fn new(occurrences: &Occurrences, units: &Units, depths: usize) -> Self {
        let (mut list, mut keys) = (Vec::new(), 0);
        let halvings = occurrences.halvings_to(MAX_OCCURRENCES);
        for key in occurrences.keys().filter(|key| key[0].key.trailing_zeros() >= halvings) {
            list.extend(key.iter().map(|one| (units.unit_by_tree[one.tree as usize], keys, one.depth)));
            keys += 1;
        }
        list.sort_unstable();
        list.dedup_by_key(|(unit, key, _)| (*unit, *key));
        let mut starts = Vec::with_capacity(units.count + 1);
        starts.push(0);
        for unit in 1..=units.count {
            starts.push(list.partition_point(|one| (one.0 as usize) < unit));
        }
        let known = list.into_iter().map(|(_, key, depth)| (key, depth)).collect();
        Self { depths, starts, known, seen: vec![KeyOccurrence::EMPTY; keys as usize] }
    }

    /// Reads the chosen units, stratum by stratum.
    pub(in crate::analysis) fn read(&mut self, chosen: &[Vec<u32>]) -> SampledRate {
        let mut reading = SampledRate::new(self.depths);
        chosen.iter().flatten().for_each(|unit| self.add_unit(*unit));
        let mut beyond = vec![0.0; self.depths];
        for stratum in chosen {
            reading.begin_stratum();
            for unit in stratum {
                beyond.fill(0.0);
                let total_amount = self.lost_without(*unit, &mut beyond);
                reading.add(total_amount, &beyond);
            }
        }
        for unit in chosen.iter().flatten() {
            reading.total_amount += self.remove_unit(*unit, &mut reading.beyond);
        }
        reading
    }

    fn keys_of(&self, unit: u32) -> std::ops::Range<usize> {
        self.starts[unit as usize]..self.starts[unit as usize + 1]
    }

    fn add_unit(&mut self, unit: u32) {
        for index in self.keys_of(unit) {
            let (key, depth) = self.known[index];
            self.seen[key as usize].note(unit, depth);
        }
    }

    /// The number of keys that would be lost without a unit: of all keys, and of the keys below each depth. A
    /// key that another unit has at a greater depth is not lost but would move there, so less is lost below
    /// those depths.
    fn lost_without(&self, unit: u32, beyond: &mut [f64]) -> f64 {
        let mut total_amount = 0.0;
        for index in self.keys_of(unit) {
            let seen = self.seen[self.known[index].0 as usize];
            if seen.unit != unit {
                continue;
            }
            let (min_depth, next) = (usize::from(seen.min_depth), usize::from(seen.next));
            if seen.next == u16::MAX {
                total_amount += 1.0;
                beyond.iter_mut().take(min_depth).for_each(|below| *below += 1.0);
            } else {
                beyond.iter_mut().take(next).skip(min_depth).for_each(|below| *below -= 1.0);
            }
        }
        total_amount
    }

    fn remove_unit(&mut self, unit: u32, totals: &mut [f64]) -> f64 {
        let mut total_amount = 0.0;
        for index in self.keys_of(unit) {
            let seen = std::mem::replace(&mut self.seen[self.known[index].0 as usize], KeyOccurrence::EMPTY);
            if seen.unit != u32::MAX {
                total_amount += 1.0;
                totals.iter_mut().take(usize::from(seen.min_depth)).for_each(|below| *below += 1.0);
            }
        }
        total_amount
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::curves::worlds::{country, survey};
    use crate::analysis::intervals::chance::Chance;
    use crate::analysis::intervals::units::MAX_UNITS;

    fn union_of(trees: usize, seed: u64) -> (Union, Units) {
        let recorded = survey(&country(trees, 5, seed));
        let units = Units::draw(&recorded.trees, MAX_UNITS, &mut Chance::new(1, 0));
        (Union::new(&recorded.known.occurrences[0], &units, recorded.trees.depths()), units)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// The spread equals that of the jackknife, which leaves out one tree after the other.
        #[test]
        fn a_reading_varies_as_its_readings_without_one_tree_do(seed in 0_u64..1000, trees in 5_usize..15) {
            let (mut union, units) = union_of(trees, seed);
            let all = union.read(&units.strata);
            prop_assert_eq!(units.strata.len(), 1);
            for depth in 0..all.beyond.len() {
                let (missing, mut losses) = (all.missing(depth), Vec::new());
                for left_out in 0..trees {
                    let mut fewer = units.strata.clone();
                    fewer[0].remove(left_out);
                    let without = union.read(&fewer);
                    let amount_beyond = |reading: &SampledRate| reading.beyond[depth] - missing * reading.total_amount;
                    losses.push(amount_beyond(&all) - amount_beyond(&without));
                }
                let mean = losses.iter().sum::<f64>() / trees as f64;
                let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
                let spread = (squares * trees as f64 / (trees as f64 - 1.0)).sqrt() / all.total_amount;
                prop_assert!((spread - all.spread(depth)).abs() < 1e-9, "{} {}", spread, all.spread(depth));
            }
        }
    }

    #[test]
    fn a_reading_of_all_trees_is_the_union_coverage() {
        let recorded = survey(&country(200, 6, 3));
        let units = Units::draw(&recorded.trees, MAX_UNITS, &mut Chance::new(1, 0));
        let mut union = Union::new(&recorded.known.occurrences[0], &units, recorded.trees.depths());
        for _ in 0..2 {
            let reading = union.read(&units.strata);
            for depth in 0..recorded.trees.depths() {
                let known = &recorded.known.counts[0];
                let coverage = known.up_to(u16::try_from(depth).unwrap()) as f64 / known.total() as f64;
                assert!((1.0 - reading.missing(depth) - coverage).abs() < 1e-12);
            }
        }
    }
}
