use std::borrow::Cow;
use std::time::Duration;

use super::World;
use super::bytes::files::file;
use super::bytes::html::render;
use super::bytes::validators::ResponseValidators;
use super::draw::Key;
use super::model::content::{Content, Url, canonical};
use super::model::site::{Fault, Site};
use super::model::url_location::UrlLocation;
use super::net::dns_records::{contacted_address, records};
use super::web::{Handshake, Lookup, Reaction, Records, Response, Server, Web, gzip};

/// The body of redirects and errors. It links to a missing page, because no crawler should read it.
const UNREAD: &str = "<html><body><a href=\"/ghost/error.html\">Go on</a> <a href=\"http://ghost.example.com/\">here</a></body></html>\n";

/// The number of bytes that a truncated page lacks: fewer than `</body></html>` has.
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
            _ if site.has_address(role) => Lookup::Found(records(self, host, &Server::for_host(self, host))),
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
        let server = Server::for_host(self, host);
        Some(Server { address: contacted_address(&records, &server), ..server })
    }

    fn respond(&self, is_https: bool, host: &str, target: &str) -> Reaction {
        if let Some(site) = self.hostile.site(host) {
            return Reaction::Acts(site.acts(is_https, target));
        }
        let url = Url { is_https, host: host.to_owned(), target: canonical(host, target) };
        let Some(located) = UrlLocation::find(self, &url) else { return Reaction::NoSuchHost };
        if !located.site.has_address(located.role) {
            return Reaction::NoSuchHost;
        }
        let server = Server::for_host(self, host);
        self.reaction(&located, located.content(self), &server, &url)
    }
}

impl World {
    fn reaction(&self, located: &UrlLocation, content: Content, server: &Server, url: &Url) -> Reaction {
        let key = url_key(self, url);
        let is_page = matches!(content, Content::Page(_));
        let plain = Response {
            status: 200,
            content_type: Some(Cow::Borrowed("text/html")),
            location: None,
            retry_after: None,
            server: server.software,
            last_modified: None,
            etag: None,
            more_fields: located.site.facts.fields(url.is_https, is_page, &url.host),
            content_encoding: None,
            body: Vec::new(),
            identity: None,
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
                let Some((status, content_type, body)) = robots.file(&located.sitemaps(self)) else {
                    return Reaction::Silence;
                };
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
                Response { content_type, body, ..plain }.with(ResponseValidators::of_file(self, key))
            }
            Content::Page(page) => {
                let (content_type, body) = render(self, &located.site, &page, &page.written_at);
                let is_chunked = page.key.draw("chunked").happens(self.pages.chunked_share);
                // All links precede the end of the body element.
                let cut_after = page.is_cut.then(|| body.len().saturating_sub(AFTER_LAST_LINK));
                let content_type = Some(content_type.into());
                let answer = Response { content_type, body, is_chunked, cut_after, ..plain };
                let answer = answer.with(ResponseValidators::of_page(self, &page));
                // A truncated body is sent without encoding, so that the received part can be read.
                if page.is_cut { answer } else { answer.encoded_by(server) }
            }
        })
    }

    fn retry_after(&self, status: u16) -> Option<u32> {
        let seconds = self.faults.retry_after as u32;
        (status == 503 && seconds > 0).then_some(seconds)
    }

    /// The time that the server works on the response to a URL.
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
    fn with(self, validators: ResponseValidators) -> Self {
        Self { last_modified: validators.last_modified, etag: validators.etag, ..self }
    }

    fn encoded_by(self, server: &Server) -> Self {
        if server.gzips && self.cut_after.is_none() {
            let body = gzip::encoded(&self.body);
            Self {
                body,
                identity: Some(Box::new(self.body.into())),
                content_encoding: Some(gzip::NAME),
                ..self
            }
        } else {
            self
        }
    }
}

/// The key for what depends on a URL alone: the service time of its response, the bytes of a file.
fn url_key(world: &World, url: &Url) -> Key {
    world.key().part("URL").part(&url.host).part(&url.target)
}
