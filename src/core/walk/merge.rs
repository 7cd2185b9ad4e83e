use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::MAX_PAGE_REDIRECTS;
use super::bans::counts_for_bans;
use super::entry::{ListedUrl, PendingRequest, UrlState};
use super::origins::{RobotsOutcome, RobotsRequestTime};
use super::settings::MAX_SESSION_REDIRECTS;
use super::state::Walk;
use super::step::Content;
use super::traps::echoes::{Fingerprint, NewUrls};
use super::traps::tally::PageRead;
use super::tree::External;
use super::yields::Finder;
use crate::address::WebUrl;
use crate::exchange::{Class, Depth, Failure, MediaType, Outcome, Purpose, Response};
use crate::page::{Element, Link, Page};
use crate::robots::{Availability, MAX_BYTES};

/// The effect of a response on the tree.
impl Walk {
    pub(super) fn merge(&mut self, mut waiting: PendingRequest) {
        let Some((response, content)) = waiting.response.take() else { return };
        if self.is_opt_out_of_site(&waiting.url, &response) {
            self.opted_out = true;
            self.entering.note_opted_out(waiting.url.host());
        }
        let load = match (&waiting.entry, waiting.purpose) {
            (Some(_), _) | (None, Purpose::Check) => self.level(),
            (None, Purpose::Probe) => &mut self.probes.load,
            (None, _) => &mut self.counts.robots,
        };
        waiting.tries.iter().for_each(|tried| load.book(tried));
        if self.depth == Depth(0) {
            self.entering.note_response(&waiting.url, &response);
        }
        let was_never_sent = waiting.was_never_sent(&response);
        let is_page = waiting.entry.is_some() && is_page(&response, &content);
        self.counts.home.note(waiting.purpose, &response, is_page);
        match waiting.entry {
            None if waiting.purpose == Purpose::Probe => {
                self.failures.note(&response);
                self.merge_probe(waiting.number, &waiting.url, &response, &content);
            }
            None if waiting.purpose == Purpose::Check => self.merge_check(&response),
            None => self.merge_robots(&waiting.url, &response, &content, waiting.is_shared),
            Some(entry) if was_never_sent => self.merge_never_sent(&entry, &response, waiting.is_first),
            Some(entry) => {
                let (candidate, hosts) = (entry.candidate, self.counts.external_hosts());
                let listed = self.list.len();
                self.merge_page(waiting.purpose, entry, &response, content);
                // If the page is to be requested again, it is last on the list now, and its yield is counted
                // then.
                let is_over = self.list.added_since(listed).is_none_or(|entry| !entry.again);
                self.note_yield(candidate, is_over.then_some(self.counts.external_hosts() - hosts));
            }
        }
    }

    /// Whether nothing was sent because a host of the site opted out. robots.txt may redirect to a host that
    /// opted out: that host is not the site.
    fn is_opt_out_of_site(&self, url: &WebUrl, response: &Response) -> bool {
        response.failure == Some(Failure::OptedOut) && self.scope.contains(url.host())
    }

    fn merge_robots(&mut self, url: &WebUrl, response: &Response, content: &Content, is_shared: bool) {
        if is_shared {
            self.level().shared_robots += 1;
        } else {
            self.counts.robots.book(response);
        }
        let token = self.settings.product_token.clone();
        let requested = RobotsRequestTime {
            at: response.started,
            next: (!is_shared).then_some(self.pending.request_count()),
        };
        if response.is_redirect() {
            let target = response.head.location.as_deref().and_then(|location| url.join(location).ok());
            return self.origins.redirected(target, &token, requested);
        }
        if !is_shared && has_retry_time(response) && self.origins.retry(self.settings.retries) {
            return;
        }
        if self.is_opt_out_of_site(url, response) {
            return self.origins.opted_out(requested);
        }
        match availability(response, content) {
            Availability::Unreachable | Availability::Busy => {
                self.origins.settle(RobotsOutcome::Unreachable, requested);
            }
            availability => {
                self.origins.found(robots_body(content), availability, &token, requested);
            }
        }
    }

    /// A page that was delivered before was requested once more.
    fn merge_check(&mut self, response: &Response) {
        self.level().book(response);
        self.failures.note(response);
        if self.bans.note_check(response) {
            self.end_without_open_host(Class::Refused);
        }
    }

