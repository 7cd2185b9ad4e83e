use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Request, Response, Url, retry};
use url::Position;

use super::connect::{KEPT_ALIVE, Notes, Watch};
use super::failure::classify;
use super::in_process::{Thread, Web};
#[cfg(feature = "old-tls")]
use super::old_line::OldLine;
use super::tls::{CertificateCheck, Tls};
use super::{FetchError, Settings};
use crate::address::{Host, WebUrl};
use crate::exchange::{Failure, Purpose};

/// A way to one server, which reaches one address and nothing else.
pub(super) struct Line {
    way: Way,
    pub verdict: Arc<CertificateCheck>,
}

enum Way {
    Sockets(Client),
    InProcess(Thread),
    #[cfg(feature = "old-tls")]
    OldTls(OldLine),
}

/// What a new line is made of.
pub(super) enum Opener {
    Sockets(Box<Tls>),
    InProcess(Arc<dyn Web>),
}

impl Line {
    /// Puts a request and waits for the head of its answer; the caller keeps the time-out of the head.
    pub(super) async fn execute(
        &self,
        request: Request,
        url: &WebUrl,
        purpose: Purpose,
        notes: &Notes,
    ) -> Result<Response, Failure> {
        match &self.way {
            Way::Sockets(client) => {
                client.execute(request).await.map_err(|error| classify(&error, &notes.moments()))
            }
            #[cfg(feature = "old-tls")]
            Way::OldTls(line) => line.execute(request, notes).await,
            Way::InProcess(thread) => thread.execute(&request, url, purpose, notes, &self.verdict).await,
        }
    }
}

/// The lines in use, each with at most its kept-alive connections.
///
/// All plain HTTP to a port of an address is one line, whatever the hosts, so that their
/// connections are shared; HTTPS is a line per host, for a certificate is shown to a name. An
/// address keeps the latest lines only, as many as may be in use at once: a survey should not
/// hold a dozen idle connections to a server just because many sites live there.
pub(super) struct Lines {
    opener: Opener,
    settings: Arc<Settings>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    servers: HashMap<IpAddr, ServerLines>,
    clock: u64,
}

#[derive(Default)]
struct ServerLines {
    /// The latest first.
    lines: Vec<(Origin, Arc<Line>)>,
    used: u64,
}

#[derive(PartialEq, Eq)]
enum Origin {
    Http(u16),
    Https(Host, u16),
    #[cfg(feature = "old-tls")]
    OldTls(Host, u16),
}

/// Servers with a line; 25 to 52 KiB for each connection that is idle.
const SERVERS: usize = 512;

impl Lines {
    pub(super) fn new(opener: Opener, settings: Arc<Settings>) -> Self {
        Self { opener, settings, open: Mutex::default() }
    }

    /// The line of old TLS to a server for a URL, opened if there is none.
    #[cfg(feature = "old-tls")]
    pub(super) fn by_old_tls(&self, address: IpAddr, url: &WebUrl) -> Result<Arc<Line>, FetchError> {
        let Opener::Sockets(tls) = &self.opener else { return self.to(address, url) };
        let (host, port) = (url.host(), url.port());
        let server = self.settings.gateway.unwrap_or(SocketAddr::new(address, port));
        let open = || {
            let (examiner, verdict) = tls.examiner(host);
            let way = Way::OldTls(OldLine::new(server, host, examiner, self.settings.timeouts));
            Ok(Line { way, verdict })
        };
        self.line(address, Origin::OldTls(host.clone(), port), open)
    }

    /// The line to a server for a URL, opened if there is none.
    pub(super) fn to(&self, address: IpAddr, url: &WebUrl) -> Result<Arc<Line>, FetchError> {
        let origin = if url.is_https() {
            Origin::Https(url.host().clone(), url.port())
        } else {
            Origin::Http(url.port())
        };
        self.line(address, origin, || self.open(address, url.host()))
    }

