use std::cmp::Reverse;
use std::sync::Arc;

use super::evidence::Factor;
use super::experience::Experience;
use super::memory::Memory;
use super::rates::Rates;
use super::url_candidate::{UrlCandidate, UrlKind};
use crate::exchange::Depth;

/// The number of URLs that are requested in each site tree whatever their expected yield.
pub const LEAST_REQUESTS: u64 = 12;
/// The number of standard deviations between the estimate and the upper estimate.
const BENEFIT_OF_DOUBT: f64 = 1.0;
/// The number of URLs that are chosen at a time; an eighth of the waiting URLs, if that is more.
const LEAST_CHOSEN: usize = 4;
const CHOSEN_SHARE: usize = 8;

/// The yield of a tree so far, and the yield that it predicts for the waiting URLs.
#[derive(Debug)]
pub struct Appraiser {
    rates: Arc<Rates>,
    price: f64,
    memory: Option<Memory>,
    experience: Experience,
}

impl Appraiser {
    /// An appraiser for an unknown tree. A request must be expected to bring `price` new external hosts.
    #[must_use]
    pub fn new(rates: Arc<Rates>, price: f64) -> Self {
        Self { rates, price, memory: None, experience: Experience::default() }
    }

    /// Adds what an earlier survey found in the site.
    #[must_use]
    pub fn remembering(self, memory: Memory) -> Self {
        Self { experience: memory.experience.clone(), memory: Some(memory), ..self }
    }

    /// The candidate for a URL of a level that was found on a page of the branch of `finder`; on level 1,
    /// each URL is a branch of its own.
    #[must_use]
    pub fn prospect(&self, kind: &UrlKind, depth: Depth, finder: Option<&UrlCandidate>) -> UrlCandidate {
        let remembered = self.memory.as_ref().and_then(|memory| memory.page(kind.page, kind.script));
        UrlCandidate::new(kind, depth, finder, &self.rates, remembered)
    }

    /// A page, or something else in its place, came and brought `hosts` hosts.
    pub fn note(&mut self, prospect: &UrlCandidate, hosts: u64) {
        // Remembered pages are known already, and were chosen for their yield: they would bias the estimate
        // for all others.
        if prospect.remembered.is_none() {
            self.experience.note(prospect, hosts as f64);
        }
    }

    /// The number of external hosts, new in the tree, that the page itself is expected to bring.
    #[must_use]
    pub(in crate::walk) fn expected(&self, prospect: &UrlCandidate) -> f64 {
        match prospect.remembered {
            Some(page) => page.hosts.into(),
            None => self.experience.expected(prospect),
        }
    }

    /// Sorts the waiting URLs by their expected yield, the best first; equal ones keep their order. Returns
    /// the number of URLs to request before the next choice: 0 if none is worth a request. URLs without a
    /// candidate, which are requested in any case, come first. `asked` is the number of URLs requested in the
    /// tree so far.
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
        // As if the factors above were certain: the doubt is greatest for the folder, which has the least
        // evidence.
        prospect.worth * mean * (1.0 + BENEFIT_OF_DOUBT / shape.sqrt())
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
