use std::collections::HashMap;

/// A name with the number of its occurrences.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct NamedCount {
    /// The name, a word from the tables.
    pub name: String,
    /// The number of occurrences.
    pub count: u64,
}

/// Counts words. Servers choose many of them (headers, languages), so the number of distinct words is
/// limited.
#[derive(Default)]
pub(super) struct Tally {
    counts: HashMap<Box<str>, u64>,
    others: u64,
}

/// The maximum number of distinct words. All products, languages and encodings in use number some hundreds;
/// beyond this limit the words are invented.
const MAX_WORDS: usize = 10_000;
/// The maximum length of a word in characters. The longest name of a product or an encoding has about 40.
const MAX_WORD_LENGTH: usize = 80;
/// Cuts a word to the maximum length. A character has at least one byte, so a short word needs no scan.
fn truncated(word: &str) -> &str {
    if word.len() <= MAX_WORD_LENGTH {
        return word;
    }
    word.char_indices().nth(MAX_WORD_LENGTH).map_or(word, |(end, _)| &word[..end])
}

/// The name under which further words are counted.
const OTHERS: &str = "other";

impl Tally {
    pub(super) fn add(&mut self, word: &str) {
        self.add_many(word, 1);
    }

    pub(super) fn add_many(&mut self, word: &str, count: u64) {
        let word = truncated(word);
        if let Some(counter) = self.counts.get_mut(word) {
            *counter += count;
        } else if self.counts.len() < MAX_WORDS {
            self.counts.insert(word.into(), count);
        } else {
            self.others += count;
        }
    }

    /// The counts, the largest first, equal ones by name.
    pub(super) fn finish(self) -> Vec<NamedCount> {
        let mut list: Vec<NamedCount> =
            self.counts.into_iter().map(|(name, count)| NamedCount { name: name.into(), count }).collect();
        if self.others > 0 {
            list.push(NamedCount { name: OTHERS.to_owned(), count: self.others });
        }
        list.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stands_first_and_long_words_are_cut() {
        let mut tally = Tally::default();
        ["b", "a", "c", "c"].iter().for_each(|word| tally.add(word));
        tally.add_many(&"é".repeat(200), 5);
        let list: Vec<(String, u64)> =
            tally.finish().into_iter().map(|counted| (counted.name, counted.count)).collect();
        let expected = [("é".repeat(80), 5), ("c".into(), 2), ("a".into(), 1), ("b".into(), 1)];
        assert_eq!(list, expected);
    }

    #[test]
    fn invented_words_do_not_grow_memory() {
        let mut tally = Tally::default();
        (0..MAX_WORDS + 7).for_each(|number| tally.add(&number.to_string()));
        let list = tally.finish();
        assert_eq!((list.len(), &list[0]), (MAX_WORDS + 1, &NamedCount { name: OTHERS.into(), count: 7 }));
    }
}
