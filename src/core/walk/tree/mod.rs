//! What is known of a site tree: its levels, the URLs that are listed, and probes of what was left out.

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
    /// Which entrance brought the first page.
    pub entrance: Option<Entrance>,
    /// How many were tried.
    pub entrances: u16,
    /// No page came, and another URL of the site may still open it.
    pub is_closed: bool,
    /// By depth, from 0. The last may hold only what was found and not fetched.
    pub levels: Vec<LevelCount>,
    /// What robots.txt cost, redirects of it included; no depth.
    pub robots: LevelCount,
    /// What query URLs beyond the rule would have brought, and what it cost to ask for them.
    pub probes: Vec<Probe>,
    /// The cost of the probes.
    pub probe_load: LevelCount,
    /// Parts of the site that were taken for endless and not asked for any further, in the order in which they
    /// were recognised: `www.a.ke/calendar/#/**`.
    pub trap_patterns: Vec<String>,
    /// Each external URL, where it first occurred.
    pub externals: Vec<External>,
    /// The server that delivered the first page; else the one that responded first.
    pub address: Option<IpAddr>,
    /// What that server says it runs.
    pub server: Option<String>,
}

/// The first occurrence of an external URL in a site tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Of the page that it stands on.
    pub depth: Depth,
    /// The page that it stands on.
    pub page: Arc<WebUrl>,
    /// The link itself.
    pub url: WebUrl,
    /// The HTML element that it stands in.
    pub element: Element,
    /// The page or the link says `nofollow`.
    pub nofollow: bool,
}

impl Tree {
    /// The deepest level at which something was asked for.
    #[must_use]
    pub fn deepest(&self) -> Option<Depth> {
        let at = self.levels.iter().rposition(|level| level.class(Class::Fetched) > 0)?;
        u16::try_from(at).ok().map(Depth)
    }

    /// A sum over all levels, robots.txt left out.
    pub fn sum(&self, of: impl Fn(&LevelCount) -> u64) -> u64 {
        self.levels.iter().map(of).sum()
    }
}
