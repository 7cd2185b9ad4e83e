use serde::Serialize;

/// The row that a survey must have for a site tree; columns as in the survey's table `sites`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SiteTruth {
    /// The registrable domain.
    pub site: String,
    /// The canonical start URL.
    pub start_url: String,
    /// The site that linked here first; none for a start URL given by the user.
    pub parent_site: Option<String>,
    /// 0 for a start URL given by the user.
    pub generation: u32,
    /// `complete`, `depth`, `trap`, `robots`, `moved`, `no_page`, `unreachable` or `refused`.
    pub outcome: String,
    /// Exchanges that reached the network, robots.txt and redirects included.
    pub requests: u64,
    /// Pages read for links.
    pub pages: u64,
    /// Distinct external URLs in the tree.
    pub external_urls: u64,
    /// Distinct external hosts in the tree.
    pub external_hosts: u64,
    /// Distinct external sites in the tree.
    pub external_sites: u64,
    /// The deepest level with a fetched URL.
    pub deepest: Option<u16>,
    /// The patterns of the traps, separated by spaces, if there are any.
    pub trap_pattern: Option<String>,
    /// The number of the tree within its site, from 0.
    pub seed: u16,
    /// How the entrance that led to the first page relates to the start URL; none if no page arrived.
    pub entrance: Option<String>,
    /// Number of entrances tried.
    pub entrances: u16,
    /// Whether any tree of the site, any of its doors, or any start URL or link into it leads to a page that
    /// robots.txt allows. Not a column of a survey.
    pub reachable: bool,
}

/// The row that a survey must have for a level; columns as in the survey's table `levels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LevelTruth {
    /// The registrable domain.
    pub site: String,
    /// Number of links from the start URL.
    pub depth: u16,
    /// Requests sent, redirects included.
    pub requests: u64,
    /// Pages read for links.
    pub pages: u64,
    /// Internal URLs new in the tree.
    pub internal_urls: u64,
    /// External URLs new in the tree.
    pub external_urls: u64,
    /// External hosts new in the tree.
    pub external_hosts: u64,
    /// External sites new in the tree.
    pub external_sites: u64,
    /// Requested URLs.
    pub fetched: u64,
    /// URLs that robots.txt forbids.
    pub not_fetched_robots: u64,
    /// URLs of a host whose robots.txt could not be fetched.
    pub not_fetched_robots_unreachable: u64,
    /// URLs with nofollow links only.
    pub not_fetched_nofollow: u64,
    /// URLs that the survey filters.
    pub not_fetched_filtered: u64,
    /// Query URLs beyond the limit of their script.
    pub not_fetched_script: u64,
    /// URLs that lie too deep.
    pub not_fetched_depth: u64,
    /// URLs that exceed a budget.
    pub not_fetched_limit: u64,
    /// URLs that belong to a trap.
    pub not_fetched_trap: u64,
    /// Always 0: no two hosts of a site show the same pages in the model.
    pub not_fetched_mirror: u64,
    /// URLs whose owner opted out.
    pub not_fetched_opt_out: u64,
    /// URLs that lie behind too many redirects.
    pub not_fetched_redirects: u64,
    /// URLs of a server that refused the survey after it had sent pages.
    pub not_fetched_refused: u64,
    /// The number of the tree within its site, from 0.
    pub seed: u16,
    /// Responses for robots.txt that an earlier tree of the site received.
    pub shared_robots: u64,
}

/// The row that a survey must have for an external URL; columns as in the survey's table `links`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LinkTruth {
    /// The site of the page with the link.
    pub site: String,
    /// The depth of that page.
    pub depth: u16,
    /// Canonical URL of the page where it first occurs; a survey may write it as it was requested.
    pub page: String,
    /// The canonical external URL.
    pub url: String,
    /// The host of the external URL.
    pub host: String,
    /// The registrable domain of that host.
    pub target_site: String,
    /// The element, as named in the table `links`.
    pub element: String,
    /// Whether the link is marked nofollow.
    pub nofollow: bool,
    /// Whether the host lies in the surveyed country domains.
    pub in_survey: bool,
    /// The number of the tree within its site, from 0.
    pub seed: u16,
}

impl LevelTruth {
    /// Number of internal URLs of this level in all classes.
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
            + self.not_fetched_refused
    }
}
