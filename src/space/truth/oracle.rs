use std::collections::{HashMap, HashSet};

use super::end::SiteTree;
use super::rows::{LevelTruth, LinkTruth};
use super::survey::{Country, Start};
use crate::space::content::{Content, Element, Link, Spot, Url};
use crate::space::response::{Lookup, Web, canonical};
use crate::space::robots::Verdict;

/// More redirects in a row than this are not followed.
const MAX_HOPS: u32 = 10;

/// Host, path and query: what makes two URLs the same page, whatever the scheme.
pub(super) type PageId = (String, String);

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
    /// The level that is being walked, with the redirects that led to each URL.
    list: Vec<(Url, u32)>,
    found: Vec<Url>,
    depth: u16,
    pub(super) levels: Vec<LevelTruth>,
    queries: HashMap<PageId, u32>,
    /// Hosts whose robots.txt was asked for, and whether it could be had.
    robots: HashMap<(bool, String), bool>,
    pub(super) robots_requests: u64,
    pub(super) links: Vec<LinkTruth>,
    external_urls: HashSet<PageId>,
    external_hosts: HashSet<String>,
    external_sites: HashSet<String>,
    pub(super) server_answered: bool,
    pub(super) moved: bool,
}

impl<'a> Oracle<'a> {
    pub fn new(country: &'a Country<'a>, start: Start) -> Self {
        Self {
            country,
            places: HashMap::from([(page_id(&start.url), Place::Listed)]),
            list: vec![(start.url.clone(), 0)],
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
            moved: false,
        }
    }

    pub fn walk(mut self) -> SiteTree {
        let mut left_for_depth = false;
        let mut below = 0;
        while !self.list.is_empty() {
            below = self.depth + 1;
            self.level(self.depth);
            self.walk_level();
            let next = self.next_level();
            if self.depth == self.country.settings.depth {
                left_for_depth = !next.is_empty();
                self.level(self.depth + 1).not_fetched_depth += next.len() as u64;
                break;
            }
            self.list = next;
            self.depth += 1;
        }
        self.class_shunned(below);
        self.finish(left_for_depth)
    }

    /// Walks the list of a level, which redirects make longer meanwhile.
    fn walk_level(&mut self) {
        let mut turn = 0;
        while let Some((url, hops)) = self.list.get(turn).cloned() {
            turn += 1;
            if self.script_is_used_up(&url) {
                self.here().not_fetched_script += 1;
                continue;
            }
            match self.robots_verdict(&url) {
                Verdict::Allowed => self.fetch(&url, hops),
                Verdict::Kept => self.here().not_fetched_robots += 1,
                Verdict::Unreachable => self.here().not_fetched_robots_unreachable += 1,
            }
        }
    }

    fn fetch(&mut self, url: &Url, hops: u32) {
        if let Some(script) = script(url) {
            *self.queries.entry(script).or_default() += 1;
        }
        self.here().fetched += 1;
        self.here().requests += 1;
        match self.content(url) {
            Content::Redirect(_, to) => self.redirect(url, to, hops),
            Content::Page(page) => {
                self.here().pages += 1;
                for link in page.links {
                    self.find(url, Link { nofollow: link.nofollow || page.nofollow, ..link });
                }
            }
            _ => {}
        }
    }

    fn content(&self, url: &Url) -> Content {
        let spot = Spot::find(self.country.world, &url.host, &url.target);
        spot.map_or(Content::Reset, |spot| spot.content(self.country.world, &url.target))
    }

    /// A redirect adds no depth: its target joins the end of the level's list.
    fn redirect(&mut self, from: &Url, to: Url, hops: u32) {
        if self.is_external(&to) {
            self.moved |= self.depth == 0;
            return self.find_external(from, to, "redirect", false);
        }
        if self.places.insert(page_id(&to), Place::Listed) == Some(Place::Listed) {
            return;
        }
        if hops + 1 > MAX_HOPS {
            self.here().not_fetched_redirects += 1;
        } else {
            self.list.push((to, hops + 1));
        }
    }