    fn line(
        &self,
        address: IpAddr,
        origin: Origin,
        make: impl FnOnce() -> Result<Line, FetchError>,
    ) -> Result<Arc<Line>, FetchError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clock += 1;
        let now = open.clock;
        if open.servers.len() >= SERVERS && !open.servers.contains_key(&address) {
            open.drop_the_longest_unused();
        }
        let server = open.servers.entry(address).or_default();
        server.used = now;
        if let Some(at) = server.lines.iter().position(|(known, _)| *known == origin) {
            server.lines[..=at].rotate_right(1);
        } else {
            let line = Arc::new(make()?);
            server.lines.insert(0, (origin, line));
            server.lines.truncate(self.settings.connections_per_address.max(1));
        }
        Ok(server.lines[0].1.clone())
    }

    fn open(&self, address: IpAddr, host: &Host) -> Result<Line, FetchError> {
        let tls = match &self.opener {
            Opener::InProcess(web) => {
                let way = Way::InProcess(Thread::new(web.clone(), &self.settings));
                return Ok(Line { way, verdict: Arc::default() });
            }
            Opener::Sockets(tls) => tls,
        };
        let (config, verdict) = tls.for_line(host);
        let Settings { timeouts, gateway, connections_per_address, .. } = &*self.settings;
        let target = gateway.map_or(address, |gateway| gateway.ip());
        let client = Client::builder()
            .tls_backend_preconfigured(config)
            .tls_info(true)
            .dns_resolver(Arc::new(Pinned(target)))
            .connector_layer(Watch { connect: timeouts.connect, tls: timeouts.tls })
            .no_proxy()
            .redirect(Policy::none())
            .retry(retry::never())
            .referer(false)
            .http1_only()
            .http09_responses()
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .pool_max_idle_per_host((*connections_per_address).max(1))
            .pool_idle_timeout(KEPT_ALIVE)
            .build()?;
        Ok(Line { way: Way::Sockets(client), verdict })
    }

    /// The URL that leads to the server: for HTTP its address, so that hosts share connections;
    /// for HTTPS the host's name, which the handshake shows.
    pub(super) fn url(&self, address: IpAddr, url: &WebUrl) -> Option<Url> {
        let server = self.settings.gateway.unwrap_or(SocketAddr::new(address, url.port()));
        let authority = match (url.is_https(), url.host().ip()) {
            (true, None) => format!("{}:{}", url.host(), server.port()),
            _ => server.to_string(),
        };
        let scheme = if url.is_https() { "https" } else { "http" };
        let there = Url::parse(&format!("{scheme}://{authority}{}", url.target())).ok()?;
        (&there[Position::BeforePath..] == url.target()).then_some(there)
    }
}

impl Open {
    fn drop_the_longest_unused(&mut self) {
        let oldest = self.servers.iter().min_by_key(|(_, server)| server.used).map(|(address, _)| *address);
        if let Some(address) = oldest {
            self.servers.remove(&address);
        }
    }
}

/// Answers every name with the one address of its line.
struct Pinned(IpAddr);

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        let address: Addrs = Box::new(std::iter::once(SocketAddr::new(self.0, 0)));
        Box::pin(std::future::ready(Ok(address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(connections_per_address: usize) -> Lines {
        let settings = Arc::new(Settings { connections_per_address, ..Settings::default() });
        Lines::new(Opener::Sockets(Box::new(Tls::new(&settings).unwrap())), settings)
    }

    fn line(lines: &Lines, address: [u8; 4], url: &str) -> Arc<Line> {
        lines.to(IpAddr::from(address), &WebUrl::parse(url).unwrap()).unwrap()
    }

    #[test]
    fn http_hosts_share_the_line_of_their_address_and_https_hosts_have_their_own() {
        let lines = lines(2);
        let first = line(&lines, [102, 0, 0, 1], "http://a.ke/");
        assert!(Arc::ptr_eq(&first, &line(&lines, [102, 0, 0, 1], "http://b.ke/x")));
        assert!(!Arc::ptr_eq(&first, &line(&lines, [102, 0, 0, 2], "http://a.ke/")));
        let secure = line(&lines, [102, 0, 0, 1], "https://a.ke/");
        assert!(Arc::ptr_eq(&secure, &line(&lines, [102, 0, 0, 1], "https://a.ke/y")));
        assert!(!Arc::ptr_eq(&secure, &line(&lines, [102, 0, 0, 1], "https://b.ke/")));
    }

    #[test]
    fn an_address_keeps_its_latest_lines_only() {
        let lines = lines(1);
        let old = Arc::downgrade(&line(&lines, [102, 0, 0, 1], "https://a.ke/"));
        assert!(old.upgrade().is_some());
        line(&lines, [102, 0, 0, 1], "https://b.ke/");
        assert!(old.upgrade().is_none());
    }

    #[test]
    fn the_server_unused_the_longest_makes_room() {
        let lines = lines(1);
        let weak = |address| Arc::downgrade(&line(&lines, address, "http://a.ke/"));
        let (first, second) = (weak([102, 0, 0, 1]), weak([102, 0, 0, 2]));
        for number in 0..u8::MAX {
            weak([102, 1, 0, number]);
            weak([102, 1, 1, number]);
        }
        weak([102, 0, 0, 1]);
        weak([102, 2, 0, 1]);
        assert!(first.upgrade().is_some() && second.upgrade().is_none());
        assert_eq!(lines.open.lock().unwrap().servers.len(), SERVERS);
    }
}
