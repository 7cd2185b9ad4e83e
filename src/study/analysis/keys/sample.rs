use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::cells::Cells;
use crate::analysis::{Occurrence, Occurrences};

/// A sample of occurrences, of keys chosen by hash. Whenever a set has too many, half of its keys are
/// dropped.
///
/// Several threads may add occurrences at the same time: the same keys remain in any order.
pub(in crate::analysis) struct KeySampler<'c> {
    cells: &'c Cells,
    chosen: Mutex<SampledSet<'c>>,
    /// By cell, a lower bound on the number of times that its keys were halved. It filters most occurrences
    /// without the lock.
    halvings: Vec<AtomicU32>,
}

/// The maximum number of occurrences in memory for each kind: 2²¹ of 16 bytes. A share of a million keys is
/// known to within 0.1 %, far below the uncertainty from the choice of trees. The groups of one grouping
/// share the same number.
pub(in crate::analysis) const SAMPLE: usize = 1 << 21;

struct SampledSet<'c> {
    cells: &'c Cells,
    list: Vec<Occurrence>,
    /// By set, the number of times that its keys were halved; `limits` is the maximum number of its
    /// occurrences.
    halvings: Vec<u32>,
    limits: Vec<usize>,
    /// The length of `list` above which keys are halved.
    capacity: usize,
}

impl<'c> KeySampler<'c> {
    /// A sampler that keeps at most `limit` occurrences for all trees.
    pub(in crate::analysis) fn new(cells: &'c Cells, limit: usize) -> Self {
        let limits: Vec<usize> = cells.sharing().iter().map(|groups| limit / groups).collect();
        let chosen = SampledSet {
            cells,
            list: Vec::new(),
            halvings: vec![0; limits.len()],
            limits,
            capacity: limit * 2,
        };
        let halvings = (0..cells.count()).map(|_| AtomicU32::new(0)).collect();
        Self { cells, chosen: Mutex::new(chosen), halvings }
    }

    pub(in crate::analysis) fn add<'o>(&self, occurrences: impl Iterator<Item = &'o Occurrence>) {
        let halvings =
            |one: &Occurrence| self.halvings[self.cells.cell_number(one.tree)].load(Ordering::Relaxed);
        let likely = |one: &&Occurrence| one.is_left_after(halvings(one));
        let mut likely: Vec<Occurrence> = occurrences.filter(likely).copied().collect();
        likely.sort_unstable_by_key(Occurrence::rank);
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in likely.chunks((chosen.capacity / 2).max(1)) {
            chosen.add(chunk, &self.halvings);
        }
    }

    pub(in crate::analysis) fn finish(self) -> KeySample {
        let mut chosen = self.chosen.into_inner().unwrap_or_else(PoisonError::into_inner);
        chosen.halve(&self.halvings);
        chosen.list.shrink_to_fit();
        KeySample { list: chosen.list, halvings: chosen.halvings }
    }
}

impl SampledSet<'_> {
    fn add(&mut self, occurrences: &[Occurrence], halvings: &[AtomicU32]) {
        if self.list.len() + occurrences.len() > self.capacity {
            self.halve(halvings);
        }
        let cell_halvings =
            |one: &Occurrence| halvings[self.cells.cell_number(one.tree)].load(Ordering::Relaxed);
        self.list.extend(occurrences.iter().filter(|one| one.is_left_after(cell_halvings(one))));
    }

    /// Drops half of the keys of each set as many times as needed. The number of halvings after the last call
    /// does not depend on the order of the links, so the same keys remain.
    fn halve(&mut self, halvings: &[AtomicU32]) {
        self.thin();
        self.count_halvings();
        let of_set = |set: &u32| self.halvings[*set as usize];
        for (cell, halvings) in halvings.iter().enumerate() {
            let least = self.cells.sets_of(cell).iter().map(of_set).min().unwrap_or_default();
            halvings.store(least, Ordering::Relaxed);
        }
        let cells = self.cells;
        self.list
            .retain(|one| one.is_left_after(halvings[cells.cell_number(one.tree)].load(Ordering::Relaxed)));
        self.capacity = self.capacity.max(self.list.len() * 2);
    }

    /// Counts how often the keys of each set must be halved, so that it has no more occurrences than its
    /// limit.
    fn count_halvings(&mut self) {
        // By set and by the number of trailing zero bits of the key, the number of occurrences.
        let mut zeros = vec![[0; u64::BITS as usize + 1]; self.limits.len()];
        for one in &self.list {
            for set in self.cells.sets_of(self.cells.cell_number(one.tree)) {
                zeros[*set as usize][one.key.trailing_zeros() as usize] += 1;
            }
        }
        for ((zeros, limit), halvings) in zeros.iter().zip(&self.limits).zip(&mut self.halvings) {
            let mut remaining: usize = zeros[*halvings as usize..].iter().sum();
            while remaining > *limit && *halvings < u64::BITS {
                remaining -= zeros[*halvings as usize];
                *halvings += 1;
            }
        }
    }

    /// Keeps each key of a tree at its least depth. The list consists of sorted runs, which a stable sort
    /// only merges.
    fn thin(&mut self) {
        self.list.sort_by_key(Occurrence::rank);
        self.list.dedup_by_key(|one| (one.key, one.tree));
    }
}

