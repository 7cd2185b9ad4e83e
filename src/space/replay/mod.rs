//! A recorded survey as a Web that can be requested again.
//!
//! **How it is built.** A [`ReplayBuilder`] reads the tables of a survey that kept its pages: every exchange,
//! every robots.txt and every link of every page, in any order. A URL that was requested more than once gets
//! its last response. The result is a [`Replay`], which never changes and only looks up: the same request
//! always gets the same response.
//!
//! **What is stored.** Each text once (`texts`), a response of 64 bytes for each URL, six bytes for each
//! link, and a server for each address, with the medians of its exchanges (`servers`). 100,000 pages with a
//! title and 47 links each, 60 pages a site, took 64 MB, which is 626 bytes a page or 13 a link, URLs
//! included; 84 MB while it was built.
//!
//! **Limits.** Pages are written anew (`page`): same links, same order, different text, so hashes and sizes
//! differ, and nothing is compressed. URLs that the survey did not request are unknown: they get a 404, and
//! [`Replay::unknown`] counts them. Servers have no state, so a response that changed between requests does
//! not change here. Failures that only a network can cause are replaced by the nearest one that a gateway can
//! produce ([`Contents::approximated`]). Ports are not distinguished.

mod builder;
mod kept;
mod page;
mod recorded;
mod servers;
#[cfg(test)]
mod tests;
mod texts;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use builder::ReplayBuilder;
pub use recorded::{RecordedExchange, RecordedLink};

use crate::address::WebUrl;
use crate::{Handshake, Lookup, Reaction, Records, Response, Server, Web};
use kept::{RecordedPages, RecordedResponse};
use page::render;
use recorded::ReplayFailure;

/// A recorded survey that can be walked again.
///
/// ```
/// use ccsurvey_space::{RecordedExchange, Reaction, Replay, Web};
/// let mut builder = Replay::builder();
/// let address = Some("192.0.2.7".parse()?);
/// let url = "http://example.ke/old";
/// builder.exchange(&RecordedExchange { url, address, status: Some(410), ..RecordedExchange::default() });
/// let replay = builder.build();
/// let Reaction::Response(answer) = replay.respond(false, "example.ke", "/old") else { panic!() };
/// assert_eq!((answer.status, replay.unknown()), (410, 0));
/// let Reaction::Response(answer) = replay.respond(false, "example.ke", "/new") else { panic!() };
/// assert_eq!((answer.status, replay.unknown()), (404, 1));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug)]
pub struct Replay {
    pages: RecordedPages,
    hosts: HashMap<Box<str>, RecordedHost>,
    servers: Vec<Server>,
    /// The software names of the servers; the first is empty.
    software: Vec<&'static str>,
    /// The responses by the [`key_of`] their URL.
    by_url: HashMap<u64, RecordedResponse>,
    contents: Contents,
    /// Number of requests for URLs that the survey did not request.
    unknown: AtomicU64,
}

/// The contents of a replay, and what is missing from the survey.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Hosts of the recorded exchanges.
    pub hosts: u64,
    /// Addresses of servers.
    pub servers: u64,
    /// URLs with a response.
    pub urls: u64,
    /// URLs that were read as pages.
    pub pages: u64,
    /// Links on pages, internal and external.
    pub links: u64,
    /// robots.txt files with a body.
    pub robots: u64,
    /// Internal URLs on the pages that were never requested: too deep, too many, or skipped.
    pub unfetched_urls: u64,
    /// Pages whose number of links differs from that of their exchange.
    pub pages_without_links: u64,
    /// Exchanges for a URL that another exchange has too. The last one counts, unless an earlier one fits the
    /// URL better (a robots.txt requested as such, a page as a page).
    pub repeated: u64,
    /// Exchanges that were not sent, because the survey itself refused them or held them back.
    pub not_asked: u64,
    /// Exchanges on ports other than the default of their scheme.
    pub at_other_ports: u64,
    /// Exchanges whose URL or failure cannot be parsed.
    pub unreadable: u64,
    /// Exchanges with a failure that the replay replaces by another, by the word of the failure.
    pub approximated: BTreeMap<String, u64>,
}

/// The server of a host, and its reaction to a TLS ClientHello.
#[derive(Clone, Debug)]
struct RecordedHost {
    name: Name,
    handshake: Handshake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Missing,
    NoAddress,
    Silence,
    Fails,
    /// The number of the server.
    At(u32),
}

/// The identity of a URL: scheme, host, path and query in canonical form. The port is left out, because
/// requests to a Web have none.
fn key_of(is_https: bool, host: &str, target: &str) -> Option<u64> {
    let key = WebUrl::parse(&format!("http://{host}{target}")).ok()?.page_key().0;
    Some(if is_https { !key } else { key })
}

