use super::end::SiteTree;
use super::entrances::{EntranceAttempts, LevelEntry, SkipReason, is_front};
use super::oracle::Oracle;
use super::rules::{PageId, UrlState, endless, has_extension, script};
use crate::model::content::{Content, Link, Url};
use crate::model::robots::RobotsAccess;
use crate::model::url_location::UrlLocation;

/// The most redirects in a row that are followed.
const MAX_HOPS: u32 = 10;
/// After this many failed pages in a row, the walk gives up on the server.
const MOST_FAILURES: u32 = 5;

/// Walks a tree, level by level.
impl Oracle<'_> {
    /// Whether the offered URL leads to a page by itself, over redirects at most.
    pub(crate) fn opens(mut self) -> bool {
        self.attempts = EntranceAttempts::single(&self.start.site, &self.start.url);
        self.level(0);
        self.walk_level();
        self.current_level().pages > 0
    }

    pub(crate) fn walk(mut self) -> SiteTree {
        let mut hit_depth_limit = false;
        let mut below = 0;
        while !self.list.is_empty() {
            below = self.depth + 1;
            self.level(self.depth);
            let unvisited = self.walk_level();
            if !self.gave_up {
                let levels = self.country.settings.trap_levels;
                self.traps.evaluate(&self.url_states, levels);
            }
            let next = self.next_level();
            if self.gave_up {
                self.count_unvisited(unvisited, next.len() as u64);
                break;
            }
            if self.depth == self.country.settings.depth {
                hit_depth_limit = !next.is_empty();
                self.level(self.depth + 1).not_fetched_depth += next.len() as u64;
                break;
            }
            let entry = |url: Url| LevelEntry {
                is_trap: self.traps.covers(&url, &self.url_states),
                ..LevelEntry::new(url, 0)
            };
            self.list = next.into_iter().map(entry).collect();
            self.depth += 1;
        }
        self.count_nofollow_only(below);
        self.finish(hit_depth_limit)
    }

    /// Walks the list of a level, which redirects and further entrances extend meanwhile. Returns the number
    /// of URLs left if the walk gives up on the server.
    fn walk_level(&mut self) -> u64 {
        let mut index = 0;
        loop {
            while let Some(entry) = self.list.get(index).filter(|_| !self.gave_up).cloned() {
                index += 1;
                self.process(&entry);
            }
            let Some(entrance) = self.next_entrance() else { break };
            self.list.push(entrance);
        }
        self.list[index..].iter().filter(|entry| !entry.is_repeat).count() as u64
    }

    fn next_entrance(&mut self) -> Option<LevelEntry> {
        if self.depth > 0 || self.gave_up {
            return None;
        }
        let has_page = self.current_level().pages > 0;
        self.attempts.next(self.country.world, &mut self.url_states, has_page)
    }

    /// For an entrance, only robots.txt is checked. A front page is never skipped as a script.
    fn process(&mut self, entry: &LevelEntry) {
        let (url, is_entrance) = (&entry.url, entry.is_entrance());
        let endless = endless(url).filter(|_| !is_entrance);
        if entry.is_trap && !is_entrance {
            self.skip(entry, SkipReason::Trap);
        } else if let Some(name) = endless {
            self.traps.name(name);
            self.skip(entry, SkipReason::Trap);
        } else if self.depth > 0 && has_extension(url, &self.country.settings.non_html_extensions) {
            self.skip(entry, SkipReason::Filtered);
        } else if !(entry.is_repeat || is_entrance || is_front(url)) && self.script_is_used_up(url) {
            self.skip(entry, SkipReason::Script);
        } else {
            let location = self.url_location(url);
            match self.robots_verdict(url, location.as_ref()) {
                RobotsAccess::Allowed => self.fetch(entry, location.as_ref()),
                RobotsAccess::Disallowed => self.skip(entry, SkipReason::Robots),
                RobotsAccess::Unreachable => self.skip(entry, SkipReason::Unreachable),
            }
        }
    }

    fn skip(&mut self, entry: &LevelEntry, reason: SkipReason) {
        if self.depth == 0 {
            self.attempts.note_skipped(entry, reason);
        }
        *reason.count(self.current_level()) += u64::from(!entry.is_repeat);
    }

    fn fetch(&mut self, entry: &LevelEntry, location: Option<&UrlLocation>) {
        let url = &entry.url;
        if let Some(script) = script(url).filter(|_| !entry.is_repeat) {
            *self.queries.entry(script).or_default() += 1;
        }
        self.current_level().fetched += u64::from(!entry.is_repeat);
        if entry.is_repeat
            && let Some(reason) = self.attempts.take_skipped(url)
        {
            *reason.count(self.current_level()) -= 1;
            self.current_level().fetched += 1;
        }
        self.current_level().requests += 1;
        let content = self.content(location);
        let failed = matches!(content, Content::Refused | Content::Reset | Content::Silence);
        self.note_failure(failed, matches!(content, Content::Reset));
        if !failed {
            self.attempts.note_response(url);
        }
        match content {
            Content::Redirect(_, to) => self.redirect(entry, to),
            Content::Page(page) => {
                self.current_level().pages += 1;
                self.attempts.opened = self.attempts.opened.or(entry.relation);
                let (found, externals) = (self.found.len(), self.links.len());
                for link in page.links {
                    self.find(url, Link { nofollow: link.nofollow || page.nofollow, ..link });
                }
                self.traps.note_page(url, self.links.len() - externals, &self.found[found..]);
            }
            _ => {}
        }
    }

    fn note_failure(&mut self, failed: bool, is_reset: bool) {
        self.page_responded |= !failed;
        self.server_responded |= !failed;
        self.failures = if failed { self.failures + 1 } else { 0 };
        self.resets = if failed { self.resets + u32::from(is_reset) } else { 0 };
        self.gave_up |= self.failures >= MOST_FAILURES;
    }

    /// A redirect adds no depth: its target joins the end of the level's list. A redirect to the same page
    /// under the other scheme leads to that page again. At level 0 this also holds for any page that is
    /// listed under the other scheme.
    fn redirect(&mut self, from: &LevelEntry, to: Url) {
        if self.is_external(&to) {
            if self.depth == 0 {
                self.moved = true;
                self.attempts.note_moved(&self.start.url, from);
            }
            return self.find_external(&from.url, to, "redirect", false);
        }
        let (hops, relation, id) = (from.hops + 1, from.relation, PageId::from_url(&to));
        let url_state = self.url_states.get(&id).copied();
        let is_same = id == PageId::from_url(&from.url);
        if is_same || (self.depth == 0 && url_state == Some(UrlState::Listed)) {
            let mut requested = from.requested;
            requested[usize::from(from.url.is_https)] = true;
            let is_known = if self.depth == 0 {
                self.attempts.is_listed(&to)
            } else {
                requested[usize::from(to.is_https)]
            };
            if !is_known && hops <= MAX_HOPS {
                self.append(LevelEntry { is_repeat: true, requested, relation, ..LevelEntry::new(to, hops) });
            }
            return;
        }
        if matches!(url_state, Some(UrlState::Listed | UrlState::Earlier)) {
            return;
        }
        self.url_states.insert(id, UrlState::Listed);
        if hops > MAX_HOPS {
            self.current_level().not_fetched_redirects += 1;
        } else {
            let is_trap = self.traps.covers(&to, &self.url_states);
            self.append(LevelEntry { is_trap, relation, ..LevelEntry::new(to, hops) });
        }
    }

    fn append(&mut self, entry: LevelEntry) {
        if self.depth == 0 {
            self.attempts.note_listed(&entry.url);
        }
        self.list.push(entry);
    }

    /// Query URLs use up a script; its bare URL is then skipped too.
    fn script_is_used_up(&self, url: &Url) -> bool {
        let requested = self.queries.get(&script(url).unwrap_or_else(|| PageId::from_url(url)));
        requested.is_some_and(|requested| *requested >= self.country.settings.queries_per_script)
    }
}
