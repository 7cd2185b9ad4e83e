use serde::Serialize;

/// The facts of a host. What no response shows is null.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HostTruth {
    /// The name.
    pub host: String,
    /// The registrable domain.
    pub site: String,
    /// What the host does at its front page under http: `page`, `redirect_https` (the same host with https),
    /// `redirect`, `client_error`, `server_error`, `refused`, `reset`, `silent`, `no_name`, `name_fails`,
    /// `name_silent` or `no_address`.
    pub http: String,
    /// The same under https; `no_tls` if the server closes the connection during the handshake. The defects
    /// of a certificate count as in a survey that goes on.
    pub https: String,
    /// The chain of aliases, in order and separated by spaces; the last one has the addresses.
    pub aliases: Option<String>,
    /// The A record.
    pub ipv4: Option<String>,
    /// The AAAA record.
    pub ipv6: Option<String>,
    /// The country of the network of the address that is connected to, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// The number of the network's autonomous system.
    pub asn: Option<u32>,
    /// The holder of the network.
    pub organization: Option<String>,
    /// The value of `Server`; null without an HTTP response.
    pub server: Option<String>,
    /// The value of `Strict-Transport-Security` under https.
    pub hsts: Option<String>,
    /// `valid`, `self_signed`, `expired` or `wrong_name`; null without TLS.
    pub certificate: Option<String>,
    /// The common name of the certificate's issuer.
    pub issuer: Option<String>,
    /// The names in the certificate.
    pub names: Option<String>,
    /// The value of the meta element `generator` of the front page, if that is a page.
    pub generator: Option<String>,
    /// `wordpress`, `joomla`, `drupal`, `typo3`, `prestashop` or `wix`, if the front page shows it.
    pub cms: Option<String>,
    /// What shows the CMS: `generator`, `paths` or `field`.
    pub cms_by: Option<String>,
    /// `parked`, `placeholder`, `error` (a text of an error with status 200) or `empty`; null for a page of
    /// the site's own, and without a page.
    pub content: Option<String>,
    /// Number of words in the body of the front page, separated by white space; null if it is filled with
    /// text without meaning.
    pub words: Option<u64>,
    /// The language of the front page's text, ISO 639-1; null if it has no meaning.
    pub language: Option<String>,
    /// The value of `lang` of its html element.
    pub declared_language: Option<String>,
    /// `missing` (404), `junk` (an HTML page), `allows_all`, `disallows_some`, `disallows_all`, `crawl_delay`,
    /// `unavailable` (503), `forbidden` (403) or `silent`; null without a response for other reasons.
    pub robots: Option<String>,
    /// The sitemaps that robots.txt names, as written and separated by spaces.
    pub sitemaps: Option<String>,
}
