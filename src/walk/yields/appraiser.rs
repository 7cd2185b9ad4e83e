use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::evidence::{Evidence, Factor};
use super::rates::Rates;
use super::words::words;
use crate::address::WebUrl;
use crate::exchange::Depth;

/// URLs that are asked for in each site tree whatever they promise.
pub(crate) const LEAST_REQUESTS: u64 = 12;
/// How much weight the mean of all sites has beside what a site shows, in expected finds; of branches beside their
/// site, and of folders beside their branch. Chosen on the worlds that `reports/adaptive` names as tuned on.
const SITE_PRIOR: f64 = 2.0;
const BRANCH_PRIOR: f64 = 1.0;
const FOLDER_PRIOR: f64 = 1.0;
/// Standard deviations that the upper estimate lies above the estimate.
const BENEFIT_OF_DOUBT: f64 = 1.0;
/// So many URLs are chosen at a time, and an eighth of those that wait.
const LEAST_CHOSEN: usize = 4;
const CHOSEN_SHARE: usize = 8;

/// What a tree has shown so far, and what that promises of its waiting URLs.
#[derive(Debug)]
pub struct Appraiser {
    rates: Arc<Rates>,
    price: f64,
    site: Evidence,
    branches: HashMap<u64, Evidence>,
    folders: HashMap<u64, Evidence>,
}

/// What a URL alone says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// The URL.
    key: u64,
    /// Host and path up to the last slash.
    folder: u64,
    /// By how much such pages bring more than others of their depth: themselves, and with those below them.
    factors: [f64; 2],
}

/// What is known of a URL before it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prospect {
    /// The page of level 1 by which it was reached.
    branch: u64,
    /// Host and path up to the last slash.
    folder: u64,
    /// External hosts, new in the tree, that such a page brings on average.
    own: f64,
    /// The greater of that and of what it and the pages below it bring a request.
    worth: f64,
}

impl Kind {
    /// What these rates make of a URL.
    #[must_use]
    pub fn of(url: &WebUrl, rates: &Rates) -> Self {
        let words = words(url);
        let canonical = url.canonical();
        let address = canonical.split_once("://").map_or("", |(_, address)| address);
        let address = address.split(['?', ';']).next().unwrap_or_default();
        let folder = address.rsplit_once('/').map_or(address, |(folder, _)| folder);
        Self {
            key: xxh3_64(canonical.as_bytes()),
            folder: xxh3_64(folder.as_bytes()),
            factors: [&rates.own, &rates.below].map(|scale| scale.factor(&words)),
        }
    }
}

impl Appraiser {
    /// Of a tree of which nothing is known. A request must promise so many new external hosts.
    #[must_use]
    pub fn new(rates: Arc<Rates>, price: f64) -> Self {
        Self { rates, price, site: Evidence::default(), branches: HashMap::new(), folders: HashMap::new() }
    }

    /// A URL of a level, found on a page of the branch of `finder`; of level 1, each is a branch of its own.
    #[must_use]
    pub fn prospect(&self, kind: &Kind, depth: Depth, finder: Option<&Prospect>) -> Prospect {
        let [own, below] = [&self.rates.own, &self.rates.below].map(|scale| scale.at(depth));
        let [own, below] = [own * kind.factors[0], below * kind.factors[1]];
        Prospect {
            branch: finder.map_or(kind.key, |finder| finder.branch),
            folder: kind.folder,
            own,
            worth: own.max(below),
        }
    }

    /// A page came, or something else in its place, and brought so many hosts.
    pub fn note(&mut self, prospect: &Prospect, hosts: u64) {
        let found = hosts as f64;
        self.site.add(prospect.own, found);
        self.branches.entry(prospect.branch).or_default().add(prospect.own, found);
        self.folders.entry(prospect.folder).or_default().add(prospect.own, found);
    }

    /// External hosts, new in the tree, that the page is expected to bring itself.
    #[must_use]
    pub fn expected(&self, prospect: &Prospect) -> f64 {
        prospect.own * self.factor(prospect).mean
    }

    /// Puts the waiting URLs in the order of what they promise, the best first; equal ones stay in the order in which they
    /// are. Returns how many are to be asked for before the next choice: 0 when none is worth it. Those without a
    /// prospect, which are asked for in any case, come first. `asked` URLs were asked for in the tree.
    #[must_use]
    pub fn choose<T>(
        &self,
        waiting: &mut [T],
        asked: u64,
        prospect: impl Fn(&T) -> Option<&Prospect>,
    ) -> usize {
        let upper = |one: &T| prospect(one).map_or(f64::INFINITY, |prospect| self.upper(prospect));
        waiting.sort_by_cached_key(|one| Reverse(Ordered(upper(one))));
        let most = LEAST_CHOSEN.max(waiting.len() / CHOSEN_SHARE);
        let free = usize::try_from(LEAST_REQUESTS.saturating_sub(asked)).unwrap_or(usize::MAX);
        let worth_it = |(at, one): &(usize, &T)| *at < free || upper(one) >= self.price;
        waiting.iter().take(most).enumerate().take_while(worth_it).count()
    }

    fn upper(&self, prospect: &Prospect) -> f64 {
        let Factor { mean, shape } = self.factor(prospect);
        // As if the factors above were certain: of the folder, which knows least, the doubt is greatest.
        prospect.worth * mean * (1.0 + BENEFIT_OF_DOUBT / shape.sqrt())
    }

    fn factor(&self, prospect: &Prospect) -> Factor {
        let site = self.site.factor(SITE_PRIOR, 1.0);
        let of = |group: &HashMap<u64, Evidence>, key| group.get(&key).copied().unwrap_or_default();
        let branch = of(&self.branches, prospect.branch).factor(BRANCH_PRIOR, site.mean);
        let above = site.mean * branch.mean;
        let folder = of(&self.folders, prospect.folder).factor(FOLDER_PRIOR, above);
        Factor { mean: above * folder.mean, ..folder }
    }
}

/// A number that is always one, and so has a place among others.
#[derive(PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
