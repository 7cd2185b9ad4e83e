//! A line to a server: a connection that is kept, opened anew or read in another way, and how it fails.

pub(super) mod client;
pub(super) mod failure;
pub(super) mod idle;
pub(super) mod in_process;
pub(super) mod raw_line;

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::{Request, Response, Url};
use rustls::pki_types::ServerName;
use tokio::time::Instant;
use url::Position;

use super::Settings;
use super::connect::Notes;
use super::tls::{CertificateCheck, Tls};
use crate::address::{Host, WebUrl};
use crate::exchange::{Failure, Purpose};
use client::SocketClient;
use idle::IdleLimit;
use in_process::{VirtualLine, Web};
use raw_line::RawLine;

/// A client for one server, which reaches one address and nothing else.
pub(super) struct Line {
    kind: LineKind,
    pub certificate_check: Arc<CertificateCheck>,
    /// The end of its last exchange.
    last_used: Mutex<Option<Instant>>,
    /// The server's limit, which all lines to the server share.
    idle_limit: Arc<Mutex<IdleLimit>>,
}

enum LineKind {
    Sockets(Box<SocketClient>),
    InProcess(VirtualLine),
    Raw(RawLine),
}

/// The parts from which a new line is made.
pub(super) enum Opener {
    Sockets(Box<Tls>),
    InProcess(Arc<dyn Web>),
}

impl Line {
    /// Returns how long the connection has been idle. Closes it if the server may be about to close it.
    pub(super) fn begin_exchange(&self) -> Duration {
        let last_used = *self.last_used.lock();
        let idle = last_used.map_or(Duration::ZERO, |last_used| last_used.elapsed());
        if !self.idle_limit.lock().allows(idle) {
            self.hang_up();
        }
        idle
    }

    /// Records the end of an exchange: from now on its connection is idle, or gone.
    pub(super) fn end_exchange(&self) {
        *self.last_used.lock() = Some(Instant::now());
    }

    /// Records how long the server keeps connections, as far as a response or the end of a connection reveals
    /// it.
    pub(super) fn note_limit(&self, note: impl FnOnce(&mut IdleLimit)) {
        note(&mut self.idle_limit.lock());
    }

    /// Closes idle connections; the TLS sessions of the server stay.
    pub(super) fn hang_up(&self) {
        match &self.kind {
            LineKind::Sockets(client) => client.hang_up(),
            LineKind::InProcess(virtual_line) => virtual_line.hang_up(),
            LineKind::Raw(_) => {}
        }
    }

    /// Adapts a request to this line.
    pub(super) fn prepare(&self, request: &mut Request) {
        if let LineKind::Raw(_) = self.kind {
            RawLine::prepare(request);
        }
    }

    /// Sends a request and waits for the head of its response; the caller enforces the time-out of the head.
    pub(super) async fn execute(
        &self,
        request: Request,
        url: &WebUrl,
        purpose: Purpose,
        notes: &Notes,
    ) -> Result<Response, Failure> {
        match &self.kind {
            LineKind::Sockets(client) => client.execute(request, notes).await,
            LineKind::Raw(line) => line.execute(request, notes).await,
            LineKind::InProcess(virtual_line) => {
                virtual_line.execute(&request, url, purpose, notes, &self.certificate_check).await
            }
        }
    }
}

/// The lines in use, each with at most the number of connections that it may keep alive.
///
/// A line, and so a connection, belongs to one origin (scheme, host and port): some load balancers look at
/// the first request of a connection and send all later ones to the same server. The most recent lines to an
/// address keep their connections, as many as may be in use at once: a survey should not hold a dozen idle
/// connections to a server just because it hosts many sites. A few more lines keep their TLS sessions, so
/// that returning to them costs the server no new signature.
pub(super) struct Lines {
    opener: Opener,
    settings: Arc<Settings>,
    open: Mutex<OpenLines>,
}

#[derive(Default)]
struct OpenLines {
    servers: HashMap<IpAddr, ServerLines>,
    /// Origins whose responses the HTTP library could not read.
    odd_origins: HashSet<(IpAddr, OddOrigin)>,
    clock: u64,
}

#[derive(Default)]
struct ServerLines {
    /// The most recent first.
    lines: Vec<(Origin, Arc<Line>)>,
    last_used: u64,
    idle_limit: Arc<Mutex<IdleLimit>>,
}

#[derive(PartialEq, Eq)]
enum Origin {
    Http(Host, u16),
    Https(Host, u16),
    Raw(OddOrigin),
}

