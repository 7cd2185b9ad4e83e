use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::decide::Decision;
use super::state::Walk;
use super::step::{Content, Step};
use super::tree::probe::Probe;
use crate::address::{Host, WebUrl};
use crate::exchange::{Outcome, Purpose, Request, Response};
use crate::page::Page;

/// The requests that follow when the tree is walked.
impl Walk {
    /// The script rule skips this URL.
    pub(super) fn skip_script_url(&mut self, url: &WebUrl) {
        if let Some(script) = url.script().filter(|_| self.settings.probing.includes(self.scope.site())) {
            self.probes.skipped_scripts.note(&script, url, self.settings.probing.per_script);
        }
    }

    /// The expected yield of a page is too low.
    pub(super) fn leave_out(&mut self, url: &WebUrl) {
        if self.settings.probing.includes_left_out(self.scope.site()) {
            self.probes.leave_out(url);
        }
    }

    /// Probes are requested one by one, so that they do not depend on how many may be in flight.
    pub(super) fn probe(&mut self) -> Step {
        if !self.pending.is_empty() {
            return Step::Wait;
        }
        if self.probes.queue.is_none() {
            let queue = self.probes.take_queue();
            self.probes.queue = Some(if self.is_whole() { queue } else { VecDeque::new() });
        }
        while let Some(url) = self.probes.next().cloned() {
            if let Some((request, delay)) = self.probe_request(url) {
                return Step::Request(request, delay);
            }
            self.begin_probe();
        }
        Step::Done
    }

    /// Whether the walk came to its end by itself.
    fn is_whole(&self) -> bool {
        match self.ending {
            Some(Outcome::Complete | Outcome::Depth | Outcome::Yield | Outcome::Stable | Outcome::Trap) => {
                !self.is_full
            }
            // Other hosts of the site opted out, and nothing else was left.
            Some(Outcome::OptOut) => {
                let is_nothing_left = self.list.is_done() && self.found.is_empty();
                is_nothing_left && !self.has_site_opted_out()
            }
            _ => false,
        }
    }

    /// The request for a probe, if opt-outs, filters and robots.txt allow it. A probe is no reason to request
    /// a robots.txt, except to refresh one that has grown old.
    fn probe_request(&mut self, url: WebUrl) -> Option<(Request, Option<Duration>)> {
        if self.has_opted_out(&url) || self.closed(&url).is_some() || self.settings.filter.excludes(&url) {
            return None;
        }
        if !self.origins.knows(&url) {
            return None;
        }
        match self.by_robots(url, Purpose::Probe) {
            Decision::Request(request, delay) => Some((Request { depth: None, ..request }, delay)),
            _ => None,
        }
    }

    /// The probe is being sent, or skipped.
    pub(super) fn begin_probe(&mut self) {
        let first = self.probes.queue.as_mut().and_then(VecDeque::pop_front);
        self.probes.skipped_by = first.map(|(_, skipped_by)| skipped_by);
    }

    /// Ends the probes.
    pub(super) fn end_probes(&mut self) {
        self.probes.queue = Some(VecDeque::new());
    }

    pub(super) fn merge_probe(&mut self, number: u32, url: &WebUrl, response: &Response, content: &Content) {
        self.probes.load.book(response);
        if response.status.is_none() {
            return;
        }
        let Some(skipped_by) = self.probes.skipped_by else { return };
        let mut probe = Probe { number, skipped_by, external_urls: 0, external_hosts: 0, internal_urls: 0 };
        if let Content::Page(page) = content {
            self.compare(url, page, &mut probe);
        }
        self.probes.results.push(probe);
    }

    /// Counts the links of a page that the tree does not have.
    fn compare(&self, page_url: &WebUrl, page: &Page, probe: &mut Probe) {
        let mut hosts: HashSet<&Host> = HashSet::new();
        for url in page.links.iter().map(|link| &link.url) {
            if self.scope.contains_from(page_url.host(), url.host()) {
                probe.internal_urls += u32::from(!self.known.contains_key(&url.page_key()));
            } else if !self.counts.has_external(&url.page_key()) {
                probe.external_urls += 1;
                let is_new = !self.counts.has_external_host(url.host()) && hosts.insert(url.host());
                probe.external_hosts += u32::from(is_new);
            }
        }
    }
}
