use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::time::Duration;

use super::World;
use super::content::{Content, Spot, Url};
use super::html::render;
use super::network::Server;
use super::site::{Fault, Site};
use crate::address::WebUrl;

/// What the name server says of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    NoSuchName,
    ServerFailure,
    Address(Ipv4Addr),
}

/// What happens when a host is asked for a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Reaction {
    /// No site of the world has this host, or its name does not resolve.
    NoSuchHost,
    /// The server at this address closes the connection without an answer.
    Reset(Ipv4Addr),
    Response(Response),
}

/// An answer, the same in process and over the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Where the host stands.
    pub address: Ipv4Addr,
    pub status: u16,
    pub content_type: Cow<'static, str>,
    pub location: Option<String>,
    pub server: &'static str,
    pub body: Vec<u8>,
    /// Sent in chunks, without a Content-Length.
    pub is_chunked: bool,
    /// How long the server takes before it answers.
    pub latency: Duration,
}

/// The body of redirects and errors links to a page that is not there: they are not to be read.
const UNREAD: &str = "<html><body><a href=\"/ghost/error.html\">Go on</a> <a href=\"http://ghost.example.com/\">here</a></body></html>\n";

/// Size of a file that is no HTML, in bytes: enough to see, little to carry.
const FILE_BYTES: usize = 2048;

/// No server takes longer than this, whatever is drawn.
const MOST_LATENCY_MS: f64 = 60_000.0;

impl World {
    /// What a name server says of a host, given in lower case.
    #[must_use]
    pub fn lookup(&self, host: &str) -> Lookup {
        match Site::with_host(self, host).map(|(site, _)| site.fault) {
            None | Some(Some(Fault::NoDns)) => Lookup::NoSuchName,
            Some(Some(Fault::Servfail)) => Lookup::ServerFailure,
            Some(_) => Lookup::Address(Server::of_host(self, host).address),
        }
    }

    /// What happens when `host` (lower case, without port) is asked for `target` (path and query,
    /// in any spelling).
    #[must_use]
    pub fn respond(&self, host: &str, target: &str) -> Reaction {
        let target = canonical(host, target);
        let Some(spot) = Spot::find(self, host, &target) else { return Reaction::NoSuchHost };
        if matches!(spot.site.fault, Some(Fault::NoDns | Fault::Servfail)) {
            return Reaction::NoSuchHost;
        }
        let server = Server::of_host(self, host);
        let content = spot.content(self, &target);
        self.bytes(&spot, content, &server, &Url::http(host, target))
            .map_or(Reaction::Reset(server.address), Reaction::Response)
    }

    fn bytes(&self, spot: &Spot, content: Content, server: &Server, url: &Url) -> Option<Response> {
        let plain = Response {
            address: server.address,
            status: 200,
            content_type: Cow::Borrowed("text/html"),
            location: None,
            server: server.software,
            body: UNREAD.into(),
            is_chunked: false,
            latency: Duration::from_secs_f64(server.latency_ms.min(MOST_LATENCY_MS) / 1000.0),
        };
        Some(match content {
            Content::Reset => return None,
            Content::Status(status) => Response { status, ..plain },
            Content::RobotsTxt(robots) => {
                let (status, content_type, body) = robots.file();
                Response { status, content_type: content_type.into(), body: body.into(), ..plain }
            }
            Content::Redirect(status, to) => {
                let is_short = to.host == url.host && to.target.len() % 2 == 0;
                let location = if is_short { to.target } else { to.to_string() };
                Response { status, location: Some(location), ..plain }
            }
            Content::File(content_type) => {
                Response { content_type: content_type.into(), body: file(content_type), ..plain }
            }
            Content::Page(page) => {
                let (content_type, body) = render(self, &spot.site, &page, url);
                let is_chunked = page.key.draw("chunked").happens(self.pages.chunked_share);
                Response { content_type: content_type.into(), body, is_chunked, ..plain }
            }
        })
    }
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

/// A file whose bytes contain what looks like a link, and is none.
fn file(content_type: &str) -> Vec<u8> {
    let start = if content_type == "application/pdf" { "%PDF-1.4\n" } else { "\u{ff}\u{d8}JFIF" };
    let mut bytes = format!("{start}<a href=\"/ghost/file.html\">").into_bytes();
    bytes.resize(FILE_BYTES, b'.');
    bytes
}
