//! How a site is walked, and which of its URLs are left out.

pub(super) mod auto;
pub(super) mod filter;

use std::sync::Arc;
use std::time::Duration;

use super::yields::Rates;
use super::{Filter, Probing};
use crate::exchange::Depth;
use crate::settings::{self, Entrances};

/// How many redirects in a row a page may take: the limit that the Fetch standard sets browsers is
/// 20; chains beyond 10 are loops in practice, and each hop is a request.
pub const MAX_PAGE_REDIRECTS: u8 = 10;

/// How often a redirect to the same page in a session is followed: ASP.NET first finds out whether a client takes cookies and
/// then writes the session into the path.
pub(super) const MAX_SESSION_REDIRECTS: usize = 2;

/// How far and how wide a site is walked.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkSettings {
    /// The deepest level that is fetched. 8: the 2008 study found few trees deeper, at 80 % of the
    /// load of depth 20 and no loss of external URLs.
    pub depth: Depth,
    /// Leave out above that what promises too little; none: nothing is left out for that.
    pub auto_depth: Option<AutoDepth>,
    /// Entrances of the site that are tried until one brings a page.
    pub entrances: Entrances,
    /// Which URLs are asked for at all.
    pub filter: Filter,
    /// Query URLs fetched of one script.
    pub queries_per_script: u32,
    /// What is asked beyond that to learn what it hides.
    pub probing: Probing,
    /// URLs found, internal and external, at which a site counts as a trap; or so many times 200 bytes of
    /// them. Bounds memory: a URL in line takes about 70 bytes and the part of it behind its host.
    pub max_urls: usize,
    /// Levels in a row on which URLs of one shape must have begotten nothing but more of themselves before they can
    /// be a trap; none: only paths that repeat themselves are. 3: two such levels happen by chance, each level more
    /// costs a calendar's site another month.
    pub trap_levels: Option<u16>,
    /// Ask for the pages of hosts that show the same as another host of the site, too.
    pub fetch_mirrors: bool,
    /// End after so many levels in a row without a new external link; none: never.
    pub stable_levels: Option<u16>,
    /// Network failures in a row after which a server is left alone. Nutch drops a host after 5.
    pub max_failures: u32,
    /// How often a page is asked for again when the server says when to come back (429 or 503 with
    /// `Retry-After`). Without `Retry-After` a page is not asked for again.
    pub retries: u8,
    /// A longer Crawl-delay is taken as *do not come*.
    pub max_crawl_delay: Duration,
    /// The name in robots.txt that speaks to us.
    pub product_token: String,
}

/// How much a URL must promise to be asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoDepth {
    /// What pages bring on average.
    pub rates: Arc<Rates>,
    /// New external hosts that a request must promise.
    pub price: f64,
}

impl Default for WalkSettings {
    fn default() -> Self {
        Self::from(&settings::Settings::default())
    }
}

impl WalkSettings {
    /// With what pages bring on average and what a request must promise; without it all levels are walked.
    #[must_use]
    pub fn with_rates(self, rates: Arc<Rates>, price: f64) -> Self {
        Self { auto_depth: Some(AutoDepth { rates, price }), ..self }
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
