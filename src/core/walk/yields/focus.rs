use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::memory::{Memory, SeenUrl};

/// The costs of a survey with `--focus`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Focus {
    /// The number of new external hosts that a request must be expected to bring; none if the requests that
    /// are made in any case take the whole share.
    pub price: Option<f64>,
    /// The number of requests of the earlier survey.
    pub earlier_requests: u64,
    /// Of these, the requests for robots.txt, entrances and front pages, which are made in any case.
    pub settled_requests: u64,
    /// Of these, the requests that are made again at this price, with those that are made in any case.
    pub planned_requests: u64,
}

/// The costs of the earlier survey, by the worth of its pages.
#[derive(Debug, Default)]
pub struct Costs {
    /// The requests of the whole survey.
    requests: u64,
    /// The requests that are made in any case.
    settled: u64,
    /// The requests by the first bits of the worth: in steps of less than one percent.
    by_worth: BTreeMap<u32, u64>,
}

/// The number of low bits that a step ignores.
const STEP: u32 = 16;

impl Costs {
    /// Adds a request of the earlier survey; requests for no URL of a tree (robots.txt) are made in any case.
    pub fn note_request(&mut self, is_of_tree: bool) {
        self.requests += 1;
        self.settled += u64::from(!is_of_tree);
    }

    /// Adds the URLs of a tree; `memory` is what is remembered of the tree.
    pub fn note_pages(&mut self, seen: &[SeenUrl], memory: Option<&Memory>) {
        for page in seen {
            let worth = memory.and_then(|memory| memory.worth(&page.url)).unwrap_or_default();
            if page.is_settled() {
                self.settled += u64::from(page.requests);
            } else {
                // The bits of numbers that are not negative have the order of the numbers.
                *self.by_worth.entry(worth.max(0.0).to_bits() >> STEP).or_default() +=
                    u64::from(page.requests);
            }
        }
    }

    /// The lowest price at which no more than this share of the requests is made.
    #[must_use]
    pub fn focus(&self, share: f64) -> Focus {
        let max_requests = self.requests as f64 * share;
        let (mut planned_requests, mut price) = (self.settled, None);
        for (bits, requests) in self.by_worth.iter().rev() {
            if (planned_requests + requests) as f64 > max_requests {
                break;
            }
            planned_requests += requests;
            price = Some(f32::from_bits(bits << STEP).into());
        }
        Focus { price, earlier_requests: self.requests, settled_requests: self.settled, planned_requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> Costs {
        let by_worth = [(0.25_f32, 40), (1.0, 30), (4.0, 20)];
        let by_worth = by_worth.map(|(worth, requests)| (worth.to_bits() >> STEP, requests)).into();
        Costs { requests: 100, settled: 10, by_worth }
    }

    #[test]
    fn the_price_is_the_least_that_the_share_suffices_for() {
        let focus = |share| costs().focus(share);
        assert_eq!((focus(1.0).price, focus(1.0).planned_requests), (Some(0.25), 100));
        assert_eq!((focus(0.99).price, focus(0.99).planned_requests), (Some(1.0), 60));
        assert_eq!((focus(0.3).price, focus(0.3).planned_requests), (Some(4.0), 30));
    }

    #[test]
    fn a_share_that_front_pages_take_leaves_nothing_else_to_be_asked() {
        let focus = costs().focus(0.05);
        assert_eq!((focus.price, focus.settled_requests, focus.planned_requests), (None, 10, 10));
        let text = serde_json::to_string(&focus).unwrap();
        assert_eq!(serde_json::from_str::<Focus>(&text).unwrap(), focus);
    }
}
