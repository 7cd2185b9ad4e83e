use std::cmp::Reverse;
use std::collections::HashMap;

use super::Tree;
use super::entry::{ListedUrl, UrlState};
use super::origins::entrance::EntranceCandidate;
use super::state::Walk;
use super::step::Known;
use super::traps::shape::{Shape, ShapeId};
use super::traps::tally::LevelView;
use super::tree::listing::Listing;
use super::yields::Finder;
use crate::address::{UrlList, WebUrl};
use crate::exchange::{Class, Depth, Outcome};

/// The end of a level, and the end of the walk.
impl Walk {
    /// All responses of the level are merged: the next level begins, or the walk ends.
    pub(super) fn finish_level(&mut self) {
        if self.depth == Depth(0) {
            if self.try_next_entrance() {
                return;
            }
            if self.level().pages == 0 {
                let outcome = self.outcome_without_page();
                return self.end(outcome);
            }
        }
        if self.rounds().is_some() {
            return self.finish_level_of_round();
        }
        self.evaluate_evidence();
        let is_quiet = self.level().external_urls == 0;
        self.quiet_levels = if is_quiet { self.quiet_levels + 1 } else { 0 };
        let (next, finders) = self.take_next_level();
        if next.is_empty() {
            let outcome = self.outcome_of_hosts().unwrap_or_else(|| self.outcome_without_links());
            return self.end(outcome);
        }
        let is_stable = self.settings.stable_levels.is_some_and(|levels| self.quiet_levels >= levels);
        if is_stable || self.depth >= self.settings.depth {
            self.found = next;
            let usual = if is_stable { Outcome::Stable } else { Outcome::Depth };
            let outcome = self.outcome_of_hosts().unwrap_or(usual);
            return self.end(outcome);
        }
        for url in next.iter() {
            self.known.insert(url.page_key(), UrlState::Listed);
        }
        let depth = self.depth.next();
        self.list = if self.auto.is_some() {
            let with_finders = next.iter().zip(finders);
            with_finders.map(|(url, finder)| self.entry(url, depth, finder.as_ref())).collect()
        } else {
            let skipped =
                next.iter().enumerate().filter_map(|(at, url)| Some((at, self.skipped(&url)?))).collect();
            Listing::new_packed(next, skipped)
        };
        self.depth = depth;
    }

    /// The URLs found on the level that is now done, with the page on which each was found if that matters.
    pub(super) fn take_next_level(&mut self) -> (UrlList, Vec<Option<Finder>>) {
        // The list is done with; the next level needs the memory.
        self.list = Listing::default();
        let mut next = std::mem::take(&mut self.found);
        let found_by = self.take_finders();
        let mut finders = Vec::new();
        next.retain(|at, url| {
            let is_next = self.is_found(url);
            if is_next && self.auto.is_some() {
                finders.push(found_by.get(at).copied().flatten());
            }
            is_next
        });
        (next, finders)
    }

    /// Whether a URL still waits for the level below the one on which it was found: a redirect may have moved
    /// it up.
    pub(super) fn is_found(&self, url: &WebUrl) -> bool {
        self.known.get(&url.page_key()) == Some(&UrlState::Found)
    }

    /// Level 0 has nothing left to request: puts the next entrance on its list, if there is one to try.
    fn try_next_entrance(&mut self) -> bool {
        let has_page = self.level().pages > 0;
        if self.entering.is_forbidden || self.is_start_opted_out() {
            return false;
        }
        while let Some(EntranceCandidate { url, entrance, .. }) = self.entering.next(has_page) {
            let again = match self.known.insert(url.page_key(), UrlState::Listed) {
                Some(UrlState::Earlier) => {
                    self.known.insert(url.page_key(), UrlState::Earlier);
                    continue;
                }
                url_state => url_state == Some(UrlState::Listed),
            };
            self.entering.note_listed(&url);
            self.entering.tried += 1;
            self.list.push(ListedUrl { again, entrance: Some(entrance), ..ListedUrl::new(url) });
            return true;
        }
        false
    }

    fn is_start_opted_out(&mut self) -> bool {
        self.opted_out || self.level().class(Class::OptOut) > 0
    }

    /// The outcome of a walk that skipped URLs because their hosts opted out or no longer respond to us.
    pub(super) fn outcome_of_hosts(&self) -> Option<Outcome> {
        match () {
            () if self.has_site_opted_out() => Some(Outcome::OptOut),
            () if self.has_urls(Class::Refused) => Some(Outcome::Refused),
            () if self.bans.has_given_up_host() => Some(Outcome::Unreachable),
            () => None,
        }
    }

    /// Whether the site opted out during the walk, and URLs were skipped because of that.
    pub(super) fn has_site_opted_out(&self) -> bool {
        self.has_urls(Class::OptOut) && self.entering.has_home_opted_out(&self.opt_out)
    }

