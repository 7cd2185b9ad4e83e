/// Words grouped by bucket.
pub(in crate::analysis) struct PartitionedWords<const BUCKETS: usize> {
    words: Vec<u64>,
    /// The index at which the words of each place end.
    ends: [usize; BUCKETS],
}

/// Groups words by their buckets, which must be less than `BUCKETS`.
pub(in crate::analysis) fn partition<const BUCKETS: usize>(
    words: impl Iterator<Item = (usize, u64)> + Clone,
) -> PartitionedWords<BUCKETS> {
    let mut ends = [0; BUCKETS];
    words.clone().for_each(|(bucket, _)| ends[bucket] += 1);
    // Each `end` first holds the start of its place, and reaches the end as its words are written.
    let mut begin = 0;
    for end in &mut ends {
        begin += std::mem::replace(end, begin);
    }
    let mut grouped = vec![0; begin];
    for (bucket, word) in words {
        grouped[ends[bucket]] = word;
        ends[bucket] += 1;
    }
    PartitionedWords { words: grouped, ends }
}

/// Sorts words whose highest bits are spread evenly, by distributing them over the buckets first.
pub(in crate::analysis) fn sorted<const BUCKETS: usize>(words: &[u64]) -> Vec<u64> {
    let bucket = |word: u64| (word >> (u64::BITS - BUCKETS.ilog2())) as usize;
    let PartitionedWords { mut words, ends } =
        partition::<BUCKETS>(words.iter().map(|word| (bucket(*word), *word)));
    let mut begin = 0;
    for end in ends {
        words[begin..end].sort_unstable();
        begin = end;
    }
    words
}

impl<const BUCKETS: usize> PartitionedWords<BUCKETS> {
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
            let buckets = partition::<16>(words.iter().map(|word| ((word % 16) as usize, *word)));
            for (bucket, slice) in (0..).zip(buckets.each()) {
                let bucket_words: Vec<u64> = words.iter().copied().filter(|word| word % 16 == bucket).collect();
                prop_assert_eq!(slice, bucket_words);
            }
            let mut expected = words.clone();
            expected.sort_unstable();
            prop_assert_eq!(sorted::<16>(&words), expected);
        }
    }
}
