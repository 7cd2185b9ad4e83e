use std::cmp::Reverse;

use super::super::tables::key;
use super::door::{DoorEvidence, is_front_page};
use super::exchange::{ExchangeFields, TreeExchange};
use crate::address::{is_name_at_or_below, server_named};
use crate::exchange::{Door, Purpose, RobotsState};
use crate::records::{HostRow, Timestamp};

/// Where the server of an address is.
pub(super) struct Place {
    pub country: Option<String>,
    pub asn: Option<u32>,
    pub as_org: Option<String>,
}

/// The order in which exchanges count, independent of the order of trees in the tables.
///
/// First comes what was delivered as a page, of these the front page, then the smallest depth.
type Precedence = (bool, bool, u32, Order);

/// A tree, the number of a request in it and of an attempt at it.
type Order = ((u64, u32), u32, u32);

/// A tree, the number of a request in it and of an attempt at it, the last attempt first.
type RequestOrder = ((u64, u32), u32, Reverse<u32>);

/// A fact, and where it comes from: that of the first exchange counts.
#[derive(Debug)]
struct First<K>(Option<K>);

impl<K> Default for First<K> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialOrd> First<K> {
    /// Whether an exchange comes before those seen so far. If so, it is the first now.
    fn is_replaced_by(&mut self, order: K) -> bool {
        let is_first = self.0.as_ref().is_none_or(|first| order < *first);
        if is_first {
            self.0 = Some(order);
        }
        is_first
    }
}

/// What the tables say of a host, while they are read.
pub(super) struct Gathered {
    row: HostRow,
    doors: [Option<DoorEvidence>; 2],
    described_by: First<Precedence>,
    certificate_from: First<Order>,
    looked_up_by: First<Order>,
    robots_from: First<(u8, RequestOrder)>,
    challenged_by: First<Order>,
    secured_by: First<Precedence>,
    last_response: First<Reverse<(Timestamp, Order)>>,
    /// A site that it may belong to; false if it lies in that site.
    site: Option<(bool, String)>,
    linking_keys: Vec<u64>,
}

impl Gathered {
    pub(super) fn new(host: &str, cctld: &str) -> Self {
        let [host, cctld] = [host, cctld].map(str::to_owned);
        Self {
            row: HostRow { host, cctld, ..HostRow::default() },
            site: None,
            linking_keys: Vec::new(),
            doors: [None; 2],
            described_by: First::default(),
            certificate_from: First::default(),
            looked_up_by: First::default(),
            robots_from: First::default(),
            challenged_by: First::default(),
            secured_by: First::default(),
            last_response: First::default(),
        }
    }

    /// A tree of this site, or a link, names the host. A tree also requests a robots.txt of another site, to
    /// which that of its own host is redirected.
    pub(super) fn offer_site(&mut self, site: &str) {
        let is_foreign = !is_name_at_or_below(&self.row.host, site);
        let offered = (is_foreign, site);
        if self.site.as_ref().is_none_or(|(was_foreign, known)| offered < (*was_foreign, known.as_str())) {
            self.site = Some((is_foreign, site.to_owned()));
        }
    }

    /// Adds a link from a tree of `site`.
    pub(super) fn add_link(&mut self, site: &str) {
        let site_key = key(site);
        // The links of a tree are adjacent.
        if self.linking_keys.last() != Some(&site_key) {
            self.linking_keys.push(site_key);
        }
    }

    pub(super) fn add(&mut self, exchange: &TreeExchange<'_>) {
        let order = (exchange.tree, exchange.number, exchange.attempt);
        let is_https = exchange.url.starts_with("https:");
        let door = &mut self.doors[usize::from(is_https)];
        *door = (*door).max(DoorEvidence::of(exchange));
        if exchange.total_ms.is_some() {
            self.row.requests += 1;
        }
        if exchange.addresses.is_some() && self.looked_up_by.is_replaced_by(order) {
            self.row.addresses = exchange.addresses.map(str::to_owned);
            self.row.aliases = exchange.aliases.map(str::to_owned);
        }
        self.row.has_ipv6 = self.row.has_ipv6.max(exchange.has_ipv6);
        if exchange.certificate_names.is_some() && self.certificate_from.is_replaced_by(order) {
            self.add_certificate(exchange);
        }
        if let Some(robots) = exchange.robots
            && exchange.url.ends_with("/robots.txt")
            && self
                .robots_from
                .is_replaced_by((rank(robots), (exchange.tree, exchange.number, Reverse(exchange.attempt))))
        {
            self.row.robots = Some(robots.to_owned());
            self.row.sitemaps = exchange.sitemaps.map(str::to_owned);
        }
        if exchange.challenge.is_some() && self.challenged_by.is_replaced_by(order) {
            self.row.challenge = exchange.challenge.map(str::to_owned);
        }
        if exchange.status.is_some() {
            self.add_response(exchange, is_https, order);
        }
    }

