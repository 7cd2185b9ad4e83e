//! Which URLs of a site are worth a request, in which order and, with a budget, in which round.

mod rounds;

use super::entry::ListedUrl;
use super::settings::auto::Auto;
use super::state::Walk;
use super::yields::{Finder, Memory, UrlCandidate, UrlKind};
use crate::address::{ScriptKey, WebUrl};
use crate::exchange::{Class, Depth};

/// Which URLs of a level are worth a request, and in which order.
impl Walk {
    /// Adds what an earlier survey found in the site.
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.auto = self.auto.map(|auto| Auto { appraiser: auto.appraiser.with_memory(memory), ..auto });
        self
    }

    /// Whether it has been decided if the current URL is worth a request. The choice is made only while no
    /// request is in flight, so that it does not depend on how many may be in flight.
    pub(super) fn has_chosen(&mut self) -> bool {
        let fetched: u64 = self.counts.levels.iter().map(|level| level.class(Class::Fetched)).sum();
        let Some(auto) = &mut self.auto else { return true };
        if self.depth == Depth(0) || self.list.turn() < auto.chosen {
            return true;
        }
        if !self.pending.is_empty() {
            return false;
        }
        let turn = self.list.turn();
        let waiting = self.list.upcoming();
        let chosen_count = auto.appraiser.choose(waiting, fetched, ListedUrl::doubtful);
        auto.chosen = turn + chosen_count;
        if chosen_count == 0 && auto.rounds.is_some() {
            self.set_aside_level();
        } else if chosen_count == 0 {
            for entry in waiting {
                entry.skipped.get_or_insert(Class::Yield);
            }
            auto.chosen = self.list.len();
        }
        true
    }

    /// A response was merged. `hosts` is the number of external hosts, new in the tree, that the page
    /// brought; it is set if the page was read or did not come.
    pub(super) fn note_yield(&mut self, candidate: Option<UrlCandidate>, hosts: Option<usize>) {
        let Some(auto) = &mut self.auto else { return };
        if let (Some(candidate), Some(hosts)) = (&candidate, hosts) {
            auto.appraiser.note(candidate, hosts as u64);
        }
        let links = self.found.len().saturating_sub(auto.finders.len());
        let finder = candidate.map(|candidate| Finder::new(&candidate, hosts.unwrap_or_default(), links));
        auto.finders.resize(self.found.len(), finder);
    }

    /// For each URL of the next level, the page on which it was found. Called when the level of these pages
    /// is over.
    pub(super) fn take_finders(&mut self) -> Vec<Option<Finder>> {
        let Some(auto) = &mut self.auto else { return Vec::new() };
        auto.chosen = 0;
        std::mem::take(&mut auto.finders)
    }

    /// The expected yield of a URL on level 1 or below.
    pub(super) fn candidate(
        &self,
        url: &WebUrl,
        depth: Depth,
        finder: Option<&Finder>,
    ) -> Option<UrlCandidate> {
        let auto = self.auto.as_ref()?;
        Some(auto.appraiser.candidate(&UrlKind::from_url(url, &auto.rates), depth, finder))
    }

    /// A URL of a script is left out: it counts towards the script rule, as if it had been requested.
    pub(super) fn leave_out_script(&mut self, url: &WebUrl) {
        if let (Some(auto), Some(script)) = (&mut self.auto, url.script()) {
            *auto.scripts.entry(script).or_default() += 1;
        }
    }

    /// The number of URLs of a script that were left out.
    pub(super) fn left_out_urls(&self, script: &ScriptKey) -> u32 {
        self.auto.as_ref().and_then(|auto| auto.scripts.get(script)).copied().unwrap_or_default()
    }

    /// The number of external hosts that the page of a left-out URL is expected to bring.
    pub(super) fn expected(&self, entry: &ListedUrl) -> f64 {
        let auto = self.auto.as_ref().zip(entry.candidate.as_ref());
        auto.map_or(0.0, |(auto, candidate)| auto.appraiser.expected(candidate))
    }
}

impl ListedUrl {
    /// The URL's candidate, if it is still open whether the URL is worth a request. It is settled for the
    /// target of a redirect and for a URL that the server told us to request again, which were found worth a
    /// request before; and for a front page, since a server of its own may stand behind it.
    fn doubtful(&self) -> Option<&UrlCandidate> {
        let is_settled = self.again || self.redirects > 0 || self.url.is_front_page();
        self.candidate.as_ref().filter(|_| !is_settled)
    }
}
