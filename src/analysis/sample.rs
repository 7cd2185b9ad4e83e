use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Occurrence, Occurrences};

/// Occurrences of keys chosen by hash; half of the keys are dropped whenever there are too many.
///
/// Threads may add at the same time: in whatever order, the same keys are left.
pub(super) struct Sample {
    chosen: Mutex<Chosen>,
    /// As often as the keys were halved, or less: a look at it spares most occurrences the lock.
    halvings: AtomicU32,
}

/// Occurrences in memory at most, of each kind: 2²¹ of 16 bytes. The share of a million keys is known to
/// within 0.1 %, far below what the choice of trees leaves open.
pub(super) const SAMPLE: usize = 1 << 21;

struct Chosen {
    list: Vec<Occurrence>,
    halvings: u32,
    limit: usize,
}

impl Sample {
    pub(super) fn new(limit: usize) -> Self {
        let chosen = Mutex::new(Chosen { list: Vec::new(), halvings: 0, limit });
        Self { chosen, halvings: AtomicU32::new(0) }
    }

    pub(super) fn add(&self, occurrences: &[Occurrence]) {
        let halvings = self.halvings.load(Ordering::Relaxed);
        let likely = |one: &&Occurrence| one.is_left_after(halvings);
        let mut likely: Vec<Occurrence> = occurrences.iter().filter(likely).copied().collect();
        likely.sort_unstable_by_key(Occurrence::rank);
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        likely.chunks(chosen.limit.max(1)).for_each(|some| chosen.add(some));
        self.halvings.store(chosen.halvings, Ordering::Relaxed);
    }

    pub(super) fn finish(self) -> Occurrences {
        let mut chosen = self.chosen.into_inner().unwrap_or_else(PoisonError::into_inner);
        chosen.halve();
        chosen.list.shrink_to_fit();
        Occurrences { list: chosen.list, halvings: chosen.halvings }
    }
}

impl Chosen {
    fn add(&mut self, occurrences: &[Occurrence]) {
        if self.list.len() + occurrences.len() > self.limit * 2 {
            self.halve();
        }
        let halvings = self.halvings;
        self.list.extend(occurrences.iter().filter(|one| one.is_left_after(halvings)));
    }

    /// Drops half of the keys as often as it takes. The last time says how often: in whatever order links came, the
    /// same keys are left.
    fn halve(&mut self) {
        self.thin();
        while self.list.len() > self.limit {
            self.halvings += 1;
            let halvings = self.halvings;
            self.list.retain(|one| one.is_left_after(halvings));
        }
    }

    /// Of a key in a tree the least depth. The list is made of pieces that are sorted, which a stable sort only merges.
    fn thin(&mut self) {
        self.list.sort_by_key(Occurrence::rank);
        self.list.dedup_by_key(|one| (one.key, one.tree));
    }
}

impl Occurrence {
    fn is_left_after(&self, halvings: u32) -> bool {
        self.key.trailing_zeros() >= halvings
    }

    /// Its place in the order of occurrences, as one number, which is compared faster than three.
    fn rank(&self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.tree) << 32 | u128::from(self.depth)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    proptest! {
        #[test]
        fn a_sample_holds_all_occurrences_of_the_keys_it_holds(
            rows in prop::collection::vec((0u32..500, 0u32..20, 0u16..9), 0..5_000),
            limit in 50usize..1000,
            batch in 1_usize..3000,
        ) {
            let mut least: HashMap<(u64, u32), u16> = HashMap::new();
            let occurrence = |(key, tree, depth): &(u32, u32, u16)| {
                Occurrence { key: xxh3_64(&key.to_le_bytes()), tree: *tree, depth: *depth }
            };
            let mut occurrences: Vec<Occurrence> = rows.iter().map(occurrence).collect();
            for Occurrence { key, tree, depth } in &occurrences {
                least.entry((*key, *tree)).and_modify(|least| *least = *depth.min(least)).or_insert(*depth);
            }
            let sample_of = |occurrences: &[Occurrence]| {
                let sample = Sample::new(limit);
                occurrences.chunks(batch).for_each(|batch| sample.add(batch));
                sample.finish()
            };
            let found = sample_of(&occurrences);
            let mut expected: Vec<Occurrence> = least
                .into_iter()
                .map(|((key, tree), depth)| Occurrence { key, tree, depth })
                .filter(|one| one.is_left_after(found.halvings))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(found.list(), expected);
            occurrences.reverse();
            let backwards = sample_of(&occurrences);
            prop_assert_eq!((backwards.list(), backwards.halvings), (found.list(), found.halvings));
        }
    }
}
