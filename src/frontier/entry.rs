use serde::{Deserialize, Serialize};

use crate::address::{Site, WebUrl};

/// How far a survey spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// The number of start URLs that one site may have. Each one after the first makes a further tree of the
    /// site, if the earlier trees have not reached it.
    pub seeds_per_site: u32,
    /// The last generation that is walked; none means no limit.
    pub generations: Option<u32>,
    /// Gives a site that no tree could open another URL, as long as it has fewer than [`MAX_TREES`] trees.
    pub later_trees: bool,
}

/// The number of trees without a page after which a site is abandoned.
pub const MAX_TREES: u32 = 3;

impl Default for Spread {
    fn default() -> Self {
        Self { seeds_per_site: 1, generations: None, later_trees: true }
    }
}

/// A site tree that is handed out to be walked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The tree's number in the order of the survey; also the name of its journal.
    pub order: u64,
    /// The site of the tree.
    pub site: Site,
    /// Trees of greater priority are handed out first.
    pub priority: i32,
    /// The number of this start URL among those of the site, starting with 0.
    pub seed: u16,
    /// Where the walk begins.
    pub start: WebUrl,
    /// The site that first linked to it; none for the user's start URLs.
    pub parent: Option<Site>,
    /// The number of sites between it and the start list; 0 for the start list itself.
    pub generation: u32,
}

/// A start URL, and the sites to which it may belong, the nearest first. Where a site is a registrable domain
/// there is one. Where a site is a host, the URL belongs to a known host above it, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartCandidate {
    /// Where a walk would begin.
    pub url: WebUrl,
    /// Never empty.
    pub homes: Vec<Site>,
    /// Trees of greater priority are handed out first.
    pub priority: i32,
}

/// The result of offering a start URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// A new site.
    Site,
    /// A further start URL of a known site.
    Seed,
    /// Its site is known and takes no further start URLs, or has this one already. The URL may be kept as a
    /// spare, in case the trees before it cannot open the site.
    Known,
}

/// A response to a robots.txt request, which later trees may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRobots {
    /// Key of its URL.
    pub key: u64,
    /// When it was requested, in microseconds since 1970.
    pub requested_at: u64,
    /// The encoded response; only the caller reads it.
    pub response: Vec<u8>,
}

/// A tree whose rows are in the tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The tree as it was handed out.
    pub lease: Lease,
    /// External URLs to be fed back, in the order found.
    pub found: Vec<StartCandidate>,
    /// Data that later trees of the site need, if there may be any.
    pub known: Option<Vec<u8>>,
    /// If no page came and another URL may open the site: the page keys of the URLs that its trees have
    /// requested so far.
    pub closed: Option<Vec<u64>>,
}
