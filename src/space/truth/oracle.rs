use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::end::{Known, SiteTree};
use super::entrances::{Entering, Kept, Relation, is_front};
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
    /// An earlier tree of the site had it.
    Earlier,
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
    pub(super) queries: HashMap<PageId, u32>,
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
    pub(super) entering: Entering,
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
pub(super) struct Entry {
    pub url: Url,
    /// Redirects that led here.
    hops: u32,
    /// The same page under its other scheme: it has its class already.
    pub again: bool,
    /// At level 0, of the entrance that this is or that redirects led from.
    pub relation: Option<Relation>,
    is_trap: bool,
    /// Schemes under which the page was asked for: http, https.
    asked: [bool; 2],
}

impl Entry {
    fn new(url: Url, hops: u32) -> Self {
        Self { url, hops, again: false, relation: None, is_trap: false, asked: [false; 2] }
    }

    /// `again` where the page has its class already.
    pub fn entrance(url: Url, relation: Relation, again: bool) -> Self {
        Self { relation: Some(relation), again, ..Self::new(url, 0) }
    }

    fn is_entrance(&self) -> bool {
        self.relation.is_some() && self.hops == 0
    }
}

impl<'a> Oracle<'a> {
    /// A tree of a site of which earlier trees know something, or nothing.
    pub fn new(country: &'a Country<'a>, start: Start, known: &Known) -> Self {
        let entrances = country.settings.entrances;
        let mut places: HashMap<_, _> = known.pages.iter().map(|page| (*page, Place::Earlier)).collect();
        places.insert(PageId::of(&start.url), Place::Listed);
        let offered = Entry::entrance(start.url.clone(), Relation::Offered, false);
        Self {
            country,
            places,
            list: vec![offered],
            entering: Entering::new(entrances, &start.site, &start.url, start.seed == 0),
            start,
            found: Vec::new(),
            depth: 0,
            levels: Vec::new(),
            queries: known.scripts.clone(),
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

    /// Whether the URL offered brings a page by itself, over redirects at most.
    pub fn opens(mut self) -> bool {
        self.entering = Entering::alone(&self.start.site, &self.start.url);
        self.level(0);
        self.walk_level();
        self.here().pages > 0
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

    /// Walks the list of a level, which redirects and further entrances make longer meanwhile; how many URLs are left when
    /// the server is left alone.
    fn walk_level(&mut self) -> u64 {
        let mut turn = 0;
        loop {
            while let Some(entry) = self.list.get(turn).filter(|_| !self.gave_up).cloned() {
                turn += 1;
                self.take(&entry);
            }
            let Some(entrance) = self.next_entrance() else { break };
            self.list.push(entrance);
        }
        self.list[turn..].iter().filter(|entry| !entry.again).count() as u64
    }

    /// Entrances are kept back by nothing but robots.txt, front pages not as scripts.
    fn take(&mut self, entry: &Entry) {
        let (url, is_entrance) = (&entry.url, entry.is_entrance());
        let endless = endless(url).filter(|_| !is_entrance);
        if entry.is_trap && !is_entrance {
            self.keep(entry, Kept::Trap);
        } else if let Some(name) = endless {
            self.traps.name(name);
            self.keep(entry, Kept::Trap);
        } else if self.depth > 0 && has_ending(url, &self.country.settings.non_html_extensions) {
            self.keep(entry, Kept::Filtered);
        } else if !(entry.again || is_entrance || is_front(url)) && self.script_is_used_up(url) {
            self.keep(entry, Kept::Script);
        } else {
            let spot = self.spot(url);
            match self.robots_verdict(url, spot.as_ref()) {
                Verdict::Allowed => self.fetch(entry, spot.as_ref()),
                Verdict::Kept => self.keep(entry, Kept::Robots),
                Verdict::Unreachable => self.keep(entry, Kept::Unreachable),
            }
        }
    }

    fn keep(&mut self, entry: &Entry, why: Kept) {
        if self.depth == 0 {
            self.entering.note_kept(entry, why);
        }
        *why.count(self.here()) += u64::from(!entry.again);
    }

    fn fetch(&mut self, entry: &Entry, spot: Option<&Spot>) {
        let url = &entry.url;
        if let Some(script) = script(url).filter(|_| !entry.again) {
            *self.queries.entry(script).or_default() += 1;
        }
        self.here().fetched += u64::from(!entry.again);
        if entry.again
            && let Some(why) = self.entering.was_kept(url)
        {
            *why.count(self.here()) -= 1;
            self.here().fetched += 1;
        }
        self.here().requests += 1;
        let content = self.content(spot);
        let failed = matches!(content, Content::Refused | Content::Reset | Content::Silence);
        self.note_failure(failed);
        if !failed {
            self.entering.note_answer(url);
        }
        match content {
            Content::Redirect(_, to) => self.redirect(entry, to),
            Content::Page(page) => {
                self.here().pages += 1;
                self.entering.opened = self.entering.opened.or(entry.relation);
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
    /// other scheme, it is the same page again; so is, at level 0, any page that is listed under the other scheme.
    fn redirect(&mut self, from: &Entry, to: Url) {
        if self.is_external(&to) {
            if self.depth == 0 {
                self.moved = true;
                self.entering.note_moved(&self.start.url, from);
            }
            return self.find_external(&from.url, to, "redirect", false);
        }
        let (hops, relation, id) = (from.hops + 1, from.relation, PageId::of(&to));
        let place = self.places.get(&id).copied();
        let is_same = id == PageId::of(&from.url);
        if is_same || (self.depth == 0 && place == Some(Place::Listed)) {
            let mut asked = from.asked;
            asked[usize::from(from.url.is_https)] = true;
            let is_known =
                if self.depth == 0 { self.entering.is_listed(&to) } else { asked[usize::from(to.is_https)] };
            if !is_known && hops <= MAX_HOPS {
                self.enlist(Entry { again: true, asked, relation, ..Entry::new(to, hops) });
            }
            return;
        }
        if matches!(place, Some(Place::Listed | Place::Earlier)) {
            return;
        }
        self.places.insert(id, Place::Listed);
        if hops > MAX_HOPS {
            self.here().not_fetched_redirects += 1;
        } else {
            let is_trap = self.is_in_trap(&to);
            self.enlist(Entry { is_trap, relation, ..Entry::new(to, hops) });
        }
    }

    fn enlist(&mut self, entry: Entry) {
        if self.depth == 0 {
            self.entering.note_listed(&entry.url);
        }
        self.list.push(entry);
    }

    /// A script is used up by its query URLs; its bare URL is kept back then, too.
    fn script_is_used_up(&self, url: &Url) -> bool {
        let asked = self.queries.get(&script(url).unwrap_or_else(|| PageId::of(url)));
        asked.is_some_and(|asked| *asked >= self.country.settings.queries_per_script)
    }

    pub(super) fn here(&mut self) -> &mut LevelTruth {
        self.level(self.depth)
    }

    pub(super) fn level(&mut self, depth: u16) -> &mut LevelTruth {
        while self.levels.len() <= usize::from(depth) {
            let depth = u16::try_from(self.levels.len()).unwrap_or(u16::MAX);
            self.levels.push(LevelTruth {
                site: self.start.site.clone(),
                seed: self.start.seed,
                depth,
                ..LevelTruth::default()
            });
        }
        &mut self.levels[usize::from(depth)]
    }
}
