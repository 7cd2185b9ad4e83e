use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

use ccsurvey::analysis::policies::{PolicyPoint, RecordedGraph, SiteTree};

use super::curve::Curve;

/// A page with the way to it, by what it brings a request: hosts × 2³² / requests, so that it can be compared exactly.
type Offer = (u64, Reverse<(usize, u32)>);

/// What a survey would cost that knew every page beforehand: again and again the page is fetched, with all pages on
/// its shortest way that were not, which promises most new hosts for its requests. No policy can know that much; but this
/// is a greedy choice, which a cleverer one with the same knowledge could better.
pub(crate) fn bound(ground: &RecordedGraph) -> Curve {
    let ways: Vec<Vec<Option<u32>>> = ground.trees.iter().map(ways).collect();
    let all_requests: u64 = ground.trees.iter().map(SiteTree::requests).sum();
    let all_hosts: HashSet<u32> = ground
        .trees
        .iter()
        .flat_map(|tree| tree.pages.iter().flat_map(|page| &page.hosts))
        .copied()
        .collect();
    let mut fetched: Vec<HashSet<u32>> = ground.trees.iter().map(|_| HashSet::new()).collect();
    let mut hosts: HashSet<u32> = HashSet::new();
    // Robots.txt and entrances are asked for in any case.
    let mut requests: u64 = ground.trees.iter().map(|tree| tree.robots).sum();
    for (at, tree) in ground.trees.iter().enumerate() {
        for (page, known) in (0..).zip(&tree.pages).filter(|(_, page)| page.is_entrance()) {
            fetched[at].insert(page);
            requests += known.requests;
            hosts.extend(&known.hosts);
        }
    }
    let offer = |at: usize, page: u32, fetched: &[HashSet<u32>], hosts: &HashSet<u32>| -> Option<Offer> {
        let tree = &ground.trees[at];
        let way = way_to(page, &ways[at], &fetched[at]);
        let cost: u64 = way.iter().map(|page| tree.pages[*page as usize].requests).sum();
        let brings: HashSet<u32> =
            way.iter().flat_map(|page| &tree.pages[*page as usize].hosts).copied().collect();
        let new = brings.difference(hosts).count() as u64;
        (new > 0).then(|| ((new << 32) / cost.max(1), Reverse((at, page))))
    };
    let mut offers: BinaryHeap<Offer> = BinaryHeap::new();
    for (at, tree) in ground.trees.iter().enumerate() {
        let with_hosts = (0..).zip(&tree.pages).filter(|(_, page)| !page.hosts.is_empty());
        offers.extend(with_hosts.filter_map(|(page, _)| offer(at, page, &fetched, &hosts)));
    }
    let share = |requests: u64, hosts: &HashSet<u32>| PolicyPoint {
        load: requests as f64 / all_requests.max(1) as f64,
        coverage: hosts.len() as f64 / all_hosts.len().max(1) as f64,
    };
    let mut points = vec![share(requests, &hosts)];
    while let Some((price, Reverse((at, page)))) = offers.pop() {
        // What was promised may have been found elsewhere since: then it is offered again for what is left.
        let Some(now) = offer(at, page, &fetched, &hosts) else { continue };
        if now.0 != price {
            offers.push(now);
            continue;
        }
        for page in way_to(page, &ways[at], &fetched[at]) {
            requests += ground.trees[at].pages[page as usize].requests;
            hosts.extend(&ground.trees[at].pages[page as usize].hosts);
            fetched[at].insert(page);
        }
        points.push(share(requests, &hosts));
    }
    Curve::of(points)
}

/// By which page each page is first reached, breadth first.
fn ways(tree: &SiteTree) -> Vec<Option<u32>> {
    let mut from = vec![None; tree.pages.len()];
    let mut known: Vec<bool> = tree.pages.iter().map(|page| page.is_entrance()).collect();
    let mut queue: VecDeque<u32> =
        (0..).zip(&known).filter(|(_, known)| **known).map(|(page, _)| page).collect();
    while let Some(at) = queue.pop_front() {
        let page = &tree.pages[at as usize];
        for to in page.redirect.iter().chain(&page.links) {
            if !std::mem::replace(&mut known[*to as usize], true) {
                from[*to as usize] = Some(at);
                queue.push_back(*to);
            }
        }
    }
    from
}

/// A page and those on the way to it that are not fetched yet.
fn way_to(page: u32, from: &[Option<u32>], fetched: &HashSet<u32>) -> Vec<u32> {
    let up = std::iter::successors(Some(page), |page| from[*page as usize]);
    up.take_while(|page| !fetched.contains(page)).collect()
}
