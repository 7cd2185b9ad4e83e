use std::path::Path;

use serde::Serialize;

use super::super::AnalysisError;
use super::super::tables::{columns, for_each_frame};
use super::listed::ListedTrees;
use super::names::Names;
use super::spread::Spread;
use super::tally::NamedCount;
use crate::records::{HostRow, LinkRow, Row, row_count};

/// The graph of the sites in the country domains: what a survey that follows links can find.
///
/// Nodes are the sites that were surveyed or linked to. An edge leads from a surveyed site to another site
/// that any of its pages links to, however many links there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkGraph {
    /// Sites of the country domains that were surveyed or linked to.
    pub sites: u64,
    /// Those that were surveyed: only of these the links are known.
    pub surveyed: u64,
    /// Pairs of a surveyed site and another site that it links to.
    pub edges: u64,
    /// Surveyed sites that no other surveyed site links to. Only a start list shows them.
    pub without_links_in: u64,
    /// Surveyed sites that link to no other site in the country domains.
    pub without_links_out: u64,
    /// Surveyed sites with neither.
    pub isolated: u64,
    /// Groups of sites that links connect, in whatever direction; an isolated site is a group.
    pub components: u64,
    /// Sites in the largest of these groups.
    pub largest_component: u64,
    /// Sites in the largest group in which each site can be reached from each other site.
    pub largest_strong_component: u64,
    /// Sites that link to a site, over all sites.
    pub in_degree: Spread,
    /// Sites by the number of sites that link to them.
    pub in_degrees: Vec<NamedCount>,
    /// Hosts in the country domains, and those to which no other site links; none before the table of hosts
    /// is written.
    pub hosts: Option<[u64; 2]>,
}

columns! { EdgeColumns { site: str, target_site: str, in_survey: bool } }
columns! { LinkedHosts { linking_sites: u64 } }

/// Edges of which duplicates are dropped while they are read, in half a megabyte.
const MANY_EDGES: usize = 1 << 16;

/// Reads the graph of a survey: up to 32 bytes for each edge, some dozens for each site.
pub(super) fn read(dir: &Path, listed: &ListedTrees) -> Result<LinkGraph, AnalysisError> {
    let mut sites = Names::default();
    for site in listed.sites_in_country_domains() {
        sites.number(site);
    }
    let surveyed = sites.len();
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut distinct = 0;
    for_each_frame::<LinkRow>(dir, EdgeColumns::NAMES, |frame| {
        let columns = EdgeColumns::from_frame(frame)?;
        // The links of a tree are adjacent.
        let mut from: (Option<&str>, Option<u32>) = (None, None);
        for row in 0..frame.height() {
            if columns.in_survey.get(row) != Some(true) {
                continue;
            }
            let site = columns.site.get(row);
            if site != from.0 {
                let number = site.and_then(|site| sites.known(site));
                from = (site, number.filter(|number| (*number as usize) < surveyed));
            }
            let Some(target) = columns.target_site.get(row) else { continue };
            let to = sites.number(target);
            if let Some(from) = from.1.filter(|from| *from != to) {
                edges.push((from, to));
            }
        }
        if edges.len() > 2 * distinct.max(MANY_EDGES) {
            edges.sort_unstable();
            edges.dedup();
            distinct = edges.len();
        }
        Ok(())
    })?;
    edges.sort_unstable();
    edges.dedup();
    let graph = LinkGraph::new(surveyed, sites.len(), &edges);
    Ok(LinkGraph { hosts: hosts(dir)?, ..graph })
}

fn hosts(dir: &Path) -> Result<Option<[u64; 2]>, AnalysisError> {
    if row_count(dir, HostRow::TABLE).is_err() {
        return Ok(None);
    }
    let mut counts = [0; 2];
    for_each_frame::<HostRow>(dir, LinkedHosts::NAMES, |frame| {
        let linking_sites = LinkedHosts::from_frame(frame)?.linking_sites;
        counts[0] += frame.height() as u64;
        counts[1] += linking_sites.iter().filter(|sites| *sites == Some(0)).count() as u64;
        Ok(())
    })?;
    Ok(Some(counts))
}

