use std::time::SystemTime;

use super::decide::Decision;
use super::entry::{ListedUrl, PendingRequest, UrlState};
use super::state::Walk;
use super::step::{Content, OnRecord, Step};
use crate::address::WebUrl;
use crate::exchange::{Class, Depth, Outcome, Purpose, Request, Response};
use crate::page::MAX_LINKS;

/// The interface to the driver: poll, begin, handle, end.
impl Walk {
    /// What to do next. The time decides only one thing: whether a robots.txt is so old that it must be
    /// requested again before anything else is requested from its host.
    pub fn poll(&mut self, now: SystemTime) -> Step {
        self.now = now;
        // While there is more on record, an earlier run went on.
        if self.recorded == OnRecord::Nothing
            && self.ending.is_none()
            && let Some(outcome) = self.turned_away
        {
            self.end(outcome);
        }
        loop {
            if self.ending.is_some() {
                return self.probe();
            }
            if self.is_between_rounds() {
                return if self.pending.is_empty() { Step::RoundOver } else { Step::Wait };
            }
            if let Some(step) = self.check_suspect() {
                return step;
            }
            if !self.list.is_done() {
                if !self.has_chosen() {
                    return Step::Wait;
                }
                if self.list.is_done() {
                    continue;
                }
                if self.a_response_in_flight_may_end_the_walk()
                    || self.a_response_in_flight_may_prove_an_echo()
                {
                    return Step::Wait;
                }
                match self.decide() {
                    Decision::Request(request, delay) => {
                        return self
                            .recorded_unlisted(Some(&request))
                            .unwrap_or(Step::Request(request, delay));
                    }
                    Decision::Wait => return Step::Wait,
                    Decision::Skip(class) => self.pass(class),
                }
            } else if let Some(step) = self.recorded_unlisted(None) {
                return step;
            } else if self.pending.is_empty() {
                self.finish_level();
            } else {
                return Step::Wait;
            }
        }
    }

    /// The request that `poll` returned is being sent.
    pub fn begin(&mut self, request: &Request) {
        if request.purpose == Purpose::Robots {
            self.origins.begin();
            self.pending.push(PendingRequest::outside_the_tree(request));
            return;
        }
        if matches!(request.purpose, Purpose::Probe | Purpose::Check) {
            if request.purpose == Purpose::Probe {
                self.begin_probe();
            }
            self.pending.push(PendingRequest::outside_the_tree(request));
            return;
        }
        if let Some(entry) = self.unlisted.take() {
            return self.pending.push(PendingRequest::page(request, entry, false));
        }
        self.note_requested();
        let Some(mut entry) = self.list.current() else { return };
        if request.url.is_https() {
            entry.schemes.https = true;
        } else {
            entry.schemes.http = true;
        }
        if let Some(script) = request.url.script()
            && !entry.again
        {
            *self.scripts.entry(script).or_default() += 1;
        }
        let skipped = if entry.again { self.entering.take_skipped(&entry.url) } else { None };
        if let Some(class) = skipped {
            self.level().recount(class, Class::Fetched);
        }
        let is_first = !entry.again || skipped.is_some();
        self.pending.push(PendingRequest::page(request, entry, is_first));
        self.pass(Class::Fetched);
    }

    /// The result of a try at a request that now goes over a fallback: it is load of its level, and nothing
    /// else.
    pub fn tried(&mut self, number: u32, response: Response) {
        if let Some(waiting) = self.pending.get_mut(number) {
            waiting.tries.push(response);
        }
    }

    /// Takes in the result of a request. Results may arrive in any order; they are merged in the order of the
    /// requests.
    pub fn handle(&mut self, number: u32, response: Response, content: Content) {
        self.take(number, response, content, false);
    }

    /// Like [`Self::handle`], with the response that another tree received for this robots.txt less than a
    /// day ago. It is no load of this tree.
    pub fn handle_shared(&mut self, number: u32, response: Response, content: Content) {
        self.take(number, response, content, true);
    }

