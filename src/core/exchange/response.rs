use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Challenge, Failure, HostFacts, is_refusal};

/// The result of one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// When the exchange began, after any wait for a permit.
    pub started: SystemTime,
    /// The address of the server; none if no address was found or allowed.
    pub address: Option<IpAddr>,
    /// The HTTP status, if a response arrived.
    pub status: Option<u16>,
    /// Why there is no complete response; none if there is one.
    pub failure: Option<Failure>,
    /// Empty if no head arrived.
    pub head: Head,
    /// `HTTP/1.1`, as the server reports.
    pub http_version: Option<String>,
    /// `TLSv1.3`, if the connection was encrypted; for a server whose TLS is too old, followed by a space and
    /// the cipher suite that it chose.
    pub tls_version: Option<String>,
    /// Why the certificate is not valid for the host, as a word of [`TlsError`](super::TlsError); the page is
    /// used all the same unless invalid certificates are refused.
    pub tls_error: Option<String>,
    /// The bytes that the exchange moved.
    pub wire: Wire,
    /// The time that the exchange took.
    pub timings: Timings,
    /// Decoded body bytes that were kept for reading.
    pub body_bytes: u64,
    /// What it shows of the host. Journals store it separately, because earlier versions did not have it.
    #[serde(skip)]
    pub facts: HostFacts,
    /// Bytes that arrived after the head, as transferred. Not recorded: 0 in a response that is read back.
    #[serde(skip)]
    pub after_head: u64,
    /// The server refused our TLS in the way that servers of older TLS do. Not recorded: for a response that
    /// is read back, the kind of its journal entry shows it.
    #[serde(skip)]
    pub may_speak_older_tls: bool,
}

/// The header fields that a survey keeps, each cut to a bounded length and as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// `Content-Type`, all its lines joined by commas.
    pub content_type: Option<String>,
    /// `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// `Location`, as sent; its bytes beyond ASCII are percent-encoded where it is not UTF-8.
    pub location: Option<String>,
    /// `Server`.
    pub server: Option<String>,
    /// `Last-Modified`, as sent.
    pub last_modified: Option<String>,
    /// `ETag`, with its quotes.
    pub etag: Option<String>,
    /// `X-Robots-Tag`, all its lines joined by commas.
    pub robots_tag: Option<String>,
    /// `Retry-After`, as a duration from the response.
    pub retry_after: Option<Duration>,
    /// The evidence that this is a challenge or a block page, from the header or the body. Journals store it
    /// separately, because earlier versions did not have it.
    #[serde(skip)]
    pub challenge: Option<Challenge>,
    /// `Refresh`, as sent. Not recorded: its target is among the links of the page that it came with.
    #[serde(skip)]
    pub refresh: Option<String>,
}

/// Bytes on the wire that belong to the application, and connections opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    /// Bytes to the server.
    pub sent: u64,
    /// Bytes from the server.
    pub received: u64,
    /// 1 when the exchange opened a connection, 0 when it used one kept alive.
    pub connections: u32,
}

/// The duration of each phase; none if the phase did not happen or cannot be separated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    /// Looking the name up.
    pub dns: Option<Duration>,
    /// Opening the TCP connection.
    pub connect: Option<Duration>,
    /// The TLS handshake.
    pub tls: Option<Duration>,
    /// From the request to the first byte of its response.
    pub first_byte: Option<Duration>,
    /// From the start of the exchange at the server (connection or request) to its last byte: the server's
    /// busy time, without DNS.
    pub total: Duration,
}

impl Timings {
    /// From the first byte of the response to the last; zero if no response arrived.
    #[must_use]
    pub fn transfer(&self) -> Duration {
        let Some(first_byte) = self.first_byte else { return Duration::ZERO };
        let setup = self.connect.unwrap_or_default() + self.tls.unwrap_or_default() + first_byte;
        self.total.saturating_sub(setup)
    }

    /// The time that the server had for the response: from the request to the last byte. The round trips that
    /// open a connection belong to the network, and cost the server next to nothing. If no response arrived,
    /// it is the whole time in which the server may have been working.
    #[must_use]
    pub fn response_time(&self) -> Duration {
        self.first_byte.map_or(self.total, |first_byte| first_byte + self.transfer())
    }
}

impl Response {
    /// Whether the request was sent.
    #[must_use]
    pub fn was_sent(&self) -> bool {
        self.failure.is_none_or(Failure::reached_the_network)
    }

