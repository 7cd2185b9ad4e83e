use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::{OUTSIDE, SiteView};
use crate::analysis::overview::tally::{NamedCount, Tally};
use crate::exchange::{Challenge, Outcome};

/// The results of exchanges and the outcomes of site trees.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcomes {
    /// All exchanges, robots.txt included.
    pub exchanges: u64,
    /// Exchanges without a complete response, by failure.
    pub failures: Vec<NamedCount>,
    /// Responses by HTTP status, for pages and for robots.txt.
    pub statuses: Vec<Status>,
    /// Site trees by outcome.
    pub trees: Vec<NamedCount>,
    /// By country domain, the one with the most site trees first.
    pub by_country_domain: Vec<CountryOutcomes>,
    /// Sites that turned the survey away.
    pub turned_away: TurnedAway,
}

/// Sites that turned the survey away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TurnedAway {
    /// All sites.
    pub sites: u64,
    /// Sites that turned the survey away after they had delivered pages.
    pub refused: u64,
    /// Sites without a page that delivered a challenge or a block page instead.
    pub challenged: u64,
    /// Sites with a challenge, by the sign that showed it. Includes sites that delivered pages too.
    pub evidence: Vec<NamedCount>,
}

/// The number of responses with one HTTP status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The status, from 100 to 599 in sound tables.
    pub status: u32,
    /// Responses to requests for pages and files.
    pub pages: u64,
    /// Responses to requests for robots.txt.
    pub robots: u64,
}

/// The outcomes of the site trees of one country domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CountryOutcomes {
    /// The country domain, as in the settings of the survey, or `outside`.
    pub country_domain: String,
    /// Finished site trees.
    pub trees: u64,
    /// Site trees by outcome, the most frequent first.
    pub outcomes: Vec<NamedCount>,
}

#[derive(Default)]
pub(in crate::analysis::overview) struct OutcomesMaker {
    exchanges: u64,
    failures: Tally,
    statuses: BTreeMap<u32, Status>,
    trees: Tally,
    domains: BTreeMap<String, (u64, Tally)>,
    sites: HashSet<u32>,
    /// Sites with pages.
    with_pages: HashSet<u32>,
    refused: HashSet<u32>,
    /// By site, the signs of the challenges it delivered.
    challenges: HashMap<u32, HashSet<Challenge>>,
}

impl OutcomesMaker {
    pub(in crate::analysis::overview) fn add_site(&mut self, site: &SiteView<'_>) {
        self.trees.add(site.outcome);
        let (trees, outcomes) = self.domains.entry(site.cctld.unwrap_or(OUTSIDE).to_owned()).or_default();
        *trees += 1;
        outcomes.add(site.outcome);
        self.sites.insert(site.site);
        if site.pages > 0 {
            self.with_pages.insert(site.site);
        }
        if Outcome::named(site.outcome) == Some(Outcome::Refused) {
            self.refused.insert(site.site);
        }
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        self.exchanges += 1;
        if let Some(failure) = exchange.failure {
            self.failures.add(failure);
        }
        if let Some(challenge) = exchange.challenge.and_then(Challenge::named) {
            self.challenges.entry(exchange.site).or_default().insert(challenge);
        }
        if let Some(status) = exchange.status {
            let counts = self.statuses.entry(status).or_default();
            counts.robots += u64::from(exchange.is_robots_request());
            counts.pages += u64::from(!exchange.is_robots_request());
        }
    }

    pub(in crate::analysis::overview) fn finish(self) -> Outcomes {
        let domains = self.domains.into_iter().map(|(country_domain, (trees, outcomes))| CountryOutcomes {
            country_domain,
            trees,
            outcomes: outcomes.finish(),
        });
        let mut by_country_domain: Vec<CountryOutcomes> = domains.collect();
        by_country_domain
            .sort_by(|a, b| b.trees.cmp(&a.trees).then_with(|| a.country_domain.cmp(&b.country_domain)));
        let mut evidence = Tally::default();
        self.challenges.values().flatten().for_each(|challenge| evidence.add(challenge.as_str()));
        let without_page = self
            .challenges
            .keys()
            .filter(|site| !self.with_pages.contains(site) && !self.refused.contains(site));
        let turned_away = TurnedAway {
            sites: self.sites.len() as u64,
            refused: self.refused.len() as u64,
            challenged: without_page.count() as u64,
            evidence: evidence.finish(),
        };
        Outcomes {
            turned_away,
            exchanges: self.exchanges,
            failures: self.failures.finish(),
            statuses: self.statuses.into_iter().map(|(status, counts)| Status { status, ..counts }).collect(),
            trees: self.trees.finish(),
            by_country_domain,
        }
    }
}
