use super::case::Case;
use super::content::{
    bans, charsets, echoes, markup, mazes, moves, names, robots, sessions, spellings, types,
};
use super::transport::{codings, framing, resets, tls};

impl Case {
    /// Every case, by family.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [
            framing::CASES,
            resets::CASES,
            codings::CASES,
            types::CASES,
            charsets::CASES,
            tls::CASES,
            moves::CASES,
            names::CASES,
            spellings::CASES,
            robots::CASES,
            bans::CASES,
            mazes::CASES,
            markup::CASES,
            echoes::CASES,
            sessions::CASES,
        ]
        .into_iter()
        .flatten()
    }

    /// The cases that a word in a world file selects: the one with that name, or `all`.
    pub(crate) fn named(word: &str) -> Option<Vec<&'static Self>> {
        let cases: Vec<_> = Self::all().filter(|case| word == "all" || case.name == word).collect();
        (!cases.is_empty()).then_some(cases)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_labels_of_hosts_and_no_two_are_the_same() {
        let names: Vec<&str> = Case::all().map(|case| case.name).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        let is_label =
            |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        assert!(names.iter().all(is_label), "{names:?}");
        assert!(!names.contains(&"all"));
    }

    #[test]
    fn a_word_stands_for_one_case_or_for_all() {
        assert_eq!(Case::named("gzip-bomb").map(|cases| cases.len()), Some(1));
        assert_eq!(Case::named("all").map(|cases| cases.len()), Some(Case::all().count()));
        assert!(Case::named("gzip").is_none());
    }
}
