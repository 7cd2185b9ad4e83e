//! The settings of a walk: how far it goes, and which URLs of a site it leaves out.

pub(super) mod auto;
pub(super) mod filter;
pub(super) mod waiting;

use std::sync::Arc;
use std::time::Duration;

use super::yields::Rates;
use super::{Filter, Probing};
use crate::exchange::Depth;
use crate::settings::{self, Entrances};

/// The number of redirects in a row that a page may take. The limit that the Fetch standard sets browsers is
/// 20; chains beyond 10 are loops in practice, and each hop is a request.
pub const MAX_PAGE_REDIRECTS: u8 = 10;

/// The number of redirects to the same page in a session that are followed: ASP.NET first finds out whether a
/// client takes cookies and then writes the session into the path.
pub(super) const MAX_SESSION_REDIRECTS: usize = 2;

/// How far and how wide a site is walked.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkSettings {
    /// The deepest level that is fetched. 8: the 2008 study found few trees deeper, at 80 % of the load of
    /// depth 20 and no loss of external URLs.
    pub depth: Depth,
    /// Leave out URLs above that level whose expected yield is too low; none: no URL is left out for its
    /// yield.
    pub auto_depth: Option<AutoDepth>,
    /// The entrances of the site that are tried until one brings a page.
    pub entrances: Entrances,
    /// The URLs that may be requested at all.
    pub filter: Filter,
    /// The number of query URLs that are fetched per script.
    pub queries_per_script: u32,
    /// The requests beyond that, to find out what the rule hides.
    pub probing: Probing,
    /// The number of URLs found, internal and external, at which a site counts as a trap; or this number
    /// times 200 bytes of URLs. Bounds memory: a waiting URL takes about 70 bytes, and its part after the
    /// host.
    pub max_urls: usize,
    /// The number of levels in a row on which URLs of one shape must have led to nothing but more of
    /// themselves before they can be a trap; none: only paths that repeat themselves are traps. 3: two such
    /// levels happen by chance, and each additional level costs the site of a calendar another month.
    pub trap_levels: Option<u16>,
    /// Also request the pages of hosts that show the same pages as another host of the site.
    pub fetch_mirrors: bool,
    /// End after this number of levels in a row without a new external link; none: never.
    pub stable_levels: Option<u16>,
    /// The number of network failures in a row after which a server gets no more requests. Nutch drops a host
    /// after 5.
    pub max_failures: u32,
    /// How often a page is requested again if the server says when to come back (429 or 503 with
    /// `Retry-After`). Without `Retry-After` a page is not requested again.
    pub retries: u8,
    /// A longer Crawl-delay counts as *do not come*.
    pub max_crawl_delay: Duration,
    /// Our name in robots.txt.
    pub product_token: String,
}

/// The expected yield that a URL needs to be requested.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoDepth {
    /// The mean yield of pages.
    pub rates: Arc<Rates>,
    /// The number of new external hosts that a request must be expected to bring.
    pub price: f64,
    /// The walk goes by rounds, each at a price of its own ([`Walk::next_round`](super::Walk::next_round)).
    pub in_rounds: bool,
}

impl Default for WalkSettings {
    fn default() -> Self {
        Self::from(&settings::Settings::default())
    }
}

impl WalkSettings {
    /// Sets the mean yield of pages and the price of a request; without them all levels are walked.
    #[must_use]
    pub fn with_rates(self, rates: Arc<Rates>, price: f64) -> Self {
        Self { auto_depth: Some(AutoDepth { rates, price, in_rounds: false }), ..self }
    }

    /// Walks in rounds, with this mean yield of pages.
    #[must_use]
    pub fn in_rounds(self, rates: Arc<Rates>) -> Self {
        let auto_depth = AutoDepth { rates, price: f64::INFINITY, in_rounds: true };
        Self { auto_depth: Some(auto_depth), ..self }
    }
}

impl From<&settings::Settings> for WalkSettings {
    fn from(settings: &settings::Settings) -> Self {
        Self {
            depth: Depth(settings.deepest()),
            auto_depth: None,
            entrances: settings.entrances,
            filter: Filter {
                non_html: settings.non_html,
                non_html_extensions: settings.non_html_extensions.clone(),
                exclude: settings.exclude.clone(),
                include: settings.include.clone(),
            },
            queries_per_script: settings.queries_per_script,
            probing: Probing {
                share: settings.probe_scripts,
                left_out_share: settings.probed_share(),
                ..Probing::default()
            },
            max_urls: settings.max_urls,
            trap_levels: settings.trap_levels,
            fetch_mirrors: settings.fetch_mirrors,
            stable_levels: settings.stable_levels,
            max_failures: 5,
            retries: 2,
            max_crawl_delay: Duration::from_secs(300),
            product_token: "ccsurvey".to_owned(),
        }
    }
}
