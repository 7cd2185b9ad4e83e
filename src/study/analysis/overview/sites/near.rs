use std::collections::HashMap;

/// Texts whose `SimHash`es differ in at most this number of 64 bits are near duplicates (Manku, Jain and Das
/// Sarma 2007).
const MAX_BITS: u32 = 3;
/// If three bits differ, at least one of four parts of 16 bits is the same.
const PARTS: u32 = 4;

/// The hashes of a page's body and of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::analysis::overview) struct Content {
    pub body: u64,
    pub text: u64,
}

/// The number of pages of a site whose text is nearly that of another page with a different body.
///
/// Compares only pages that share one of the four parts of their hash.
pub(in crate::analysis::overview) fn near_duplicates(pages: &[Content]) -> u64 {
    let mut sorted = pages.to_vec();
    sorted.sort_unstable();
    let different: Vec<(Content, u64)> =
        sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
    let mut by_part: HashMap<(u32, u16), Vec<Content>> = HashMap::new();
    for (content, _) in &different {
        for part in 0..PARTS {
            by_part.entry(content.part(part)).or_default().push(*content);
        }
    }
    let has_near_duplicate = |content: &Content| {
        (0..PARTS)
            .any(|part| by_part[&content.part(part)].iter().any(|other| content.is_near_duplicate(other)))
    };
    different.iter().filter(|(content, _)| has_near_duplicate(content)).map(|(_, pages)| pages).sum()
}

impl Content {
    fn part(&self, part: u32) -> (u32, u16) {
        (part, (self.text >> (part * 16)) as u16)
    }

    fn is_near_duplicate(&self, other: &Self) -> bool {
        self.body != other.body && (self.text ^ other.text).count_ones() <= MAX_BITS
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn content(body: u64, text: u64) -> Content {
        Content { body, text }
    }

    #[test]
    fn texts_with_three_different_bits_are_near_duplicates_and_with_four_are_not() {
        let of = |other| near_duplicates(&[content(1, 0), content(2, other)]);
        assert_eq!((of(0), of(0x8001_0000_0000_0001), of(0xf), of(0x8001_0001_0000_0001)), (2, 2, 0, 0));
    }

    #[test]
    fn copies_of_a_body_are_no_near_duplicates_of_each_other() {
        assert_eq!(near_duplicates(&[content(1, 7), content(1, 7)]), 0);
        assert_eq!(near_duplicates(&[content(1, 7), content(1, 7), content(2, 6), content(3, 0xffff)]), 3);
    }

    proptest! {
        #[test]
        fn as_many_are_found_as_by_comparing_all_with_all(
            seeds in proptest::collection::vec((0..5_u64, any::<u64>(), 0..64_u32, 0..64_u32), 0..60),
        ) {
            // Texts close to a few texts, or each close to the one before.
            let mut pages: Vec<Content> = Vec::new();
            for (body, text, one, other) in seeds {
                let near = pages.last().map_or(text, |last| last.text ^ (1 << one) ^ (1 << other));
                pages.push(content(body, if text % 3 == 0 { text } else { near }));
            }
            let expected = pages.iter().filter(|page| pages.iter().any(|other| page.is_near_duplicate(other))).count();
            prop_assert_eq!(near_duplicates(&pages), expected as u64);
        }
    }
}
