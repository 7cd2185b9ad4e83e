//! Distinct keys, each with a number: tens of millions of them in some hundreds of megabytes.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use super::cells::Cells;
use super::packed::{KEY_BITS, PackedKeys};
use super::partition::{partition, sorted};
use crate::analysis::tables::in_turn::in_turn;
use crate::analysis::{KnownByDepth, Occurrence};

/// Words, divided into parts by the highest bits of their keys, which the words themselves need not repeat.
/// In each part, the most recent words wait and are merged into the sorted ones when there are many.
///
/// Several threads may add words at the same time: the result does not depend on the order.
pub(in crate::analysis) struct KeyTable<W> {
    parts: Vec<Mutex<TablePart>>,
    form: W,
}

/// The meaning of a word.
pub(in crate::analysis) trait Word {
    /// The sort key of a word and its number. The sort key grows with the word and has at most [`KEY_BITS`]
    /// bits.
    fn entry(&self, word: u64) -> (u64, u32);
    /// Joins the numbers of a key that was added twice.
    fn join(one: u32, other: u32) -> u32;
}

#[derive(Default)]
struct TablePart {
    sorted: PackedKeys,
    unsorted: Vec<u64>,
}

const PART_BITS: u32 = 14;
const PARTS: usize = 1 << PART_BITS;
/// The number of parts that a thread takes at once. The parts of a small table are nearly empty, and taking
/// them one by one would cost more than the work.
const PARTS_PER_BATCH: usize = 32;
/// The number of buckets for sorting a part. Keys are hashes and spread evenly, so a bucket holds at most
/// about a hundred words in a part of the largest table.
const BUCKETS: usize = 1 << 6;
/// With fewer fresh words, sorting is not worth the interruption.
const MIN_UNSORTED: usize = 1 << 10;
/// Fresh words are merged when they exceed a quarter of the sorted words. More waiting words take more
/// memory; fewer mean that the sorted words are copied more often.
const UNSORTED_SHARE: usize = 4;

impl<W: Word + Sync> KeyTable<W> {
    pub(in crate::analysis) fn new(form: W) -> Self {
        Self { parts: std::iter::repeat_with(Mutex::default).take(PARTS).collect(), form }
    }

    /// Adds words, given as keys and the other bits of the word.
    fn add_words(&self, words: impl Iterator<Item = (u64, u64)> + Clone) {
        let bucketed = |(key, payload): (u64, u64)| {
            ((key >> (u64::BITS - PART_BITS)) as usize, key << PART_BITS | payload)
        };
        let buckets = partition::<PARTS>(words.map(bucketed));
        for (part, words) in self.parts.iter().zip(buckets.each()).filter(|(_, words)| !words.is_empty()) {
            part.lock().unwrap_or_else(PoisonError::into_inner).add(words, &self.form);
        }
    }

    /// Passes the parts to `work` on all cores, and the results to `take` in the order of the parts.
    fn each_part<T>(self, work: impl Fn(PackedKeys, &W) -> T + Sync, mut take: impl FnMut(T) + Send) {
        let Self { parts, form } = self;
        let sorted_in = |part: Mutex<TablePart>| {
            let mut part = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            part.sort_in(&form);
            work(part.sorted, &form)
        };
        let mut parts = parts.into_iter();
        let next_parts = || {
            Some(parts.by_ref().take(PARTS_PER_BATCH).collect())
                .filter(|next_parts: &Vec<_>| !next_parts.is_empty())
        };
        let work = |next_parts: Vec<Mutex<TablePart>>| {
            Ok::<_, Infallible>(next_parts.into_iter().map(sorted_in).collect())
        };
        let take = |results: Vec<T>| {
            results.into_iter().for_each(&mut take);
            Ok(())
        };
        let Ok(()) = in_turn(std::iter::from_fn(next_parts), work, take);
    }
}

impl TablePart {
    fn add<W: Word>(&mut self, words: &[u64], form: &W) {
        // Growth by doubling would reserve half as much memory again for words that never come.
        if self.unsorted.capacity() - self.unsorted.len() < words.len() {
            self.unsorted.reserve_exact(words.len().max(self.unsorted.len() / 4));
        }
        self.unsorted.extend_from_slice(words);
        if self.unsorted.len() >= MIN_UNSORTED.max(self.sorted.len() / UNSORTED_SHARE) {
            self.sort_in(form);
        }
    }