    /// Nothing was sent for a URL: it was not fetched. `is_first`: nothing was sent for it before, either.
    fn merge_never_sent(&mut self, entry: &ListedUrl, response: &Response, is_first: bool) {
        self.level().book(response);
        let class = match response.failure {
            Some(Failure::OptedOut) => Class::OptOut,
            Some(Failure::GivenUp) => self.bans.give_up(entry.url.host()),
            _ => Class::Limit,
        };
        if is_first {
            self.level().recount(Class::Fetched, class);
            if self.depth == Depth(0) {
                self.entering.note_skipped(&entry.url, false, class);
            }
            if let Some(script) = entry.url.script().filter(|_| !entry.again)
                && let Some(fetched) = self.scripts.get_mut(&script)
            {
                *fetched = fetched.saturating_sub(1);
            }
        }
        if response.failure == Some(Failure::GivenUp) {
            self.end_without_open_host(class);
        }
    }

    /// Servers no longer respond to us, so their URLs get this class. The walk ends if no other server
    /// delivered pages.
    fn end_without_open_host(&mut self, class: Class) {
        if self.counts.levels[0].pages > 0 && !self.bans.has_open_host() {
            let outcome = if class == Class::Refused { Outcome::Refused } else { Outcome::Unreachable };
            self.turned_away.get_or_insert(outcome);
        }
    }

    fn merge_page(&mut self, purpose: Purpose, entry: ListedUrl, response: &Response, content: Content) {
        self.level().book(response);
        self.failures.note(response);
        if counts_for_bans(purpose) {
            self.bans.note(&entry.url, response);
        }
        if response.is_redirect() {
            return self.merge_redirect(&entry, response);
        }
        if has_retry_time(response) && entry.retries < self.settings.retries {
            return self.list.push(ListedUrl { retries: entry.retries + 1, again: true, ..entry });
        }
        if purpose == Purpose::Head {
            if may_be_html(response) {
                self.list.push(ListedUrl { probed: true, again: true, ..entry });
            }
            return;
        }
        if !is_page(response, &content) {
            return;
        }
        self.level().pages += 1;
        self.entering.note_page(&entry.url, entry.entrance);
        if let Content::Page(page) = content {
            self.merge_links(&entry.url, *page);
        }
    }

    fn merge_links(&mut self, page_url: &WebUrl, page: Page) {
        if !self.settings.fetch_mirrors {
            self.mirrors.note(page_url, page.body_hash);
        }
        let page_url = &Arc::new(page_url.clone());
        self.bans.note_page(page_url);
        let (found, externals) = (self.found.len(), self.counts.externals.len());
        let hosts = self.counts.external_hosts();
        for link in page.links {
            let Link { url, element, nofollow } = link;
            let nofollow = nofollow || page.nofollow;
            if self.scope.contains_from(page_url.host(), url.host()) {
                self.find_internal(url, nofollow);
            } else {
                self.find_external(page_url, url, element, nofollow);
            }
        }
        if self.settings.trap_levels.is_some() {
            let (body_hash, simhash) = (page.body_hash, page.text_simhash);
            let external_hosts = self.counts.external_hosts() - hosts;
            let new_urls = NewUrls { found: &self.found, at: found..self.found.len(), external_hosts };
            self.echoes.note(page_url, Fingerprint { body_hash, simhash }, &new_urls, &self.known);
            self.evidence.note(PageRead {
                url: Arc::clone(page_url),
                simhash,
                text: simhash.unwrap_or(body_hash as u64),
                is_repeat: false,
                externals: self.counts.externals.len() - externals,
                external_hosts,
                found: found..self.found.len(),
            });
        }
    }

    fn find_internal(&mut self, url: WebUrl, nofollow: bool) {
        let key = url.page_key();
        let url_state = self.known.get(&key).copied();
        if url_state.is_none() && !self.has_room() {
            return;
        }
        if nofollow {
            self.known.entry(key).or_insert(UrlState::Shunned);
        } else if matches!(url_state, None | Some(UrlState::Shunned)) {
            self.known.insert(key, UrlState::Found);
            self.counts.note_internal(&url);
            self.found.push(&url);
        }
    }

    fn find_external(&mut self, page: &Arc<WebUrl>, url: WebUrl, element: Element, nofollow: bool) {
        let key = url.page_key();
        if self.counts.has_external(&key) || !self.has_room() {
            return;
        }
        let external = External { depth: self.depth, page: Arc::clone(page), url, element, nofollow };
        self.counts.add_external(key, external, &self.scope);
    }

    /// Whether one more URL may be kept; if not, the site has more URLs than a site may have.
    fn has_room(&mut self) -> bool {
        let has_free_room = self.counts.has_room(self.known.len());
        self.is_full |= !has_free_room;
        has_free_room
    }

