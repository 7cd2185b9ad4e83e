use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use bytes::Bytes;

use super::act::Act;
use super::gzip;
use super::server::Server;

/// The response of a name server for a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// NXDOMAIN.
    NoSuchName,
    /// SERVFAIL.
    ServerFailure,
    /// No response is ever sent.
    Silence,
    /// The name has these records.
    Found(Records),
    /// Only an alias (CNAME): the client must look up its target.
    Alias(String),
    /// Different records at each lookup, with a TTL of 0; the last entry is repeated.
    Turns(Vec<Records>),
    /// The name has these records, but the response that carries them is odd.
    Odd(Records, Oddity),
}

/// What is odd about the responses of a name server to queries for A and AAAA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// UDP responses end within a record and are marked as truncated (TC).
    CutWithinRecord,
    /// UDP responses end within a record and are not marked as truncated.
    CutUnsaid,
    /// A record after the answer section is broken.
    BrokenAdditional,
    /// The last address record has three bytes.
    ShortAddress,
    /// The last address record has a class other than Internet.
    ForeignClass,
    /// Queries for A fail (SERVFAIL), queries for AAAA succeed.
    V4Fails,
    /// Queries for A succeed, queries for AAAA fail (SERVFAIL).
    V6Fails,
    /// Queries for A succeed; those for AAAA get the response that the name does not exist (RFC 4074 §4.2).
    V6Denied,
    /// Queries for A succeed, those for AAAA never get a response (RFC 4074 §4.1).
    V6Silent,
    /// All queries are refused, in a response without the question section.
    RefusedTersely,
}

/// The records of a host; a host without addresses has neither A nor AAAA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The target of an alias (CNAME); the addresses are those of the target.
    pub alias: Option<String>,
    /// The further names of a chain of aliases: `alias` is an alias of the first one, and so on. The last
    /// name has the addresses.
    pub more_aliases: Vec<String>,
    /// The A record.
    pub v4: Option<Ipv4Addr>,
    /// The AAAA record.
    pub v6: Option<Ipv6Addr>,
    /// Further IPv4 addresses.
    pub more_v4: Vec<Ipv4Addr>,
    /// The UDP response is truncated (TC), so that the client repeats the query over TCP.
    pub is_truncated: bool,
}

impl Records {
    #[must_use]
    /// Whether there is an A or AAAA record.
    pub fn has_address(&self) -> bool {
        self.v4.is_some() || self.v6.is_some()
    }

    /// The names of the chain of aliases, in its order.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.alias.iter().chain(&self.more_aliases).map(String::as_str)
    }
}

/// The reaction to a TLS ClientHello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The host has no TLS: the connection is closed.
    Closed,
    /// The host shows this certificate.
    Certificate(Certificate),
    /// Something other than a handshake, on the bare connection.
    Acts(Vec<Act>),
}

/// The certificate that a host shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// For the host, signed by an authority that the client trusts.
    Valid,
    /// Signed by itself only.
    SelfSigned,
    /// For the host, but no longer valid.
    Expired,
    /// Valid for another host.
    WrongName,
    /// For the host, but of X.509 version 1, which has no extensions.
    VersionOne,
    /// For the host, with an unknown critical extension.
    CriticalExtension,
    /// For the host, with an extension whose content is invalid.
    BrokenExtension,
    /// For the host, followed by two extra bytes.
    TrailingBytes,
}

/// The reaction of a host to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Reaction {
    /// No site of the world has this host, or its name does not resolve.
    NoSuchHost,
    /// The connection is refused. A gateway has accepted it already, and closes it without sending a byte.
    Refused,
    /// The connection is reset without a response.
    Reset,
    /// The server accepts the request and never responds.
    Silence,
    /// An HTTP response.
    Response(Response),
    /// Bytes and pauses that need not be HTTP.
    Acts(Vec<Act>),
}

/// A response, the same in process and over the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// The value of `Content-Type`.
    pub content_type: Option<Cow<'static, str>>,
    /// The value of `Location`.
    pub location: Option<String>,
    /// The value of `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// The value of `Server`.
    pub server: &'static str,
    /// When the page or file last changed, as an HTTP date.
    pub last_modified: Option<String>,
    /// The entity tag with its quotation marks.
    pub etag: Option<String>,
    /// Further fields, names and values, in the order in which they are written. A slice, because most
    /// responses have none.
    pub more_fields: Box<[(&'static str, String)]>,
    /// The encoding of `body`, for a client that accepts it. For other clients the body is
    /// [`Response::identity_body`] and this field is none. Truncated responses are never encoded.
    pub content_encoding: Option<&'static str>,
    /// The body, encoded as `content_encoding` specifies.
    pub body: Vec<u8>,
    /// The body before encoding, if it is at hand. Boxed, because most responses have none.
    pub identity: Option<Box<Bytes>>,
    /// Whether the body is sent in chunks, without a Content-Length.
    pub is_chunked: bool,
    /// The connection ends after this many bytes of the body.
    pub cut_after: Option<usize>,
    /// The time that the server works before the first byte, without round trips and without waiting for
    /// other users.
    pub service: Duration,
}

impl Response {
    /// The body without content encoding.
    #[must_use]
    pub fn identity_body(&self) -> Cow<'_, [u8]> {
        match (self.content_encoding, &self.identity) {
            (None, _) => Cow::Borrowed(&self.body),
            (_, Some(identity)) => Cow::Borrowed(&identity[..]),
            (Some(gzip::NAME), None) => Cow::Owned(gzip::decoded(&self.body)),
            _ => Cow::Borrowed(&self.body),
        }
    }
}

/// A Web that can be requested in process or served.
pub trait Web: Send + Sync {
    /// Looks up a host, given in lower case.
    fn lookup(&self, host: &str) -> Lookup;

    /// The reaction to a TLS ClientHello for `host`.
    fn handshake(&self, host: &str) -> Handshake;

    /// The server of a host; none for a host without an address.
    fn server(&self, host: &str) -> Option<Server>;

    /// The reaction to a request for `target` (path and query, in any spelling) on `host` (in lower case,
    /// without port).
    fn respond(&self, is_https: bool, host: &str, target: &str) -> Reaction;

    /// Whether the Web counts the requests it gets, so that each request must be made exactly once.
    fn counts_requests(&self) -> bool {
        false
    }
}
