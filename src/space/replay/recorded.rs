use std::net::IpAddr;
use std::time::Duration;

/// One exchange of a recorded survey, as in its tables. Missing fields are none.
#[derive(Clone, Debug, Default)]
pub struct RecordedExchange<'a> {
    /// The canonical URL.
    pub url: &'a str,
    /// Whether it was requested as a robots.txt and not as a page.
    pub is_robots: bool,
    /// The address of the server.
    pub address: Option<IpAddr>,
    /// None without a response.
    pub status: Option<u16>,
    /// A word from the closed list of failures.
    pub failure: Option<&'a str>,
    /// The value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The charset used to decode the page.
    pub charset: Option<&'a str>,
    /// The language that the page declares.
    pub language: Option<&'a str>,
    /// The title of the page.
    pub title: Option<&'a str>,
    /// The value of `Location`.
    pub location: Option<&'a str>,
    /// The value of `Server`.
    pub server: Option<&'a str>,
    /// The value of `Last-Modified`.
    pub last_modified: Option<&'a str>,
    /// The value of `ETag`.
    pub etag: Option<&'a str>,
    /// Whether the exchange used TLS.
    pub is_encrypted: bool,
    /// The problem with the certificate, in one word.
    pub tls_error: Option<&'a str>,
    /// Number of links on the page; none if it was not read as a page.
    pub links: Option<u32>,
    /// Size of the decoded body.
    pub body_bytes: u64,
    /// Bytes received on the wire.
    pub received_bytes: u64,
    /// The time to connect; none if the connection was reused.
    pub connect: Option<Duration>,
    /// The time of the TLS handshake; none without a handshake.
    pub tls: Option<Duration>,
    /// The time from the request to the first byte.
    pub first_byte: Option<Duration>,
    /// The time to the last byte.
    pub total: Option<Duration>,
}

/// One link of a recorded page.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedLink<'a> {
    /// The URL of the page, as in its exchange.
    pub page: &'a str,
    /// From 0; the links of a page come in this order.
    pub position: u32,
    /// The canonical URL.
    pub url: &'a str,
    /// The element, as named in the table `links`.
    pub element: &'a str,
    /// Whether the link is marked nofollow.
    pub nofollow: bool,
    /// Whether it leads to the same site.
    pub is_internal: bool,
}

/// The equivalent of a recorded failure in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReplayFailure {
    #[default]
    None,
    NoSuchName,
    NoAddress,
    NameServerSilent,
    NameServerFails,
    /// The survey itself did not send the request: nothing is known about the server.
    NotSent,
    Reset,
    Silence,
    /// The body is truncated.
    Cut,
    /// The body is one byte longer than the recorded part.
    TooLong,
}

impl ReplayFailure {
    /// The equivalent of a word from the list, and whether a survey of the replay records the same word; none
    /// for a word that is not in the list.
    pub(crate) fn from_word(word: &str) -> Option<(Self, bool)> {
        Some(match word {
            "dns_nxdomain" => (Self::NoSuchName, true),
            "dns_no_address" => (Self::NoAddress, true),
            "dns_timeout" => (Self::NameServerSilent, true),
            "dns_servfail" => (Self::NameServerFails, true),
            "opted_out" | "address_refused" | "held_off" | "given_up" | "server_budget" | "no_route" => {
                (Self::NotSent, false)
            }
            "reset" | "idle_closed" => (Self::Reset, true),
            // A gateway accepts every connection and speaks HTTP: a reset is the nearest it can do.
            "connect_refused" | "connect_unreachable" | "bad_http" | "odd_http" | "header_too_large" => {
                (Self::Reset, false)
            }
            "tls_certificate" | "tls_handshake" => (Self::Reset, true),
            // It speaks current TLS versions or none.
            "tls_too_old" | "tls_alert" | "tls_http2_only" => (Self::Reset, false),
            "first_byte_timeout" => (Self::Silence, true),
            "connect_timeout" | "tls_timeout" => (Self::Silence, false),
            "body_truncated" => (Self::Cut, true),
            "idle_timeout" | "too_slow" => (Self::Cut, false),
            "body_too_large" => (Self::TooLong, true),
            // The part that could be decoded was used, and is sent undamaged; an unreadable page has no links
            // on record.
            "body_encoding" | "unreadable" => (Self::None, false),
            _ => return None,
        })
    }
}
