use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::end::SiteTree;
use super::robots::{Had, Origin};
use super::rows::{LevelTruth, LinkTruth};
use super::rules::{PageId, endless, has_ending, script};
use super::survey::{Country, Start};
use super::traps::Traps;
use crate::space::content::{Content, Link, Url};
use crate::space::robots::Verdict;
use crate::space::site::{Role, Site};
use crate::space::spot::Spot;

/// More redirects in a row than this are not followed.
const MAX_HOPS: u32 = 10;
/// After so many pages in a row that never came the server is left alone.
const MOST_FAILURES: u32 = 5;

/// Where an internal URL stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Found with nofollow only.
    Shunned,
    /// To be listed at the next level.
    Found,
    Listed,
}

/// The walk of one site, one URL after another.
pub(super) struct Oracle<'a> {
    pub(super) country: &'a Country<'a>,
    pub(super) start: Start,
    pub(super) places: HashMap<PageId, Place>,
    /// The level that is being walked.
    list: Vec<Entry>,
    pub(super) found: Vec<Url>,
    pub(super) depth: u16,
    pub(super) levels: Vec<LevelTruth>,
    queries: HashMap<PageId, u32>,
    /// Origins whose robots.txt was asked for.
    pub(super) robots: HashMap<Origin, Had>,
    pub(super) robots_requests: u64,
    pub(super) links: Vec<LinkTruth>,
    pub(super) external_urls: HashSet<PageId>,
    pub(super) external_hosts: HashSet<String>,
    pub(super) external_sites: HashSet<Rc<str>>,
    pub(super) server_answered: bool,
    pub(super) page_answered: bool,
    pub(super) moved: bool,
    pub(super) traps: Traps,
    failures: u32,
    /// The server was left alone.
    pub(super) gave_up: bool,
    /// The hosts met, drawn once.
    hosts: RefCell<HashMap<String, Met>>,
}

/// A host that was met: its site and what it is there, or nobody.
type Met = Option<(Arc<Site>, Role)>;

/// A URL of a level.
#[derive(Clone)]
struct Entry {
    url: Url,
    /// Redirects that led here.
    hops: u32,
    /// The same page under its other scheme: it has its class already.
    again: bool,
    is_trap: bool,
    /// Schemes under which the page was asked for: http, https.
    asked: [bool; 2],
}

impl Entry {
    fn new(url: Url, hops: u32) -> Self {
        Self { url, hops, again: false, is_trap: false, asked: [false; 2] }
    }
}

impl<'a> Oracle<'a> {
    pub fn new(country: &'a Country<'a>, start: Start) -> Self {
        Self {
            country,
            places: HashMap::from([(PageId::of(&start.url), Place::Listed)]),
            list: vec![Entry::new(start.url.clone(), 0)],
            start,
            found: Vec::new(),
            depth: 0,
            levels: Vec::new(),
            queries: HashMap::new(),
            robots: HashMap::new(),
            robots_requests: 0,
            links: Vec::new(),
            external_urls: HashSet::new(),
            external_hosts: HashSet::new(),
            external_sites: HashSet::new(),
            server_answered: false,
            page_answered: false,
            moved: false,
            traps: Traps::default(),
            failures: 0,
            gave_up: false,
            hosts: RefCell::default(),
        }
    }

    pub fn walk(mut self) -> SiteTree {
        let mut left_for_depth = false;
        let mut below = 0;
        while !self.list.is_empty() {
            below = self.depth + 1;
            self.level(self.depth);
            let left = self.walk_level();
            if !self.gave_up {
                self.weigh_traps();
            }
            let next = self.next_level();
            if self.gave_up {
                self.class_left(left, next.len() as u64);
                break;
            }
            if self.depth == self.country.settings.depth {
                left_for_depth = !next.is_empty();
                self.level(self.depth + 1).not_fetched_depth += next.len() as u64;
                break;
            }
            let entry = |url: Url| Entry { is_trap: self.is_in_trap(&url), ..Entry::new(url, 0) };
            self.list = next.into_iter().map(entry).collect();
            self.depth += 1;
        }
        self.class_shunned(below);
        self.finish(left_for_depth)
    }

    /// Walks the list of a level, which redirects make longer meanwhile; how many URLs are left when
    /// the server is left alone.
    fn walk_level(&mut self) -> u64 {
        let mut turn = 0;
        while let Some(entry) = self.list.get(turn).filter(|_| !self.gave_up).cloned() {
            turn += 1;
            self.take(&entry);
        }
        self.list[turn..].iter().filter(|entry| !entry.again).count() as u64
    }