/// An origin whose responses the HTTP library cannot read: whether it uses HTTPS, host and port.
type OddOrigin = (bool, Host, u16);

/// The number of hosts remembered whose responses could not be read; a host that is forgotten is recorded
/// again at its next response.
const ODD_HOSTS: usize = 4096;
/// The number of servers with a line; each idle connection takes 25 to 52 KiB.
const SERVERS: usize = 512;
/// The number of lines to a server without a connection: a site is mostly two hosts, by http and https.
const SESSIONS: usize = 3;

impl Lines {
    pub(super) fn new(opener: Opener, settings: Arc<Settings>) -> Self {
        Self { opener, settings, open: Mutex::default() }
    }

    /// The line to a server whose responses are read without the HTTP library, opened if there is none.
    pub(super) fn without_library(&self, address: IpAddr, url: &WebUrl) -> Arc<Line> {
        match &self.opener {
            Opener::Sockets(tls) => self.raw(tls, address, url),
            Opener::InProcess(_) => self.for_url(address, url),
        }
    }

    /// Records that the HTTP library could not read a response to this URL, so that callers that do not know
    /// of it avoid the same failure.
    pub(super) fn note_odd(&self, address: IpAddr, url: &WebUrl) {
        let mut open = self.open.lock();
        if open.odd_origins.len() >= ODD_HOSTS {
            open.odd_origins.clear();
        }
        open.odd_origins.insert((address, odd_origin(url)));
    }

    fn is_odd(&self, address: IpAddr, url: &WebUrl) -> bool {
        let open = self.open.lock();
        !open.odd_origins.is_empty() && open.odd_origins.contains(&(address, odd_origin(url)))
    }

    fn raw(&self, tls: &Tls, address: IpAddr, url: &WebUrl) -> Arc<Line> {
        let server = self.settings.gateway.unwrap_or(SocketAddr::new(address, url.port()));
        let open = || {
            let (config, certificate_check) = tls.for_line(url.host());
            let name = url.host().as_str().trim_start_matches('[').trim_end_matches(']').to_owned();
            let tls = url.is_https().then(|| (config, ServerName::try_from(name).ok()));
            (LineKind::Raw(RawLine::new(server, tls, self.settings.timeouts)), certificate_check)
        };
        self.line(address, Origin::Raw(odd_origin(url)), open)
    }

    /// The line to a server for a URL, opened if there is none.
    pub(super) fn for_url(&self, address: IpAddr, url: &WebUrl) -> Arc<Line> {
        if let Opener::Sockets(tls) = &self.opener
            && self.is_odd(address, url)
        {
            return self.raw(tls, address, url);
        }
        let origin = if url.is_https() { Origin::Https } else { Origin::Http };
        let origin = origin(url.host().clone(), url.port());
        self.line(address, origin, || self.open(address, url))
    }

    fn line(
        &self,
        address: IpAddr,
        origin: Origin,
        make: impl FnOnce() -> (LineKind, Arc<CertificateCheck>),
    ) -> Arc<Line> {
        let mut open = self.open.lock();
        open.clock += 1;
        let now = open.clock;
        if open.servers.len() >= SERVERS && !open.servers.contains_key(&address) {
            open.drop_least_recently_used();
        }
        let server = open.servers.entry(address).or_default();
        server.last_used = now;
        if let Some(index) = server.lines.iter().position(|(known, _)| *known == origin) {
            server.lines[..=index].rotate_right(1);
        } else {
            let (kind, certificate_check) = make();
            let line = Line {
                kind,
                certificate_check,
                last_used: Mutex::default(),
                idle_limit: server.idle_limit.clone(),
            };
            server.lines.insert(0, (origin, Arc::new(line)));
        }
        let connected = self.settings.connections_per_address.max(1);
        server.lines.truncate(connected + SESSIONS);
        server.lines.iter().skip(connected).for_each(|(_, line)| line.hang_up());
        server.lines[0].1.clone()
    }

    fn open(&self, address: IpAddr, url: &WebUrl) -> (LineKind, Arc<CertificateCheck>) {
        match &self.opener {
            Opener::InProcess(web) => (
                LineKind::InProcess(VirtualLine::new(web.clone(), url.is_https(), &self.settings)),
                Arc::default(),
            ),
            Opener::Sockets(tls) => {
                let (config, certificate_check) = tls.for_line(url.host());
                let target = self.settings.gateway.map_or(address, |gateway| gateway.ip());
                (
                    LineKind::Sockets(Box::new(SocketClient::new(
                        target,
                        url.is_https(),
                        config,
                        &self.settings,
                    ))),
                    certificate_check,
                )
            }
        }
    }

