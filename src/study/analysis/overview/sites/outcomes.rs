use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::{OUTSIDE, SiteView};
use crate::analysis::overview::tally::{NamedCount, Tally};
use crate::exchange::{Challenge, Outcome};

/// How exchanges and site trees ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcomes {
    /// All of them, robots.txt included.
    pub exchanges: u64,
    /// Exchanges without a complete answer, by failure.
    pub failures: Vec<NamedCount>,
    /// Answers by HTTP status: requests for pages, and for robots.txt.
    pub statuses: Vec<Status>,
    /// Site trees by outcome.
    pub trees: Vec<NamedCount>,
    /// Those with most site trees first.
    pub by_country_domain: Vec<CountryOutcomes>,
    /// Sites that turn crawlers away.
    pub turned_away: TurnedAway,
}

/// Sites that turned the survey away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TurnedAway {
    /// Of so many.
    pub sites: u64,
    /// After they had delivered pages.
    pub refused: u64,
    /// Without a page: a challenge or a block page came in its place.
    pub challenged: u64,
    /// Sites with a challenge, by what showed it, whatever else they delivered.
    pub evidence: Vec<NamedCount>,
}

/// How often servers answered with one HTTP status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// From 100 to 599 in sound tables.
    pub status: u32,
    /// Requests for pages and files.
    pub pages: u64,
    /// Requests for robots.txt.
    pub robots: u64,
}

/// How the site trees of one country domain ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CountryOutcomes {
    /// As the survey was told it, or `outside`.
    pub country_domain: String,
    /// That are done.
    pub trees: u64,
    /// By outcome, the most first.
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
    /// Sites with pages, and those that were refused some.
    with_pages: HashSet<u32>,
    refused: HashSet<u32>,
    /// What showed the challenges of a site.
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
