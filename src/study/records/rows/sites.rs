use crate::records::Timestamp;
use crate::records::table::table;

table! {
    /// A row per site tree, written when its walk has ended.
    SiteRow in "sites";

    /// The site: a registrable domain, or a host that is its own site.
    site: String, "", "example.ke", "0.1";
    /// The country domain of the site; null outside those surveyed.
    cctld: Option<String>, "", "ke", "0.1";
    /// The start URL of the tree, as it was found or listed. `links.url` is in canonical form
    /// (percent-encoding normalised, RFC 3986 §6.2.2).
    start_url: String, "", "http://www.example.ke/", "0.1";
    /// The site on which the start URL was found first; null for the user's own start URLs.
    parent_site: Option<String>, "", "example.co.tz", "0.1";
    /// 0 for the user's start URLs, n+1 for a site first linked from a site of generation n.
    generation: u32, "", "1", "0.1";
    /// Why the walk ended, one word of the list below; for `failed`, `log.jsonl` has the cause.
    outcome: String, "", "complete", "0.1";
    /// The deepest level with a request; null when nothing was requested.
    deepest: Option<u16>, "links", "5", "0.1";
    /// Requests that reached the network: for pages of the tree, redirects included, and for robots.txt.
    requests: u64, "requests", "61", "0.1";
    /// Pages that were read.
    pages: u64, "pages", "48", "0.1";
    /// Bytes received on the wire.
    received_bytes: u64, "bytes", "912044", "0.1";
    /// Busy time of servers, summed over the exchanges.
    busy_ms: f64, "ms", "31250.0", "0.1";
    /// External URLs found in the tree, each once. The sum over trees is the number of URL pairs.
    external_urls: u64, "URLs", "73", "0.1";
    /// Hosts of these, each once in the tree.
    external_hosts: u64, "hosts", "30", "0.1";
    /// Sites of these, each once in the tree.
    external_sites: u64, "sites", "22", "0.1";
    /// The server that delivered the first page of the tree; where none did, the one that responded first to
    /// a request for a page, else to any request; null when none responded.
    address: Option<String>, "", "192.0.2.7", "0.1";
    /// The country of that address, ISO 3166-1; null without a database that knows it.
    country: Option<String>, "", "KE", "0.1";
    /// The autonomous system of that address.
    asn: Option<u32>, "", "64500", "0.1";
    /// The organisation that runs the autonomous system.
    as_org: Option<String>, "", "Example Networks", "0.1";
    /// The header `Server` of that response.
    server: Option<String>, "", "Apache", "0.1";
    /// When the walk began.
    started: Timestamp, "", "2026-11-21T08:30:00.250000Z", "0.1";
    /// When the walk ended.
    finished: Timestamp, "", "2026-11-21T08:41:12.000000Z", "0.1";
    /// The number of the tree among those of its site; 0 is the first. Further trees come from further start
    /// URLs, or from a later link into a site that the earlier trees could not open.
    seed: u16, "", "0", "0.1";
    /// Bytes sent on the wire.
    sent_bytes: u64, "bytes", "13100", "0.1";
    /// The part of `requests` that was for probes of scripts, which count at no level.
    probe_requests: u64, "requests", "0", "0.1";
    /// The part of `requests` that was for robots.txt. Files that another tree of the survey had requested
    /// less than 24 hours before are not included: `levels` counts them in `shared_robots`.
    robots_requests: u64, "requests", "1", "0.1";
    /// Distinct internal URLs found in the tree, the start URL included.
    internal_urls: u64, "URLs", "120", "0.1";
    /// The number of the tree in the survey, from 0, in the order in which trees were queued; null in surveys
    /// of versions that did not write it.
    number: Option<u64>, "", "12", "0.1";
    /// Parts of the site that were recognised as endless and not requested any further, separated by spaces,
    /// in the order in which they were recognised; null when there were none. `#` stands for a number, `*`
    /// for a token, `(a/b)` for a repeated part, `**` for anything.
    trap_pattern: Option<String>, "", "www.example.ke/calendar/#/**", "0.1";
    /// The entrance that led to the first page of the tree: `offered` (the start URL), `front_page` of its
    /// host, `other_scheme` (the same with http instead of https or the reverse), `other_name` (the front
    /// page with or without `www.`) or `other_name_other_scheme`; null where none did.
    entrance: Option<String>, "", "offered", "0.1";
    /// Entrances that were tried; null in surveys of versions that did not write it.
    entrances: Option<u16>, "URLs", "1", "0.1";
}
