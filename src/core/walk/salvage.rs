use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::merge::{USUAL_URL_BYTES, is_page};
use super::origins::home_server::HomeServer;
use super::tree::External;
use super::{Content, Known, LevelCount, Tree};
use crate::address::{Host, PageKey, Scope, Site, WebUrl};
use crate::exchange::{Answer, Ask, Class, Depth, Outcome, Purpose};
use crate::page::{Element, Page};

/// What is left of a walk that has failed: its recorded answers, counted without walking it again, which might
/// fail again.
///
/// What the walk would have done with a URL that it found and did not ask for is not known: all of them count as
/// kept back by a limit.
pub struct Salvage {
    scope: Scope,
    max_urls: usize,
    levels: Vec<LevelCount>,
    robots: LevelCount,
    probe_load: LevelCount,
    asked: HashSet<PageKey>,
    /// Internal URLs, each with the level that it would have been on.
    found: HashMap<PageKey, Depth>,
    sites: HashSet<Site>,
    hosts: HashSet<Host>,
    urls: HashSet<PageKey>,
    url_bytes: usize,
    externals: Vec<External>,
    home: HomeServer,
}

impl Salvage {
    /// Keeps at most so many URLs, as the walk did.
    #[must_use]
    pub fn new(scope: Scope, max_urls: usize) -> Self {
        Self {
            scope,
            max_urls,
            levels: vec![LevelCount::default()],
            robots: LevelCount::default(),
            probe_load: LevelCount::default(),
            asked: HashSet::new(),
            found: HashMap::new(),
            sites: HashSet::new(),
            hosts: HashSet::new(),
            urls: HashSet::new(),
            url_bytes: 0,
            externals: Vec::new(),
            home: HomeServer::default(),
        }
    }

    /// Takes in what another tree got for a robots.txt. Which level needed it is not known.
    pub fn take_shared(&mut self, answer: &Answer) {
        self.home.note(Purpose::Robots, answer, false);
        self.level(Depth(0)).shared_robots += 1;
    }

    /// Takes in an answer, in the order recorded.
    pub fn take(&mut self, ask: &Ask, answer: &Answer, content: &Content) {
        let is_page = ask.purpose == Purpose::Page && is_page(answer, content);
        self.home.note(ask.purpose, answer, is_page);
        let Some(depth) = ask.depth else {
            let load = if ask.purpose == Purpose::Probe { &mut self.probe_load } else { &mut self.robots };
            return load.book(answer);
        };
        self.level(depth).book(answer);
        if answer.failure.is_some_and(|failure| !failure.reached_the_network()) {
            return self.find(&ask.url, depth);
        }
        if self.asked.insert(ask.url.page_key()) {
            self.level(depth).count(Class::Fetched);
        }
        match content {
            Content::Page(page) if is_page => {
                self.level(depth).pages += 1;
                self.take_links(&ask.url, depth, page);
            }
            _ if answer.is_redirect() => self.take_redirect(&ask.url, depth, answer),
            _ => {}
        }
    }

    fn take_links(&mut self, url: &WebUrl, depth: Depth, page: &Page) {
        let from = Arc::new(url.clone());
        for link in &page.links {
            let nofollow = link.nofollow || page.nofollow;
            if !self.scope.contains_from(url.host(), link.url.host()) {
                self.find_external(&from, depth, &link.url, link.element, nofollow);
            } else if !nofollow {
                self.find(&link.url, depth.next());
            }
        }
    }

    fn take_redirect(&mut self, url: &WebUrl, depth: Depth, answer: &Answer) {
        let Some(Ok(target)) = answer.head.location.as_deref().map(|location| url.join(location)) else {
            return;
        };
        if self.scope.contains(target.host()) {
            self.find(&target, depth);
        } else {
            self.find_external(&Arc::new(url.clone()), depth, &target, Element::Redirect, false);
        }
    }

    fn find(&mut self, url: &WebUrl, depth: Depth) {
        if self.found.len() + self.urls.len() < self.max_urls {
            self.found.entry(url.page_key()).or_insert(depth);
        }
    }

    fn find_external(
        &mut self,
        page: &Arc<WebUrl>,
        depth: Depth,
        url: &WebUrl,
        element: Element,
        nofollow: bool,
    ) {
        let has_room = self.found.len() + self.urls.len() < self.max_urls
            && self.url_bytes < self.max_urls * USUAL_URL_BYTES;
        if !has_room || !self.urls.insert(url.page_key()) {
            return;
        }
        self.url_bytes += url.as_str().len();
        let new_host = self.hosts.insert(url.host().clone());
        let new_site = new_host && self.sites.insert(self.scope.site_of(url.host()));
        let level = self.level(depth);
        level.external_urls += 1;
        level.external_hosts += u64::from(new_host);
        level.external_sites += u64::from(new_site);
        self.externals.push(External { depth, page: Arc::clone(page), url: url.clone(), element, nofollow });
    }

    fn level(&mut self, depth: Depth) -> &mut LevelCount {
        let at = usize::from(depth.0);
        if self.levels.len() <= at {
            self.levels.resize_with(at + 1, LevelCount::default);
        }
        &mut self.levels[at]
    }

    /// The tree, as far as it came, and what it knows for later trees of the site.
    #[must_use]
    pub fn conclude(mut self) -> (Tree, Known) {
        for (key, depth) in std::mem::take(&mut self.found) {
            if !self.asked.contains(&key) {
                self.level(depth).count(Class::Limit);
            }
        }
        let (address, server) = self.home.into_parts();
        let tree = Tree {
            outcome: Outcome::Failed,
            entrance: None,
            entrances: u16::from(!self.asked.is_empty()),
            is_closed: false,
            trap_patterns: Vec::new(),
            levels: self.levels,
            robots: self.robots,
            probes: Vec::new(),
            probe_load: self.probe_load,
            externals: self.externals,
            address,
            server,
        };
        (tree, Known { pages: self.asked, scripts: HashMap::new() })
    }
}
