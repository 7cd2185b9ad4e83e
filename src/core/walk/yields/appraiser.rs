use std::cmp::Reverse;
use std::sync::Arc;

use super::experience::Experience;
use super::features::{FEATURES, FIXED};
use super::logarithm::yield_of;
use super::memory::Memory;
use super::rates::Rates;
use super::url_candidate::{Finder, UrlCandidate, UrlKind, fixed};
use crate::exchange::Depth;

/// The number of URLs that are requested in each site tree whatever their expected yield.
pub const LEAST_REQUESTS: u64 = 12;
/// The number of URLs that are chosen at a time; an eighth of the waiting URLs, if that is more.
const LEAST_CHOSEN: usize = 4;
const CHOSEN_SHARE: usize = 8;

/// The yield of a tree so far, and the yield that it predicts for the waiting URLs.
#[derive(Debug)]
pub struct Appraiser {
    rates: Arc<Rates>,
    price: f64,
    /// The number of URLs that are requested in a site tree without memory whatever their expected yield.
    min_requests: u64,
    memory: Option<Memory>,
    experience: Experience,
}

impl Appraiser {
    /// An appraiser for an unknown tree. A request must be expected to bring `price` new external hosts.
    #[must_use]
    pub fn new(rates: Arc<Rates>, price: f64) -> Self {
        let min_requests = LEAST_REQUESTS;
        Self { rates, price, min_requests, memory: None, experience: Experience::default() }
    }

    /// Requests nothing that is not expected to be worth its price.
    #[must_use]
    pub fn without_free_requests(self) -> Self {
        Self { min_requests: 0, ..self }
    }

    /// From now on, a request must be expected to bring `price` new external hosts.
    pub fn set_price(&mut self, price: f64) {
        self.price = price;
    }

    /// Adds what an earlier survey found in the site.
    #[must_use]
    pub fn with_memory(self, memory: Memory) -> Self {
        Self { experience: memory.experience.clone(), memory: Some(memory), ..self }
    }

    /// The candidate for a URL of a level that was found on `finder`; on level 1, each URL is a branch of its
    /// own.
    #[must_use]
    pub fn candidate(&self, kind: &UrlKind, depth: Depth, finder: Option<&Finder>) -> UrlCandidate {
        let remembered = self.memory.as_ref().and_then(|memory| memory.page(kind.page, kind.script));
        UrlCandidate::new(kind, depth, finder, &self.rates, remembered)
    }

    /// A page, or something else in its place, came and brought `hosts` hosts.
    pub fn note(&mut self, candidate: &UrlCandidate, hosts: u64) {
        // Remembered pages are known already, and were chosen for their yield: they would bias the estimate
        // for all others.
        if candidate.remembered.is_none() {
            candidate.note(&mut self.experience, hosts as f64);
        }
    }

    /// The features, as they are now, of a waiting URL with this [`candidate`](Self::candidate), in the order
    /// of [`feature_names`](super::feature_names).
    #[must_use]
    pub fn features(
        &self,
        candidate: &UrlCandidate,
        kind: &UrlKind,
        depth: Depth,
        finder: Option<&Finder>,
    ) -> [f64; FEATURES] {
        let mut out = [0.0; FEATURES];
        out[..FIXED].copy_from_slice(&fixed(kind, depth, finder, &self.rates));
        out[FIXED..].copy_from_slice(&self.experience.features(&candidate.groups));
        out
    }

    /// The number of external hosts, new in the tree, that the page itself is expected to bring.
    #[must_use]
    pub(in crate::walk) fn expected(&self, candidate: &UrlCandidate) -> f64 {
        match candidate.remembered {
            Some(page) => page.hosts.into(),
            None => yield_of(candidate.logarithms(&self.experience, &self.rates).own),
        }
    }

    /// Sorts the waiting URLs by their expected yield, the best first; equal ones keep their order. Returns
    /// the number of URLs to request before the next choice: 0 if none is worth a request. URLs without a
    /// candidate, which are requested in any case, come first. `requested` is the number of URLs requested in
    /// the tree so far.
    #[must_use]
    pub fn choose<T>(
        &self,
        waiting: &mut [T],
        requested: u64,
        candidate: impl Fn(&T) -> Option<&UrlCandidate>,
    ) -> usize {
        let worth = |item: &T| candidate(item).map_or(f64::INFINITY, |candidate| self.worth(candidate));
        waiting.sort_by_cached_key(|item| Reverse(OrderedNumber(worth(item))));
        let max_chosen = LEAST_CHOSEN.max(waiting.len() / CHOSEN_SHARE);
        let min_requests = if self.memory.is_some() { 0 } else { self.min_requests };
        let free = usize::try_from(min_requests.saturating_sub(requested)).unwrap_or(usize::MAX);
        let is_worth_it = |(at, item): &(usize, &T)| *at < free || worth(item) >= self.price;
        waiting.iter().take(max_chosen).enumerate().take_while(is_worth_it).count()
    }

    /// What a request is worth, in short: the greatest `f32` that is not above it, so that what counts as worth
    /// a price is worth it.
    #[must_use]
    pub fn score(&self, candidate: &UrlCandidate) -> f32 {
        let worth = self.worth(candidate);
        let rounded = worth as f32;
        if f64::from(rounded) > worth { rounded.next_down() } else { rounded }
    }

    /// What a request is worth: the hosts per request of the page and of the best of what lies behind it.
    fn worth(&self, candidate: &UrlCandidate) -> f64 {
        match candidate.remembered {
            Some(page) => page.worth.into(),
            None => yield_of(candidate.logarithms(&self.experience, &self.rates).worth),
        }
    }
}

/// A number that is never NaN and so can be ordered.
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
