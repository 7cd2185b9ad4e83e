use serde::Serialize;

/// What a survey must say of a site; columns as in the survey's table `sites`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SiteTruth {
    /// The registrable domain.
    pub site: String,
    /// Canonical.
    pub start_url: String,
    /// The site that linked here first; none for a start URL that was given.
    pub parent_site: Option<String>,
    /// 0 for a start URL that was given.
    pub generation: u32,
    /// `complete`, `depth`, `trap`, `robots`, `moved`, `no_page`, `unreachable` or `refused`.
    pub outcome: String,
    /// Exchanges that reached the network, robots.txt and redirects included.
    pub requests: u64,
    /// Read for links.
    pub pages: u64,
    /// Distinct in the tree.
    pub external_urls: u64,
    /// Distinct in the tree.
    pub external_hosts: u64,
    /// Distinct in the tree.
    pub external_sites: u64,
    /// The deepest level at which something was asked for.
    pub deepest: Option<u16>,
    /// Of the first trap, if there is one.
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
    /// The registrable domain.
    pub site: String,
    /// Links from the start URL.
    pub depth: u16,
    /// Sent, redirects included.
    pub requests: u64,
    /// Read for links.
    pub pages: u64,
    /// New in the tree.
    pub internal_urls: u64,
    /// New in the tree.
    pub external_urls: u64,
    /// New in the tree.
    pub external_hosts: u64,
    /// New in the tree.
    pub external_sites: u64,
    /// Asked for.
    pub fetched: u64,
    /// robots.txt forbids them.
    pub not_fetched_robots: u64,
    /// The robots.txt of their host could not be had.
    pub not_fetched_robots_unreachable: u64,
    /// Every link to them asks not to be followed.
    pub not_fetched_nofollow: u64,
    /// The survey filters them.
    pub not_fetched_filtered: u64,
    /// Their script has been asked often enough.
    pub not_fetched_script: u64,
    /// They lie too deep.
    pub not_fetched_depth: u64,
    /// They came too late for a budget.
    pub not_fetched_limit: u64,
    /// They belong to a trap.
    pub not_fetched_trap: u64,
    /// None: no two hosts of a site show the same pages in the model.
    pub not_fetched_mirror: u64,
    /// Their owner opted out.
    pub not_fetched_opt_out: u64,
    /// Their redirects are too many.
    pub not_fetched_redirects: u64,
    /// Their server turned away who asked, after it had sent pages.
    pub not_fetched_refused: u64,
    /// Which of the site's trees this is, from 0.
    pub seed: u16,
    /// Responses for robots.txt that an earlier tree of the site had got.
    pub shared_robots: u64,
}

/// What a survey must say of an external URL; columns as in the survey's table `links`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LinkTruth {
    /// Where the link stands.
    pub site: String,
    /// Of the page.
    pub depth: u16,
    /// Canonical URL of the page where it first occurs; a survey may write it as it asked for it.
    pub page: String,
    /// Canonical.
    pub url: String,
    /// That it leads to.
    pub host: String,
    /// The registrable domain of that host.
    pub target_site: String,
    /// As the table of links names it.
    pub element: String,
    /// It asks not to be followed.
    pub nofollow: bool,
    /// Whether its host lies in the surveyed country domains.
    pub in_survey: bool,
    /// Which of the site's trees this is, from 0.
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
            + self.not_fetched_refused
    }
}
