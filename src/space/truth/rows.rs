use serde::Serialize;

/// What a survey must say of a site; columns as in the survey's table `sites`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SiteTruth {
    pub site: String,
    /// Canonical.
    pub start_url: String,
    pub parent_site: Option<String>,
    pub generation: u32,
    /// `complete`, `depth`, `trap`, `robots`, `moved`, `no_page` or `unreachable`.
    pub outcome: String,
    /// Exchanges that reached the network, robots.txt and redirects included.
    pub requests: u64,
    pub pages: u64,
    pub external_urls: u64,
    pub external_hosts: u64,
    pub external_sites: u64,
    /// The deepest level at which something was asked for.
    pub deepest: Option<u16>,
    pub trap_pattern: Option<String>,
    /// Which of the site's trees this is, from 0.
    pub seed: u16,
    /// What the entrance that brought the first page is to the start URL; none where no page came.
    pub entrance: Option<String>,
    /// URLs by which the site was tried to be entered.
    pub entrances: u16,
    /// Whether any tree of the site, any of its doors by itself, or any start URL or link into it leads to a page
    /// that robots.txt lets be asked for. No column of a survey.
    pub reachable: bool,
}

/// What a survey must say of a level; columns as in the survey's table `levels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LevelTruth {
    pub site: String,
    pub depth: u16,
    pub requests: u64,
    pub pages: u64,
    pub internal_urls: u64,
    pub external_urls: u64,
    pub external_hosts: u64,
    pub external_sites: u64,
    pub fetched: u64,
    pub not_fetched_robots: u64,
    pub not_fetched_robots_unreachable: u64,
    pub not_fetched_nofollow: u64,
    pub not_fetched_filtered: u64,
    pub not_fetched_script: u64,
    pub not_fetched_depth: u64,
    pub not_fetched_limit: u64,
    pub not_fetched_trap: u64,
    /// None: no two hosts of a site show the same pages in the model.
    pub not_fetched_mirror: u64,
    pub not_fetched_opt_out: u64,
    pub not_fetched_redirects: u64,
    pub seed: u16,
}

/// What a survey must say of an external URL; columns as in the survey's table `links`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LinkTruth {
    pub site: String,
    pub depth: u16,
    /// Canonical URL of the page where it first occurs; a survey may write it as it asked for it.
    pub page: String,
    /// Canonical.
    pub url: String,
    pub host: String,
    pub target_site: String,
    pub element: String,
    pub nofollow: bool,
    /// Whether its host lies in the surveyed country domains.
    pub in_survey: bool,
    pub seed: u16,
}

impl LevelTruth {
    /// Internal URLs of this level that are in some class.
    #[must_use]
    pub fn classed(&self) -> u64 {
        self.fetched
            + self.not_fetched_robots
            + self.not_fetched_robots_unreachable
            + self.not_fetched_nofollow
            + self.not_fetched_filtered
            + self.not_fetched_script
            + self.not_fetched_depth
            + self.not_fetched_limit
            + self.not_fetched_trap
            + self.not_fetched_mirror
            + self.not_fetched_opt_out
            + self.not_fetched_redirects
    }
}