    /// The URL that leads to the server: for HTTP its address, for HTTPS the name of the host, which the
    /// handshake sends. A name that does not decode is not valid in such a URL, and the address takes its
    /// place.
    pub(super) fn url(&self, address: IpAddr, url: &WebUrl) -> Option<Url> {
        let server = self.settings.gateway.unwrap_or(SocketAddr::new(address, url.port()));
        let authority = match (url.is_https(), url.host().ip()) {
            (true, None) if !url.host().is_undecoded() => format!("{}:{}", url.host(), server.port()),
            _ => server.to_string(),
        };
        let scheme = if url.is_https() { "https" } else { "http" };
        let connect_url = Url::parse(&format!("{scheme}://{authority}{}", url.target())).ok()?;
        (&connect_url[Position::BeforePath..] == url.target()).then_some(connect_url)
    }
}

fn odd_origin(url: &WebUrl) -> OddOrigin {
    (url.is_https(), url.host().clone(), url.port())
}

impl OpenLines {
    fn drop_least_recently_used(&mut self) {
        let oldest =
            self.servers.iter().min_by_key(|(_, server)| server.last_used).map(|(address, _)| *address);
        if let Some(address) = oldest {
            self.servers.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::Clock;

    fn lines(connections_per_address: usize) -> Lines {
        let settings = Arc::new(Settings { connections_per_address, ..Settings::default() });
        let tls = Tls::new(&settings, Clock::system()).unwrap();
        Lines::new(Opener::Sockets(Box::new(tls)), settings)
    }

    fn line(lines: &Lines, address: [u8; 4], url: &str) -> Arc<Line> {
        lines.for_url(IpAddr::from(address), &WebUrl::parse(url).unwrap())
    }

    #[test]
    fn a_name_that_does_not_decode_leads_to_its_server_by_address() {
        let lines = lines(1);
        for (url, connect_url) in [
            ("https://a.ke/x", "https://a.ke/x"),
            ("https://xn--a.ke/x?y", "https://102.0.0.1/x?y"),
            ("http://xn--a.ke:81/x", "http://102.0.0.1:81/x"),
        ] {
            let url = WebUrl::parse(url).unwrap();
            assert_eq!(lines.url(IpAddr::from([102, 0, 0, 1]), &url).unwrap().as_str(), connect_url);
        }
    }

    #[test]
    fn every_origin_at_an_address_has_a_line_of_its_own() {
        let lines = lines(2);
        for scheme in ["http", "https"] {
            let first = line(&lines, [102, 0, 0, 1], &format!("{scheme}://a.ke/"));
            let is_first = |address, url: String| Arc::ptr_eq(&first, &line(&lines, address, &url));
            assert!(is_first([102, 0, 0, 1], format!("{scheme}://a.ke/y")));
            assert!(!is_first([102, 0, 0, 1], format!("{scheme}://b.ke/")));
            assert!(!is_first([102, 0, 0, 1], format!("{scheme}://a.ke:8080/")));
            assert!(!is_first([102, 0, 0, 2], format!("{scheme}://a.ke/")));
        }
        let line_by_scheme = |scheme| line(&lines, [102, 0, 0, 1], &format!("{scheme}://a.ke:8080/"));
        assert!(!Arc::ptr_eq(&line_by_scheme("http"), &line_by_scheme("https")));
    }

    #[test]
    fn an_address_keeps_its_latest_lines_only() {
        let lines = lines(1);
        let old = Arc::downgrade(&line(&lines, [102, 0, 0, 1], "https://a.ke/"));
        for host in 0..SESSIONS {
            line(&lines, [102, 0, 0, 1], &format!("https://b{host}.ke/"));
            assert!(old.upgrade().is_some());
        }
        line(&lines, [102, 0, 0, 1], "https://c.ke/");
        assert!(old.upgrade().is_none());
    }

    #[test]
    fn the_server_unused_the_longest_makes_room() {
        let lines = lines(1);
        let weak_line = |address| Arc::downgrade(&line(&lines, address, "http://a.ke/"));
        let (first, second) = (weak_line([102, 0, 0, 1]), weak_line([102, 0, 0, 2]));
        for number in 0..u8::MAX {
            weak_line([102, 1, 0, number]);
            weak_line([102, 1, 1, number]);
        }
        weak_line([102, 0, 0, 1]);
        weak_line([102, 2, 0, 1]);
        assert!(first.upgrade().is_some() && second.upgrade().is_none());
        assert_eq!(lines.open.lock().servers.len(), SERVERS);
    }
}
