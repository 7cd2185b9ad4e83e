//! What is known of a site tree: its levels, the URLs that are listed, and probes of the URLs that were
//! skipped.

pub(super) mod counts;
pub(super) mod level;
pub(super) mod listing;
pub(super) mod probe;

use std::net::IpAddr;
use std::sync::Arc;

use super::{LevelCount, Probe};
use crate::address::WebUrl;
use crate::exchange::{Class, Depth, Entrance, Outcome};
use crate::page::Element;

/// A site tree whose walk has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Why the walk ended.
    pub outcome: Outcome,
    /// The entrance that brought the first page.
    pub entrance: Option<Entrance>,
    /// The number of entrances tried.
    pub entrances: u16,
    /// No page came, and another URL of the site may still open it.
    pub is_closed: bool,
    /// By depth, from 0. The last level may hold only URLs that were found and not fetched.
    pub levels: Vec<LevelCount>,
    /// The cost of robots.txt, redirects included; it has no depth.
    pub robots: LevelCount,
    /// What the skipped URLs would have brought.
    pub probes: Vec<Probe>,
    /// The load of the probes, which belong to no level.
    pub probe_load: LevelCount,
    /// Parts of the site that were taken for endless and not requested any further, in the order in which
    /// they were recognised: `www.a.ke/calendar/#/**`.
    pub trap_patterns: Vec<String>,
    /// Each external URL, with its first occurrence.
    pub externals: Vec<External>,
    /// The server that delivered the first page; else the one that responded first.
    pub address: Option<IpAddr>,
    /// The software that this server names in its header.
    pub server: Option<String>,
}

/// The first occurrence of an external URL in a site tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// The depth of the page with the link.
    pub depth: Depth,
    /// The page with the link.
    pub page: Arc<WebUrl>,
    /// The link itself.
    pub url: WebUrl,
    /// The HTML element of the link.
    pub element: Element,
    /// The page or the link says `nofollow`.
    pub nofollow: bool,
}

impl Tree {
    /// The deepest level at which something was fetched.
    #[must_use]
    pub fn deepest(&self) -> Option<Depth> {
        let index = self.levels.iter().rposition(|level| level.class(Class::Fetched) > 0)?;
        u16::try_from(index).ok().map(Depth)
    }

    /// A sum over all levels, without robots.txt.
    pub fn sum(&self, amount: impl Fn(&LevelCount) -> u64) -> u64 {
        self.levels.iter().map(amount).sum()
    }
}
