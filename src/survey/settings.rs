use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::values::{Size, Span, or_none};
use crate::address::{ScopeRule, SuffixSection};
use crate::load::QuietHours;
use crate::starts::Sample;
use crate::walk::{Entrances, Extension, NonHtml, UrlPattern};

/// Everything a survey is told, as its `survey.toml` and the user's configuration file write it.
///
/// Every default is the polite one. A key stands for the command-line flag of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The surveyed country domains: external URLs inside them become start URLs.
    pub cctld: Vec<String>,
    /// How site owners reach the surveyor: a URL or mail address, sent in the User-Agent.
    pub contact: Option<String>,
    /// Which section of the Public Suffix List divides sites.
    pub suffixes: SuffixSection,
    /// A newer Public Suffix List than the one built in.
    pub suffix_list: Option<PathBuf>,
    pub scope: ScopeRule,
    pub feed_back: FeedBackRule,
    pub seeds_per_site: u32,
    /// The share of the start list's sites that is surveyed, drawn by hash …
    pub sample: f64,
    /// … with this number.
    pub seed: u64,
    /// The last generation of sites that is walked; none: no bound.
    pub generations: Option<u32>,
    /// Keep every link of every page and every robots.txt, so that the survey can be walked again.
    pub record_links: bool,

    /// The deepest level that is fetched.
    pub depth: u16,
    /// Entrances that are tried of a site until one brings a page.
    pub entrances: Entrances,
    pub queries_per_script: u32,
    /// The share of sites in which more query URLs are fetched, to learn what the rule hides.
    pub probe_scripts: f64,
    /// What becomes of URLs that look as if they were no HTML.
    pub non_html: NonHtml,
    /// The endings of file names that look so.
    pub non_html_extensions: Vec<Extension>,
    /// Internal URLs that are not asked for, as patterns.
    pub exclude: Vec<UrlPattern>,
    /// Where there are any, the only internal URLs that are asked for, as patterns.
    pub include: Vec<UrlPattern>,
    /// Words of pages whose links are neither followed nor recorded.
    pub exclude_text: Vec<String>,
    /// URLs found at which a site counts as a trap.
    pub max_urls: usize,
    /// Levels in a row on which URLs of one shape begot only themselves before they can be a trap.
    #[serde(with = "or_none")]
    pub trap_levels: Option<u16>,
    /// Ask for the pages of a site's mirrors, too.
    pub fetch_mirrors: bool,
    /// End a site after so many levels in a row without a new external link.
    pub stable_levels: Option<u16>,
    /// Requests that one site tree may cost.
    #[serde(with = "or_none")]
    pub max_requests: Option<u64>,
    /// Bytes on the wire, both ways, that one site tree may cost.
    #[serde(with = "or_none")]
    pub max_bytes: Option<Size>,
    /// Time that the walk of one site tree may take.
    #[serde(with = "or_none")]
    pub max_time: Option<Span>,

    /// Sites walked at once.
    pub sites: usize,
    /// Parallel requests in one site.
    pub per_site: u32,
    /// Parallel requests at one server address.
    pub per_address: u32,
    /// Parallel requests in one neighbourhood of addresses (/24 in IPv4, /48 in IPv6); none: no bound.
    #[serde(with = "or_none")]
    pub per_neighbourhood: Option<u32>,
    /// Least pause between two exchanges at an address.
    pub min_delay: Span,
    /// Pause as a multiple of the last exchange's duration.
    pub delay_factor: f64,
    /// Most that a slow exchange or a back-off makes us pause.
    pub max_delay: Span,
    /// Whether settings may break what is promised to the owners of servers.
    pub impolite: bool,
    /// Most of a server's link that the survey takes; none: no bound.
    #[serde(with = "or_none")]
    pub link_share: Option<f64>,
    /// Hours of the day, by their own clocks, in which servers are not asked; none: asked at any time.
    #[serde(with = "or_none")]
    pub quiet_hours: Option<QuietHours>,
    /// Bytes per second, both ways, of the whole survey; none: no ceiling.
    #[serde(with = "or_none")]
    pub rate: Option<Size>,
    /// Requests that one server address may bear for this survey.
    #[serde(with = "or_none")]
    pub max_server_requests: Option<u64>,
    /// Bytes on the wire, both ways, that it may bear.
    #[serde(with = "or_none")]
    pub max_server_bytes: Option<Size>,
    /// Busy time that it may bear.
    #[serde(with = "or_none")]
    pub max_server_busy: Option<Span>,
    /// Requests that one server address may bear for this survey on a day (UTC).
    #[serde(with = "or_none")]
    pub max_server_requests_per_day: Option<u64>,
    /// Bytes on the wire, both ways, that it may bear on a day (UTC).
    #[serde(with = "or_none")]
    pub max_server_bytes_per_day: Option<Size>,
    /// Busy time that it may bear on a day (UTC).
    #[serde(with = "or_none")]
    pub max_server_busy_per_day: Option<Span>,
    /// Requests that one neighbourhood of addresses (/24 in IPv4, /48 in IPv6) may bear for this survey.
    #[serde(with = "or_none")]
    pub max_network_requests: Option<u64>,
    /// Bytes on the wire, both ways, that it may bear.
    #[serde(with = "or_none")]
    pub max_network_bytes: Option<Size>,
    /// Busy time that its servers may bear together.
    #[serde(with = "or_none")]
    pub max_network_busy: Option<Span>,
    /// Requests that one neighbourhood of addresses (/24 in IPv4, /48 in IPv6) may bear for this survey on a day (UTC).
    #[serde(with = "or_none")]
    pub max_network_requests_per_day: Option<u64>,
    /// Bytes on the wire, both ways, that it may bear on a day (UTC).
    #[serde(with = "or_none")]
    pub max_network_bytes_per_day: Option<Size>,
    /// Busy time that its servers may bear together on a day (UTC).
    #[serde(with = "or_none")]
    pub max_network_busy_per_day: Option<Span>,
    /// Requests that one autonomous system, as `geo` tells it, may bear for this survey.
    #[serde(with = "or_none")]
    pub max_as_requests: Option<u64>,
    /// Bytes on the wire, both ways, that it may bear.
    #[serde(with = "or_none")]
    pub max_as_bytes: Option<Size>,
    /// Busy time that its servers may bear together.
    #[serde(with = "or_none")]
    pub max_as_busy: Option<Span>,
    /// Requests that one autonomous system, as `geo` tells it, may bear for this survey on a day (UTC).
    #[serde(with = "or_none")]
    pub max_as_requests_per_day: Option<u64>,
    /// Bytes on the wire, both ways, that it may bear on a day (UTC).
    #[serde(with = "or_none")]
    pub max_as_bytes_per_day: Option<Size>,
    /// Busy time that its servers may bear together on a day (UTC).
    #[serde(with = "or_none")]
    pub max_as_busy_per_day: Option<Span>,

    /// Body bytes read of one page, decoded.
    pub max_body: Size,
    pub dns_timeout: Span,
    pub connect_timeout: Span,
    pub tls_timeout: Span,
    pub first_byte_timeout: Span,
    pub idle_timeout: Span,
    pub exchange_timeout: Span,
    /// The name server to ask; none: those of the system.
    pub dns: Option<SocketAddr>,
    /// Where every connection goes, whatever the address: a virtual Web space.
    pub gateway: Option<SocketAddr>,
    pub permit_special_addresses: bool,
    pub refuse_bad_certificates: bool,
    /// Further root certificates, PEM.
    pub ca: Vec<PathBuf>,
    /// Names and networks that are never contacted.
    pub opt_out: Option<PathBuf>,
    /// Which sites are walked sooner, and which last.
    pub priority: Option<PathBuf>,
    /// MaxMind databases for countries and networks of servers.
    pub geo: Vec<PathBuf>,
    /// An earlier survey: what has not changed since is not sent again. Its links are recorded for the next one.
    pub since: Option<PathBuf>,
}

