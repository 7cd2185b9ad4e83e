use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::World;
use super::content::{Content, Url};
use super::dns_records::{met_at, records};
use super::draw::Key;
use super::files::file;
use super::gzip;
use super::hostile::Act;
use super::html::render;
use super::server::Server;
use super::site::{Fault, Site};
use super::spot::Spot;
use super::validators::Validators;
use crate::address::WebUrl;

/// What a name server says of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    NoSuchName,
    ServerFailure,
    /// No answer ever comes.
    Silence,
    Found(Records),
    /// Nothing but an alias (CNAME): who asks has to ask on for that name.
    Alias(String),
    /// Other records at each look-up, to be kept for no time; the last ones from then on.
    Turns(Vec<Records>),
}

/// The records of a host; a host without addresses has none of either kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The name that the host is an alias of (CNAME); the addresses are that name's.
    pub alias: Option<String>,
    pub v4: Option<Ipv4Addr>,
    pub v6: Option<Ipv6Addr>,
    /// IPv4 addresses beside the first.
    pub further: Vec<Ipv4Addr>,
    /// The answer over UDP is cut short (TC), so that the client asks again over TCP.
    pub is_truncated: bool,
}

impl Records {
    #[must_use]
    pub fn has_address(&self) -> bool {
        self.v4.is_some() || self.v6.is_some()
    }
}

/// What happens when a TLS client greets a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The host speaks no TLS: the connection is closed.
    Closed,
    Certificate(Certificate),
    /// Something that is no handshake, on the bare connection.
    Acts(Vec<Act>),
}

/// The certificate that a host shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    Valid,
    SelfSigned,
    Expired,
    /// Valid for another host.
    WrongName,
}

/// What happens when a host is asked for a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Reaction {
    /// No site of the world has this host, or its name does not resolve.
    NoSuchHost,
    /// The connection is refused. A gateway, which has accepted it by then, closes it without a byte.
    Refused,
    /// The connection is reset without an answer.
    Reset,
    /// The request is taken and never answered.
    Silence,
    Response(Response),
    /// Bytes and pauses that need not be HTTP.
    Acts(Vec<Act>),
}

/// An answer, the same in process and over the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub status: u16,
    pub content_type: Option<Cow<'static, str>>,
    pub location: Option<String>,
    /// In seconds.
    pub retry_after: Option<u32>,
    pub server: &'static str,
    /// As an HTTP date; the page or file was changed then.
    pub last_modified: Option<String>,
    /// With its quotation marks.
    pub etag: Option<String>,
    /// How `body` is encoded already, for a client that accepts it; for one that does not, the body is
    /// [`Response::identity_body`] and this field is none. Answers that are cut are never encoded.
    pub content_encoding: Option<&'static str>,
    pub body: Vec<u8>,
    /// Sent in chunks, without a Content-Length.
    pub is_chunked: bool,
    /// The connection ends after so many bytes of the body.
    pub cut_after: Option<usize>,
    /// How long the server works before the first byte, round trips and waiting for others not counted.
    pub service: Duration,
}

impl Response {
    /// The body without content encoding.
    #[must_use]
    pub fn identity_body(&self) -> Cow<'_, [u8]> {
        match self.content_encoding {
            Some(gzip::NAME) => Cow::Owned(gzip::decoded(&self.body)),
            _ => Cow::Borrowed(&self.body),
        }
    }
}

/// A Web that can be asked in process, and be served.
pub trait Web: Send + Sync {
    /// What a name server says of a host, given in lower case.
    fn lookup(&self, host: &str) -> Lookup;

    /// What happens when a TLS client greets `host`.
    fn handshake(&self, host: &str) -> Handshake;

    /// The server that a host stands at; none for a host without an address.
    fn server(&self, host: &str) -> Option<Server>;

    /// What happens when `host` (lower case, without port) is asked for `target` (path and query, in any
    /// spelling).
    fn respond(&self, is_https: bool, host: &str, target: &str) -> Reaction;
}

/// The body of redirects and errors links to a page that is not there: they are not to be read.
const UNREAD: &str = "<html><body><a href=\"/ghost/error.html\">Go on</a> <a href=\"http://ghost.example.com/\">here</a></body></html>\n";

/// A page that breaks off lacks so many bytes: fewer than `</body></html>` has.
const AFTER_LAST_LINK: usize = 8;

impl Web for World {
    fn lookup(&self, host: &str) -> Lookup {
        if let Some(site) = self.hostile.site(host) {
            return site.lookup();
        }
        let Some((site, role)) = Site::with_host(self, host) else { return Lookup::NoSuchName };
        match site.fault {
            Some(Fault::NoDns) => Lookup::NoSuchName,
            Some(Fault::Servfail) => Lookup::ServerFailure,
            Some(Fault::DnsSilent) => Lookup::Silence,
            _ if site.has_address(role) => Lookup::Found(records(self, host, &Server::of_host(self, host))),
            _ => Lookup::Found(Records::default()),
        }
    }

    fn handshake(&self, host: &str) -> Handshake {
        if let Some(site) = self.hostile.site(host) {
            return site.handshake();
        }
        let site = Site::with_host(self, host).map(|(site, _)| site);
        let certificate =
            site.filter(|site| site.fault != Some(Fault::Reset)).and_then(|site| site.tls.certificate());
        certificate.map_or(Handshake::Closed, Handshake::Certificate)
    }

