use serde::{Deserialize, Serialize};

use crate::address::{Site, WebUrl};

/// How far a survey spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Start URLs that one site may have; each but the first makes a further tree of the site where the
    /// earlier ones have not reached it.
    pub seeds_per_site: u32,
    /// The last generation that is walked; none: no bound.
    pub generations: Option<u32>,
    /// A site that no tree could open is given another URL, as long as it has fewer than [`MOST_TREES`].
    pub later_trees: bool,
}

/// Trees of a site that brought no page before it is given up.
pub const MOST_TREES: u32 = 3;

impl Default for Spread {
    fn default() -> Self {
        Self { seeds_per_site: 1, generations: None, later_trees: true }
    }
}

/// A site tree that is handed out to be walked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The tree's place in the survey; also the name of its journal.
    pub order: u64,
    /// Whose tree it is.
    pub site: Site,
    /// Trees of greater priority are handed out first.
    pub priority: i32,
    /// Which of the site's start URLs this is, 0 the first.
    pub seed: u16,
    /// Where the walk begins.
    pub start: WebUrl,
    /// The site that first linked here; none for the user's start URLs.
    pub parent: Option<Site>,
    /// Sites between it and the start list; 0 for the start list itself.
    pub generation: u32,
}

/// A start URL, and the sites it may belong to: the nearest first. Where a site is a registrable domain
/// there is one; where it is a host, a known host above it takes it in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartCandidate {
    /// Where a walk would begin.
    pub url: WebUrl,
    /// Never empty.
    pub homes: Vec<Site>,
    /// Trees of greater priority are handed out first.
    pub priority: i32,
}

/// What became of a start URL that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// A new site.
    Site,
    /// A further start URL of a known site.
    Seed,
    /// Its site is known and takes no further start URLs, or has this one already. It may be kept as a spare,
    /// for the case that the trees before it cannot open the site.
    Known,
}

/// A response for a robots.txt, which trees that come later may go by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRobots {
    /// Of its URL.
    pub key: u64,
    /// When it was asked for, in microseconds since 1970.
    pub asked: u64,
    /// For who hands it in to read.
    pub response: Vec<u8>,
}

/// A tree whose rows are in the tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The tree as it was handed out.
    pub lease: Lease,
    /// External URLs to be fed back, in the order found.
    pub found: Vec<StartCandidate>,
    /// What later trees of the site need to know, when there may be any.
    pub known: Option<Vec<u8>>,
    /// No page came and another URL may open the site: the page keys of what its trees have asked for so far.
    pub closed: Option<Vec<u64>>,
}
