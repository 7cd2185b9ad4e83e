use std::net::Ipv4Addr;

use super::pages::{CaseRequest, front};
use crate::web::Act;
use crate::{Certificate, Handshake, Lookup, Records};

/// One way in which servers are hostile or broken.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The label of its host below the country domain.
    pub name: &'static str,
    /// What its server does, in a sentence.
    pub meaning: &'static str,
    pub(super) has_tls: bool,
    pub(super) lookup: fn(&CaseHost<'_>) -> Lookup,
    pub(super) handshake: fn() -> Handshake,
    /// Whether the case is about robots.txt too; it is missing otherwise.
    pub(super) answers_robots: bool,
    pub(super) answer: fn(&CaseRequest<'_>) -> Vec<Act>,
    /// The most requests that a survey may send it, robots.txt included, to find all there is; none where nobody counts.
    pub most_requests: Option<u64>,
}

/// Where a host of a case stands.
pub(super) struct CaseHost<'a> {
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

impl Case {
    /// A case whose pages are odd.
    pub(super) const fn of_pages(
        name: &'static str,
        meaning: &'static str,
        answer: fn(&CaseRequest<'_>) -> Vec<Act>,
    ) -> Self {
        Self {
            name,
            meaning,
            has_tls: false,
            lookup: usual_records,
            handshake: usual_handshake,
            answers_robots: false,
            answer,
            most_requests: None,
        }
    }

    /// A case that a survey is to be done with in so many requests.
    pub(super) const fn within(self, most_requests: u64) -> Self {
        Self { most_requests: Some(most_requests), ..self }
    }

    /// A case that answers for its robots.txt, too.
    pub(super) const fn of_robots(
        name: &'static str,
        meaning: &'static str,
        answer: fn(&CaseRequest<'_>) -> Vec<Act>,
    ) -> Self {
        Self { answers_robots: true, ..Self::of_pages(name, meaning, answer) }
    }

    /// A case whose start URL is met over TLS.
    pub(super) const fn of_tls(
        name: &'static str,
        meaning: &'static str,
        handshake: fn() -> Handshake,
    ) -> Self {
        Self { has_tls: true, handshake, ..Self::of_pages(name, meaning, front) }
    }

    /// The same, met over TLS; robots.txt is answered like pages.
    pub(super) const fn over_tls(self) -> Self {
        Self { has_tls: true, answers_robots: true, ..self }
    }

    /// A case whose names are odd.
    pub(super) const fn of_names(
        name: &'static str,
        meaning: &'static str,
        lookup: fn(&CaseHost<'_>) -> Lookup,
    ) -> Self {
        Self { lookup, ..Self::of_pages(name, meaning, front) }
    }
}

fn usual_records(standing: &CaseHost<'_>) -> Lookup {
    Lookup::Found(Records { v4: Some(standing.address), ..Records::default() })
}

/// Redirects may lead to https.
fn usual_handshake() -> Handshake {
    Handshake::Certificate(Certificate::Valid)
}