impl LinkGraph {
    /// The graph of sites numbered from 0, the surveyed ones first. Edges are distinct and sorted.
    fn new(surveyed: usize, sites: usize, edges: &[(u32, u32)]) -> Self {
        let (mut links_in, mut links_out) = (vec![0_u32; sites], vec![0_u32; sites]);
        for (from, to) in edges {
            links_out[*from as usize] += 1;
            links_in[*to as usize] += 1;
        }
        let count = |is_counted: &dyn Fn(usize) -> bool| {
            (0..surveyed).filter(|site| is_counted(*site)).count() as u64
        };
        let (components, largest_component) = components(sites, edges);
        Self {
            sites: sites as u64,
            surveyed: surveyed as u64,
            edges: edges.len() as u64,
            without_links_in: count(&|site| links_in[site] == 0),
            without_links_out: count(&|site| links_out[site] == 0),
            isolated: count(&|site| links_in[site] == 0 && links_out[site] == 0),
            components,
            largest_component,
            largest_strong_component: largest_strong_component(sites, edges),
            in_degree: Spread::from_values(links_in.iter().map(|count| f64::from(*count)).collect()),
            in_degrees: by_doubling(&links_in),
            hosts: None,
        }
    }
}

/// The numbers 0, 1, 2 to 3, 4 to 7 and so on, each with how often it occurs.
fn by_doubling(numbers: &[u32]) -> Vec<NamedCount> {
    let class = |number: u32| (u32::BITS - number.leading_zeros()) as usize;
    let most = numbers.iter().copied().max().map_or(0, |number| class(number) + 1);
    let mut counts = vec![0; most];
    numbers.iter().for_each(|number| counts[class(*number)] += 1);
    let name = |class: usize| match class {
        0 | 1 => class.to_string(),
        _ => format!("{}–{}", 1_u64 << (class - 1), (1_u64 << class) - 1),
    };
    counts.into_iter().enumerate().map(|(class, count)| NamedCount { name: name(class), count }).collect()
}

/// The number of groups that edges connect in either direction, and the size of the largest.
fn components(sites: usize, edges: &[(u32, u32)]) -> (u64, u64) {
    let mut parents: Vec<u32> = (0..u32::try_from(sites).unwrap_or(u32::MAX)).collect();
    for (from, to) in edges {
        let (from, to) = (root(&mut parents, *from), root(&mut parents, *to));
        parents[from.max(to) as usize] = from.min(to);
    }
    let mut sizes = vec![0_u64; sites];
    for site in 0..parents.len() {
        let root = root(&mut parents, u32::try_from(site).unwrap_or(u32::MAX));
        sizes[root as usize] += 1;
    }
    (sizes.iter().filter(|size| **size > 0).count() as u64, sizes.into_iter().max().unwrap_or_default())
}

/// The first site of a group; shortens the way to it.
fn root(parents: &mut [u32], mut site: u32) -> u32 {
    while parents[site as usize] != site {
        parents[site as usize] = parents[parents[site as usize] as usize];
        site = parents[site as usize];
    }
    site
}

/// The size of the largest strongly connected component, by the algorithm of Kosaraju without recursion: in
/// the order in which a search along the edges leaves sites, the last first, each search against the edges
/// finds a component.
fn largest_strong_component(sites: usize, edges: &[(u32, u32)]) -> u64 {
    let mut reversed: Vec<(u32, u32)> = edges.iter().map(|(from, to)| (*to, *from)).collect();
    reversed.sort_unstable();
    let (forward, backward) = (Adjacency::new(sites, edges), Adjacency::new(sites, &reversed));
    let mut order = Vec::with_capacity(sites);
    let mut seen = vec![false; sites];
    for site in 0..sites {
        forward.search(site, &mut seen, |left| order.push(left));
    }
    let mut seen = vec![false; sites];
    let sizes = order.into_iter().rev().map(|site| {
        let mut size = 0;
        backward.search(site, &mut seen, |_| size += 1);
        size
    });
    sizes.max().unwrap_or_default()
}

