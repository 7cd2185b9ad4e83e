use std::time::Duration;

use super::entry::ListedUrl;
use super::origins::{Lookup, RobotsOutcome, RobotsRequestTime};
use super::state::Walk;
use super::step::OnRecord;
use super::traps::trap::endless_path;
use crate::address::{ScriptKey, WebUrl};
use crate::exchange::{Class, Depth, Purpose, Request};

/// Whether a URL is requested.
pub(super) enum Decision {
    Request(Request, Option<Duration>),
    /// A response in flight decides.
    Wait,
    Skip(Class),
}

/// The rules by which a URL is skipped.
impl Walk {
    /// Decides whether the current URL is requested.
    pub(super) fn decide(&mut self) -> Decision {
        let Some(entry) = self.list.current() else { return Decision::Wait };
        let url = &entry.url;
        if self.has_opted_out(url) {
            return Decision::Skip(Class::OptOut);
        }
        let is_entrance = entry.is_entrance();
        let promises_too_little = entry.skipped == Some(Class::Yield);
        if let Some(class) = entry.skipped.filter(|_| !is_entrance && !promises_too_little) {
            return Decision::Skip(class);
        }
        if let Some(endless) = endless_path(url).filter(|_| !is_entrance) {
            self.evidence.name(&endless);
            return Decision::Skip(Class::Trap);
        }
        if let Some(echo) = self.echo(&entry) {
            self.evidence.name(&echo);
            return Decision::Skip(Class::Trap);
        }
        if self.depth > Depth(0) && self.settings.filter.excludes(url) {
            return Decision::Skip(Class::Filtered);
        }
        let is_free = is_entrance || entry.again || url.is_front_page();
        if !is_free && self.script_is_used_up(url) {
            self.skip_script_url(url);
            return Decision::Skip(Class::Script);
        }
        if let Some(class) = self.closed(url) {
            return Decision::Skip(class);
        }
        // Last, because a URL that is skipped for another reason was never up for choice.
        if promises_too_little {
            return Decision::Skip(Class::Yield);
        }
        let needs_head = self.depth > Depth(0) && !entry.probed && self.settings.filter.needs_head(url);
        let purpose = if needs_head { Purpose::Head } else { Purpose::Page };
        self.by_robots(entry.url, purpose)
    }

    /// The trap that a URL would lead into, as far as the responses so far show. For a recorded request the
    /// record decides: it may come from a version that knew no echoes.
    fn echo(&self, entry: &ListedUrl) -> Option<String> {
        let is_recorded = match &self.recorded {
            OnRecord::Requested(next) => next.url == entry.url,
            OnRecord::Lost => true,
            OnRecord::Nothing => false,
        };
        let may_be_echo = !is_recorded && !entry.is_entrance();
        if may_be_echo { self.echoes.trap(&entry.url, &self.known) } else { None }
    }

    /// The class of a URL whose host gets no more requests. For a recorded request the record decides: it may
    /// come from a version that knew no bans.
    pub(super) fn closed(&self, url: &WebUrl) -> Option<Class> {
        self.bans.closed(url.host()).filter(|_| !self.is_on_record(url))
    }

    /// Whether the next recorded request of an earlier run is for this URL.
    fn is_on_record(&self, url: &WebUrl) -> bool {
        self.recorded.request().is_some_and(|next| next.url == *url)
    }

    /// Whether an earlier run went on without a check of this URL where this run would request one.
    pub(super) fn went_on_without_check(&self, url: &WebUrl) -> bool {
        match &self.recorded {
            OnRecord::Requested(next) => match next.purpose {
                Purpose::Check => next.url != *url,
                Purpose::Robots => next.url != url.robots_txt() && !self.origins.is_fetching(),
                _ => true,
            },
            // Nothing is requested before a check has ended.
            OnRecord::Lost => true,
            OnRecord::Nothing => false,
        }
    }

    /// Whether the host opted out. A host that was requested before it opted out is let through for the
    /// recorded request.
    pub(super) fn has_opted_out(&self, url: &WebUrl) -> bool {
        let is_recorded = self.recorded.request().is_some_and(|next| next.url.host() == url.host());
        !is_recorded && self.opt_out.has_host(url.host())
    }

    /// Whether the robots.txt for this URL must be requested again first. For a recorded request the record
    /// decides: how old the rules were at the time is no longer known. A redirect that still waits to be
    /// followed goes before the robots.txt of another origin.
    fn rules_are_old(&self, url: &WebUrl) -> bool {
        match &self.recorded {
            OnRecord::Requested(next) => {
                let is_next = next.url == url.robots_txt() || self.origins.next_url() == Some(&next.url);
                next.purpose == Purpose::Robots && is_next
            }
            OnRecord::Lost => false,
            OnRecord::Nothing => self.rules_valid_until(url).is_some_and(|until| self.now >= until),
        }
    }

    /// Decides by robots.txt, once it is known.
    pub(super) fn by_robots(&mut self, url: WebUrl, purpose: Purpose) -> Decision {
        let is_on_record = self.is_on_record(&url);
        match self.origins.lookup(&url, self.rules_are_old(&url)) {
            Lookup::Pending => return Decision::Wait,
            Lookup::Fetch(robots) => {
                if self.closed(&robots).is_some() {
                    // The robots.txt of this origin redirects to a host that turned us away.
                    let requested =
                        RobotsRequestTime { at: self.now, next: Some(self.pending.request_count()) };
                    self.origins.settle(RobotsOutcome::Unreachable, requested);
                    return Decision::Skip(Class::RobotsUnreachable);
                }
                let request = Request {
                    number: self.pending.request_count(),
                    url: robots,
                    purpose: Purpose::Robots,
                    depth: None,
                };
                // Rules that are too old to follow still give a crawl delay. A delay that is too long is cut
                // to the maximum.
                let delay = self.origins.crawl_delay(&url);
                return Decision::Request(
                    request,
                    delay.map(|delay| delay.min(self.settings.max_crawl_delay)),
                );
            }
            // A recorded request was allowed by the rules of an earlier version.
            Lookup::Known(_) if is_on_record => {}
            Lookup::Known(RobotsOutcome::OptedOut) => return Decision::Skip(Class::OptOut),
            Lookup::Known(RobotsOutcome::Unreachable) => return Decision::Skip(Class::RobotsUnreachable),
            Lookup::Known(RobotsOutcome::Rules(rules)) => {
                let too_slow = rules.crawl_delay().is_some_and(|delay| delay > self.settings.max_crawl_delay);
                if too_slow || !rules.allows(&url) {
                    return Decision::Skip(Class::Robots);
                }
            }
        }
        let delay = self.origins.crawl_delay(&url);
        Decision::Request(
            Request { number: self.pending.request_count(), url, purpose, depth: Some(self.depth) },
            delay,
        )
    }

    /// Whether the query URLs that a script is allowed have been fetched or left out; after that its bare URL
    /// is skipped, too. A bare URL that is fetched first does not use up the script.
    fn script_is_used_up(&self, url: &WebUrl) -> bool {
        let script = url.script().unwrap_or_else(|| ScriptKey(url.page_key()));
        let fetched = self.scripts.get(&script).copied().unwrap_or_default();
        fetched + self.left_out_urls(&script) >= self.settings.queries_per_script
    }
}