impl Replay {
    #[must_use]
    /// How much of the survey can be replayed.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The number of requests so far for URLs that the recorded survey did not request. They come from a
    /// deeper or wider survey than the recorded one, which cannot be replayed.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        self.unknown.load(Ordering::Relaxed)
    }

    fn response(&self, saved: &RecordedResponse, is_https: bool, host: &str, target: &str) -> Response {
        let text = |id| self.pages.texts.some(id).map(str::to_owned);
        let mut body = self.body(saved, is_https, host);
        let whole = body.len();
        if matches!(saved.replay_failure, ReplayFailure::Cut | ReplayFailure::TooLong) {
            body.push(b' ');
        }
        Response {
            status: saved.status,
            content_type: self.content_type(saved, target),
            location: text(saved.location),
            retry_after: None,
            server: self.software[saved.server as usize],
            last_modified: text(saved.last_modified),
            etag: text(saved.etag),
            more_fields: Box::default(),
            content_encoding: None,
            body,
            identity: None,
            is_chunked: false,
            cut_after: (saved.replay_failure == ReplayFailure::Cut).then_some(whole),
            service: Duration::from_micros(saved.service_us.into()),
        }
    }

    /// The recorded content type, with two exceptions. A page that was detected by its body gets an HTML
    /// type, because its body is another one here. A response with an HTML type that could not be read as a
    /// page gets another type.
    fn content_type(&self, saved: &RecordedResponse, target: &str) -> Option<Cow<'static, str>> {
        let recorded = self.pages.texts.some(saved.content_type);
        let first = recorded.and_then(|recorded| recorded.split([';', ',']).next()).map_or("", str::trim);
        let is_page_type =
            ["text/html", "application/xhtml+xml"].iter().any(|page| first.eq_ignore_ascii_case(page));
        if saved.is_page && !is_page_type {
            return Some(Cow::Borrowed("text/html"));
        }
        if is_page_type && !saved.is_page && target != "/robots.txt" && (200..300).contains(&saved.status) {
            return Some(Cow::Borrowed("application/octet-stream"));
        }
        recorded.map(|recorded| Cow::Owned(recorded.to_owned()))
    }

    fn body(&self, saved: &RecordedResponse, is_https: bool, host: &str) -> Vec<u8> {
        if saved.is_page {
            return render(&self.pages, saved, is_https, host);
        }
        match self.pages.texts.some(saved.robots_txt) {
            Some(text) => text.as_bytes().to_vec(),
            None => vec![b'.'; saved.body_bytes as usize],
        }
    }

    fn not_found(&self, host: &str) -> Response {
        self.unknown.fetch_add(1, Ordering::Relaxed);
        Response {
            status: 404,
            content_type: Some(Cow::Borrowed("text/html")),
            location: None,
            retry_after: None,
            server: self.server(host).map_or("", |server| server.software),
            last_modified: None,
            etag: None,
            more_fields: Box::default(),
            content_encoding: None,
            body: b"<html><body>Not in the recorded survey.</body></html>\n".to_vec(),
            identity: None,
            is_chunked: false,
            cut_after: None,
            service: Duration::ZERO,
        }
    }
}

impl Web for Replay {
    fn lookup(&self, host: &str) -> Lookup {
        let Some(recorded_host) = self.hosts.get(host) else { return Lookup::NoSuchName };
        match recorded_host.name {
            Name::Missing => Lookup::NoSuchName,
            Name::NoAddress => Lookup::Found(Records::default()),
            Name::Silence => Lookup::Silence,
            Name::Fails => Lookup::ServerFailure,
            Name::At(number) => Lookup::Found(match self.servers[number as usize].address {
                IpAddr::V4(v4) => Records { v4: Some(v4), ..Records::default() },
                IpAddr::V6(v6) => Records { v6: Some(v6), ..Records::default() },
            }),
        }
    }

    fn handshake(&self, host: &str) -> Handshake {
        self.hosts.get(host).map_or(Handshake::Closed, |recorded_host| recorded_host.handshake.clone())
    }

    fn server(&self, host: &str) -> Option<Server> {
        match self.hosts.get(host)?.name {
            Name::At(number) => Some(self.servers[number as usize]),
            _ => None,
        }
    }

    fn counts_requests(&self) -> bool {
        true
    }

    fn respond(&self, is_https: bool, host: &str, target: &str) -> Reaction {
        if self.server(host).is_none() {
            return Reaction::NoSuchHost;
        }
        let key = key_of(is_https, host, target);
        let Some(saved) = key.and_then(|key| self.by_url.get(&key)) else {
            return Reaction::Response(self.not_found(host));
        };
        match saved.replay_failure {
            ReplayFailure::Silence => Reaction::Silence,
            ReplayFailure::None | ReplayFailure::Cut | ReplayFailure::TooLong if saved.status > 0 => {
                Reaction::Response(self.response(saved, is_https, host, target))
            }
            _ => Reaction::Reset,
        }
    }
}
