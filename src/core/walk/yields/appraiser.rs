use std::cmp::Reverse;
use std::sync::Arc;

use super::evidence::Factor;
use super::experience::Experience;
use super::memory::Memory;
use super::rates::Rates;
use super::url_candidate::{UrlCandidate, UrlKind};
use crate::exchange::Depth;

/// URLs that are asked for in each site tree whatever they promise.
pub const LEAST_REQUESTS: u64 = 12;
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
    memory: Option<Memory>,
    experience: Experience,
}

impl Appraiser {
    /// Of a tree of which nothing is known. A request must promise so many new external hosts.
    #[must_use]
    pub fn new(rates: Arc<Rates>, price: f64) -> Self {
        Self { rates, price, memory: None, experience: Experience::default() }
    }

    /// With what an earlier survey found in the site.
    #[must_use]
    pub fn remembering(self, memory: Memory) -> Self {
        Self { experience: memory.experience.clone(), memory: Some(memory), ..self }
    }

    /// A URL of a level, found on a page of the branch of `finder`; of level 1, each is a branch of its own.
    #[must_use]
    pub fn prospect(&self, kind: &UrlKind, depth: Depth, finder: Option<&UrlCandidate>) -> UrlCandidate {
        let remembered = self.memory.as_ref().and_then(|memory| memory.page(kind.page, kind.script));
        UrlCandidate::new(kind, depth, finder, &self.rates, remembered)
    }

    /// A page came, or something else in its place, and brought so many hosts.
    pub fn note(&mut self, prospect: &UrlCandidate, hosts: u64) {
        // What is remembered is known already, and was chosen for what it brought: it would speak for all.
        if prospect.remembered.is_none() {
            self.experience.note(prospect, hosts as f64);
        }
    }

    /// External hosts, new in the tree, that the page is expected to bring itself.
    #[must_use]
    pub(in crate::walk) fn expected(&self, prospect: &UrlCandidate) -> f64 {
        match prospect.remembered {
            Some(page) => page.hosts.into(),
            None => self.experience.expected(prospect),
        }
    }

    /// Puts the waiting URLs in the order of what they promise, the best first; equal ones stay in the order in which they
    /// are. Returns how many are to be asked for before the next choice: 0 when none is worth it. Those without a
    /// prospect, which are asked for in any case, come first. `asked` URLs were asked for in the tree.
    #[must_use]
    pub fn choose<T>(
        &self,
        waiting: &mut [T],
        asked: u64,
        prospect: impl Fn(&T) -> Option<&UrlCandidate>,
    ) -> usize {
        let upper = |one: &T| prospect(one).map_or(f64::INFINITY, |prospect| self.upper(prospect));
        waiting.sort_by_cached_key(|one| Reverse(OrderedNumber(upper(one))));
        let most = LEAST_CHOSEN.max(waiting.len() / CHOSEN_SHARE);
        let least = if self.memory.is_some() { 0 } else { LEAST_REQUESTS };
        let free = usize::try_from(least.saturating_sub(asked)).unwrap_or(usize::MAX);
        let worth_it = |(at, one): &(usize, &T)| *at < free || upper(one) >= self.price;
        waiting.iter().take(most).enumerate().take_while(worth_it).count()
    }

    fn upper(&self, prospect: &UrlCandidate) -> f64 {
        if let Some(page) = prospect.remembered {
            return page.worth.into();
        }
        let Factor { mean, shape } = self.experience.factor(prospect);
        // As if the factors above were certain: of the folder, which knows least, the doubt is greatest.
        prospect.worth * mean * (1.0 + BENEFIT_OF_DOUBT / shape.sqrt())
    }
}

/// A number that is always one, and so has a place among others.
#[derive(PartialEq)]
struct OrderedNumber(f64);

impl Eq for OrderedNumber {}

impl PartialOrd for OrderedNumber {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedNumber {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