    /// A redirect adds no depth: its target joins the level that is being walked.
    fn merge_redirect(&mut self, entry: &ListedUrl, response: &Response) {
        let Some(location) = response.head.location.as_deref() else { return };
        let Ok(target) = entry.url.join(location) else { return };
        let is_start = self.depth == Depth(0);
        if !self.scope.contains(target.host()) {
            if is_start {
                self.moved = true;
                self.entering.note_moved(entry.entrance, &entry.url);
            }
            return self.find_external(&Arc::new(entry.url.clone()), target, Element::Redirect, false);
        }
        let (redirects, url_state) = (entry.redirects + 1, self.known.get(&target.page_key()).copied());
        let is_same_page = target.page_key() == entry.url.page_key();
        let is_in_session = is_same_page
            && target.target() != entry.url.target()
            && (target.has_session() || entry.url.has_session());
        if is_same_page || (is_start && url_state == Some(UrlState::Listed)) {
            let was_requested = match () {
                () if is_in_session => {
                    entry.sessions.len() >= MAX_SESSION_REDIRECTS
                        || entry.sessions.contains(&xxh3_64(target.as_str().as_bytes()))
                }
                () if is_start && self.entering.is_listed(&target) => true,
                () if !is_same_page => false,
                () if target.is_https() => entry.schemes.https,
                () => entry.schemes.http,
            };
            if !was_requested && redirects <= MAX_PAGE_REDIRECTS {
                let ListedUrl { schemes, probed, entrance, candidate, .. } = *entry;
                let mut sessions = entry.sessions.clone();
                sessions.extend(is_in_session.then(|| xxh3_64(entry.url.as_str().as_bytes())));
                self.enlist(ListedUrl {
                    redirects,
                    again: true,
                    schemes,
                    sessions,
                    probed,
                    entrance,
                    candidate,
                    ..ListedUrl::new(target)
                });
            }
            return;
        }
        if url_state.is_some_and(UrlState::is_final) || (url_state.is_none() && !self.has_room()) {
            return;
        }
        self.known.insert(target.page_key(), UrlState::Listed);
        if redirects > MAX_PAGE_REDIRECTS {
            self.level().count(Class::Redirects);
        } else {
            let entrance = entry.entrance;
            let finder = entry.candidate.map(|candidate| Finder::new(&candidate, 0, 1));
            let listed = self.entry(target, self.depth, finder.as_ref());
            self.enlist(ListedUrl { redirects, entrance, ..listed });
        }
    }

    fn enlist(&mut self, entry: ListedUrl) {
        if self.depth == Depth(0) {
            self.entering.note_listed(&entry.url);
        }
        self.list.push(entry);
    }
}

/// Whether a page came and was read, or was read before and has not changed. A challenge in place of a page
/// does not count.
pub(super) fn is_page(response: &Response, content: &Content) -> bool {
    matches!(content, Content::Page(_)) && response.head.challenge.is_none()
}

/// The meaning of a response for robots.txt that is no redirect.
///
/// If the rules broke off, the rule that forbids may be missing. Google treats them as a server error, too
/// ("incomplete data", How Google interprets the robots.txt specification).
#[must_use]
pub fn availability<'a>(response: &Response, content: &'a Content) -> Availability<'a> {
    match Availability::from_response(response.status, robots_body(content)) {
        // Neither rules nor the absence of rules: what the owner wants is not known.
        Availability::Found(_) if response.head.challenge.is_some() => Availability::Unreachable,
        Availability::Found(_) if !is_whole(response, content) => Availability::Unreachable,
        availability => availability,
    }
}

fn robots_body(content: &Content) -> &[u8] {
    if let Content::Robots(body) = content { body } else { &[] }
}

/// Whether all of a robots.txt arrived, or as much as is read of any robots.txt.
fn is_whole(response: &Response, content: &Content) -> bool {
    match response.failure {
        None => true,
        Some(Failure::BodyTooLarge) => !is_cut(response, content),
        Some(_) => false,
    }
}

/// Whether a budget cut a robots.txt short: what its owner forbids further down is not known.
#[must_use]
pub fn is_cut(response: &Response, content: &Content) -> bool {
    response.failure == Some(Failure::BodyTooLarge)
        && response.is_success()
        && robots_body(content).len() < MAX_BYTES
}

/// Whether the response to HEAD leaves open that the URL is HTML; 405 and 501 say that the server does not
/// know HEAD.
fn may_be_html(response: &Response) -> bool {
    matches!(response.status, Some(405 | 501))
        || (response.is_success()
            && MediaType::from_fields(response.head.content_type.as_deref()).may_be_page())
}

/// A page is requested again only if its server says when.
fn has_retry_time(response: &Response) -> bool {
    response.requests_pause() && response.head.retry_after.is_some()
}
