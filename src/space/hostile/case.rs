use std::net::Ipv4Addr;

use super::pages::{CaseRequest, front};
use crate::web::Act;
use crate::{Certificate, Handshake, Lookup, Records};

/// One way in which servers are hostile or broken.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The label of its host below the country domain.
    pub name: &'static str,
    /// What its server does, in one sentence.
    pub meaning: &'static str,
    pub(super) has_tls: bool,
    pub(super) lookup: fn(&CaseHost<'_>) -> Lookup,
    pub(super) handshake: fn() -> Handshake,
    /// Whether the case has a robots.txt of its own; otherwise robots.txt is missing.
    pub(super) serves_robots: bool,
    pub(super) answer: fn(&CaseRequest<'_>) -> Vec<Act>,
    /// The most requests that a survey may need to find everything, robots.txt included; none if there is no
    /// limit.
    pub most_requests: Option<u64>,
}

/// A host of a case, with the address of its server.
pub(super) struct CaseHost<'a> {
    pub host: &'a str,
    /// The host named after the case.
    pub main_host: &'a str,
    pub address: Ipv4Addr,
}

/// The main host of another case of the same world.
pub(super) fn neighbour(main_host: &str, case: &str) -> String {
    let domain = main_host.split_once('.').map_or("", |(_, domain)| domain);
    format!("{case}.{domain}")
}

impl Case {
    /// A case with unusual pages.
    pub(super) const fn of_pages(
        name: &'static str,
        meaning: &'static str,
        answer: fn(&CaseRequest<'_>) -> Vec<Act>,
    ) -> Self {
        Self {
            name,
            meaning,
            has_tls: false,
            lookup: default_records,
            handshake: default_handshake,
            serves_robots: false,
            answer,
            most_requests: None,
        }
    }

    /// The same case with a limit on the requests of a survey.
    pub(super) const fn with_request_limit(self, most_requests: u64) -> Self {
        Self { most_requests: Some(most_requests), ..self }
    }

    /// A case that also serves robots.txt.
    pub(super) const fn of_robots(
        name: &'static str,
        meaning: &'static str,
        answer: fn(&CaseRequest<'_>) -> Vec<Act>,
    ) -> Self {
        Self { serves_robots: true, ..Self::of_pages(name, meaning, answer) }
    }

    /// A case whose start URL uses TLS.
    pub(super) const fn of_tls(
        name: &'static str,
        meaning: &'static str,
        handshake: fn() -> Handshake,
    ) -> Self {
        Self { has_tls: true, handshake, ..Self::of_pages(name, meaning, front) }
    }

    /// The same case over TLS; its `answer` also serves robots.txt.
    pub(super) const fn over_tls(self) -> Self {
        Self { has_tls: true, serves_robots: true, ..self }
    }

    /// A case with unusual DNS records.
    pub(super) const fn of_names(
        name: &'static str,
        meaning: &'static str,
        lookup: fn(&CaseHost<'_>) -> Lookup,
    ) -> Self {
        Self { lookup, ..Self::of_pages(name, meaning, front) }
    }
}

fn default_records(case_host: &CaseHost<'_>) -> Lookup {
    Lookup::Found(Records { v4: Some(case_host.address), ..Records::default() })
}

/// A valid certificate, because redirects may lead to https.
fn default_handshake() -> Handshake {
    Handshake::Certificate(Certificate::Valid)
}
