use std::time::Duration;

use crate::address::Site;
use crate::exchange::{Purpose, Request, Response};
use crate::records::Timestamp;
use crate::records::table::table;

table! {
    /// A row per request to a server, robots.txt and redirects included, and per attempt that never reached
    /// one. Where `unchanged_bytes` is not null, the server reported that the page or file has not changed
    /// since an earlier survey (status 304 with `--since`). Then `content_type`, `content_encoding`,
    /// `charset`, `language`, `title`, `body_hash`, `body_bytes`, `internal_links`, `external_links`,
    /// `dropped_links`, `generator`, `cms`, `content`, `text_language` and `words` are those of the earlier row, and so
    /// are `last_modified` and `etag` where the response has none. Everything else belongs to this exchange.
    ExchangeRow in "exchanges";

    /// The site whose tree sent the request.
    site: String, "", "example.ke", "0.1";
    /// The URL that was requested.
    url: String, "", "http://www.example.ke/about", "0.1";
    /// The host of the URL.
    host: String, "", "www.example.ke", "0.1";
    /// The address of the server; null when no address was found or allowed.
    address: Option<String>, "", "192.0.2.7", "0.1";
    /// Links followed from the start URL; null for robots.txt and probes, which are not part of the tree.
    depth: Option<u16>, "links", "2", "0.1";
    /// The purpose of the request, one word of the list below.
    purpose: String, "", "page", "0.1";
    /// The HTTP method.
    method: String, "", "GET", "0.1";
    /// When the exchange began, after any wait for its turn.
    started: Timestamp, "", "2026-11-21T08:30:00.250000Z", "0.1";
    /// The HTTP status; null without a response.
    status: Option<u16>, "", "200", "0.1";
    /// Why the response is missing or incomplete, one word of the list below; null for a complete response.
    failure: Option<String>, "", "connect_timeout", "0.1";
    /// The header `Content-Type` as sent; several lines are joined by commas.
    content_type: Option<String>, "", "text/html; charset=utf-8", "0.1";
    /// The character encoding in which the page was read, by its WHATWG name.
    charset: Option<String>, "", "UTF-8", "0.1";
    /// The language that the page declares.
    language: Option<String>, "", "sw", "0.1";
    /// Bytes sent: request line, header fields and body; over TLS also its records and handshake.
    sent_bytes: u64, "bytes", "212", "0.1";
    /// Bytes received: status line, header fields and body as transferred; over TLS also its records and
    /// handshake.
    received_bytes: u64, "bytes", "18230", "0.1";
    /// Bytes of the decoded body that were kept for reading.
    body_bytes: u64, "bytes", "64112", "0.1";
    /// Time of the DNS lookup; null when the address was already known.
    dns_ms: Option<f64>, "ms", "12.4", "0.1";
    /// Time to open the connection, including TLS where it cannot be measured separately; null when an open
    /// connection was reused.
    connect_ms: Option<f64>, "ms", "180.2", "0.1";
    /// Time of the TLS handshake; null where there was none or it cannot be separated from `connect_ms`.
    tls_ms: Option<f64>, "ms", "190.7", "0.1";
    /// Time from the request to the first byte of the response.
    first_byte_ms: Option<f64>, "ms", "201.3", "0.1";
    /// Busy time of the server; null when no request reached the network.
    total_ms: Option<f64>, "ms", "640.0", "0.1";
    /// The HTTP version that the server states.
    http_version: Option<String>, "", "HTTP/1.1", "0.1";
    /// The TLS version of the connection or, for the failure `tls_too_old`, the older version that the server
    /// chose; null when the connection was not encrypted.
    tls_version: Option<String>, "", "TLSv1.3", "0.1";
    /// The header `Server`.
    server: Option<String>, "", "nginx", "0.1";
    /// The header `Location`; if it is not UTF-8, its bytes beyond ASCII are percent-encoded.
    location: Option<String>, "", "https://www.example.ke/", "0.1";
    /// A hash of the decoded body in hexadecimal: equal pages have equal hashes.
    body_hash: Option<String>, "", "9ae16a3b2f90404f", "0.1";
    /// The header `Last-Modified`.
    last_modified: Option<String>, "", "Tue, 10 Nov 2026 09:00:00 GMT", "0.1";
    /// The header `ETag`.
    etag: Option<String>, "", "\"5f1-63a\"", "0.1";
    /// Links on the page that stay in the site; null when the page was not read.
    internal_links: Option<u32>, "links", "41", "0.1";
    /// Links on the page that leave the site; null when the page was not read.
    external_links: Option<u32>, "links", "6", "0.1";
    /// Why the certificate is not valid for the host, from the list below; the page was used nevertheless.
    tls_error: Option<String>, "", "expired", "0.1";
    /// The header `Content-Encoding`.
    content_encoding: Option<String>, "", "gzip", "0.1";
    /// The title of the page.
    title: Option<String>, "", "Welcome", "0.1";
    /// Connections opened for the exchange; 0 when an open connection was reused.
    connections: u32, "connections", "1", "0.1";
    /// The position of the request in its site tree, from 0, in the order of the requests. Numbers may be
    /// missing, for example that of a robots.txt whose response another tree received.
    number: u32, "", "17", "0.1";
    /// The number of the tree's start URL among the start URLs of its site; 0 is the first.
    seed: u16, "", "0", "0.1";
    /// The words of `--exclude-text` that caused the links of the page to be ignored; null if there were
    /// none.
    excluded_by: Option<String>, "", "this domain is for sale", "0.1";
    /// Bytes that an earlier survey received when it last fetched the page or file in full. The page or file
    /// has not changed since, so it was not sent again. Null for every other response.
    unchanged_bytes: Option<u64>, "bytes", "18230", "0.1";
    /// The SimHash of the visible text of the page, 64 bits in hexadecimal: pages whose values differ in at
    /// most 3 bits are near duplicates; null when the page was not read or has no words.
    text_simhash: Option<String>, "", "c31f0a5e77b2d901", "0.1";
    /// For a probe (`--probe-scripts`): query URLs of its script that the query URL rule skipped in this
    /// tree, this one included; null for other requests.
    withheld_urls: Option<u32>, "URLs", "14", "0.1";
    /// For a probe: external URLs that are on no page of its tree.
    new_external_urls: Option<u32>, "URLs", "2", "0.1";
    /// For a probe: hosts that no external URL of its tree has.
    new_external_hosts: Option<u32>, "hosts", "1", "0.1";
    /// For a probe: internal URLs that no page of its tree links to.
    new_internal_urls: Option<u32>, "URLs", "5", "0.1";
    /// The number of the attempt at the same request, from 0. If no connection can be opened, the next
    /// address of the host is tried. If a server refuses our TLS versions, a handshake with older versions
    /// follows, to learn which one it speaks. A request that was lost with an idle connection (`idle_closed`)
    /// is sent once more on a new one. The walk uses the last attempt. Null in tables from before attempts
    /// were recorded.
    attempt: Option<u16>, "", "0", "0.1";
    /// The cipher suite that a server with outdated TLS chose, by its IANA name; null for other rows.
    tls_cipher: Option<String>, "", "TLS_RSA_WITH_3DES_EDE_CBC_SHA", "0.1";
    /// The agent that sent the request; null where the survey had none.
    agent: Option<String>, "", "agent-2", "0.1";
    /// For a probe (`--probe-depth`): pages of this tree that were skipped because they did not promise to be
    /// worth a request, this one included; null for other requests.
    left_out_urls: Option<u32>, "URLs", "210", "0.1";
    /// The evidence that the response is a challenge or a block page instead of the page requested, one word
    /// of the list below; null for other responses. Such a response is not a page, whatever its status.
    challenge: Option<String>, "", "cf_mitigated", "0.1";
    /// References on the page beyond the limit on links that are kept: 10,000 different target pages, or
    /// 4 MiB of URLs; null when the page was not read.
    dropped_links: Option<u32>, "links", "0", "0.1";
    /// The header `Strict-Transport-Security` of a response over https.
    hsts: Option<String>, "", "max-age=31536000; includeSubDomains", "0.1";
    /// The header `X-Powered-By`; several lines are joined by commas.
    powered_by: Option<String>, "", "PHP/8.2.7", "0.1";
    /// Who issued the certificate, valid or not: the organisation or, if it names none, the common name. Recorded
    /// with a robots.txt over https; null for other exchanges.
    certificate_issuer: Option<String>, "", "Let's Encrypt", "0.1";
    /// The time from which that certificate is valid.
    certificate_from: Option<Timestamp>, "", "2026-10-01T00:00:00.000000Z", "0.1";
    /// The time until which it is valid.
    certificate_until: Option<Timestamp>, "", "2026-12-30T00:00:00.000000Z", "0.1";
    /// The host names for which it is valid, at most ten, separated by spaces; empty where it has none.
    certificate_names: Option<String>, "", "example.ke www.example.ke", "0.1";
    /// The canonical names (CNAME) that lead from the host to its addresses, separated by spaces; empty where
    /// it is no alias. Recorded with a robots.txt; null for other exchanges.
    aliases: Option<String>, "", "example.hoster.net", "0.1";
    /// All addresses of the host, IPv4 first, at most 16 of each family, separated by spaces. Recorded as
    /// `aliases`.
    addresses: Option<String>, "", "192.0.2.7 2001:db8::7", "0.1";
    /// Whether the host has an IPv6 address. Recorded as `aliases`; null also if the name server did not say
    /// in time.
    has_ipv6: Option<bool>, "", "true", "0.1";
    /// For a robots.txt: its result and what it forbids this survey, one word of the list below; null for
    /// other requests, and where nothing was sent.
    robots: Option<String>, "", "forbids_some", "0.1";
    /// For a robots.txt: its `Sitemap` lines, at most ten, separated by spaces; null where it has none.
    sitemaps: Option<String>, "", "https://example.ke/sitemap.xml", "0.1";
    /// The content of the page's first `<meta name=generator>`. This and the six columns that follow are read
    /// on pages of depth 0 and on front pages; for other pages they are null.
    generator: Option<String>, "", "WordPress 6.4.2", "0.1";
    /// The content management system, site builder, shop, wiki or forum behind the page, as a generator, a
    /// header field or the paths of its references show it; null where none of them does.
    cms: Option<String>, "", "WordPress", "0.1";
    /// What shows the `cms`: the kind of evidence, a colon, and what was seen.
    cms_evidence: Option<String>, "", "path: /wp-content/", "0.1";
    /// How much content of its own the page has, one word of the list below.
    content: Option<String>, "", "high", "0.1";
    /// Why `content` is so.
    content_evidence: Option<String>, "", "words: 412, links: 37", "0.1";
    /// The language of the visible text, recognised by the text: its code of ISO 639-1, or of ISO 639-3 where
    /// there is none. Null where the text is short or no language is certain.
    text_language: Option<String>, "", "sw", "0.1";
    /// The words of the visible text.
    words: Option<u32>, "words", "412", "0.1";
}