/// The finished sample: the occurrences in all sets and, by set, the number of times that its keys were
/// halved.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct KeySample {
    list: Vec<Occurrence>,
    halvings: Vec<u32>,
}

impl KeySample {
    /// An empty sample for this number of sets.
    pub(in crate::analysis) fn empty(sets: usize) -> Self {
        Self { list: Vec::new(), halvings: vec![0; sets] }
    }

    /// The occurrences in all trees.
    pub(in crate::analysis) fn all_trees(&self) -> Occurrences {
        let halvings = self.halvings[0];
        let list = self.list.iter().filter(|one| one.is_left_after(halvings)).copied().collect();
        Occurrences { list, halvings }
    }

    /// The occurrences in each of some sets. `places` holds, for each tree, the index of its set among them
    /// and its number in that set.
    pub(in crate::analysis) fn sets(
        &self,
        sets: std::ops::Range<usize>,
        places: &[(usize, u32)],
    ) -> Vec<Occurrences> {
        let halvings = &self.halvings[sets];
        let remaining = || {
            let of_set = |one: &Occurrence| (places[one.tree as usize], *one);
            self.list.iter().map(of_set).filter(|((set, _), one)| one.is_left_after(halvings[*set]))
        };
        let mut counts = vec![0; halvings.len()];
        remaining().for_each(|((set, _), _)| counts[set] += 1);
        let of_set = |(count, halvings): (&usize, &u32)| Occurrences {
            list: Vec::with_capacity(*count),
            halvings: *halvings,
        };
        let mut occurrences: Vec<Occurrences> = counts.iter().zip(halvings).map(of_set).collect();
        for ((set, tree), one) in remaining() {
            occurrences[set].list.push(Occurrence { tree, ..one });
        }
        occurrences
    }
}

impl Occurrence {
    fn is_left_after(&self, halvings: u32) -> bool {
        self.key.trailing_zeros() >= halvings
    }

    /// The sort key of the occurrence as one number, which is compared faster than three.
    pub(in crate::analysis) fn rank(&self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.tree) << 32 | u128::from(self.depth)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::analysis::curves::worlds;

    /// The occurrences of a set that remain after `halvings` halvings.
    fn remaining(occurrences: &[Occurrence], in_set: impl Fn(u32) -> bool, halvings: u32) -> Vec<Occurrence> {
        let mut least: HashMap<(u64, u32), u16> = HashMap::new();
        for Occurrence { key, tree, depth } in occurrences.iter().filter(|one| in_set(one.tree)) {
            least.entry((*key, *tree)).and_modify(|least| *least = *depth.min(least)).or_insert(*depth);
        }
        let occurrence = |((key, tree), depth)| Occurrence { key, tree, depth };
        let mut remaining: Vec<Occurrence> = least.into_iter().map(occurrence).collect();
        remaining.retain(|one| one.is_left_after(halvings));
        remaining.sort_unstable();
        remaining
    }

    proptest! {
        #[test]
        fn a_sample_holds_all_occurrences_of_the_keys_that_each_set_holds(
            rows in prop::collection::vec((0_u32..500, 0_u32..20, 0_u16..9), 0..5_000),
            limit in 50_usize..1000,
            batch in 1_usize..3000,
        ) {
            let occurrence = |(key, tree, depth): &(u32, u32, u16)| {
                Occurrence { key: xxh3_64(&key.to_le_bytes()), tree: *tree, depth: *depth }
            };
            let mut occurrences: Vec<Occurrence> = rows.iter().map(occurrence).collect();
            let cells = worlds::cells(20);
            let sample_of = |occurrences: &[Occurrence]| {
                let sample = KeySampler::new(&cells, limit);
                occurrences.chunks(batch).for_each(|batch| sample.add(batch.iter()));
                sample.finish()
            };
            let found = sample_of(&occurrences);
            let by_thirds: Vec<(usize, u32)> = (0..20).map(|tree| (tree as usize % 3, tree)).collect();
            let by_halves: Vec<(usize, u32)> = (0..20).map(|tree| (tree as usize / 10, tree)).collect();
            let of_sets = [vec![found.all_trees()], found.sets(1..4, &by_thirds), found.sets(4..6, &by_halves)].concat();
            for (set, of_set) in of_sets.iter().enumerate() {
                let in_set = |tree| cells.sets_of(cells.cell_number(tree)).contains(&(set as u32));
                let most = limit / cells.sharing()[set];
                prop_assert_eq!(of_set.list(), remaining(&occurrences, in_set, of_set.halvings));
                prop_assert!(of_set.list().len() <= most);
                let more = |halvings| remaining(&occurrences, in_set, halvings).len();
                prop_assert!(of_set.halvings.checked_sub(1).is_none_or(|before| more(before) > most));
            }
            occurrences.reverse();
            let backwards = sample_of(&occurrences);
            prop_assert_eq!((backwards.list, backwards.halvings), (found.list, found.halvings));
        }
    }
}
