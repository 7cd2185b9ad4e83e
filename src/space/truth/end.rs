use super::country::CarryOver;
use super::oracle::Oracle;
use super::rows::{LevelTruth, LinkTruth, SiteTruth};
use super::rules::UrlState;

/// A site tree as a survey must find it.
pub(super) struct SiteTree {
    pub row: SiteTruth,
    pub levels: Vec<LevelTruth>,
    /// In the order in which they were found.
    pub links: Vec<LinkTruth>,
    /// The URLs and files known to the tree, if it got no page and another URL may open the site.
    pub closed: Option<CarryOver>,
}

/// The end of a walk: classes the URLs left over and computes the sums.
impl Oracle<'_> {
    /// Classes the URLs left when a walk gives up: `unvisited` on its level, and those `found` for the next.
    pub(super) fn count_unvisited(&mut self, unvisited: u64, found: u64) {
        let was_refused = self.was_refused();
        let add_count = |level: &mut LevelTruth, urls| {
            if was_refused {
                level.not_fetched_refused += urls;
            } else {
                level.not_fetched_limit += urls;
            }
        };
        add_count(self.current_level(), unvisited);
        let below = self.depth + 1;
        if self.depth < self.country.settings.depth {
            add_count(self.level(below), found);
        } else {
            self.level(below).not_fetched_depth += found;
        }
    }

    /// URLs with nofollow links only have no depth; they are counted below the last level walked.
    pub(super) fn count_nofollow_only(&mut self, below: u16) {
        let nofollow_only =
            self.url_states.values().filter(|url_state| **url_state == UrlState::NofollowOnly).count() as u64;
        if nofollow_only > 0 {
            self.level(below).not_fetched_nofollow += nofollow_only;
        }
    }

    pub(super) fn finish(mut self, hit_depth_limit: bool) -> SiteTree {
        for level in &mut self.levels {
            level.internal_urls = level.classed();
        }
        self.levels.retain(|level| level.internal_urls > 0);
        let sum = |of: fn(&LevelTruth) -> u64| self.levels.iter().map(of).sum::<u64>();
        let outcome = self.outcome(hit_depth_limit);
        let row = SiteTruth {
            outcome: outcome.to_owned(),
            trap_pattern: (!self.traps.names.is_empty()).then(|| self.traps.names.join(" ")),
            requests: self.robots_requests + sum(|level| level.requests),
            pages: sum(|level| level.pages),
            external_urls: sum(|level| level.external_urls),
            external_hosts: sum(|level| level.external_hosts),
            external_sites: sum(|level| level.external_sites),
            deepest: self.levels.iter().rfind(|level| level.fetched > 0).map(|level| level.depth),
            entrance: self.attempts.opened.map(|relation| relation.column_value().to_owned()),
            entrances: self.attempts.tried,
            reachable: self.attempts.opened.is_some(),
            site: self.start.site,
            start_url: self.start.url.to_string(),
            parent_site: self.start.parent_site,
            generation: self.start.generation,
            seed: self.start.seed,
        };
        let may_be_opened = match outcome {
            "unreachable" | "no_page" => row.entrance.is_none(),
            "moved" => !self.attempts.front_moved,
            _ => false,
        };
        let closed = may_be_opened.then(|| CarryOver {
            pages: self
                .url_states
                .into_iter()
                .filter(|(_, url_state)| matches!(url_state, UrlState::Listed | UrlState::Earlier))
                .map(|(page, _)| page)
                .collect(),
            scripts: self.queries,
            robots: &self.earlier_robots | &self.own_robots,
        });
        SiteTree { row, levels: self.levels, links: self.links, closed }
    }

    /// Whether the server closed all of the last connections without a response after it had sent pages.
    fn was_refused(&self) -> bool {
        self.attempts.opened.is_some() && self.resets >= self.failures
    }

    fn outcome(&self, hit_depth_limit: bool) -> &'static str {
        let has_page = self.attempts.opened.is_some();
        match () {
            () if self.gave_up && self.was_refused() => "refused",
            () if self.gave_up && (has_page || !self.server_responded) => "unreachable",
            () if self.gave_up => "no_page",
            () if has_page && hit_depth_limit => "depth",
            () if has_page && self.levels.iter().any(|level| level.not_fetched_trap > 0) => "trap",
            () if has_page => "complete",
            () if self.moved => "moved",
            () if self.attempts.skipped_by_robots && !self.page_responded => "robots",
            () if !self.server_responded => "unreachable",
            () => "no_page",
        }
    }
}
