use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::AtomicU64;

use super::kept::{LinkElement, LinkMark, RecordedPages, RecordedResponse};
use super::recorded::{RecordedExchange, RecordedLink, ReplayFailure};
use super::servers::{RecordedServers, microseconds};
use super::texts::{Interner, TextId};
use super::{Contents, Name, RecordedHost, Replay, key_of};
use crate::address::WebUrl;
use crate::web::{Certificate, Handshake, Server};

/// Reads the rows of the tables and builds a [`Replay`].
#[derive(Default)]
pub struct ReplayBuilder {
    texts: Interner,
    software: HashMap<String, u32>,
    software_names: Vec<&'static str>,
    hosts: HashMap<Box<str>, RecordedHost>,
    servers: RecordedServers,
    responses: HashMap<u64, PendingResponse>,
    robots: HashMap<u64, TextId>,
    targets: Vec<TextId>,
    marks: Vec<LinkMark>,
    /// First link and number of links of each page, by its key.
    runs: HashMap<u64, (u32, u32)>,
    run: LinkRun,
    /// Which texts are internal URLs.
    internal: Vec<bool>,
    contents: Contents,
}

/// The page whose links are being added.
#[derive(Default)]
struct LinkRun {
    page: String,
    key: Option<u64>,
    first: usize,
    position: u32,
}

/// A response whose server is not computed yet.
struct PendingResponse {
    pub saved: RecordedResponse,
    pub server: Option<u32>,
    pub first_byte_us: u32,
    /// The number of links that the page should have.
    pub links: Option<u32>,
    pub weight: ResponseWeight,
}

/// Decides which of two responses for one URL is kept: the one with more weight, and of equal ones the later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ResponseWeight {
    /// No server was contacted.
    NotSent,
    /// A page that was requested as a robots.txt, or the reverse.
    InPassing,
    Proper,
}

impl ResponseWeight {
    pub(crate) fn new(url: &WebUrl, exchange: &RecordedExchange<'_>) -> Self {
        let is_robots_txt = url.path() == "/robots.txt";
        match () {
            () if exchange.address.is_none() => Self::NotSent,
            () if is_robots_txt != exchange.is_robots => Self::InPassing,
            () => Self::Proper,
        }
    }
}

impl Replay {
    #[must_use]
    /// A builder without exchanges.
    pub fn builder() -> ReplayBuilder {
        ReplayBuilder::default()
    }
}

impl ReplayBuilder {
    /// Adds one exchange.
    pub fn exchange(&mut self, exchange: &RecordedExchange<'_>) {
        let url = WebUrl::parse(exchange.url).ok();
        let replay_failure =
            exchange.failure.map_or(Some((ReplayFailure::None, true)), ReplayFailure::from_word);
        let (Some(url), Some((replay_failure, is_same))) = (url, replay_failure) else {
            self.contents.unreadable += 1;
            return;
        };
        self.contents.at_other_ports += u64::from(url.port() != if url.is_https() { 443 } else { 80 });
        if let Some(word) = exchange.failure.filter(|_| !is_same && replay_failure != ReplayFailure::NotSent)
        {
            *self.contents.approximated.entry(word.to_owned()).or_default() += 1;
        }
        let server = exchange.address.map(|address| self.servers.number_of(address));
        self.note_host(&url, exchange, replay_failure, server);
        if replay_failure == ReplayFailure::NotSent {
            self.contents.not_asked += 1;
            return;
        }
        let Some(key) = key_of(url.is_https(), url.host().as_str(), url.target()) else { return };
        let saved = self.saved(exchange, replay_failure);
        if let Some(server) = server.filter(|_| exchange.total.is_some()) {
            self.servers.add_samples(server, exchange, self.software_names[saved.server as usize]);
        }
        let first_byte_us = exchange.first_byte.map_or(0, microseconds);
        let weight = ResponseWeight::new(&url, exchange);
        self.add_response(
            key,
            PendingResponse { saved, server, first_byte_us, links: exchange.links, weight },
        );
    }

    /// Adds the body of a robots.txt.
    pub fn robots_txt(&mut self, url: &str, body: &str) {
        if let Some(key) = key_of_url(url) {
            let body = self.texts.intern(body);
            self.robots.insert(key, body);
        }
    }

    /// Adds one link. The links of a page must come together and in order.
    pub fn page_link(&mut self, link: &RecordedLink<'_>) {
        if self.run.page != link.page || link.position <= self.run.position {
            self.end_run();
            link.page.clone_into(&mut self.run.page);
            self.run.key = key_of_url(link.page);
            self.run.first = self.targets.len();
        }
        self.run.position = link.position;
        let target = self.texts.intern(link.url);
        self.internal.resize(self.internal.len().max(self.texts.len()), false);
        self.internal[target.index()] |= link.is_internal;
        self.targets.push(target);
        self.marks.push(LinkMark { element: LinkElement::from_word(link.element), nofollow: link.nofollow });
    }

    #[must_use]
    /// The replay of everything that was added.
    pub fn build(mut self) -> Replay {
        self.end_run();
        let servers = std::mem::take(&mut self.servers).finish();
        let by_url = self.responses(&servers);
        let contents = Contents {
            hosts: self.hosts.len() as u64,
            servers: servers.len() as u64,
            urls: by_url.len() as u64,
            links: self.runs.values().map(|(_, links)| u64::from(*links)).sum(),
            robots: self.robots.len() as u64,
            unfetched_urls: unfetched(&self.texts, &self.internal, &by_url),
            ..self.contents
        };
        Replay {
            pages: RecordedPages { texts: self.texts.finish(), targets: self.targets, marks: self.marks },
            hosts: self.hosts,
            servers,
            software: self.software_names,
            by_url,
            contents,
            unknown: AtomicU64::new(0),
        }
    }