    fn sort_in<W: Word>(&mut self, form: &W) {
        let unsorted = sorted::<BUCKETS>(&self.unsorted);
        self.unsorted.clear();
        self.sorted = self.sorted.merged_with(unsorted.into_iter().map(|word| form.entry(word)), W::join);
    }
}

/// A key by the cell of trees that knows it, with its least depth: as many bits of the key as fit, then the
/// cell and the depth.
///
/// Of the 64 bits of a key, the part gives fourteen, the range of keys gives some, and the 56 bits that also
/// hold the cell give the rest. With 2¹⁸ cells, this is 52 bits plus the bits of the range; the more links
/// there are, the smaller the ranges. By the birthday bound, 0.28 collisions are expected among 10⁸ keys in
/// four ranges.
pub(in crate::analysis) struct CellWord<'c> {
    cells: &'c Cells,
    /// The number of bits for the cell. Fewer bits make the differences between keys take less memory.
    cell_bits: u32,
    range: Range,
}

const DEPTH_BITS: u32 = 8;
const DEPTH_MASK: u64 = (1 << DEPTH_BITS) - 1;
const _: () = assert!(u64::BITS - DEPTH_BITS <= KEY_BITS && u64::BITS - PART_BITS <= KEY_BITS);

/// The range of keys that have the same first bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::analysis) struct Range {
    number: u64,
    bits: u32,
}

impl Range {
    /// All ranges with this number of bits. Together they hold all keys.
    pub(in crate::analysis) fn each(bits: u32) -> impl Iterator<Item = Self> {
        (0..1 << bits).map(move |number| Self { number, bits })
    }

    pub(in crate::analysis) fn has(self, key: u64) -> bool {
        key.rotate_left(self.bits) & ((1 << self.bits) - 1) == self.number
    }
}

impl Word for CellWord<'_> {
    fn entry(&self, word: u64) -> (u64, u32) {
        (word >> DEPTH_BITS, (word & DEPTH_MASK) as u32)
    }

    fn join(one: u32, other: u32) -> u32 {
        one.min(other)
    }
}

impl<'c> KeyTable<CellWord<'c>> {
    /// A table for the keys in this range.
    pub(in crate::analysis) fn in_cells(cells: &'c Cells, range: Range) -> Self {
        Self::new(CellWord { cells, cell_bits: cells.count().next_power_of_two().ilog2(), range })
    }

    pub(in crate::analysis) fn add<'o>(&self, occurrences: impl Iterator<Item = &'o Occurrence> + Clone) {
        let CellWord { cells, cell_bits, range } = self.form;
        let key_mask = !(((1 << (cell_bits + DEPTH_BITS)) - 1) >> PART_BITS);
        let word = |one: &Occurrence| {
            let cell = (cells.cell_number(one.tree) as u64) << DEPTH_BITS;
            (one.key << range.bits & key_mask, cell | u64::from(one.depth).min(DEPTH_MASK))
        };
        self.add_words(occurrences.map(word));
    }

    /// Adds the number of these keys that each set of trees knows, by depth, to `known`.
    pub(in crate::analysis) fn count_in(self, known: &mut [KnownByDepth]) {
        let add = |part: Vec<KnownByDepth>| {
            for (known, part) in known.iter_mut().zip(part) {
                (0..).zip(part.new).for_each(|(depth, keys)| known.add(depth, keys));
            }
        };
        self.each_part(|part, form| form.count_known(&part), add);
    }
}

impl CellWord<'_> {
    fn count_known(&self, part: &PackedKeys) -> Vec<KnownByDepth> {
        let mut least = LeastDepths::new(self.cells.sharing().len());
        let mut last = 0;
        for (entry, depth) in part.iter() {
            let (key, cell) = (entry >> self.cell_bits, entry & ((1 << self.cell_bits) - 1));
            if std::mem::replace(&mut last, key) != key {
                least.count();
            }
            self.cells.sets_of(cell as usize).iter().for_each(|set| least.see(*set as usize, depth as u16));
        }
        least.count();
        least.known
    }
}