impl ExchangeRow {
    /// Whether a request was sent. A request that our own side refused was not.
    #[must_use]
    pub fn was_sent(&self) -> bool {
        self.total_ms.is_some()
    }

    /// The row of an exchange. The caller adds what was read from the page (charset, language, title, hash,
    /// links).
    #[must_use]
    pub fn from_exchange(site: &Site, seed: u16, request: &Request, response: &Response) -> Self {
        Self {
            site: site.as_str().to_owned(),
            seed,
            number: request.number,
            method: method(request.purpose).to_owned(),
            purpose: request.purpose.as_str().to_owned(),
            depth: request.depth.map(|depth| depth.0),
            url: request.url.as_str().to_owned(),
            host: request.url.host().as_str().to_owned(),
            ..Self::from_response(response)
        }
    }

    fn from_response(response: &Response) -> Self {
        let (head, facts) = (response.head.clone(), response.facts.clone());
        let joined = |words: &[String]| words.join(" ");
        let (certificate, lookup) = (facts.certificate.as_ref(), facts.lookup.as_ref());
        let mut tls_text =
            response.tls_version.as_deref().into_iter().flat_map(|tls_text| tls_text.split(' '));
        let reached_network = response.failure.is_none_or(crate::exchange::Failure::reached_the_network);
        Self {
            address: response.address.map(|address| address.to_string()),
            started: response.started.into(),
            status: response.status,
            failure: response.failure.map(|failure| failure.as_str().to_owned()),
            content_type: head.content_type,
            content_encoding: head.content_encoding,
            location: head.location,
            server: head.server,
            last_modified: head.last_modified,
            etag: head.etag,
            challenge: head.challenge.map(|challenge| challenge.as_str().to_owned()),
            http_version: response.http_version.clone(),
            tls_version: tls_text.next().map(str::to_owned),
            tls_cipher: tls_text.next().map(str::to_owned),
            tls_error: response.tls_error.clone(),
            hsts: facts.hsts,
            powered_by: facts.powered_by,
            cms: facts.software.as_ref().map(|software| software.name.clone()),
            cms_evidence: facts.software.map(|software| software.evidence),
            certificate_issuer: certificate.and_then(|certificate| certificate.issuer.clone()),
            certificate_from: certificate.and_then(|certificate| Some(certificate.valid_from?.into())),
            certificate_until: certificate.and_then(|certificate| Some(certificate.valid_until?.into())),
            certificate_names: certificate.map(|certificate| joined(&certificate.names)),
            aliases: lookup.map(|lookup| joined(&lookup.aliases)),
            addresses: lookup.map(|lookup| {
                let addresses: Vec<String> = lookup.addresses.iter().map(ToString::to_string).collect();
                joined(&addresses)
            }),
            has_ipv6: lookup.and_then(|lookup| lookup.has_ipv6),
            sent_bytes: response.wire.sent,
            received_bytes: response.wire.received,
            connections: response.wire.connections,
            body_bytes: response.body_bytes,
            dns_ms: response.timings.dns.map(milliseconds),
            connect_ms: response.timings.connect.map(milliseconds),
            tls_ms: response.timings.tls.map(milliseconds),
            first_byte_ms: response.timings.first_byte.map(milliseconds),
            total_ms: reached_network.then(|| milliseconds(response.timings.total)),
            ..Self::default()
        }
    }
}