/// The key that surveys of older versions do not have.
pub(super) const ENTRANCES: &str = "entrances";

/// What becomes of external URLs inside the surveyed country domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedBackRule {
    /// The URL itself becomes a start URL.
    #[default]
    Link,
    /// The front page of its host does.
    Door,
    Off,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cctld: Vec::new(),
            contact: None,
            suffixes: SuffixSection::Icann,
            suffix_list: None,
            scope: ScopeRule::Site,
            feed_back: FeedBackRule::Link,
            seeds_per_site: 1,
            sample: Sample::ALL.share,
            seed: Sample::ALL.seed,
            generations: None,
            record_links: false,
            depth: 8,
            entrances: Entrances::default(),
            queries_per_script: 1,
            probe_scripts: 0.0,
            non_html: NonHtml::Skip,
            non_html_extensions: Extension::usual(),
            exclude: Vec::new(),
            include: Vec::new(),
            exclude_text: Vec::new(),
            max_urls: 100_000,
            trap_levels: Some(3),
            fetch_mirrors: false,
            stable_levels: None,
            // At 2 s between requests about six hours of one server's attention at most.
            max_requests: Some(10_000),
            // 10,000 pages of the median size on the Web of 2024, 32 kB.
            max_bytes: Some(Size(320 * 1024 * 1024)),
            // 10,000 requests with the pause that a page takes on a thin link, two minutes.
            max_time: Some(Span(Duration::from_secs(14 * 24 * 3600))),
            sites: 64,
            per_site: 1,
            per_address: 1,
            per_neighbourhood: None,
            min_delay: Span(Duration::from_secs(2)),
            delay_factor: 5.0,
            max_delay: Span(Duration::from_secs(60)),
            impolite: false,
            link_share: Some(0.003),
            quiet_hours: None,
            // 8 Mbit/s: a quarter of a modest office link.
            rate: Some(Size(1024 * 1024)),
            max_server_requests: None,
            max_server_bytes: None,
            max_server_busy: None,
            max_server_requests_per_day: None,
            max_server_bytes_per_day: None,
            max_server_busy_per_day: None,
            max_network_requests: None,
            max_network_bytes: None,
            max_network_busy: None,
            max_network_requests_per_day: None,
            max_network_bytes_per_day: None,
            max_network_busy_per_day: None,
            max_as_requests: None,
            max_as_bytes: None,
            max_as_busy: None,
            max_as_requests_per_day: None,
            max_as_bytes_per_day: None,
            max_as_busy_per_day: None,
            max_body: Size(1024 * 1024),
            dns_timeout: Span(Duration::from_secs(10)),
            connect_timeout: Span(Duration::from_secs(10)),
            tls_timeout: Span(Duration::from_secs(10)),
            first_byte_timeout: Span(Duration::from_secs(30)),
            idle_timeout: Span(Duration::from_secs(20)),
            exchange_timeout: Span(Duration::from_secs(60)),
            dns: None,
            gateway: None,
            permit_special_addresses: false,
            refuse_bad_certificates: false,
            ca: Vec::new(),
            opt_out: None,
            priority: None,
            geo: Vec::new(),
            since: None,
        }
    }
}

