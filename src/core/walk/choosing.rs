use super::entry::ListedUrl;
use super::settings::auto::Auto;
use super::state::Walk;
use super::yields::{Memory, UrlCandidate, UrlKind};
use crate::address::{ScriptKey, WebUrl};
use crate::exchange::{Class, Depth};

/// Which URLs of a level are worth a request, and in which order.
impl Walk {
    /// With what an earlier survey found in the site.
    #[must_use]
    pub fn remembering(mut self, memory: Memory) -> Self {
        self.auto = self.auto.map(|auto| Auto { appraiser: auto.appraiser.remembering(memory), ..auto });
        self
    }

    /// Whether the URL whose turn it is was chosen for it. Chosen is only when no answer is awaited, so that the choice
    /// does not depend on how many may be in flight.
    pub(super) fn has_chosen(&mut self) -> bool {
        let asked: u64 = self.counts.levels.iter().map(|level| level.class(Class::Fetched)).sum();
        let Some(auto) = &mut self.auto else { return true };
        if self.depth == Depth(0) || self.list.turn() < auto.chosen {
            return true;
        }
        if !self.flying.is_empty() {
            return false;
        }
        let turn = self.list.turn();
        let waiting = self.list.ahead();
        let worth_it = auto.appraiser.choose(waiting, asked, ListedUrl::doubtful);
        auto.chosen = turn + worth_it;
        if worth_it == 0 {
            for entry in waiting {
                entry.kept.get_or_insert(Class::Yield);
            }
            auto.chosen = self.list.len();
        }
        true
    }

    /// An answer was merged; of a page that was read or did not come, how many external hosts it brought that are new
    /// in the tree.
    pub(super) fn note_yield(&mut self, prospect: Option<UrlCandidate>, hosts: Option<usize>) {
        let Some(auto) = &mut self.auto else { return };
        if let (Some(prospect), Some(hosts)) = (&prospect, hosts) {
            auto.appraiser.note(prospect, hosts as u64);
        }
        auto.finders.resize(self.found.len(), prospect);
    }

    /// Who found each URL of the next level; the level that they were found on is over.
    pub(super) fn take_finders(&mut self) -> Vec<Option<UrlCandidate>> {
        let Some(auto) = &mut self.auto else { return Vec::new() };
        auto.chosen = 0;
        std::mem::take(&mut auto.finders)
    }

    /// What a URL of a level below the first promises.
    pub(super) fn prospect(
        &self,
        url: &WebUrl,
        depth: Depth,
        finder: Option<&UrlCandidate>,
    ) -> Option<UrlCandidate> {
        let auto = self.auto.as_ref()?;
        Some(auto.appraiser.prospect(&UrlKind::from_url(url, &auto.rates), depth, finder))
    }

    /// A URL of a script is left out: of those that the rule on scripts keeps back for it, nobody would have asked.
    pub(super) fn leave_out_script(&mut self, url: &WebUrl) {
        if let (Some(auto), Some(script)) = (&mut self.auto, url.script()) {
            *auto.scripts.entry(script).or_default() += 1;
        }
    }

    /// How many URLs of a script were left out.
    pub(super) fn left_out_of(&self, script: &ScriptKey) -> u32 {
        self.auto.as_ref().and_then(|auto| auto.scripts.get(script)).copied().unwrap_or_default()
    }

    /// What the page of a URL that is left out is expected to bring.
    pub(super) fn expected(&self, entry: &ListedUrl) -> f64 {
        let auto = self.auto.as_ref().zip(entry.prospect.as_ref());
        auto.map_or(0.0, |(auto, prospect)| auto.appraiser.expected(prospect))
    }
}

impl ListedUrl {
    /// What it promises, if that is in question: what a redirect leads to and what a server asked us to come back for
    /// was found worth it before, and behind each front page may stand a server of its own.
    fn doubtful(&self) -> Option<&UrlCandidate> {
        let is_settled = self.again || self.redirects > 0 || self.url.is_front_page();
        self.prospect.as_ref().filter(|_| !is_settled)
    }
}