    /// An exchange that never reached a server.
    #[must_use]
    pub fn not_sent(
        started: SystemTime,
        address: Option<IpAddr>,
        failure: Failure,
        dns: Option<Duration>,
    ) -> Self {
        Self {
            started,
            address,
            status: None,
            failure: Some(failure),
            head: Head::default(),
            http_version: None,
            tls_version: None,
            tls_error: None,
            wire: Wire::default(),
            timings: Timings { dns, ..Timings::default() },
            body_bytes: 0,
            facts: HostFacts::default(),
            after_head: 0,
            may_speak_older_tls: false,
        }
    }

    /// When the exchange ended.
    #[must_use]
    pub fn ended(&self) -> SystemTime {
        self.started + self.timings.total
    }

    /// Whether the status is 2xx.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether it is a redirect that names a target.
    #[must_use]
    pub fn is_redirect(&self) -> bool {
        matches!(self.status, Some(301 | 302 | 303 | 307 | 308)) && self.head.location.is_some()
    }

    /// Whether the server refused the request, for example with a challenge, or closed the connection without
    /// a response. A client that a server has banned meets these.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.head.challenge.is_some()
            || self.status.is_some_and(is_refusal)
            || (self.status.is_none() && self.failure == Some(Failure::Reset))
    }

    /// Whether the server requests a pause (RFC 6585 §4, RFC 9110 §15.6.4).
    #[must_use]
    pub fn requests_pause(&self) -> bool {
        requests_pause(self.status)
    }
}

/// Whether a status requests a pause.
#[must_use]
pub fn requests_pause(status: Option<u16>) -> bool {
    matches!(status, Some(429 | 503))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, location: Option<&str>) -> Response {
        let mut response = Response::not_sent(SystemTime::UNIX_EPOCH, None, Failure::Reset, None);
        response.status = Some(status);
        response.head.location = location.map(str::to_owned);
        response
    }

    #[test]
    fn a_status_is_a_success_a_redirect_a_wish_for_a_pause_or_nothing_of_that() {
        for status in 100..600 {
            let response = answered(status, Some("/x"));
            assert_eq!(response.is_success(), matches!(status, 200..=299), "{status}");
            assert_eq!(response.is_redirect(), [301, 302, 303, 307, 308].contains(&status), "{status}");
            assert_eq!(response.requests_pause(), [429, 503].contains(&status), "{status}");
            assert_eq!(requests_pause(Some(status)), response.requests_pause());
            assert!(!answered(status, None).is_redirect(), "{status} without a target");
        }
        let silence = Response::not_sent(SystemTime::UNIX_EPOCH, None, Failure::Reset, None);
        assert!(!silence.is_success() && !silence.is_redirect() && !silence.requests_pause());
    }

    #[test]
    fn the_body_takes_what_the_other_phases_leave_of_the_time_at_the_server() {
        let seconds = |n| Some(Duration::from_secs(n));
        let transfer = |connect, tls, first_byte, total| {
            let total = Duration::from_secs(total);
            // DNS time is not time at the server.
            Timings { dns: seconds(50), connect, tls, first_byte, total }.transfer().as_secs()
        };
        assert_eq!(transfer(seconds(1), seconds(2), seconds(4), 17), 10);
        assert_eq!(transfer(None, None, seconds(4), 17), 13, "a connection kept alive");
        assert_eq!(transfer(seconds(1), seconds(2), None, 17), 0, "no answer came");
        assert_eq!(transfer(seconds(1), seconds(2), seconds(4), 5), 0, "clocks are rounded");
    }

    #[test]
    fn what_was_not_asked_cost_nothing_but_its_dns() {
        let (started, dns) = (SystemTime::UNIX_EPOCH, Some(Duration::from_secs(3)));
        let response = Response::not_sent(started, None, Failure::DnsTimeout, dns);
        assert_eq!((response.status, response.failure), (None, Some(Failure::DnsTimeout)));
        assert_eq!(
            (response.wire, response.timings),
            (Wire::default(), Timings { dns, ..Timings::default() })
        );
        assert_eq!(response.ended(), started, "it took none of the server's time");
    }

    #[test]
    fn an_exchange_ends_its_total_time_after_it_began() {
        let mut response = answered(200, None);
        response.timings.total = Duration::from_secs(7);
        assert_eq!(response.ended(), SystemTime::UNIX_EPOCH + Duration::from_secs(7));
    }
}
