/// Distinct keys in order, each with a number, in little memory: they are stored as differences from the
/// previous key. With some tens of millions of keys of 50 bits, a key takes five bytes.
///
/// An entry holds, from the lowest bit: the number of bytes after the first (3 bits), the number (4 bits) and
/// the difference (up to 57 bits). Numbers from 15 on take four more bytes.
#[derive(Default)]
pub(in crate::analysis) struct PackedKeys {
    bytes: Vec<u8>,
    len: usize,
}

/// The maximum number of bits of a key.
pub(in crate::analysis) const KEY_BITS: u32 = u64::BITS - LENGTH_BITS - NUMBER_BITS;
const LENGTH_BITS: u32 = 3;
const NUMBER_BITS: u32 = 4;
/// The value that marks a number stored after the difference.
const LARGE: u64 = (1 << NUMBER_BITS) - 1;
const LARGE_BYTES: usize = 4;
/// Bytes after the last entry: a read always takes eight bytes, whatever the length of the entry.
const PADDING: [u8; 7] = [0; 7];

impl PackedKeys {
    pub(in crate::analysis) fn len(&self) -> usize {
        self.len
    }

    pub(in crate::analysis) fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        let (mut offset, mut key) = (0, 0);
        (0..self.len).map(move |_| {
            let (difference, number, length) = decode_first(&self.bytes[offset..]);
            offset += length;
            key += difference;
            (key, number)
        })
    }

    /// Merges these keys with others, which must be in order and may repeat a key. Numbers of equal keys are
    /// joined.
    pub(in crate::analysis) fn merged_with(
        &self,
        others: impl Iterator<Item = (u64, u32)>,
        join: impl Fn(u32, u32) -> u32,
    ) -> Self {
        let expected = self.bytes.len() + others.size_hint().0 * 6 + PADDING.len();
        let all = KeyWriter { bytes: Vec::with_capacity(expected), len: 0, last_key: 0 };
        let mut merging = KeyMerger { all, last: None, join };
        let mut ours = self.iter().peekable();
        for other in others {
            while let Some(our) = ours.next_if(|our| our.0 <= other.0) {
                merging.add(our);
            }
            merging.add(other);
        }
        ours.for_each(|our| merging.add(our));
        merging.finish()
    }
}

/// Writes entries in order and joins the ones with equal keys.
struct KeyMerger<J> {
    all: KeyWriter,
    /// Not written yet, because the next entry may have the same key.
    last: Option<(u64, u32)>,
    join: J,
}

impl<J: Fn(u32, u32) -> u32> KeyMerger<J> {
    fn add(&mut self, (key, number): (u64, u32)) {
        match &mut self.last {
            Some((same, joined)) if *same == key => *joined = (self.join)(*joined, number),
            last => {
                let before = last.replace((key, number));
                before.into_iter().for_each(|(key, number)| self.all.push(key, number));
            }
        }
    }

    fn finish(mut self) -> PackedKeys {
        self.last.into_iter().for_each(|(key, number)| self.all.push(key, number));
        self.all.finish()
    }
}

/// Reads the first entry of these bytes: its difference, its number and its length.
fn decode_first(bytes: &[u8]) -> (u64, u32, usize) {
    let mut word_bytes = [0; 8];
    word_bytes.copy_from_slice(&bytes[..8]);
    let all = u64::from_le_bytes(word_bytes);
    let length = (all & ((1 << LENGTH_BITS) - 1)) as usize + 1;
    let unread = u64::BITS - 8 * length as u32;
    let word = all << unread >> unread >> LENGTH_BITS;
    let (difference, number) = (word >> NUMBER_BITS, word & LARGE);
    if number < LARGE {
        return (difference, number as u32, length);
    }
    let mut number_bytes = [0; LARGE_BYTES];
    number_bytes.copy_from_slice(&bytes[length..length + LARGE_BYTES]);
    (difference, u32::from_le_bytes(number_bytes), length + LARGE_BYTES)
}

struct KeyWriter {
    bytes: Vec<u8>,
    len: usize,
    last_key: u64,
}

impl KeyWriter {
    fn push(&mut self, key: u64, number: u32) {
        let difference = key - self.last_key;
        let word = (difference << NUMBER_BITS | u64::from(number).min(LARGE)) << LENGTH_BITS;
        let length = (u64::BITS - word.leading_zeros()).div_ceil(8).max(1);
        let all = word | u64::from(length - 1);
        // Writing all eight bytes is faster than writing some of them. The surplus is cut off.
        let end = self.bytes.len() + length as usize;
        self.bytes.extend_from_slice(&all.to_le_bytes());
        self.bytes.truncate(end);
        if u64::from(number) >= LARGE {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.last_key = key;
        self.len += 1;
    }

    fn finish(mut self) -> PackedKeys {
        self.bytes.extend_from_slice(&PADDING);
        self.bytes.shrink_to_fit();
        PackedKeys { bytes: self.bytes, len: self.len }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_packed_comes_out_in_order_with_the_numbers_joined(
            pieces in prop::collection::vec(
                prop::collection::vec((any::<u64>(), 0..KEY_BITS, any::<u32>(), 0_u32..32), 0..100),
                0..5,
            ),
        ) {
            let (mut packed, mut expected) = (PackedKeys::default(), BTreeMap::new());
            for piece in pieces {
                let entry = |(key, key_shift, number, shift): (u64, u32, u32, u32)| {
                    (key >> (u64::BITS - KEY_BITS) >> key_shift, number >> shift)
                };
                let mut piece: Vec<(u64, u32)> = piece.into_iter().map(entry).collect();
                piece.sort_unstable();
                packed = packed.merged_with(piece.iter().copied(), u32::wrapping_add);
                for (key, number) in piece {
                    let joined: &mut u32 = expected.entry(key).or_default();
                    *joined = joined.wrapping_add(number);
                }
            }
            prop_assert_eq!(packed.len(), expected.len());
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