    fn has_urls(&self, class: Class) -> bool {
        self.counts.levels.iter().any(|level| level.class(class) > 0)
    }

    /// The outcome of a walk that has nothing more to request.
    pub(super) fn outcome_without_links(&self) -> Outcome {
        match () {
            () if self.has_urls(Class::Yield) => Outcome::Yield,
            () if self.has_urls(Class::OptOut) => Outcome::OptOut,
            () if self.has_urls(Class::Trap) => Outcome::Trap,
            () => Outcome::Complete,
        }
    }

    /// The outcome of a site none of whose entrances brought a page.
    fn outcome_without_page(&mut self) -> Outcome {
        match () {
            () if self.is_start_opted_out() => Outcome::OptOut,
            () if self.moved => Outcome::Moved,
            () if self.entering.forbidden_by_robots && !self.failures.has_page_answered() => Outcome::Robots,
            () if !self.entering.got_response => Outcome::Unreachable,
            () => Outcome::NoPage,
        }
    }

    pub(super) fn evaluate_evidence(&mut self) {
        let site = self.scope.site().as_str();
        let level = LevelView { site, found: &self.found, known: &self.known };
        if let Some(levels) = self.settings.trap_levels {
            self.evidence.evaluate(level, levels);
        }
    }

    /// A URL on the list of a level; `finder` is the page of the level above that links to it, or the page
    /// that redirects to it.
    pub(super) fn entry(&self, url: WebUrl, depth: Depth, finder: Option<&Finder>) -> ListedUrl {
        let skipped = self.skipped(&url);
        let candidate = if depth == Depth(0) { None } else { self.candidate(&url, depth, finder) };
        ListedUrl { skipped, candidate, ..ListedUrl::new(url) }
    }

    /// The class of a URL that is not worth a request according to what was read so far.
    fn skipped(&self, url: &WebUrl) -> Option<Class> {
        match () {
            () if self.evidence.is_trap(url, self.scope.site().as_str(), &self.known) => Some(Class::Trap),
            () if self.mirrors.is_copy(url, &self.known) => Some(Class::Mirror),
            () => None,
        }
    }

    /// The tree, once `poll` has returned [`Step::Done`](super::Step::Done), and what it knows, for later
    /// trees of the site.
    #[must_use]
    pub fn conclude(mut self) -> (Tree, Known) {
        let trap_patterns = self.trap_patterns();
        let cut_class = match self.ending {
            Some(Outcome::Refused) => Class::Refused,
            Some(Outcome::OptOut) => Class::OptOut,
            _ => Class::Limit,
        };
        for _ in 0..self.list.without_class() {
            self.level().count(cut_class);
        }
        self.count_waiting(cut_class);
        let deeper_class = if self.depth.next() > self.settings.depth { Class::Depth } else { cut_class };
        let found = self.found.iter().filter(|url| self.is_found(url)).count();
        let shunned = self.known.values().filter(|url_state| **url_state == UrlState::Shunned).count();
        if found + shunned > 0 {
            let last = self.counts.level(self.depth.next());
            (0..found).for_each(|_| last.count(deeper_class));
            (0..shunned).for_each(|_| last.count(Class::Nofollow));
        }
        let outcome = self.ending.unwrap_or(Outcome::Interrupted);
        let tree = Tree {
            entrance: self.entering.successful,
            entrances: self.entering.tried,
            is_closed: self.counts.levels[0].pages == 0 && self.entering.may_succeed_later(outcome),
            trap_patterns,
            probes: self.probes.results,
            probe_load: self.probes.load,
            ..self.counts.into_tree(outcome)
        };
        let is_reached = |url_state: &UrlState| url_state.is_final() && *url_state != UrlState::LeftOut;
        let pages = self
            .known
            .into_iter()
            .filter(|(_, url_state)| is_reached(url_state))
            .map(|(key, _)| key)
            .collect();
        (tree, Known { pages, scripts: self.scripts })
    }

    /// The traps that were recognised. If there are none and the site has more URLs than it may have, the
    /// shape that most of them share.
    fn trap_patterns(&self) -> Vec<String> {
        let names = self.evidence.names().to_vec();
        if !names.is_empty() || !self.is_full {
            return names;
        }
        let mut counts: HashMap<ShapeId, (usize, Reverse<String>)> = HashMap::new();
        for shape in self.found.iter().filter_map(|url| Shape::from_url(&url, self.scope.site().as_str())) {
            let [_, id] = shape.ids();
            counts.entry(id).or_insert_with(|| (0, Reverse(shape.name(id)))).0 += 1;
        }
        counts.into_values().max().map(|(_, Reverse(name))| name).into_iter().collect()
    }
}
