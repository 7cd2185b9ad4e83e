use std::net::Ipv4Addr;

use super::super::{Certificate, Handshake, Lookup, Records};
use super::act::Act;
use super::{charsets, codings, framing, mazes, moves, names, resets, robots, spellings, tls};

/// One way in which servers are hostile or broken.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The label of its host below the country domain.
    pub name: &'static str,
    /// What its server does, in a sentence.
    pub meaning: &'static str,
    pub(super) has_tls: bool,
    pub(super) lookup: fn(&Standing<'_>) -> Lookup,
    pub(super) handshake: fn() -> Handshake,
    /// Whether the case is about robots.txt too; it is missing otherwise.
    pub(super) answers_robots: bool,
    pub(super) answer: fn(&Request<'_>) -> Vec<Act>,
}

/// Where a host of a case stands.
pub(super) struct Standing<'a> {
    pub host: &'a str,
    /// The host that the case is named by.
    pub main_host: &'a str,
    /// The server of the case.
    pub address: Ipv4Addr,
}

/// The main host of another case, beside that of this one.
pub(super) fn neighbour(main_host: &str, case: &str) -> String {
    let domain = main_host.split_once('.').map_or("", |(_, domain)| domain);
    format!("{case}.{domain}")
}

/// What a host of a case is asked for.
pub(super) struct Request<'a> {
    pub host: &'a str,
    /// The host that the case is named by.
    pub main_host: &'a str,
    pub is_https: bool,
    /// Path and query as sent.
    pub target: &'a str,
}

impl Case {
    /// Every case, by family.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [
            framing::CASES,
            resets::CASES,
            codings::CASES,
            charsets::CASES,
            tls::CASES,
            moves::CASES,
            names::CASES,
            spellings::CASES,
            robots::CASES,
            mazes::CASES,
        ]
        .into_iter()
        .flatten()
    }

    /// The cases that a word in a world file stands for: the one of that name, or `all`.
    pub(in crate::space) fn named(word: &str) -> Option<Vec<&'static Self>> {
        let cases: Vec<_> = Self::all().filter(|case| word == "all" || case.name == word).collect();
        (!cases.is_empty()).then_some(cases)
    }

    /// A case whose pages are odd.
    pub(super) const fn of_pages(
        name: &'static str,
        meaning: &'static str,
        answer: fn(&Request<'_>) -> Vec<Act>,
    ) -> Self {
        Self {
            name,
            meaning,
            has_tls: false,
            lookup: usual_records,
            handshake: usual_handshake,
            answers_robots: false,
            answer,
        }
    }

    /// A case that answers for its robots.txt, too.
    pub(super) const fn of_robots(
        name: &'static str,
        meaning: &'static str,
        answer: fn(&Request<'_>) -> Vec<Act>,
    ) -> Self {
        Self { answers_robots: true, ..Self::of_pages(name, meaning, answer) }
    }

    /// A case whose start URL is met over TLS.
    pub(super) const fn of_tls(
        name: &'static str,
        meaning: &'static str,
        handshake: fn() -> Handshake,
    ) -> Self {
        Self { has_tls: true, handshake, ..Self::of_pages(name, meaning, super::pages::front) }
    }

    /// A case whose names are odd.
    pub(super) const fn of_names(
        name: &'static str,
        meaning: &'static str,
        lookup: fn(&Standing<'_>) -> Lookup,
    ) -> Self {
        Self { lookup, ..Self::of_pages(name, meaning, super::pages::front) }
    }
}

fn usual_records(standing: &Standing<'_>) -> Lookup {
    Lookup::Found(Records { v4: Some(standing.address), ..Records::default() })
}

/// Redirects may lead to https.
fn usual_handshake() -> Handshake {
    Handshake::Certificate(Certificate::Valid)
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
