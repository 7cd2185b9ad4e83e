//! A Web for tests: the name of a host selects its records and its certificate, and the path selects the
//! server's reaction. The tests of the whole program include this file too, with their own imports of the
//! same names.

use std::borrow::Cow;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Certificate, Handshake, Lookup, Reaction, Records, Response, Server, Web};

pub(crate) const PAGE: &str = "<html><body><a href=\"/other\">Other</a> and a few words more</body></html>";
pub(crate) const MODIFIED: &str = "Thu, 01 Jun 2006 08:00:00 GMT";
pub(crate) const TAG: &str = "\"page-1\"";
pub(crate) const V4: Ipv4Addr = Ipv4Addr::new(41, 90, 0, 1);
pub(crate) const V6: Ipv6Addr = Ipv6Addr::new(0x2c0f, 0xfe40, 0, 0, 0, 0, 0, 1);
/// Size of the page at `/long` in bytes.
pub(crate) const LONG: usize = 6000;

/// All hosts are on one server.
pub(crate) struct FakeWeb(pub Server);

impl FakeWeb {
    /// Nearby, and with a link that costs no time.
    pub(crate) fn quick() -> Self {
        Self(Server { software: "Apache/2.2.3 (CentOS)", ..Server::alone_at(V4.into()) })
    }
}

pub(crate) fn page(body: Vec<u8>) -> Response {
    Response {
        status: 200,
        content_type: Some(Cow::Borrowed("text/html")),
        location: None,
        retry_after: None,
        server: "Apache/2.2.3 (CentOS)",
        last_modified: Some(MODIFIED.to_owned()),
        etag: Some(TAG.to_owned()),
        more_fields: Box::default(),
        content_encoding: None,
        body,
        identity: None,
        is_chunked: false,
        cut_after: None,
        service: Duration::ZERO,
    }
}

pub(crate) fn zipped(text: &str) -> Response {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    Response { content_encoding: Some("gzip"), ..page(encoder.finish().unwrap()) }
}

impl Web for FakeWeb {
    fn lookup(&self, host: &str) -> Lookup {
        let default_records = Records { v4: Some(V4), ..Records::default() };
        Lookup::Found(match host {
            "failing.ke" => return Lookup::ServerFailure,
            "silent.ke" => return Lookup::Silence,
            "chain.ke" => return Lookup::Alias("any.ke".to_owned()),
            "turns.ke" => {
                return Lookup::Turns(vec![default_records, Records { v6: Some(V6), ..Records::default() }]);
            }
            "many.ke" => Records { more_v4: vec![Ipv4Addr::new(10, 0, 0, 1)], ..default_records },
            "six.ke" => Records { v6: Some(V6), ..Records::default() },
            "both.ke" => Records { v6: Some(V6), ..default_records },
            "empty.ke" => Records::default(),
            "alias.ke" => Records { alias: Some("srv7.Hoster.example".to_owned()), ..default_records },
            "long.ke" => Records { is_truncated: true, ..default_records },
            _ if host.ends_with(".ke") => default_records,
            _ => return Lookup::NoSuchName,
        })
    }

    fn handshake(&self, host: &str) -> Handshake {
        Handshake::Certificate(match host {
            "self-signed.ke" => Certificate::SelfSigned,
            "expired.ke" => Certificate::Expired,
            "wrong-name.ke" => Certificate::WrongName,
            "plain.ke" => return Handshake::Closed,
            _ => Certificate::Valid,
        })
    }

    fn server(&self, host: &str) -> Option<Server> {
        matches!(self.lookup(host), Lookup::Found(_)).then_some(self.0)
    }

    fn respond(&self, is_https: bool, host: &str, target: &str) -> Reaction {
        if self.server(host).is_none() {
            return Reaction::NoSuchHost;
        }
        Reaction::Response(match target {
            "/reset" => return Reaction::Reset,
            "/silence" => return Reaction::Silence,
            "/cut" => Response { cut_after: Some(20), ..page(PAGE.into()) },
            "/chunks" => Response { is_chunked: true, ..page(vec![b'.'; LONG]) },
            "/cut-chunks" => Response { is_chunked: true, cut_after: Some(2000), ..page(vec![b'.'; LONG]) },
            "/long" => page(vec![b'.'; LONG]),
            "/zipped" => zipped(PAGE),
            "/scheme" => page(if is_https { "secure" } else { "open" }.into()),
            _ => page(PAGE.into()),
        })
    }
}
