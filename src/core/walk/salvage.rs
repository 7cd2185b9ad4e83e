use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::merge::is_page;
use super::tree::External;
use super::tree::counts::TreeCounts;
use super::{Content, Known, LevelCount, Tree};
use crate::address::{PageKey, Scope, WebUrl};
use crate::exchange::{Class, Depth, Outcome, Purpose, Request, Response};
use crate::page::{Element, Page};

/// Counts the recorded responses of a walk that has failed, without walking again, which might fail again.
///
/// It is not known what the walk would have done with a URL that it found and did not request: all of them
/// count as skipped because of a limit.
pub struct FailedWalk {
    scope: Scope,
    counts: TreeCounts,
    probe_load: LevelCount,
    requested: HashSet<PageKey>,
    /// Internal URLs, each with the level that it would have been on.
    found: HashMap<PageKey, Depth>,
}

impl FailedWalk {
    /// Keeps at most `max_urls` URLs, as the walk did.
    #[must_use]
    pub fn new(scope: Scope, max_urls: usize) -> Self {
        Self {
            scope,
            counts: TreeCounts::new(max_urls),
            probe_load: LevelCount::default(),
            requested: HashSet::new(),
            found: HashMap::new(),
        }
    }

    /// Takes in the response that another tree received for a robots.txt. It is not known which level needed
    /// it.
    pub fn take_shared(&mut self, response: &Response) {
        self.counts.home.note(Purpose::Robots, response, false);
        self.counts.level(Depth(0)).shared_robots += 1;
    }

    /// Takes in a response, in the order recorded.
    pub fn take(&mut self, request: &Request, response: &Response, content: &Content) {
        let is_page = request.purpose == Purpose::Page && is_page(response, content);
        self.counts.home.note(request.purpose, response, is_page);
        let Some(depth) = request.depth else {
            let load = if request.purpose == Purpose::Probe {
                &mut self.probe_load
            } else {
                &mut self.counts.robots
            };
            return load.book(response);
        };
        self.counts.level(depth).book(response);
        if !response.was_sent() {
            return self.find(&request.url, depth);
        }
        if self.requested.insert(request.url.page_key()) {
            self.counts.level(depth).count(Class::Fetched);
        }
        match content {
            Content::Page(page) if is_page => {
                self.counts.level(depth).pages += 1;
                self.note_links(&request.url, depth, page);
            }
            _ if response.is_redirect() => self.note_redirect(&request.url, depth, response),
            _ => {}
        }
    }

    fn note_links(&mut self, url: &WebUrl, depth: Depth, page: &Page) {
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

    fn note_redirect(&mut self, url: &WebUrl, depth: Depth, response: &Response) {
        let Some(Ok(target)) = response.head.location.as_deref().map(|location| url.join(location)) else {
            return;
        };
        if self.scope.contains(target.host()) {
            self.find(&target, depth);
        } else {
            self.find_external(&Arc::new(url.clone()), depth, &target, Element::Redirect, false);
        }
    }

    fn find(&mut self, url: &WebUrl, depth: Depth) {
        if self.counts.has_room(self.found.len())
            && let Entry::Vacant(vacant) = self.found.entry(url.page_key())
        {
            vacant.insert(depth);
            self.counts.note_internal(url);
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
        let key = url.page_key();
        if self.counts.has_external(&key) || !self.counts.has_room(self.found.len()) {
            return;
        }
        let external = External { depth, page: Arc::clone(page), url: url.clone(), element, nofollow };
        self.counts.add_external(key, external, &self.scope);
    }

    /// The tree, as far as it came, and what it knows for later trees of the site.
    #[must_use]
    pub fn conclude(mut self) -> (Tree, Known) {
        for (key, depth) in std::mem::take(&mut self.found) {
            if !self.requested.contains(&key) {
                self.counts.level(depth).count(Class::Limit);
            }
        }
        let tree = Tree {
            entrances: u16::from(!self.requested.is_empty()),
            probe_load: self.probe_load,
            ..self.counts.into_tree(Outcome::Failed)
        };
        (tree, Known { pages: self.requested, scripts: HashMap::new() })
    }
}
