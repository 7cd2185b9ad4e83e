use std::net::IpAddr;
use std::time::Duration;

/// One exchange of a recorded survey, as its tables tell it. Fields that are not there are none.
#[derive(Clone, Debug, Default)]
pub struct RecordedExchange<'a> {
    /// In canonical form.
    pub url: &'a str,
    /// It was asked for as a robots.txt and not as a page.
    pub is_robots: bool,
    /// Of the server.
    pub address: Option<IpAddr>,
    /// None: no answer came.
    pub status: Option<u16>,
    /// A word of the closed list of failures.
    pub failure: Option<&'a str>,
    /// The header field.
    pub content_type: Option<&'a str>,
    /// In which the page was read.
    pub charset: Option<&'a str>,
    /// That the page gives itself.
    pub language: Option<&'a str>,
    /// Of the page.
    pub title: Option<&'a str>,
    /// The header field.
    pub location: Option<&'a str>,
    /// The header field.
    pub server: Option<&'a str>,
    /// The header field.
    pub last_modified: Option<&'a str>,
    /// The header field.
    pub etag: Option<&'a str>,
    /// By TLS.
    pub is_encrypted: bool,
    /// What was wrong with the certificate, in one word.
    pub tls_error: Option<&'a str>,
    /// Links of the page; none when it was not read as one.
    pub links: Option<u32>,
    /// Decoded.
    pub body_bytes: u64,
    /// On the wire.
    pub received_bytes: u64,
    /// None where a connection was used again.
    pub connect: Option<Duration>,
    /// None without a handshake of its own.
    pub tls: Option<Duration>,
    /// From the request on.
    pub first_byte: Option<Duration>,
    /// To the last byte.
    pub total: Option<Duration>,
}

/// One link of a recorded page.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedLink<'a> {
    /// The URL of the page, as its exchange has it.
    pub page: &'a str,
    /// From 0; the links of a page come in this order.
    pub position: u32,
    /// In canonical form.
    pub url: &'a str,
    /// As the table of links names it.
    pub element: &'a str,
    /// It asks not to be followed.
    pub nofollow: bool,
    /// It leads to the same site.
    pub is_internal: bool,
}

/// What a recorded failure is in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mishap {
    #[default]
    None,
    NoSuchName,
    NoAddress,
    NameServerSilent,
    NameServerFails,
    /// Our own side refused to ask: nothing is known of the server.
    NotAsked,
    Reset,
    Silence,
    /// The body ends before its end.
    Cut,
    /// The body has one byte more than was kept.
    TooLong,
}

impl Mishap {
    /// What a word of the list is replayed as, and whether a survey of the replay sees the same word; none for
    /// a word that is not in the list.
    pub(crate) fn from_word(word: &str) -> Option<(Self, bool)> {
        Some(match word {
            "dns_nxdomain" => (Self::NoSuchName, true),
            "dns_no_address" => (Self::NoAddress, true),
            "dns_timeout" => (Self::NameServerSilent, true),
            "dns_servfail" => (Self::NameServerFails, true),
            "opted_out" | "address_refused" | "held_off" | "given_up" | "server_budget" | "no_route" => {
                (Self::NotAsked, false)
            }
            "reset" | "idle_closed" => (Self::Reset, true),
            // A gateway accepts every connection and speaks HTTP: the nearest it can do.
            "connect_refused" | "connect_unreachable" | "bad_http" | "odd_http" | "header_too_large" => {
                (Self::Reset, false)
            }
            "tls_certificate" | "tls_handshake" => (Self::Reset, true),
            // It speaks TLS of today or none.
            "tls_too_old" | "tls_alert" | "tls_http2_only" => (Self::Reset, false),
            "first_byte_timeout" => (Self::Silence, true),
            "connect_timeout" | "tls_timeout" => (Self::Silence, false),
            "body_truncated" => (Self::Cut, true),
            "idle_timeout" | "too_slow" => (Self::Cut, false),
            "body_too_large" => (Self::TooLong, true),
            // What decoded was used, and it comes undamaged; what nobody could read has no links on record.
            "body_encoding" | "unreadable" => (Self::None, false),
            _ => return None,
        })
    }
}