    fn take(&mut self, number: u32, response: Response, content: Content, is_shared: bool) {
        if let Some(waiting) = self.pending.get_mut(number) {
            waiting.response = Some((response, content));
            waiting.is_shared = is_shared;
        }
        while let Some(waiting) = self.pending.pop_answered() {
            self.merge(waiting);
        }
        if self.turned_away.is_some() {
            return;
        }
        if self.failures.in_a_row() >= self.settings.max_failures {
            let has_entered = self.counts.levels[0].pages > 0;
            self.end(self.failures.outcome(has_entered));
        }
        if self.is_full {
            self.end(Outcome::Trap);
        }
    }

    /// Ends the walk: nothing more is requested, responses in flight are still merged.
    pub fn end(&mut self, reason: Outcome) {
        match self.ending {
            Some(_) => self.end_probes(),
            None => self.ending = Some(reason),
        }
    }

    /// The request that shows whether a server refuses everything, if that is suspected and there is anything
    /// left to request.
    fn check_suspect(&mut self) -> Option<Step> {
        let url = self.bans.url_to_check()?;
        if self.list.is_done() && self.found.is_empty() && !self.has_waiting() {
            return None;
        }
        if !self.pending.is_empty() {
            return Some(Step::Wait);
        }
        let url = WebUrl::clone(url);
        if self.went_on_without_check(&url) {
            self.bans.skip_check();
            return None;
        }
        let decision = if self.has_opted_out(&url) {
            Decision::Skip(Class::OptOut)
        } else {
            self.by_robots(url, Purpose::Check)
        };
        match decision {
            Decision::Request(request, delay) => Some(Step::Request(request, delay)),
            Decision::Wait => Some(Step::Wait),
            Decision::Skip(_) => {
                self.bans.skip_check();
                None
            }
        }
    }

    /// The recorded request that replaces the planned one, if an earlier version took a URL with another
    /// session for another page. It counts as a repetition, and the plan goes on after it.
    fn recorded_unlisted(&mut self, planned: Option<&Request>) -> Option<Step> {
        let OnRecord::Requested(next) = &self.recorded else { return None };
        let is_of_level =
            next.depth == Some(self.depth) && matches!(next.purpose, Purpose::Page | Purpose::Head);
        let is_planned = planned.is_some_and(|request| request.url == next.url);
        if !is_of_level || is_planned || !next.url.has_session() {
            return None;
        }
        self.unlisted = Some(ListedUrl { again: true, ..ListedUrl::new(next.url.clone()) });
        Some(Step::Request(next.clone(), None))
    }

    /// The current URL has its class; the next URL has its turn.
    pub(super) fn pass(&mut self, class: Class) {
        let Some(entry) = self.list.current() else { return };
        if class == Class::Yield {
            self.leave_out(&entry.url);
            self.leave_out_script(&entry.url);
            self.known.insert(entry.url.page_key(), UrlState::LeftOut);
            self.level().expected_hosts += self.expected(&entry);
        }
        let ListedUrl { url, again, .. } = entry;
        if self.depth == Depth(0) && class != Class::Fetched {
            self.entering.note_skipped(&url, again, class);
        }
        if !again {
            self.level().count(class);
        }
        self.list.advance();
    }

    /// The same for a response in flight that might prove an echo, by which the next URL would be skipped.
    fn a_response_in_flight_may_prove_an_echo(&self) -> bool {
        !self.pending.is_empty() && self.echoes.may_be_proven_by(self.pending.urls())
    }

    /// A request is sent ahead of earlier responses only if none of them can end the walk, so that the
    /// requests sent do not depend on how many may be in flight.
    fn a_response_in_flight_may_end_the_walk(&self) -> bool {
        let pending_count = self.pending.len();
        pending_count > 0
            && (self.failures.in_a_row() as usize + pending_count >= self.settings.max_failures as usize
                || self.bans.may_be_suspected_after(pending_count)
                || !self.counts.has_room_for(self.known.len(), pending_count * MAX_LINKS))
    }
}
