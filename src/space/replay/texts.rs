use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// The index of a text in [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct TextId(u32);

impl TextId {
    /// The empty text, which stands for a missing field.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Texts in one string, each stored once: its length plus 8 bytes.
#[derive(Debug)]
pub(super) struct Texts {
    all: String,
    ends: Vec<usize>,
}

/// Texts while they are collected: 20 more bytes each for the lookup.
pub(super) struct Interner {
    texts: Texts,
    by_hash: HashMap<u64, TextId>,
}

impl Default for Interner {
    fn default() -> Self {
        let texts = Texts { all: String::new(), ends: vec![0] };
        Self { texts, by_hash: HashMap::from([(xxh3_64(b""), TextId::NONE)]) }
    }
}

impl Interner {
    pub(crate) fn intern(&mut self, text: &str) -> TextId {
        let hash = xxh3_64(text.as_bytes());
        if let Some(known) = self.by_hash.get(&hash)
            && self.texts.get(*known) == text
        {
            return *known;
        }
        // The ends of 2^32 texts alone would take 32 GiB; the empty text replaces all beyond.
        let Ok(number) = u32::try_from(self.texts.ends.len()) else { return TextId::NONE };
        self.texts.all.push_str(text);
        self.texts.ends.push(self.texts.all.len());
        self.by_hash.insert(hash, TextId(number));
        TextId(number)
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.ends.len()
    }

    /// Every text with its index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        let texts = &self.texts;
        let numbers = (0..=u32::MAX).take(texts.ends.len());
        numbers.map(|number| (number as usize, texts.get(TextId(number))))
    }

    pub(crate) fn finish(mut self) -> Texts {
        self.texts.all.shrink_to_fit();
        self.texts.ends.shrink_to_fit();
        self.texts
    }
}

impl Texts {
    pub(crate) fn get(&self, id: TextId) -> &str {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..self.ends[id.index()]]
    }

    /// A text, or none if it is empty.
    pub(crate) fn some(&self, id: TextId) -> Option<&str> {
        Some(self.get(id)).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once_and_given_back() {
        let mut interner = Interner::default();
        let ids = ["a", "", "béta", "a"].map(|text| interner.intern(text));
        assert_eq!((ids[0], ids[1]), (ids[3], TextId::NONE));
        assert_eq!(interner.len(), 3);
        let texts = interner.finish();
        assert_eq!(ids.map(|id| texts.get(id)), ["a", "", "béta", "a"]);
        assert_eq!((texts.some(ids[0]), texts.some(TextId::NONE)), (Some("a"), None));
    }
}
