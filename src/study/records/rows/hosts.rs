use crate::records::Timestamp;
use crate::records::table::table;

table! {
    /// A row per host in the country domains that the survey has seen: given in the start list, requested, or
    /// linked to. It is computed from the other tables when the survey is finished and adds no request, so a
    /// fact that no response showed is null: *not requested*, not absent. `http` and `https` say which doors
    /// were requested. What is said of the page is that of the front page if it was delivered, else of the
    /// delivered page with the smallest depth.
    HostRow in "hosts";

    /// The name of the host.
    host: String, "", "www.example.ke", "0.1";
    /// The site of the host.
    site: String, "", "example.ke", "0.1";
    /// The country domain of the host.
    cctld: String, "", "ke", "0.1";
    /// Requests that were sent to the host, robots.txt included; 0 for a host that is only known by name.
    requests: u64, "requests", "14", "0.1";
    /// Pages of the host that were read.
    pages: u64, "pages", "11", "0.1";
    /// Other sites whose trees link to the host.
    linking_sites: u64, "sites", "3", "0.1";
    /// What requests over http met, one word of the list below.
    http: String, "", "to_https", "0.1";
    /// What requests over https met, one word of the list below.
    https: String, "", "page", "0.1";
    /// Whether responses over https ask browsers to use https only: `Strict-Transport-Security` with a
    /// `max-age` above 0 (RFC 6797). Null without a response over https.
    hsts: Option<bool>, "", "true", "0.1";
    /// `valid`, or why the certificate is not valid for the host: a word of `tls_error`. Null where none was
    /// received.
    certificate: Option<String>, "", "valid", "0.1";
    /// Who issued the certificate.
    certificate_issuer: Option<String>, "", "Let's Encrypt", "0.1";
    /// The time from which it is valid.
    certificate_from: Option<Timestamp>, "", "2026-10-01T00:00:00.000000Z", "0.1";
    /// The time until which it is valid.
    certificate_until: Option<Timestamp>, "", "2026-12-30T00:00:00.000000Z", "0.1";
    /// The host names for which it is valid, at most ten, separated by spaces.
    certificate_names: Option<String>, "", "example.ke www.example.ke", "0.1";
    /// The HTTP version of its responses.
    http_version: Option<String>, "", "HTTP/1.1", "0.1";
    /// The TLS version of its responses over https.
    tls_version: Option<String>, "", "TLSv1.3", "0.1";
    /// The header `Server`.
    server: Option<String>, "", "nginx", "0.1";
    /// The header `X-Powered-By`.
    powered_by: Option<String>, "", "PHP/8.2.7", "0.1";
    /// The content of the page's first `<meta name=generator>`.
    generator: Option<String>, "", "WordPress 6.4.2", "0.1";
    /// The content management system or other software behind the page; null where nothing shows it.
    cms: Option<String>, "", "WordPress", "0.1";
    /// What shows the `cms`.
    cms_evidence: Option<String>, "", "path: /wp-content/", "0.1";
    /// How much content of its own the page has, a word of `content`; null where no page was read.
    content: Option<String>, "", "high", "0.1";
    /// Why `content` is so.
    content_evidence: Option<String>, "", "words: 412, links: 37", "0.1";
    /// The language of the page's text, recognised by the text; null where the text is short or no language
    /// is certain.
    text_language: Option<String>, "", "sw", "0.1";
    /// The evidence that the host turned the survey away by a challenge or a block page, a word of
    /// `challenge`; null where it did not.
    challenge: Option<String>, "", "cf_mitigated", "0.1";
    /// The result of its robots.txt, a word of `robots`.
    robots: Option<String>, "", "forbids_some", "0.1";
    /// The `Sitemap` lines of its robots.txt, separated by spaces.
    sitemaps: Option<String>, "", "https://example.ke/sitemap.xml", "0.1";
    /// The status of the response that the row describes.
    status: Option<u16>, "", "200", "0.1";
    /// The title of the page.
    title: Option<String>, "", "Welcome", "0.1";
    /// The language that the page declares.
    language: Option<String>, "", "sw", "0.1";
    /// The last response of the host came from this address.
    address: Option<String>, "", "192.0.2.7", "0.1";
    /// All addresses of the host, IPv4 first, separated by spaces. Null where nothing was requested.
    addresses: Option<String>, "", "192.0.2.7 2001:db8::7", "0.1";
    /// Whether it has an IPv6 address; null where that is not known.
    has_ipv6: Option<bool>, "", "true", "0.1";
    /// The canonical names (CNAME) that lead from the host to its addresses, separated by spaces; empty where
    /// it is no alias.
    aliases: Option<String>, "", "example.hoster.net", "0.1";
    /// The country of `address`, ISO 3166-1; null without a database that knows it.
    country: Option<String>, "", "KE", "0.1";
    /// The autonomous system of `address`.
    asn: Option<u32>, "", "64500", "0.1";
    /// The organisation that runs the autonomous system.
    as_org: Option<String>, "", "Example Networks", "0.1";
    /// The first response of the host.
    first_seen: Option<Timestamp>, "", "2026-11-21T08:30:00.250000Z", "0.1";
    /// The last response of the host.
    last_seen: Option<Timestamp>, "", "2026-11-21T08:41:12.000000Z", "0.1";
}
