/// Words, those of a place together: the place of a word is told by some of its bits.
pub(super) struct Apart<const PLACES: usize> {
    words: Vec<u64>,
    /// Where the words of each place end.
    ends: [usize; PLACES],
}

/// Of the bits of a word from `lowest` on, as many tell its place as there are `PLACES`, a power of two.
pub(super) fn apart<const PLACES: usize>(
    words: impl Iterator<Item = u64> + Clone,
    lowest: u32,
) -> Apart<PLACES> {
    let place_of = |word: u64| (word >> lowest) as usize % PLACES;
    let mut ends = [0; PLACES];
    words.clone().for_each(|word| ends[place_of(word)] += 1);
    // Each is where the words of the place begin, until they have moved it to the end.
    let mut begin = 0;
    for end in &mut ends {
        begin += std::mem::replace(end, begin);
    }
    let mut together = vec![0; begin];
    for word in words {
        let end = &mut ends[place_of(word)];
        together[*end] = word;
        *end += 1;
    }
    Apart { words: together, ends }
}

impl<const PLACES: usize> Apart<PLACES> {
    /// The words of each place.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u64]> {
        let begins = std::iter::once(&0).chain(&self.ends);
        begins.zip(&self.ends).map(|(begin, end)| &self.words[*begin..*end])
    }

    /// All words in their order, where those of each place have all bits above in common.
    pub(super) fn sorted(mut self) -> Vec<u64> {
        let mut begin = 0;
        for end in self.ends {
            self.words[begin..end].sort_unstable();
            begin = end;
        }
        self.words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_word_is_at_its_place_and_all_are_in_order(
            words in prop::collection::vec(any::<u64>(), 0..300),
        ) {
            let places = apart::<16>(words.iter().copied(), 60);
            for (place, some) in (0..).zip(places.each()) {
                prop_assert!(some.iter().all(|word| word >> 60 == place));
            }
            let mut expected = words;
            expected.sort_unstable();
            prop_assert_eq!(places.sorted(), expected);
        }
    }
}
