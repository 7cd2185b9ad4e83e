use super::vocabulary;

vocabulary! {
    /// Why an exchange brought no complete response: the closed list behind the column `failure`.
    ///
    /// An HTTP status is not a failure, whatever its value.
    pub enum Failure {
        /// The name does not exist (NXDOMAIN).
        DnsNxdomain = "dns_nxdomain",
        /// The name exists but has no address.
        DnsNoAddress = "dns_no_address",
        /// No response from the DNS server in time.
        DnsTimeout = "dns_timeout",
        /// The DNS server responded with SERVFAIL, REFUSED or something unusable.
        DnsServfail = "dns_servfail",
        /// The host, a name that it is an alias of, or its address is on the opt-out list; nothing was sent.
        OptedOut = "opted_out",
        /// The address is in a special range (loopback, private …), or browsers refuse the port; nothing was
        /// sent.
        AddressRefused = "address_refused",
        /// The next request to the server was due only after the end of the site's time budget; nothing was
        /// sent.
        HeldOff = "held_off",
        /// The server refused the connection.
        ConnectRefused = "connect_refused",
        /// No connection within the time-out.
        ConnectTimeout = "connect_timeout",
        /// No route to the server, or another network error on connecting.
        ConnectUnreachable = "connect_unreachable",
        /// The TLS handshake was not complete within the time-out.
        TlsTimeout = "tls_timeout",
        /// The certificate is not valid for the host, and invalid certificates are refused; or its key did
        /// not sign the handshake.
        TlsCertificate = "tls_certificate",
        /// The TLS handshake failed for another reason.
        TlsHandshake = "tls_handshake",
        /// The server reset or closed the connection before it responded.
        Reset = "reset",
        /// No first byte of a response within the time-out.
        FirstByteTimeout = "first_byte_timeout",
        /// The response is not HTTP.
        BadHttp = "bad_http",
        /// The header section is larger than the limit, 408 KiB, or has more than 512 fields. The URL was
        /// then requested once more, and the response read without our HTTP library.
        HeaderTooLarge = "header_too_large",
        /// The body is larger than the limit; its beginning was used.
        BodyTooLarge = "body_too_large",
        /// The connection ended before the body was complete; its beginning was used.
        BodyTruncated = "body_truncated",
        /// The body does not decode as its Content-Encoding or Transfer-Encoding says; the decoded part was
        /// used.
        BodyEncoding = "body_encoding",
        /// No further byte of the body within the time-out; its beginning was used.
        IdleTimeout = "idle_timeout",
        /// The whole exchange took longer than the limit; the part that had arrived was used.
        TooSlow = "too_slow",
        /// The server, or the site at this server, was in trouble too often and gets no more requests in this
        /// survey; nothing was sent.
        GivenUp = "given_up",
        /// The budget of the server or of its network is used up; nothing was sent.
        ServerBudget = "server_budget",
        /// The server speaks only TLS that is too old: a version before 1.2, or a cipher suite that current
        /// clients no longer offer.
        TlsTooOld = "tls_too_old",
        /// The server ended the TLS handshake with an alert, for example because it does not serve the name.
        TlsAlert = "tls_alert",
        /// This machine has no route to the address, for example because it has no IPv6; nothing was sent.
        NoRoute = "no_route",
        /// A response arrived, but reading it crashed or failed; its content was not used.
        Unreadable = "unreadable",
        /// The server closed an idle connection before it responded, or sent status 408 on it. The request is
        /// sent once more, on a new connection, as the next attempt.
        IdleClosed = "idle_closed",
        /// The response breaks the rules of HTTP in a way that our HTTP library cannot read, or arrived
        /// before the request. The URL was then requested once more, and the response read as browsers read
        /// it.
        OddHttp = "odd_http",
        /// The server speaks HTTP/2 over TLS and no HTTP/1.1: it refused HTTP/1.1 in the handshake, or sent
        /// HTTP/2 frames.
        TlsHttp2Only = "tls_http2_only",
    }
}

impl Failure {
    /// Whether a request or a connection attempt went to the server: DNS failures and our own refusals put no
    /// load on it.
    #[must_use]
    pub fn reached_the_network(self) -> bool {
        !matches!(
            self,
            Self::DnsNxdomain
                | Self::DnsNoAddress
                | Self::DnsTimeout
                | Self::DnsServfail
                | Self::OptedOut
                | Self::AddressRefused
                | Self::HeldOff
                | Self::GivenUp
                | Self::ServerBudget
                | Self::NoRoute
        )
    }