    fn server(&self, host: &str) -> Option<Server> {
        if let Some(site) = self.hostile.site(host) {
            return Some(site.server());
        }
        let Lookup::Found(records) = self.lookup(host) else { return None };
        if !records.has_address() {
            return None;
        }
        let server = Server::of_host(self, host);
        Some(Server { address: met_at(&records, &server), ..server })
    }

    fn respond(&self, is_https: bool, host: &str, target: &str) -> Reaction {
        if let Some(site) = self.hostile.site(host) {
            return Reaction::Acts(site.acts(is_https, target));
        }
        let url = Url { is_https, host: host.to_owned(), target: canonical(host, target) };
        let Some(spot) = Spot::find(self, &url) else { return Reaction::NoSuchHost };
        if !spot.site.has_address(spot.role) {
            return Reaction::NoSuchHost;
        }
        let server = Server::of_host(self, host);
        self.reaction(&spot, spot.content(self), &server, &url)
    }
}

impl World {
    fn reaction(&self, spot: &Spot, content: Content, server: &Server, url: &Url) -> Reaction {
        let key = url_key(self, url);
        let plain = Response {
            status: 200,
            content_type: Some(Cow::Borrowed("text/html")),
            location: None,
            retry_after: None,
            server: server.software,
            last_modified: None,
            etag: None,
            content_encoding: None,
            body: Vec::new(),
            is_chunked: false,
            cut_after: None,
            service: self.service(key),
        };
        Reaction::Response(match content {
            Content::Refused => return Reaction::Refused,
            Content::Reset => return Reaction::Reset,
            Content::Silence => return Reaction::Silence,
            Content::Status(status) => {
                Response { status, body: UNREAD.into(), retry_after: self.retry_after(status), ..plain }
            }
            Content::RobotsTxt(robots) => {
                let Some((status, content_type, body)) = robots.file() else { return Reaction::Silence };
                let (content_type, retry_after) = (Some(content_type.into()), self.retry_after(status));
                Response { status, content_type, retry_after, body: body.into(), ..plain }
            }
            Content::Redirect(status, to) => {
                let is_short = to.host == url.host && to.is_https == url.is_https && to.target.len() % 2 == 0;
                let location = if is_short { to.target } else { to.to_string() };
                Response { status, location: Some(location), body: UNREAD.into(), ..plain }
            }
            Content::File(content_type) => {
                let body = file(self, content_type, key);
                let content_type = Some(content_type.into());
                Response { content_type, body, ..plain }.with(Validators::of_file(self, key))
            }
            Content::Page(page) => {
                let (content_type, body) = render(self, &spot.site, &page, &page.written_at);
                let is_chunked = page.key.draw("chunked").happens(self.pages.chunked_share);
                // All links stand before the end of the body element.
                let cut_after = page.is_cut.then(|| body.len().saturating_sub(AFTER_LAST_LINK));
                let content_type = Some(content_type.into());
                let answer = Response { content_type, body, is_chunked, cut_after, ..plain };
                let answer = answer.with(Validators::of_page(self, page.key));
                // A body that breaks off is sent as it is, so that what came of it can be read.
                if page.is_cut { answer } else { answer.encoded_by(server) }
            }
        })
    }

    fn retry_after(&self, status: u16) -> Option<u32> {
        let seconds = self.faults.retry_after as u32;
        (status == 503 && seconds > 0).then_some(seconds)
    }

    /// How long the server works for the answer to a URL.
    fn service(&self, url: Key) -> Duration {
        let time = &self.time;
        if time.scale <= 0.0 {
            return Duration::ZERO;
        }
        let seconds = url.draw("service").log_normal(time.service_median, time.service_sigma);
        Duration::from_secs_f64(seconds.min(time.service_most) * time.scale)
    }
}

impl Response {
    fn with(self, validators: Validators) -> Self {
        Self { last_modified: validators.last_modified, etag: validators.etag, ..self }
    }

    fn encoded_by(self, server: &Server) -> Self {
        if server.gzips && self.cut_after.is_none() {
            Self { body: gzip::encoded(&self.body), content_encoding: Some(gzip::NAME), ..self }
        } else {
            self
        }
    }
}

/// The key of what hangs on a URL and on nothing else: the time of its answer, the bytes of a file.
fn url_key(world: &World, url: &Url) -> Key {
    world.key().part("URL").part(&url.host).part(&url.target)
}

/// The target in the form in which the model writes it.
pub(super) fn canonical(host: &str, target: &str) -> String {
    let is_plain =
        target.starts_with('/') && !target.contains(['%', ' ', '\\', '#']) && !target.contains("/.");
    if is_plain {
        return target.to_owned();
    }
    let url = WebUrl::parse(&format!("http://{host}{target}"));
    url.map(|url| url.canonical())
        .ok()
        .and_then(|url| {
            let rest = url.strip_prefix("http://")?;
            Some(rest[rest.find('/')?..].to_owned())
        })
        .unwrap_or_else(|| target.to_owned())
}
