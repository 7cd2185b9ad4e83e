use super::{Kind, Occurrence, Occurrences};

/// What is known of external URLs, hosts, sites and addresses over the whole survey.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub(super) counts: [KnownByDepth; Kind::ALL.len()],
    pub(super) occurrences: [Occurrences; Kind::ALL.len()],
}

impl Known {
    /// How many are known first at each depth: the union reading, exact.
    #[must_use]
    pub fn counts(&self, kind: Kind) -> &KnownByDepth {
        &self.counts[kind as usize]
    }

    /// Which trees know which, for intervals and estimates.
    #[must_use]
    pub fn occurrences(&self, kind: Kind) -> &Occurrences {
        &self.occurrences[kind as usize]
    }
}

/// How many distinct keys are known first at each depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownByDepth {
    pub(super) new: Vec<u64>,
}

impl KnownByDepth {
    /// Known from levels 0 to `depth`.
    #[must_use]
    pub fn up_to(&self, depth: u16) -> u64 {
        self.new.iter().take(usize::from(depth) + 1).sum()
    }

    /// Known at all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.new.iter().sum()
    }

    pub(super) fn add(&mut self, depth: u16, keys: u64) {
        let depth = usize::from(depth);
        if self.new.len() <= depth {
            self.new.resize(depth + 1, 0);
        }
        self.new[depth] += keys;
    }
}

/// Gathers one kind of keys while the links go by.
pub(super) struct Gatherer {
    distinct: Distinct,
    sample: Sample,
}

impl Gatherer {
    pub(super) fn new() -> Self {
        Self::of_one_in(1)
    }

    /// For one of `parts` that are gathered at once, in the memory of one together.
    pub(super) fn of_one_in(parts: usize) -> Self {
        let limit = SAMPLE / parts.max(1);
        Self { distinct: Distinct::new(), sample: Sample { list: Vec::new(), halvings: 0, limit } }
    }

    pub(super) fn add(&mut self, occurrence: Occurrence) {
        self.distinct.add(occurrence.key, occurrence.depth);
        self.sample.add(occurrence);
    }

    pub(super) fn finish(self) -> (KnownByDepth, Occurrences) {
        (self.distinct.finish(), self.sample.finish())
    }
}

/// The distinct keys with the least depth of each: 56 bits of the key and 8 of the depth in a word, in parts
/// that are sorted when they are full. By the birthday bound, 10⁸ keys meet by chance 0.07 times.
struct Distinct {
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    words: Vec<u64>,
    /// Sorted and thinned when there are so many.
    full: usize,
}

const DEPTH_BITS: u32 = 8;
const DEPTH_MASK: u64 = (1 << DEPTH_BITS) - 1;
const PART_BITS: u32 = 6;
/// Below it sorting is not worth the interruption.
const SMALLEST_PART: usize = 1 << 12;

impl Distinct {
    fn new() -> Self {
        let part = || Part { words: Vec::new(), full: SMALLEST_PART };
        Self { parts: std::iter::repeat_with(part).take(1 << PART_BITS).collect() }
    }

    fn add(&mut self, key: u64, depth: u16) {
        let part = &mut self.parts[(key >> (u64::BITS - PART_BITS)) as usize];
        part.words.push(key & !DEPTH_MASK | u64::from(depth).min(DEPTH_MASK));
        if part.words.len() >= part.full {
            part.thin();
            part.full = part.full.max(part.words.len() * 2);
        }
    }

    fn finish(self) -> KnownByDepth {
        let mut known = KnownByDepth::default();
        for mut part in self.parts {
            part.thin();
            for word in part.words {
                known.add(u16::try_from(word & DEPTH_MASK).unwrap_or(u16::MAX), 1);
            }
        }
        known
    }
}

impl Part {
    /// Sorted, the first word of a key has its least depth.
    fn thin(&mut self) {
        self.words.sort_unstable();
        self.words.dedup_by_key(|word| *word & !DEPTH_MASK);
    }
}

/// Occurrences in memory at most, of each kind: 2²¹ of 16 bytes. The share of a million keys is known to
/// within 0.1 %, far below what the choice of trees leaves open.
const SAMPLE: usize = 1 << 21;

/// Occurrences of keys chosen by hash; half of the keys are dropped whenever there are too many.
struct Sample {
    list: Vec<Occurrence>,
    halvings: u32,
    limit: usize,
}

impl Sample {
    fn add(&mut self, occurrence: Occurrence) {
        if occurrence.key.trailing_zeros() < self.halvings {
            return;
        }
        self.list.push(occurrence);
        if self.list.len() >= self.limit * 2 {
            self.halve();
        }
    }

    /// Drops half of the keys as often as it takes. The last time says how often: in whatever order links came, the
    /// same keys are left.
    fn halve(&mut self) {
        self.thin();
        while self.list.len() > self.limit {
            self.halvings += 1;
            let halvings = self.halvings;
            self.list.retain(|occurrence| occurrence.key.trailing_zeros() >= halvings);
        }
    }

    fn thin(&mut self) {
        self.list.sort_unstable();
        self.list.dedup_by_key(|occurrence| (occurrence.key, occurrence.tree));
    }

    fn finish(mut self) -> Occurrences {
        self.halve();
        self.list.shrink_to_fit();
        Occurrences { list: self.list, halvings: self.halvings }
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
        fn distinct_keys_have_their_least_depth(
            rows in prop::collection::vec((0u32..3000, 0u16..9), 0..20_000),
        ) {
            let mut distinct = Distinct::new();
            let mut least: HashMap<u32, u16> = HashMap::new();
            for (key, depth) in rows {
                distinct.add(xxh3_64(&key.to_le_bytes()), depth);
                least.entry(key).and_modify(|least| *least = depth.min(*least)).or_insert(depth);
            }
            let found = distinct.finish();
            for depth in 0..9 {
                let expected = least.values().filter(|least| **least <= depth).count() as u64;
                prop_assert_eq!(found.up_to(depth), expected);
            }
            prop_assert_eq!(found.total(), least.len() as u64);
        }

        #[test]
        fn a_sample_holds_all_occurrences_of_the_keys_it_holds(
            rows in prop::collection::vec((0u32..500, 0u32..20, 0u16..9), 0..5_000),
            limit in 50usize..1000,
        ) {
            let mut sample = Sample { list: Vec::new(), halvings: 0, limit };
            let mut least: HashMap<(u64, u32), u16> = HashMap::new();
            let occurrence = |(key, tree, depth): &(u32, u32, u16)| {
                Occurrence { key: xxh3_64(&key.to_le_bytes()), tree: *tree, depth: *depth }
            };
            for row in &rows {
                sample.add(occurrence(row));
                let Occurrence { key, tree, depth } = occurrence(row);
                least.entry((key, tree)).and_modify(|least| *least = depth.min(*least)).or_insert(depth);
            }
            let found = sample.finish();
            let chosen = |key: u64| key.trailing_zeros() >= found.halvings;
            let mut expected: Vec<Occurrence> = least
                .into_iter()
                .map(|((key, tree), depth)| Occurrence { key, tree, depth })
                .filter(|occurrence| chosen(occurrence.key))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(found.list(), expected);
            let mut backwards = Sample { list: Vec::new(), halvings: 0, limit };
            rows.iter().rev().for_each(|row| backwards.add(occurrence(row)));
            let backwards = backwards.finish();
            prop_assert_eq!((backwards.list(), backwards.halvings), (found.list(), found.halvings));
        }
    }
}
