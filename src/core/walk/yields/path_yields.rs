use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A page of a site tree that was walked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenPage {
    /// The index of the page on which it was found, which precedes it; none if the walk requests the page in
    /// any case.
    pub finder: Option<u32>,
    /// The number of requests that it cost.
    pub requests: u32,
    /// The number of external hosts, new in the tree, that it brought.
    pub hosts: f32,
}

/// For each page of a tree, the number of hosts per request along the best path down through the page. Pages
/// must follow the pages on which they were found.
///
/// A page is of use only to a walk that requests the pages on the path to it. The pages of a tree fall into
/// groups such that requesting them group by group brings the most for any number of requests: a page is
/// joined by the pages below it that raise the yield per request of its group, and comes before those that do
/// not (Horn, "Single-machine job sequencing with treelike precedence ordering and linear delay penalties",
/// SIAM Journal on Applied Mathematics 23, 1972). So a page is worth no less than any page below it, and the
/// pages that are worth a price are the set that brings most beyond the price.
#[must_use]
pub fn path_yields(pages: &[SeenPage]) -> Vec<f32> {
    let mut groups: Vec<PathGroup> = pages
        .iter()
        .map(|page| PathGroup { hosts: f64::from(page.hosts), requests: f64::from(page.requests) })
        .collect();
    // For each page, the page whose group it has joined.
    let mut joined: Vec<Option<usize>> = vec![None; pages.len()];
    let mut below: Vec<BinaryHeap<SubGroup>> = pages.iter().map(|_| BinaryHeap::new()).collect();
    for at in (0..pages.len()).rev() {
        let mut waiting = std::mem::take(&mut below[at]);
        while waiting.peek().is_some_and(|best| best.worth > groups[at].worth()) {
            let Some(SubGroup { page, .. }) = waiting.pop() else { break };
            groups[at] = groups[at].and(groups[page]);
            joined[page] = Some(at);
            let mut rest = std::mem::take(&mut below[page]);
            if rest.len() > waiting.len() {
                std::mem::swap(&mut rest, &mut waiting);
            }
            waiting.extend(rest);
        }
        below[at] = waiting;
        if let Some(finder) = pages[at].finder {
            below[finder as usize].push(SubGroup { worth: groups[at].worth(), page: at });
        }
    }
    // The first page of a group precedes the others.
    let mut worths: Vec<f32> = Vec::with_capacity(pages.len());
    for (at, joined) in joined.into_iter().enumerate() {
        worths.push(joined.map_or_else(|| groups[at].worth() as f32, |first| worths[first]));
    }
    worths
}

/// Pages that are requested together.
#[derive(Clone, Copy, Debug)]
struct PathGroup {
    hosts: f64,
    requests: f64,
}

impl PathGroup {
    fn and(self, other: Self) -> Self {
        Self { hosts: self.hosts + other.hosts, requests: self.requests + other.requests }
    }

    fn worth(self) -> f64 {
        self.hosts / self.requests.max(1.0)
    }
}

/// A group below one that it has not joined.
#[derive(Clone, Copy, Debug)]
struct SubGroup {
    worth: f64,
    page: usize,
}

impl PartialEq for SubGroup {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SubGroup {}

impl PartialOrd for SubGroup {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SubGroup {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then(other.page.cmp(&self.page))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(finder: impl Into<Option<u32>>, hosts: f32) -> SeenPage {
        SeenPage { finder: finder.into(), requests: 1, hosts }
    }

    #[test]
    fn the_way_to_a_rich_page_is_worth_what_both_bring_together() {
        let tree = [page(None, 1.0), page(0, 0.0), page(0, 0.0), page(1, 6.0), page(3, 0.0)];
        assert_eq!(path_yields(&tree), [7.0 / 3.0, 7.0 / 3.0, 0.0, 7.0 / 3.0, 0.0]);
    }

    #[test]
    fn a_page_that_costs_more_requests_is_worth_less() {
        let tree = [page(None, 9.0), SeenPage { requests: 4, ..page(0, 2.0) }, page(0, 1.0)];
        assert_eq!(path_yields(&tree), [9.0, 0.5, 1.0]);
    }

    /// Trees of up to nine pages.
    fn trees() -> impl Strategy<Value = Vec<SeenPage>> {
        prop::collection::vec((any::<u32>(), 1..4_u32, 0..6_u8), 1..10).prop_map(|pages| {
            let finder = |at: usize, draw: u32| (at > 0).then(|| draw % u32::try_from(at).unwrap());
            let seen = |(at, (draw, requests, hosts)): (usize, (u32, u32, u8))| SeenPage {
                finder: finder(at, draw),
                requests,
                hosts: f32::from(hosts),
            };
            pages.into_iter().enumerate().map(seen).collect()
        })
    }

    fn net_total(pages: &[SeenPage], asked: impl Fn(usize) -> bool, price: f64) -> f64 {
        let net_hosts = |page: &SeenPage| f64::from(page.hosts) - price * f64::from(page.requests);
        (0..pages.len()).filter(|at| asked(*at)).map(|at| net_hosts(&pages[at])).sum()
    }

    proptest! {
        #[test]
        fn no_other_choice_with_its_ways_brings_more_beyond_a_price(tree in trees(), price in 0.05..5.0_f64) {
            let worths = path_yields(&tree);
            let ours = net_total(&tree, |at| f64::from(worths[at]) >= price, price);
            for choice in 0..1_u32 << tree.len() {
                let has = |at: usize| choice >> at & 1 == 1;
                let is_reached = (0..tree.len()).all(|at| !has(at) || tree[at].finder.is_none_or(|by| has(by as usize)));
                if is_reached {
                    prop_assert!(net_total(&tree, has, price) <= ours + 1e-4, "{tree:?} {worths:?}");
                }
            }
        }

        #[test]
        fn no_page_is_worth_more_than_the_one_that_found_it(tree in trees()) {
            let worths = path_yields(&tree);
            for (page, worth) in tree.iter().zip(&worths) {
                prop_assert!(page.finder.is_none_or(|by| worths[by as usize] >= *worth));
            }
        }
    }
}