    fn take(&mut self, entry: &Entry) {
        let (url, once) = (&entry.url, u64::from(!entry.again));
        if entry.is_trap {
            self.here().not_fetched_trap += once;
        } else if let Some(name) = endless(url) {
            self.traps.name(name);
            self.here().not_fetched_trap += once;
        } else if self.depth > 0 && has_ending(url, &self.country.settings.non_html_extensions) {
            self.here().not_fetched_filtered += once;
        } else if !entry.again && self.script_is_used_up(url) {
            self.here().not_fetched_script += 1;
        } else {
            let spot = self.spot(url);
            match self.robots_verdict(url, spot.as_ref()) {
                Verdict::Allowed => self.fetch(entry, spot.as_ref()),
                Verdict::Kept => self.here().not_fetched_robots += once,
                Verdict::Unreachable => self.here().not_fetched_robots_unreachable += once,
            }
        }
    }

    fn fetch(&mut self, entry: &Entry, spot: Option<&Spot>) {
        let url = &entry.url;
        if let Some(script) = script(url).filter(|_| !entry.again) {
            *self.queries.entry(script).or_default() += 1;
        }
        self.here().fetched += u64::from(!entry.again);
        self.here().requests += 1;
        let content = self.content(spot);
        self.note_failure(matches!(content, Content::Refused | Content::Reset | Content::Silence));
        match content {
            Content::Redirect(_, to) => self.redirect(entry, to),
            Content::Page(page) => {
                self.here().pages += 1;
                let (found, externals) = (self.found.len(), self.links.len());
                for link in page.links {
                    self.find(url, Link { nofollow: link.nofollow || page.nofollow, ..link });
                }
                self.traps.note(url, self.links.len() - externals, &self.found[found..]);
            }
            _ => {}
        }
    }

    fn note_failure(&mut self, failed: bool) {
        self.page_answered |= !failed;
        self.server_answered |= !failed;
        self.failures = if failed { self.failures + 1 } else { 0 };
        self.gave_up |= self.failures >= MOST_FAILURES;
    }

    pub(super) fn spot(&self, url: &Url) -> Option<Spot> {
        if !self.hosts.borrow().contains_key(&url.host) {
            let site = Site::with_host(self.country.world, &url.host);
            let site = site.map(|(site, role)| (Arc::new(site), role));
            self.hosts.borrow_mut().insert(url.host.clone(), site);
        }
        let (site, role) = self.hosts.borrow().get(&url.host)?.clone()?;
        Some(Spot::on(site, role, url))
    }

    pub(super) fn content(&self, spot: Option<&Spot>) -> Content {
        spot.map_or(Content::Reset, |spot| spot.content(self.country.world))
    }

    /// A redirect adds no depth: its target joins the end of the level's list. To its own page under the
    /// other scheme, it is the same page again.
    fn redirect(&mut self, from: &Entry, to: Url) {
        if self.is_external(&to) {
            self.moved |= self.depth == 0;
            return self.find_external(&from.url, to, "redirect", false);
        }
        let hops = from.hops + 1;
        let id = PageId::of(&to);
        if id == PageId::of(&from.url) {
            let mut asked = from.asked;
            asked[usize::from(from.url.is_https)] = true;
            if !asked[usize::from(to.is_https)] && hops <= MAX_HOPS {
                self.list.push(Entry { again: true, asked, ..Entry::new(to, hops) });
            }
            return;
        }
        if self.places.insert(id, Place::Listed) == Some(Place::Listed) {
            return;
        }
        if hops > MAX_HOPS {
            self.here().not_fetched_redirects += 1;
        } else {
            let is_trap = self.is_in_trap(&to);
            self.list.push(Entry { is_trap, ..Entry::new(to, hops) });
        }
    }

    fn script_is_used_up(&self, url: &Url) -> bool {
        match script(url) {
            Some(script) => self
                .queries
                .get(&script)
                .is_some_and(|asked| *asked >= self.country.settings.queries_per_script),
            None => self.queries.contains_key(&PageId::of(url)),
        }
    }

    pub(super) fn here(&mut self) -> &mut LevelTruth {
        self.level(self.depth)
    }

    pub(super) fn level(&mut self, depth: u16) -> &mut LevelTruth {
        while self.levels.len() <= usize::from(depth) {
            let depth = u16::try_from(self.levels.len()).unwrap_or(u16::MAX);
            self.levels.push(LevelTruth { site: self.start.site.clone(), depth, ..LevelTruth::default() });
        }
        &mut self.levels[usize::from(depth)]
    }
}