    fn add_certificate(&mut self, exchange: &ExchangeFields<'_>) {
        let row = &mut self.row;
        row.certificate = Some(exchange.tls_error.unwrap_or("valid").to_owned());
        row.certificate_issuer = exchange.certificate_issuer.map(str::to_owned);
        row.certificate_from = exchange.certificate_from.map(Timestamp);
        row.certificate_until = exchange.certificate_until.map(Timestamp);
        row.certificate_names = exchange.certificate_names.map(str::to_owned);
    }

    fn add_response(&mut self, exchange: &ExchangeFields<'_>, is_https: bool, order: Order) {
        let started = Timestamp(exchange.started);
        let row = &mut self.row;
        if self.last_response.is_replaced_by(Reverse((started, order))) {
            row.last_seen = Some(started);
            row.address = exchange.address.map(|address| server_named(address).into());
        }
        row.first_seen = Some(row.first_seen.map_or(started, |first| first.min(started)));
        let is_page = exchange.charset.is_some();
        let is_of_tree = exchange.purpose != Purpose::Probe.as_str() && exchange.challenge.is_none();
        row.pages += u64::from(is_page && is_of_tree);
        let precedence = (!is_page, !is_front_page(exchange.url), exchange.depth.unwrap_or(u32::MAX), order);
        if is_https && self.secured_by.is_replaced_by(precedence) {
            row.hsts = Some(exchange.hsts.is_some_and(requires_https));
            row.tls_version = exchange.tls_version.map(str::to_owned);
        }
        if self.described_by.is_replaced_by(precedence) {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            row.status = exchange.status.and_then(|status| u16::try_from(status).ok());
            row.http_version = owned(exchange.http_version);
            row.server = owned(exchange.server);
            row.powered_by = owned(exchange.powered_by);
            row.title = owned(exchange.title);
            row.language = owned(exchange.language);
            row.generator = owned(exchange.generator);
            row.cms = owned(exchange.cms);
            row.cms_evidence = owned(exchange.cms_evidence);
            row.content = owned(exchange.content);
            row.content_evidence = owned(exchange.content_evidence);
            row.text_language = owned(exchange.text_language);
        }
    }

    /// The row of the host.
    pub(super) fn finish<'p>(mut self, place: impl FnOnce(&str) -> Option<&'p Place>) -> HostRow {
        let host = &self.row.host;
        let site =
            self.site.filter(|(is_foreign, _)| !is_foreign).map_or_else(|| host.clone(), |(_, site)| site);
        let own_key = key(&site);
        self.linking_keys.sort_unstable();
        self.linking_keys.dedup();
        self.linking_keys.retain(|linking| *linking != own_key);
        let [http, https] =
            self.doors.map(|door| door.map_or(Door::NotRequested, DoorEvidence::door).as_str().to_owned());
        let place = self.row.address.as_deref().and_then(place);
        // Surveys of versions before this table recorded neither.
        let hsts = self.row.hsts.filter(|_| self.row.robots.is_some());
        HostRow {
            site,
            linking_sites: self.linking_keys.len() as u64,
            http,
            https,
            hsts,
            country: place.and_then(|place| place.country.clone()),
            asn: place.and_then(|place| place.asn),
            as_org: place.and_then(|place| place.as_org.clone()),
            ..self.row
        }
    }
}

/// What a robots.txt says counts before that there is none, and both before that nobody knows: of http and
/// https, one may be shut.
fn rank(robots: &str) -> u8 {
    match RobotsState::named(robots) {
        Some(RobotsState::NoFile) => 1,
        Some(RobotsState::Unreachable) => 2,
        Some(RobotsState::Redirected) | None => 3,
        Some(_) => 0,
    }
}

