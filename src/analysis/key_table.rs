//! Distinct keys with a number each, of tens of millions of them in some hundreds of megabytes.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use super::apart::apart;
use super::in_turn::in_turn;
use super::packed::{KEY_BITS, Packed};
use super::{KnownByDepth, Occurrence};

/// Words in parts by their highest bits. Of each part the words that came last wait, to be sorted into the others when they
/// are many.
///
/// Threads may add at the same time: what is joined does not depend on the order.
pub(super) struct KeyTable<W> {
    parts: Vec<Mutex<Part>>,
    of: PhantomData<fn() -> W>,
}

/// What a word stands for.
pub(super) trait Word {
    /// The key, which grows with the word in each part and has [`KEY_BITS`] bits at most, and its number.
    fn entry(word: u64) -> (u64, u32);
    /// The number of a key that was added twice.
    fn join(one: u32, other: u32) -> u32;
}

#[derive(Default)]
struct Part {
    sorted: Packed,
    fresh: Vec<u64>,
}

const PARTS: usize = 1 << (u64::BITS - KEY_BITS);
/// Words of hashes are spread evenly. So they are first put to as many places, of which each has a hundred or less in a part of
/// the largest table.
const PLACES: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 10;
/// With fewer fresh words sorting is not worth the interruption.
const FEWEST_FRESH: usize = 1 << 11;
/// Beyond half of the sorted ones, fresh words are sorted in: the more wait, the more memory they take, and the fewer,
/// the more often the sorted ones are copied.
const FRESH_SHARE: usize = 2;

impl<W: Word> KeyTable<W> {
    pub(super) fn new() -> Self {
        Self { parts: std::iter::repeat_with(Mutex::default).take(PARTS).collect(), of: PhantomData }
    }

    pub(super) fn add(&self, words: impl Iterator<Item = u64> + Clone) {
        let places = apart::<PARTS>(words, KEY_BITS);
        for (part, words) in self.parts.iter().zip(places.each()).filter(|(_, words)| !words.is_empty()) {
            part.lock().unwrap_or_else(PoisonError::into_inner).add::<W>(words);
        }
    }

    /// Gives the parts in their order to `work`, on all cores, and what that makes of them to `take`.
    fn each_part<T>(self, work: impl Fn(Packed) -> T + Sync, mut take: impl FnMut(T) + Send) {
        let sort_in = |part: Mutex<Part>| {
            let mut part = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            part.sort_in::<W>();
            Ok::<_, Infallible>(work(part.sorted))
        };
        let take = |made| {
            take(made);
            Ok(())
        };
        let Ok(()) = in_turn(self.parts.into_iter(), sort_in, take);
    }
}

impl Part {
    fn add<W: Word>(&mut self, words: &[u64]) {
        self.fresh.extend_from_slice(words);
        if self.fresh.len() >= FEWEST_FRESH.max(self.sorted.len() / FRESH_SHARE) {
            self.sort_in::<W>();
        }
    }

    fn sort_in<W: Word>(&mut self) {
        let fresh = apart::<PLACES>(self.fresh.iter().copied(), KEY_BITS - PLACE_BITS).sorted();
        self.fresh.clear();
        self.sorted = self.sorted.with(fresh.into_iter().map(W::entry), W::join);
    }
}

/// The distinct keys with the least depth of each: 56 bits of the key and 8 of the depth in a word. By the birthday bound,
/// 10⁸ keys meet by chance 0.07 times.
pub(super) struct WithDepth;

const DEPTH_BITS: u32 = 8;
const DEPTH_MASK: u64 = (1 << DEPTH_BITS) - 1;

impl Word for WithDepth {
    fn entry(word: u64) -> (u64, u32) {
        (word >> DEPTH_BITS, (word & DEPTH_MASK) as u32)
    }

    fn join(one: u32, other: u32) -> u32 {
        one.min(other)
    }
}

impl KeyTable<WithDepth> {
    pub(super) fn add_occurrences(&self, occurrences: &[Occurrence]) {
        let word = |one: &Occurrence| one.key & !DEPTH_MASK | u64::from(one.depth).min(DEPTH_MASK);
        self.add(occurrences.iter().map(word));
    }

    pub(super) fn known_by_depth(self) -> KnownByDepth {
        let mut known = KnownByDepth::default();
        let count = |part: Packed| {
            let mut known = KnownByDepth::default();
            part.iter().for_each(|(_, depth)| known.add(depth as u16, 1));
            known
        };
        self.each_part(count, |part| (0..).zip(part.new).for_each(|(depth, keys)| known.add(depth, keys)));
        known
    }
}

/// How often each key was added; all its bits count.
pub(super) struct Occurring;

const KEY_MASK: u64 = (1 << KEY_BITS) - 1;

impl Word for Occurring {
    fn entry(word: u64) -> (u64, u32) {
        (word & KEY_MASK, 1)
    }

    fn join(one: u32, other: u32) -> u32 {
        one.saturating_add(other)
    }
}

/// Keys in their order, each with how often it was added.
#[derive(Default)]
pub(super) struct KeyCounts(Vec<Packed>);

impl KeyTable<Occurring> {
    pub(super) fn counts(self) -> KeyCounts {
        let mut parts = Vec::new();
        self.each_part(|part| part, |part| parts.push(part));
        KeyCounts(parts)
    }
}

impl KeyCounts {
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Packed::len).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        (0..).zip(&self.0).flat_map(|(number, part): (u64, _)| {
            part.iter().map(move |(key, count)| (number << KEY_BITS | key, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    proptest! {
        #[test]
        fn distinct_keys_have_their_least_depth(
            rows in prop::collection::vec((0u32..3000, 0u16..300), 0..20_000),
            batch in 1_usize..5000,
        ) {
            let table = KeyTable::<WithDepth>::new();
            let mut least: HashMap<u32, u16> = HashMap::new();
            let mut occurrences = Vec::new();
            for (key, depth) in rows {
                occurrences.push(Occurrence { key: xxh3_64(&key.to_le_bytes()), tree: 0, depth });
                let depth = depth.min(255);
                least.entry(key).and_modify(|least| *least = depth.min(*least)).or_insert(depth);
            }
            occurrences.chunks(batch).for_each(|batch| table.add_occurrences(batch));
            let found = table.known_by_depth();
            for depth in 0..256 {
                let expected = least.values().filter(|least| **least <= depth).count() as u64;
                prop_assert_eq!(found.up_to(depth), expected);
            }
            prop_assert_eq!(found.total(), least.len() as u64);
        }

        #[test]
        fn keys_are_counted(
            keys in prop::collection::vec((0u32..3000).prop_map(|key| xxh3_64(&key.to_le_bytes())), 0..20_000),
            batch in 1_usize..5000,
        ) {
            let table = KeyTable::<Occurring>::new();
            let mut expected = BTreeMap::new();
            keys.iter().for_each(|key| *expected.entry(*key).or_default() += 1);
            keys.chunks(batch).for_each(|batch| table.add(batch.iter().copied()));
            let found = table.counts();
            prop_assert_eq!(found.len(), expected.len());
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