    /// The responses with their links, their robots.txt, and their service time: the time to the first byte
    /// without the round trip.
    fn responses(&mut self, servers: &[Server]) -> HashMap<u64, RecordedResponse> {
        let round_trip_us = |number: u32| microseconds(servers[number as usize].round_trip);
        let mut by_url = HashMap::with_capacity(self.responses.len());
        for (key, PendingResponse { saved, server, first_byte_us, links, .. }) in
            std::mem::take(&mut self.responses)
        {
            let (first_link, link_count) = self.runs.get(&key).copied().unwrap_or_default();
            self.contents.pages += u64::from(links.is_some());
            self.contents.pages_without_links += u64::from(links.is_some_and(|links| links != link_count));
            let service_us = first_byte_us.saturating_sub(server.map_or(0, round_trip_us));
            let robots_txt = self.robots.get(&key).copied().unwrap_or_default();
            let is_page = links.is_some();
            by_url.insert(
                key,
                RecordedResponse { is_page, first_link, link_count, service_us, robots_txt, ..saved },
            );
        }
        by_url
    }

    /// Records the server or DNS failure of a host. A successful lookup takes precedence over failed ones.
    fn note_host(
        &mut self,
        url: &WebUrl,
        exchange: &RecordedExchange<'_>,
        replay_failure: ReplayFailure,
        server: Option<u32>,
    ) {
        let name = match (server, replay_failure) {
            (Some(number), _) => Name::At(number),
            (None, ReplayFailure::NoAddress) => Name::NoAddress,
            (None, ReplayFailure::NameServerSilent) => Name::Silence,
            (None, ReplayFailure::NameServerFails) => Name::Fails,
            _ => Name::Missing,
        };
        let candidate = RecordedHost { name, handshake: Handshake::Closed };
        let recorded_host = self.hosts.entry(url.host().as_str().into()).or_insert(candidate);
        if matches!(name, Name::At(_)) || !matches!(recorded_host.name, Name::At(_)) {
            recorded_host.name = name;
        }
        let is_greeted = exchange.status.is_some() || exchange.failure == Some("tls_certificate");
        if url.is_https() && is_greeted {
            recorded_host.handshake = Handshake::Certificate(certificate(exchange));
        }
    }

    fn saved(&mut self, exchange: &RecordedExchange<'_>, replay_failure: ReplayFailure) -> RecordedResponse {
        RecordedResponse {
            replay_failure,
            status: exchange.status.unwrap_or(0),
            content_type: self.field(exchange.content_type),
            charset: self.field(exchange.charset),
            language: self.field(exchange.language),
            title: self.field(exchange.title),
            location: self.field(exchange.location),
            server: self.software(exchange.server),
            last_modified: self.field(exchange.last_modified),
            etag: self.field(exchange.etag),
            body_bytes: u32::try_from(exchange.body_bytes).unwrap_or(u32::MAX),
            ..RecordedResponse::default()
        }
    }

    /// Interns a header field; line breaks and NUL, which would end it, become spaces.
    fn field(&mut self, text: Option<&str>) -> TextId {
        let text = text.unwrap_or_default();
        if text.contains(['\r', '\n', '\0']) {
            return self.texts.intern(&text.replace(['\r', '\n', '\0'], " "));
        }
        self.texts.intern(text)
    }

    /// The index of a software name. The name is leaked, because a [`Response`](crate::Response) needs a
    /// static text, and a replay lives as long as its program.
    fn software(&mut self, name: Option<&str>) -> u32 {
        let name = name.unwrap_or_default().replace(['\r', '\n', '\0'], " ");
        if self.software_names.is_empty() {
            self.software_names.push("");
            self.software.insert(String::new(), 0);
        }
        let next = u32::try_from(self.software_names.len()).unwrap_or(0);
        match self.software.entry(name) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.software_names.push(String::leak(new.key().clone()));
                *new.insert(next)
            }
        }
    }

    fn add_response(&mut self, key: u64, candidate: PendingResponse) {
        match self.responses.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(candidate);
            }
            Entry::Occupied(mut known) => {
                self.contents.repeated += 1;
                if candidate.weight >= known.get().weight {
                    known.insert(candidate);
                }
            }
        }
    }

    fn end_run(&mut self) {
        let links = self.targets.len() - self.run.first;
        if let Some(key) = self.run.key.take()
            && let (Ok(first), Ok(links)) = (u32::try_from(self.run.first), u32::try_from(links))
        {
            self.runs.insert(key, (first, links));
        }
    }
}

fn key_of_url(url: &str) -> Option<u64> {
    let url = WebUrl::parse(url).ok()?;
    key_of(url.is_https(), url.host().as_str(), url.target())
}

fn certificate(exchange: &RecordedExchange<'_>) -> Certificate {
    match exchange.tls_error {
        None if exchange.failure.is_none_or(|failure| failure != "tls_certificate") => Certificate::Valid,
        Some("expired" | "not_yet_valid") => Certificate::Expired,
        Some("wrong_name") => Certificate::WrongName,
        _ => Certificate::SelfSigned,
    }
}

/// Number of internal URLs without a response, with TLS or without.
fn unfetched(texts: &Interner, internal: &[bool], responses: &HashMap<u64, RecordedResponse>) -> u64 {
    let is_unfetched = |url: &str| {
        key_of_url(url).is_some_and(|key| !responses.contains_key(&key) && !responses.contains_key(&!key))
    };
    let urls = texts.iter().filter(|(at, _)| internal.get(*at).copied().unwrap_or(false));
    urls.filter(|(_, url)| is_unfetched(url)).count() as u64
}