/// Finds the least depth of a key in each set, for one key after the other.
struct LeastDepths {
    known: Vec<KnownByDepth>,
    depth_by_set: Vec<u16>,
    /// The sets that know the key.
    seen: Vec<usize>,
}

impl LeastDepths {
    fn new(sets: usize) -> Self {
        Self {
            known: vec![KnownByDepth::default(); sets],
            depth_by_set: vec![u16::MAX; sets],
            seen: Vec::new(),
        }
    }

    fn see(&mut self, set: usize, depth: u16) {
        let least = &mut self.depth_by_set[set];
        if *least == u16::MAX {
            self.seen.push(set);
        }
        *least = depth.min(*least);
    }

    fn count(&mut self) {
        for set in self.seen.drain(..) {
            self.known[set].add(std::mem::replace(&mut self.depth_by_set[set], u16::MAX), 1);
        }
    }
}

/// Counts how often each key was added. All bits of the key are kept.
pub(in crate::analysis) struct OccurrenceWord;

impl Word for OccurrenceWord {
    fn entry(&self, word: u64) -> (u64, u32) {
        (word >> PART_BITS, 1)
    }

    fn join(one: u32, other: u32) -> u32 {
        one.saturating_add(other)
    }
}

/// Keys in order, each with the number of times it was added.
#[derive(Default)]
pub(in crate::analysis) struct KeyCounts(Vec<PackedKeys>);

impl KeyTable<OccurrenceWord> {
    pub(in crate::analysis) fn add(&self, keys: impl Iterator<Item = u64> + Clone) {
        self.add_words(keys.map(|key| (key, 0)));
    }

    pub(in crate::analysis) fn counts(self) -> KeyCounts {
        let mut parts = Vec::new();
        self.each_part(|part, _| part, |part| parts.push(part));
        KeyCounts(parts)
    }
}

impl KeyCounts {
    pub(in crate::analysis) fn len(&self) -> usize {
        self.0.iter().map(PackedKeys::len).sum()
    }

    pub(in crate::analysis) fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        (0..).zip(&self.0).flat_map(|(number, part): (u64, _)| {
            part.iter().map(move |(key, count)| (number << (u64::BITS - PART_BITS) | key, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::analysis::curves::worlds;

    proptest! {
        #[test]
        fn each_set_of_trees_has_distinct_keys_with_their_least_depth(
            rows in prop::collection::vec((0_u32..3000, 0_u32..12, 0_u16..300), 0..20_000),
            batch in 1_usize..5000,
            range_bits in 0_u32..4,
        ) {
            let cells = worlds::cells(12);
            let tables: Vec<_> = Range::each(range_bits).map(|range| (range, KeyTable::in_cells(&cells, range))).collect();
            let mut least: HashMap<(usize, u32), u16> = HashMap::new();
            let mut occurrences = Vec::new();
            for (key, tree, depth) in rows {
                occurrences.push(Occurrence { key: xxh3_64(&key.to_le_bytes()), tree, depth });
                let depth = depth.min(255);
                for set in cells.sets_of(cells.cell_number(tree)) {
                    least.entry((*set as usize, key)).and_modify(|least| *least = depth.min(*least)).or_insert(depth);
                }
            }
            let mut known = vec![KnownByDepth::default(); cells.sharing().len()];
            for (range, table) in tables {
                for batch in occurrences.chunks(batch) {
                    table.add(batch.iter().filter(|one| range.has(one.key)));
                }
                table.count_in(&mut known);
            }
            let mut expected = vec![KnownByDepth::default(); cells.sharing().len()];
            least.into_iter().for_each(|((set, _), depth)| expected[set].add(depth, 1));
            prop_assert_eq!(known, expected);
        }

        #[test]
        fn keys_are_counted(
            keys in prop::collection::vec((0u32..3000).prop_map(|key| xxh3_64(&key.to_le_bytes())), 0..20_000),
            batch in 1_usize..5000,
        ) {
            let table = KeyTable::new(OccurrenceWord);
            let mut expected = BTreeMap::new();
            keys.iter().for_each(|key| *expected.entry(*key).or_default() += 1);
            keys.chunks(batch).for_each(|batch| table.add(batch.iter().copied()));
            let found = table.counts();
            prop_assert_eq!(found.len(), expected.len());
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