    fn find(&mut self, page: &Url, link: Link) {
        if self.is_external(&link.url) {
            return self.find_external(page, link.url, word(link.element), link.nofollow);
        }
        let id = page_id(&link.url);
        let place = self.places.get(&id).copied();
        if link.nofollow {
            self.places.entry(id).or_insert(Place::Shunned);
        } else if matches!(place, None | Some(Place::Shunned)) {
            self.places.insert(id, Place::Found);
            self.found.push(link.url);
        }
    }

    fn find_external(&mut self, page: &Url, url: Url, element: &str, nofollow: bool) {
        if !self.external_urls.insert(page_id(&url)) {
            return;
        }
        let target_site = self.country.site_of(&url.host);
        let is_new_host = self.external_hosts.insert(url.host.clone());
        let is_new_site = self.external_sites.insert(target_site.clone());
        let level = self.here();
        level.external_urls += 1;
        level.external_hosts += u64::from(is_new_host);
        level.external_sites += u64::from(is_new_site);
        self.links.push(LinkTruth {
            site: self.start.site.clone(),
            depth: self.depth,
            page: page.to_string(),
            url: url.to_string(),
            target_site,
            element: element.to_owned(),
            nofollow,
            in_survey: self.country.surveys(&url.host),
            host: url.host,
        });
    }

    fn is_external(&self, url: &Url) -> bool {
        self.country.site_of(&url.host) != self.start.site
    }

    /// What was found and not drawn up by a redirect.
    fn next_level(&mut self) -> Vec<(Url, u32)> {
        let found = std::mem::take(&mut self.found);
        found
            .into_iter()
            .filter(|url| self.places.insert(page_id(url), Place::Listed) == Some(Place::Found))
            .map(|url| (url, 0))
            .collect()
    }

    fn script_is_used_up(&self, url: &Url) -> bool {
        match script(url) {
            Some(script) => self
                .queries
                .get(&script)
                .is_some_and(|asked| *asked >= self.country.settings.queries_per_script),
            None => self.queries.contains_key(&page_id(url)),
        }
    }

    /// Asks for robots.txt before the first page of a host.
    fn robots_verdict(&mut self, url: &Url) -> Verdict {
        let host = (url.is_https, url.host.clone());
        let is_there = match self.robots.get(&host) {
            Some(is_there) => *is_there,
            None => self.ask_robots(url),
        };
        self.robots.insert(host, is_there);
        let world = self.country.world;
        match Spot::find(world, &url.host, &url.target) {
            Some(spot) if is_there => {
                let robots = spot.site.robots(spot.role);
                spot.resource.map_or_else(
                    || robots.verdict_on_nothing(),
                    |resource| robots.verdict(&resource, spot.site.is_script_only),
                )
            }
            _ => Verdict::Unreachable,
        }
    }

    /// Whether the host answers for its robots.txt. A virtual Web space speaks no TLS.
    fn ask_robots(&mut self, url: &Url) -> bool {
        let Lookup::Found(_) = self.country.world.lookup(&url.host) else { return false };
        self.robots_requests += 1;
        let file = Url { target: "/robots.txt".to_owned(), ..url.clone() };
        let status = match self.content(&file) {
            Content::RobotsTxt(robots) => robots.file().0,
            Content::Status(status) => status,
            _ => return false,
        };
        self.server_answered |= !url.is_https;
        !url.is_https && status < 500
    }

    fn here(&mut self) -> &mut LevelTruth {
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

fn page_id(url: &Url) -> PageId {
    (url.host.clone(), url.target.clone())
}

/// The script that a query URL calls: the URL without its query and path parameters.
fn script(url: &Url) -> Option<PageId> {
    if !url.target.contains(['?', ';']) {
        return None;
    }
    let path = url.target.split('?').next().unwrap_or_default();
    let plain: Vec<&str> =
        path.split('/').map(|segment| segment.split(';').next().unwrap_or_default()).collect();
    Some((url.host.clone(), plain.join("/")))
}

/// The word for an element in the table `links`.
pub(in crate::space) fn word(element: Element) -> &'static str {
    match element {
        Element::A => "a",
        Element::Area => "area",
        Element::Iframe => "iframe",
        Element::Refresh => "meta",
    }
}

/// A URL of the model from the parts of any URL.
pub(super) fn url_of(is_https: bool, host: &str, target: &str) -> Url {
    Url { is_https, host: host.to_owned(), target: canonical(host, target) }
}