/// RFC 6797 §6.1.1: a `max-age` of 0 ends the policy, and a field without one has no effect.
fn requires_https(hsts: &str) -> bool {
    let directives = hsts.split(';').filter_map(|directive| directive.split_once('='));
    directives
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("max-age"))
        .any(|(_, value)| value.trim().trim_matches('"').parse::<u64>().is_ok_and(|seconds| seconds > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_without_an_age_or_with_age_zero_requires_nothing() {
        for (hsts, requires) in [
            ("max-age=31536000; includeSubDomains", true),
            ("includeSubDomains; Max-Age = \"1\"", true),
            ("max-age=0", false),
            ("includeSubDomains", false),
            ("max-age=x", false),
            ("", false),
        ] {
            assert_eq!(requires_https(hsts), requires, "{hsts}");
        }
    }

    fn exchange(url: &'static str, number: u32) -> TreeExchange<'static> {
        let fields = ExchangeFields {
            url,
            host: "a.ke",
            number,
            purpose: "page",
            started: i64::from(number),
            status: Some(200),
            total_ms: Some(1.0),
            address: Some("192.0.2.1"),
            ..ExchangeFields::default()
        };
        TreeExchange { tree: (1, 0), fields }
    }

    fn row(exchanges: &[TreeExchange<'_>]) -> HostRow {
        let mut gathered = Gathered::new("a.ke", "ke");
        gathered.offer_site("a.ke");
        exchanges.iter().for_each(|exchange| gathered.add(exchange));
        gathered.finish(|_| None)
    }

    #[test]
    fn the_front_page_describes_a_host_whatever_the_order_of_the_rows() {
        let mut deep = exchange("http://a.ke/x", 1);
        (deep.fields.charset, deep.fields.title, deep.fields.depth) = (Some("UTF-8"), Some("x"), Some(1));
        let mut front = exchange("http://a.ke/", 2);
        (front.fields.charset, front.fields.title, front.fields.depth) =
            (Some("UTF-8"), Some("front"), Some(0));
        let mut robots = exchange("http://a.ke/robots.txt", 0);
        (robots.fields.purpose, robots.fields.robots, robots.fields.status) =
            ("robots", Some("no_file"), Some(404));
        let exchanges = [deep, front, robots];
        let described = row(&exchanges);
        assert_eq!(described.title.as_deref(), Some("front"));
        assert_eq!((described.requests, described.pages, described.status), (3, 2, Some(200)));
        assert_eq!((described.http.as_str(), described.https.as_str()), ("page", "not_requested"));
        assert_eq!((described.robots.as_deref(), described.hsts), (Some("no_file"), None));
        assert_eq!((described.first_seen, described.last_seen), (Some(Timestamp(0)), Some(Timestamp(2))));
        let [deep, front, robots] = exchanges;
        assert_eq!(row(&[robots, front, deep]), described);
    }

    #[test]
    fn a_host_that_is_only_linked_to_has_names_and_no_facts() {
        let mut gathered = Gathered::new("www.b.ke", "ke");
        ["z.ke", "b.ke", "a.ke"].iter().for_each(|site| gathered.offer_site(site));
        ["a.ke", "a.ke", "c.ke", "b.ke", "a.ke"].iter().for_each(|site| gathered.add_link(site));
        let row = gathered.finish(|_| None);
        assert_eq!((row.site.as_str(), row.linking_sites, row.requests), ("b.ke", 2, 0));
        let not_requested = "not_requested".to_owned();
        let (http, https) = (not_requested.clone(), not_requested);
        let only = HostRow { linking_sites: 2, http, https, ..HostRow::default() };
        let names =
            HostRow { host: row.host.clone(), site: row.site.clone(), cctld: row.cctld.clone(), ..only };
        assert_eq!(row, names);
    }

    #[test]
    fn a_certificate_is_known_from_the_exchange_that_brought_it() {
        let mut first = exchange("https://a.ke/", 0);
        first.fields.certificate_names = Some("b.ke");
        (first.fields.tls_error, first.fields.certificate_until) = (Some("wrong_name"), Some(7));
        let mut second = exchange("https://a.ke/x", 1);
        second.fields.hsts = Some("max-age=5");
        let row = row(&[first, second]);
        assert_eq!(row.certificate.as_deref(), Some("wrong_name"));
        assert_eq!(
            (row.certificate_until, row.hsts),
            (Some(Timestamp(7)), None),
            "no robots.txt: an old survey"
        );
    }
}