/// The edges of each site.
struct Adjacency<'e> {
    edges: &'e [(u32, u32)],
    /// For each site, where its edges begin; one more at the end.
    starts: Vec<usize>,
}

impl<'e> Adjacency<'e> {
    fn new(sites: usize, edges: &'e [(u32, u32)]) -> Self {
        let mut starts = vec![0; sites + 1];
        edges.iter().for_each(|(from, _)| starts[*from as usize + 1] += 1);
        for site in 0..sites {
            starts[site + 1] += starts[site];
        }
        Self { edges, starts }
    }

    /// Depth-first search from a site over those not seen yet. Reports each site when it leaves it.
    fn search(&self, start: usize, seen: &mut [bool], mut leave: impl FnMut(usize)) {
        if std::mem::replace(&mut seen[start], true) {
            return;
        }
        let mut path = vec![(start, self.starts[start])];
        while let Some((site, next)) = path.last_mut() {
            if *next == self.starts[*site + 1] {
                leave(*site);
                path.pop();
                continue;
            }
            let to = self.edges[*next].1 as usize;
            *next += 1;
            if !std::mem::replace(&mut seen[to], true) {
                path.push((to, self.starts[to]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_small_graph_is_counted() {
        // 0 → 1 ⇄ 2 → 5; 3 alone; 4 → 6 (5 and 6 were not surveyed).
        let graph = LinkGraph::new(5, 7, &[(0, 1), (1, 2), (2, 1), (2, 5), (4, 6)]);
        assert_eq!((graph.sites, graph.surveyed, graph.edges), (7, 5, 5));
        assert_eq!((graph.without_links_in, graph.without_links_out, graph.isolated), (3, 1, 1));
        assert_eq!((graph.components, graph.largest_component, graph.largest_strong_component), (3, 4, 2));
        let counts: Vec<_> =
            graph.in_degrees.iter().map(|count| (count.name.as_str(), count.count)).collect();
        assert_eq!(counts, [("0", 3), ("1", 3), ("2–3", 1)]);
        assert_eq!(graph.in_degree.max, 2.0);
    }

    #[test]
    fn a_graph_without_sites_has_no_components() {
        let graph = LinkGraph::new(0, 0, &[]);
        assert_eq!((graph.components, graph.largest_component, graph.largest_strong_component), (0, 0, 0));
    }

    /// The sites that can be reached from a site.
    fn reached(edges: &[(u32, u32)], start: u32) -> HashSet<u32> {
        let mut reached = HashSet::from([start]);
        loop {
            let more = edges.iter().filter(|(from, _)| reached.contains(from)).map(|(_, to)| *to);
            let all: HashSet<u32> = reached.iter().copied().chain(more).collect();
            if all.len() == reached.len() {
                return reached;
            }
            reached = all;
        }
    }

    proptest! {
        #[test]
        fn components_are_what_can_be_reached(
            edges in proptest::collection::btree_set((0_u32..9, 0_u32..9), 0..20)
        ) {
            let edges: Vec<_> = edges.into_iter().filter(|(from, to)| from != to).collect();
            let graph = LinkGraph::new(9, 9, &edges);
            let strong = (0..9).map(|site| {
                let there = reached(&edges, site);
                there.iter().filter(|other| reached(&edges, **other).contains(&site)).count()
            });
            prop_assert_eq!(graph.largest_strong_component, strong.max().unwrap() as u64);
            let both: Vec<_> = edges.iter().flat_map(|(from, to)| [(*from, *to), (*to, *from)]).collect();
            let groups: HashSet<Vec<u32>> = (0..9)
                .map(|site| {
                    let mut group: Vec<u32> = reached(&both, site).into_iter().collect();
                    group.sort_unstable();
                    group
                })
                .collect();
            prop_assert_eq!(graph.components, groups.len() as u64);
            prop_assert_eq!(graph.largest_component, groups.iter().map(Vec::len).max().unwrap() as u64);
        }
    }
}