    /// Whether a Web server responded in some way, even if it sent no page.
    #[must_use]
    pub fn server_responded(self) -> bool {
        self.has_response()
            || matches!(
                self,
                Self::TlsCertificate
                    | Self::TlsAlert
                    | Self::TlsHttp2Only
                    | Self::TlsTooOld
                    | Self::BadHttp
                    | Self::OddHttp
                    | Self::HeaderTooLarge
            )
    }

    /// Whether we hung up on a server that was working on its response and may go on with it for a while.
    #[must_use]
    pub fn may_leave_server_busy(self) -> bool {
        matches!(self, Self::FirstByteTimeout | Self::IdleTimeout | Self::TooSlow | Self::BodyTooLarge)
    }

    /// Whether the server refused our TLS and may speak an older version.
    #[must_use]
    pub fn refuses_tls(self) -> bool {
        matches!(self, Self::TlsAlert | Self::TlsTooOld)
    }

    /// Whether there was no connection: another address of the host may still have a server.
    #[must_use]
    pub fn is_connect_failure(self) -> bool {
        matches!(self, Self::ConnectRefused | Self::ConnectTimeout | Self::ConnectUnreachable)
    }

    /// Whether the exchange was ended because a server took too long.
    #[must_use]
    pub fn is_timeout(self) -> bool {
        use Failure::{ConnectTimeout, DnsTimeout, FirstByteTimeout, IdleTimeout, TlsTimeout, TooSlow};
        matches!(self, DnsTimeout | ConnectTimeout | TlsTimeout | FirstByteTimeout | IdleTimeout | TooSlow)
    }

    /// Whether our HTTP library could not read the response, although another reader may.
    #[must_use]
    pub fn may_be_read_by_fallback(self) -> bool {
        matches!(self, Self::OddHttp | Self::HeaderTooLarge)
    }

    /// Whether a response arrived, even if its body is faulty.
    #[must_use]
    pub fn has_response(self) -> bool {
        matches!(
            self,
            Self::BodyTooLarge
                | Self::BodyTruncated
                | Self::BodyEncoding
                | Self::IdleTimeout
                | Self::TooSlow
                | Self::Unreadable
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn names(predicate: impl Fn(Failure) -> bool) -> Vec<&'static str> {
        Failure::ALL.iter().filter(|failure| predicate(**failure)).map(|failure| failure.as_str()).collect()
    }

    #[test]
    fn every_failure_has_a_word_of_its_own_and_a_meaning() {
        assert_eq!(Failure::ALL.iter().map(|failure| failure.as_str()).collect::<HashSet<_>>().len(), 31);
        for failure in Failure::ALL {
            assert_eq!(failure.to_string(), failure.as_str());
            assert!(failure.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || b"_2".contains(&byte)));
            assert!(!failure.meaning().trim().is_empty(), "{failure}");
        }
    }

    #[test]
    fn what_failed_at_the_name_server_or_was_never_sent_is_no_load_of_the_server() {
        for failure in Failure::ALL {
            let is_ours = failure.meaning().contains("nothing was sent");
            let is_name = failure.as_str().starts_with("dns_");
            assert_eq!(failure.reached_the_network(), !is_ours && !is_name, "{failure}");
        }
    }

    #[test]
    fn failures_tell_how_far_an_exchange_came() {
        assert_eq!(
            names(Failure::is_connect_failure),
            ["connect_refused", "connect_timeout", "connect_unreachable"]
        );
        assert_eq!(names(Failure::refuses_tls), ["tls_too_old", "tls_alert"]);
        assert_eq!(names(Failure::may_be_read_by_fallback), ["header_too_large", "odd_http"]);
        let at_work = ["first_byte_timeout", "body_too_large", "idle_timeout", "too_slow"];
        assert_eq!(names(Failure::may_leave_server_busy), at_work);
        let body = ["body_too_large", "body_truncated", "body_encoding", "idle_timeout", "too_slow"];
        let answered = [&body[..], &["unreadable"]].concat();
        assert_eq!(names(Failure::has_response), answered);
        let responded = ["tls_certificate", "bad_http", "header_too_large"];
        let last = ["tls_too_old", "tls_alert", "unreadable", "odd_http", "tls_http2_only"];
        let responded = [&responded[..], &body, &last].concat();
        assert_eq!(names(Failure::server_responded), responded);
    }
}
