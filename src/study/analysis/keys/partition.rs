/// Words grouped by place (bucket).
pub(in crate::analysis) struct PartitionedWords<const PLACES: usize> {
    words: Vec<u64>,
    /// The index at which the words of each place end.
    ends: [usize; PLACES],
}

/// Groups words by their places, which must be less than `PLACES`.
pub(in crate::analysis) fn partition<const PLACES: usize>(
    words: impl Iterator<Item = (usize, u64)> + Clone,
) -> PartitionedWords<PLACES> {
    let mut ends = [0; PLACES];
    words.clone().for_each(|(place, _)| ends[place] += 1);
    // Each `end` first holds the start of its place, and reaches the end as its words are written.
    let mut begin = 0;
    for end in &mut ends {
        begin += std::mem::replace(end, begin);
    }
    let mut together = vec![0; begin];
    for (place, word) in words {
        together[ends[place]] = word;
        ends[place] += 1;
    }
    PartitionedWords { words: together, ends }
}

/// Sorts words whose highest bits are spread evenly, by distributing them over the places first.
pub(in crate::analysis) fn sorted<const PLACES: usize>(words: &[u64]) -> Vec<u64> {
    let place = |word: u64| (word >> (u64::BITS - PLACES.ilog2())) as usize;
    let PartitionedWords { mut words, ends } =
        partition::<PLACES>(words.iter().map(|word| (place(*word), *word)));
    let mut begin = 0;
    for end in ends {
        words[begin..end].sort_unstable();
        begin = end;
    }
    words
}

impl<const PLACES: usize> PartitionedWords<PLACES> {
    /// The words of each place.
    pub(in crate::analysis) fn each(&self) -> impl Iterator<Item = &[u64]> {
        let begins = std::iter::once(&0).chain(&self.ends);
        begins.zip(&self.ends).map(|(begin, end)| &self.words[*begin..*end])
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
            let places = partition::<16>(words.iter().map(|word| ((word % 16) as usize, *word)));
            for (place, some) in (0..).zip(places.each()) {
                let of_place: Vec<u64> = words.iter().copied().filter(|word| word % 16 == place).collect();
                prop_assert_eq!(some, of_place);
            }
            let mut expected = words.clone();
            expected.sort_unstable();
            prop_assert_eq!(sorted::<16>(&words), expected);
        }
    }
}
