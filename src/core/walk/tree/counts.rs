use super::{External, Tree};
use crate::address::{Host, PageKey, Scope, Site, WebUrl};
use crate::exchange::{Depth, Outcome};
use crate::walk::LevelCount;
use crate::walk::origins::home_server::HomeServer;

/// A site whose URLs are longer than this on average becomes a trap before their number makes it one: hostile
/// URLs have 2 kB. On the Web the mean is below 80.
const USUAL_URL_BYTES: usize = 200;

/// The contents of a site tree so far.
pub(in crate::walk) struct TreeCounts {
    pub levels: Vec<LevelCount>,
    pub robots: LevelCount,
    pub home: HomeServer,
    pub externals: Vec<External>,
    max_urls: usize,
    /// Bytes of the URLs found.
    url_bytes: usize,
    urls: foldhash::HashSet<PageKey>,
    hosts: foldhash::HashSet<Host>,
    sites: foldhash::HashSet<Site>,
}

impl TreeCounts {
    /// Counts for a tree that may have at most `max_urls` URLs, internal and external together.
    pub(in crate::walk) fn new(max_urls: usize) -> Self {
        Self {
            levels: vec![LevelCount::default()],
            robots: LevelCount::default(),
            home: HomeServer::default(),
            externals: Vec::new(),
            max_urls,
            url_bytes: 0,
            urls: foldhash::HashSet::default(),
            hosts: foldhash::HashSet::default(),
            sites: foldhash::HashSet::default(),
        }
    }

    pub(in crate::walk) fn level(&mut self, depth: Depth) -> &mut LevelCount {
        let at = usize::from(depth.0);
        if self.levels.len() <= at {
            self.levels.resize_with(at + 1, LevelCount::default);
        }
        &mut self.levels[at]
    }

    /// Whether a tree with this many internal URLs may have one more URL.
    pub(in crate::walk) fn has_room(&self, internal: usize) -> bool {
        internal + self.urls.len() < self.max_urls && self.url_bytes < self.max_urls * USUAL_URL_BYTES
    }

    /// Whether a tree with this many internal URLs has room for more than `more` further URLs.
    pub(in crate::walk) fn has_room_for(&self, internal: usize, more: usize) -> bool {
        internal + self.urls.len() + more < self.max_urls
    }

    pub(in crate::walk) fn note_internal(&mut self, url: &WebUrl) {
        self.url_bytes += url.as_str().len();
    }

    pub(in crate::walk) fn has_external(&self, key: &PageKey) -> bool {
        self.urls.contains(key)
    }

    pub(in crate::walk) fn has_external_host(&self, host: &Host) -> bool {
        self.hosts.contains(host)
    }

    /// Distinct external hosts.
    pub(in crate::walk) fn external_hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Takes in an external URL that the tree does not have yet.
    pub(in crate::walk) fn add_external(&mut self, key: PageKey, external: External, scope: &Scope) {
        let host = external.url.host();
        self.urls.insert(key);
        self.url_bytes += external.url.as_str().len();
        let is_new_host = self.hosts.insert(host.clone());
        let is_new_site = is_new_host && self.sites.insert(scope.site_of(host));
        let level = self.level(external.depth);
        level.external_urls += 1;
        level.external_hosts += u64::from(is_new_host);
        level.external_sites += u64::from(is_new_site);
        self.externals.push(external);
    }

    /// The tree; the caller adds everything that is not a count.
    pub(in crate::walk) fn into_tree(self, outcome: Outcome) -> Tree {
        let (address, server) = self.home.into_parts();
        Tree {
            outcome,
            entrance: None,
            entrances: 0,
            is_closed: false,
            levels: self.levels,
            robots: self.robots,
            probes: Vec::new(),
            probe_load: LevelCount::default(),
            trap_patterns: Vec::new(),
            externals: self.externals,
            address,
            server,
        }
    }
}