impl Settings {
    /// The settings of a survey that was begun before they told how many entrances are tried: it goes on with one.
    #[must_use]
    pub(super) fn of_before_entrances(self) -> Self {
        Self { entrances: Entrances::UpTo(1), ..self }
    }

    /// Whether every exchange of this survey stays on this machine.
    #[must_use]
    pub fn stays_on_loopback(&self) -> bool {
        let is_loopback = |end: Option<SocketAddr>| end.is_some_and(|end| end.ip().is_loopback());
        is_loopback(self.gateway) && is_loopback(self.dns)
    }

    /// With what follows from other settings: without the links of its pages, a survey could not be the earlier one of
    /// the next.
    #[must_use]
    pub fn in_full(self) -> Self {
        Self { record_links: self.record_links || self.since.is_some(), ..self }
    }

    /// What servers are told about us.
    #[must_use]
    pub fn user_agent(&self) -> String {
        let contact = self.contact.as_deref().unwrap_or("loopback only");
        format!("{}/{} (+{contact})", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_settings_are_read_back_as_written() {
        let settings = Settings {
            cctld: vec!["ke".into()],
            min_delay: Span(Duration::from_millis(1500)),
            dns: Some("127.0.0.1:53".parse().unwrap()),
            rate: None,
            max_requests: Some(7),
            ..Settings::default()
        };
        let text = toml::to_string(&settings).unwrap();
        assert!(text.contains("min-delay = \"1s 500ms\""), "{text}");
        assert_eq!(toml::from_str::<Settings>(&text).unwrap(), settings);
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let wrong = toml::from_str::<Settings>("depht = 8").unwrap_err();
        assert!(wrong.to_string().contains("unknown field `depht`"), "{wrong}");
    }

    #[test]
    fn only_a_gateway_and_a_name_server_on_this_machine_keep_a_survey_here() {
        let here: Option<SocketAddr> = Some("127.0.0.1:80".parse().unwrap());
        assert!(!Settings { gateway: here, ..Settings::default() }.stays_on_loopback());
        assert!(Settings { gateway: here, dns: here, ..Settings::default() }.stays_on_loopback());
    }
}
