use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use bytes::Bytes;

use super::act::Act;
use super::gzip;
use super::server::Server;

/// What a name server says of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// NXDOMAIN.
    NoSuchName,
    /// SERVFAIL.
    ServerFailure,
    /// No answer ever comes.
    Silence,
    /// The name has these.
    Found(Records),
    /// Nothing but an alias (CNAME): who asks has to ask on for that name.
    Alias(String),
    /// Other records at each look-up, to be kept for no time; the last ones from then on.
    Turns(Vec<Records>),
    /// The name has these, but how the name server tells them is odd.
    Odd(Records, Oddity),
}

/// What may be odd about the answers of a name server to A and AAAA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// Over UDP they end within a record, and say that they are truncated (TC).
    CutWithinRecord,
    /// Over UDP they end within a record, and do not say so.
    CutUnsaid,
    /// A record behind the answer is broken.
    BrokenAdditional,
    /// Behind the addresses stands one of three bytes.
    ShortAddress,
    /// Behind the addresses stands one of another class than the Internet's.
    ForeignClass,
    /// The question for A fails (SERVFAIL), that for AAAA is answered.
    V4Fails,
    /// The question for A is answered, that for AAAA fails (SERVFAIL).
    V6Fails,
    /// The question for A is answered; to that for AAAA the name does not exist (RFC 4074 §4.2).
    V6Denied,
    /// The question for A is answered, that for AAAA never (RFC 4074 §4.1).
    V6Silent,
    /// Both are refused, without a repetition of the question.
    RefusedTersely,
}

/// The records of a host; a host without addresses has none of either kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The name that the host is an alias of (CNAME); the addresses are that name's.
    pub alias: Option<String>,
    /// Its A record.
    pub v4: Option<Ipv4Addr>,
    /// Its AAAA record.
    pub v6: Option<Ipv6Addr>,
    /// IPv4 addresses beside the first.
    pub further: Vec<Ipv4Addr>,
    /// The answer over UDP is cut short (TC), so that the client asks again over TCP.
    pub is_truncated: bool,
}

impl Records {
    #[must_use]
    /// Whether there is one of either kind.
    pub fn has_address(&self) -> bool {
        self.v4.is_some() || self.v6.is_some()
    }
}

/// What happens when a TLS client greets a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The host speaks no TLS: the connection is closed.
    Closed,
    /// The host shows this one.
    Certificate(Certificate),
    /// Something that is no handshake, on the bare connection.
    Acts(Vec<Act>),
}

/// The certificate that a host shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// For the host, by an authority that the client trusts.
    Valid,
    /// By nobody but itself.
    SelfSigned,
    /// Once valid for the host.
    Expired,
    /// Valid for another host.
    WrongName,
    /// For the host, but of X.509 version 1, which has no extensions.
    VersionOne,
    /// For the host, with a critical extension that nobody knows.
    CriticalExtension,
    /// For the host, with an extension whose content is not what it should be.
    BrokenExtension,
    /// For the host, with two bytes behind it.
    TrailingBytes,
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
    /// An answer in HTTP.
    Response(Response),
    /// Bytes and pauses that need not be HTTP.
    Acts(Vec<Act>),
}

/// An answer, the same in process and over the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Of HTTP.
    pub status: u16,
    /// The header field.
    pub content_type: Option<Cow<'static, str>>,
    /// The header field.
    pub location: Option<String>,
    /// In seconds.
    pub retry_after: Option<u32>,
    /// The header field.
    pub server: &'static str,
    /// As an HTTP date; the page or file was changed then.
    pub last_modified: Option<String>,
    /// With its quotation marks.
    pub etag: Option<String>,
    /// How `body` is encoded already, for a client that accepts it; for one that does not, the body is
    /// [`Response::identity_body`] and this field is none. Answers that are cut are never encoded.
    pub content_encoding: Option<&'static str>,
    /// Encoded as `content_encoding` says.
    pub body: Vec<u8>,
    /// The body before it was encoded, where it is at hand. In a box, for most answers have none.
    pub identity: Option<Box<Bytes>>,
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
        match (self.content_encoding, &self.identity) {
            (None, _) => Cow::Borrowed(&self.body),
            (_, Some(identity)) => Cow::Borrowed(&identity[..]),
            (Some(gzip::NAME), None) => Cow::Owned(gzip::decoded(&self.body)),
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

    /// Whether it keeps count of what it is asked, so that it is to be asked once for each question.
    fn counts_questions(&self) -> bool {
        false
    }
}