/// A duration in the unit of the columns `*_ms`.
#[must_use]
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn method(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Page | Purpose::Robots | Purpose::Probe | Purpose::Check => "GET",
        Purpose::Head => "HEAD",
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::address::{Host, WebUrl};
    use crate::exchange::{Depth, Failure};

    fn request() -> Request {
        Request {
            number: 3,
            url: WebUrl::parse("http://www.example.ke/a?b=1").unwrap(),
            purpose: Purpose::Page,
            depth: Some(Depth(2)),
        }
    }

    fn site() -> Site {
        Site::new(Host::parse("example.ke").unwrap())
    }

    #[test]
    fn a_row_tells_what_was_asked_and_what_it_cost() {
        let started = UNIX_EPOCH + Duration::from_millis(1500);
        let mut response =
            Response::not_sent(started, None, Failure::Reset, Some(Duration::from_micros(1500)));
        response.wire.sent = 212;
        response.timings.total = Duration::from_millis(40);
        let row = ExchangeRow::from_exchange(&site(), 1, &request(), &response);
        assert_eq!((row.site.as_str(), row.host.as_str()), ("example.ke", "www.example.ke"));
        assert_eq!((row.seed, row.number, row.depth), (1, 3, Some(2)));
        assert_eq!((row.purpose.as_str(), row.method.as_str()), ("page", "GET"));
        assert_eq!(row.started, Timestamp(1_500_000));
        assert_eq!(row.failure.as_deref(), Some("reset"));
        assert_eq!((row.sent_bytes, row.dns_ms, row.total_ms), (212, Some(1.5), Some(40.0)));
    }

    #[test]
    fn version_and_cipher_suite_of_old_tls_have_columns_of_their_own() {
        let rc4 = "TLS_RSA_WITH_RC4_128_SHA";
        for (tls_text, version, cipher) in
            [("TLSv1.3", "TLSv1.3", None), ("TLSv1.0 TLS_RSA_WITH_RC4_128_SHA", "TLSv1.0", Some(rc4))]
        {
            let mut response = Response::not_sent(UNIX_EPOCH, None, Failure::TlsTooOld, None);
            response.tls_version = Some(tls_text.to_owned());
            let row = ExchangeRow::from_exchange(&site(), 0, &request(), &response);
            assert_eq!((row.tls_version.as_deref(), row.tls_cipher.as_deref()), (Some(version), cipher));
        }
    }

    #[test]
    fn a_server_that_was_never_asked_was_never_busy() {
        let response = Response::not_sent(UNIX_EPOCH, None, Failure::DnsNxdomain, None);
        assert_eq!(ExchangeRow::from_exchange(&site(), 0, &request(), &response).total_ms, None);
    }
}
