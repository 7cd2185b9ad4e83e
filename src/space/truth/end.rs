use super::oracle::{Oracle, Place};
use super::rows::{LevelTruth, LinkTruth, SiteTruth};

/// A site tree as the survey must find it.
pub(super) struct SiteTree {
    pub row: SiteTruth,
    pub levels: Vec<LevelTruth>,
    /// In the order in which they were found.
    pub links: Vec<LinkTruth>,
}

/// How a walk ends: what is left gets its class, and the sums are drawn.
impl Oracle<'_> {
    /// A walk that was ended leaves the rest of its level, and what it found for the next.
    pub(super) fn class_left(&mut self, left: u64, found: u64) {
        self.here().not_fetched_limit += left;
        let below = self.depth + 1;
        if self.depth < self.country.settings.depth {
            self.level(below).not_fetched_limit += found;
        } else {
            self.level(below).not_fetched_depth += found;
        }
    }

    /// URLs that only nofollow links lead to have no depth; they are counted below the last level walked.
    pub(super) fn class_shunned(&mut self, below: u16) {
        let shunned = self.places.values().filter(|place| **place == Place::Shunned).count() as u64;
        if shunned > 0 {
            self.level(below).not_fetched_nofollow += shunned;
        }
    }

    pub(super) fn finish(mut self, left_for_depth: bool) -> SiteTree {
        for level in &mut self.levels {
            level.internal_urls = level.classed();
        }
        self.levels.retain(|level| level.internal_urls > 0);
        let sum = |of: fn(&LevelTruth) -> u64| self.levels.iter().map(of).sum::<u64>();
        let row = SiteTruth {
            outcome: self.outcome(left_for_depth).to_owned(),
            trap_pattern: (!self.traps.names.is_empty()).then(|| self.traps.names.join(" ")),
            requests: self.robots_requests + sum(|level| level.requests),
            pages: sum(|level| level.pages),
            external_urls: sum(|level| level.external_urls),
            external_hosts: sum(|level| level.external_hosts),
            external_sites: sum(|level| level.external_sites),
            deepest: self.levels.iter().rfind(|level| level.fetched > 0).map(|level| level.depth),
            site: self.start.site,
            start_url: self.start.url.to_string(),
            parent_site: self.start.parent_site,
            generation: self.start.generation,
        };
        SiteTree { row, levels: self.levels, links: self.links }
    }

    fn outcome(&self, left_for_depth: bool) -> &'static str {
        let first = &self.levels[0];
        let is_kept = first.not_fetched_robots + first.not_fetched_robots_unreachable > 0;
        match () {
            () if self.moved && first.pages == 0 => "moved",
            () if !self.server_answered => "unreachable",
            () if is_kept && first.pages == 0 => "robots",
            () if self.gave_up => "unreachable",
            () if !self.page_answered && first.pages == 0 && first.fetched > 0 => "unreachable",
            () if left_for_depth => "depth",
            () if self.levels.iter().any(|level| level.not_fetched_trap > 0) => "trap",
            () => "complete",
        }
    }
}
