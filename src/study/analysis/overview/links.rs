use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use super::super::AnalysisError;
use super::super::keys::key_table::{KeyCounts, KeyTable, OccurrenceWord};
use super::super::tables::group::country_domain;
use super::super::tables::{columns, digest_each, key, with_tree};
use super::listed::ListedTrees;
use super::tally::{NamedCount, Tally};
use crate::records::LinkRow;

/// The targets of external links. The unit is the external URL of a site tree: a row of the table of links.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Links {
    /// Rows of the table of links.
    pub external_urls: u64,
    /// Site trees with at least one external link.
    pub linking_trees: u64,
    /// Distinct hosts over the whole survey.
    pub hosts: u64,
    /// Distinct sites over the whole survey.
    pub sites: u64,
    /// External URLs inside the surveyed country domains.
    pub in_survey: u64,
    /// External URLs marked `nofollow`, by the link's `rel` or by the page.
    pub nofollow: u64,
    /// External URLs by HTML element or header field.
    pub elements: Vec<NamedCount>,
    /// Hosts by the number of site trees that link to them.
    pub most_linked_hosts: Vec<NamedCount>,
    /// Sites by the number of site trees that link to them.
    pub most_linked_sites: Vec<NamedCount>,
    /// External URLs from country domains to domains.
    pub matrix: LinkMatrix,
}

/// The number of external URLs from each linking country domain to each target domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkMatrix {
    /// Country domains of the linking sites, `outside` for others.
    pub from: Vec<String>,
    /// Country domains of the targets, and [`GENERIC`], [`OTHER_SCRIPT`], [`ADDRESS`].
    pub to: Vec<String>,
    /// A row for each `from`, a column for each `to`.
    pub urls: Vec<Vec<u64>>,
}

/// A top-level domain that belongs to no country.
pub const GENERIC: &str = "generic";
/// A top-level domain in another script. The name alone does not show whether it belongs to a country.
pub const OTHER_SCRIPT: &str = "other script";
/// A host that is an IP address.
pub const ADDRESS: &str = "address";

impl Links {
    /// The share of external URLs whose top-level domain belongs to no country.
    #[must_use]
    pub fn share_to_generic(&self) -> f64 {
        let to = self.matrix.to.iter().position(|to| to == GENERIC);
        let urls = to.map_or(0, |to| self.matrix.urls.iter().map(|row| row[to]).sum());
        super::spread::share(urls, self.external_urls)
    }
}

columns! {
    LinkColumns { host: str, target_site: str, element: str, nofollow: bool, in_survey: bool }
}

/// The number of most linked hosts and sites that are named.
const NAMED: usize = 20;

/// Counts links in memory: about 8 bytes per host and per site. The names come from a second pass over the
/// table.
pub(super) struct LinksMaker {
    links: Links,
    elements: Tally,
    matrix: LinkCounts,
    targets: Targets,
    /// The tree of the last links read.
    open: Option<LinksOfTree>,
    surveyed: Vec<String>,
}

/// External URLs by label of the linking country domain and by domain of the target.
type LinkCounts = HashMap<(u32, Box<str>), u64>;

/// The targets of links, by their keys.
struct Targets {
    /// The number of trees that link to each host.
    hosts: KeyTable<OccurrenceWord>,
    sites: KeyTable<OccurrenceWord>,
    /// Sites in the country domains.
    inside: KeyTable<OccurrenceWord>,
}

impl LinksMaker {
    pub(super) fn new(country_domains: &[String]) -> Self {
        let targets = Targets {
            hosts: KeyTable::new(OccurrenceWord),
            sites: KeyTable::new(OccurrenceWord),
            inside: KeyTable::new(OccurrenceWord),
        };
        Self {
            links: Links::default(),
            elements: Tally::default(),
            matrix: LinkCounts::default(),
            targets,
            open: None,
            surveyed: country_domains.to_vec(),
        }
    }

    pub(super) fn read(&mut self, dir: &Path, listed: &ListedTrees) -> Result<(), AnalysisError> {
        let Self { links, elements, matrix, targets, open, surveyed } = self;
        digest_each::<LinkRow, _>(
            dir,
            &with_tree(LinkColumns::NAMES),
            |frame| digest(&frame, listed, surveyed, targets),
            |digested| {
                links.external_urls += digested.links.external_urls;
                links.nofollow += digested.links.nofollow;
                links.in_survey += digested.links.in_survey;
                links.linking_trees += digested.links.linking_trees;
                digested.elements.iter().for_each(|(element, count)| elements.add_many(element, *count));
                for (cell, count) in digested.matrix {
                    *matrix.entry(cell).or_default() += count;
                }
                for part in digested.first.into_iter().chain(digested.last) {
                    links.linking_trees += u64::from(targets.merge_open(open, part));
                }
                Ok(())
            },
        )?;
        targets.close(open.take());
        Ok(())
    }

    /// Returns the links without the names of the most linked, the names still wanted, and the number of
    /// sites in the country domains that are linked and have no tree.
    pub(super) fn finish(self, listed: &ListedTrees) -> (Links, WantedNames, u64) {
        let Targets { hosts, sites, inside } = self.targets;
        let (hosts, sites) = (hosts.counts(), sites.counts());
        let has_no_tree = |(key, _): &(u64, u32)| !listed.sites.contains_key(*key);
        let known_only_by_links = inside.counts().iter().filter(has_no_tree).count() as u64;
        let wanted = WantedNames { hosts: TopNames::new(&hosts), sites: TopNames::new(&sites) };
        let links = Links {
            hosts: hosts.len() as u64,
            sites: sites.len() as u64,
            elements: self.elements.finish(),
            matrix: matrix(&self.matrix, listed),
            ..self.links
        };
        (links, wanted, known_only_by_links)
    }
}

impl Targets {
    /// Continues the open tree, or closes it and opens another. Returns whether another was opened.
    fn merge_open(&self, open: &mut Option<LinksOfTree>, part: LinksOfTree) -> bool {
        match open {
            Some(same) if same.tree == part.tree => {
                same.hosts.extend(part.hosts);
                same.sites.extend(part.sites);
                same.compact();
                false
            }
            _ => {
                self.close(open.replace(part));
                true
            }
        }
    }

    fn close(&self, tree: Option<LinksOfTree>) {
        if let Some(mut tree) = tree {
            tree.compact();
            self.hosts.add(tree.hosts.iter().copied());
            self.sites.add(tree.sites.iter().copied());
        }
    }
}

/// The keys of the hosts and sites that a tree links to.
struct LinksOfTree {
    tree: u32,
    hosts: Vec<u64>,
    sites: Vec<u64>,
}

impl LinksOfTree {
    /// Drops duplicates: a target that a tree links to twice counts once.
    fn compact(&mut self) {
        for keys in [&mut self.hosts, &mut self.sites] {
            keys.sort_unstable();
            keys.dedup();
        }
    }
}

/// The counts of a row group. The links of its first and its last tree may continue in other row groups.
struct Digest {
    links: Links,
    elements: Vec<(String, u64)>,
    matrix: LinkCounts,
    first: Option<LinksOfTree>,
    last: Option<LinksOfTree>,
}

/// Counts the rows of a row group.
#[derive(Default)]
struct LinkDigester<'f> {
    links: Links,
    /// In order of first occurrence.
    elements: Vec<(&'f str, u64)>,
    element_places: foldhash::HashMap<&'f str, usize>,
    cells: foldhash::HashMap<(u32, &'f str), u64>,
    first: Option<LinksOfTree>,
    open: Option<LinksOfTree>,
    /// The keys of the trees between the first and the last.
    hosts: Vec<u64>,
    sites: Vec<u64>,
    inside: Vec<u64>,
}

fn digest(
    frame: &DataFrame,
    listed: &ListedTrees,
    surveyed: &[String],
    targets: &Targets,
) -> PolarsResult<Digest> {
    let columns = LinkColumns::from_frame(frame)?;
    let mut digesting = LinkDigester::default();
    let names = columns.host.iter().zip(columns.target_site.iter());
    let flags = columns.nofollow.iter().zip(columns.in_survey.iter());
    let rows = listed.trees_of(frame)?.into_iter().zip(names).zip(flags).zip(columns.element.iter());
    for (((tree, (host, target)), (nofollow, in_survey)), element) in rows {
        let (Some(tree), Some(host), Some(target)) = (tree, host, target) else { continue };
        digesting.links.external_urls += 1;
        digesting.links.nofollow += u64::from(nofollow == Some(true));
        digesting.add_element(element.unwrap_or(""));
        let cell = (listed.get(tree).cctld, domain_of(host, surveyed));
        *digesting.cells.entry(cell).or_default() += 1;
        digesting.add_target(tree, key(host), key(target), in_survey == Some(true));
    }
    Ok(digesting.finish(targets))
}

impl<'f> LinkDigester<'f> {
    fn add_element(&mut self, element: &'f str) {
        let index = *self.element_places.entry(element).or_insert_with(|| {
            self.elements.push((element, 0));
            self.elements.len() - 1
        });
        self.elements[index].1 += 1;
    }

    /// Adds a target. The links of a tree are adjacent.
    fn add_target(&mut self, tree: u32, host: u64, site: u64, is_inside: bool) {
        if self.open.as_ref().is_none_or(|open| open.tree != tree) {
            let next = LinksOfTree { tree, hosts: Vec::new(), sites: Vec::new() };
            let finished = self.open.replace(next);
            finished.into_iter().for_each(|finished| self.close(finished));
        }
        if let Some(open) = &mut self.open {
            open.hosts.push(host);
            open.sites.push(site);
        }
        if is_inside {
            self.links.in_survey += 1;
            self.inside.push(site);
        }
    }

    fn close(&mut self, mut finished: LinksOfTree) {
        if self.first.is_none() {
            self.first = Some(finished);
            return;
        }
        finished.compact();
        self.links.linking_trees += 1;
        self.hosts.append(&mut finished.hosts);
        self.sites.append(&mut finished.sites);
    }

    fn finish(mut self, targets: &Targets) -> Digest {
        targets.hosts.add(self.hosts.iter().copied());
        targets.sites.add(self.sites.iter().copied());
        self.inside.sort_unstable();
        self.inside.dedup();
        targets.inside.add(self.inside.iter().copied());
        let elements = self.elements.into_iter().map(|(element, count)| (element.to_owned(), count));
        let cells = self.cells.into_iter().map(|((from, to), count)| ((from, to.into()), count));
        Digest {
            links: self.links,
            elements: elements.collect(),
            matrix: cells.collect(),
            first: self.first,
            last: self.open,
        }
    }
}

/// The hosts and sites whose names are wanted.
pub(super) struct WantedNames {
    hosts: TopNames,
    sites: TopNames,
}

columns! {
    NameColumns { host: str, target_site: str }
}

impl WantedNames {
    pub(super) fn is_satisfied(&self) -> bool {
        self.hosts.missing == 0 && self.sites.missing == 0
    }

    pub(super) fn find_names(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let NameColumns { host: hosts, target_site: sites } = NameColumns::from_frame(frame)?;
        hosts.iter().flatten().for_each(|host| self.hosts.find_names(host));
        sites.iter().flatten().for_each(|site| self.sites.find_names(site));
        Ok(())
    }

    pub(super) fn name(self, links: &mut Links) {
        (links.most_linked_hosts, links.most_linked_sites) = (self.hosts.finish(), self.sites.finish());
    }
}

/// The keys with the highest counts. All keys that tie for the last place are included, since their names
/// decide the order.
struct TopNames {
    counts: HashMap<u64, u32>,
    names: Vec<NamedCount>,
    missing: usize,
}

/// The number of tied keys that are considered: in a small survey all hosts may tie for the last place.
const MAX_TIED: usize = 10_000;

impl TopNames {
    fn new(counts: &KeyCounts) -> Self {
        let greatest = greatest(counts.iter().map(|(_, count)| count), NAMED);
        let smallest = greatest.last().copied().unwrap_or(0);
        // If more keys tie than are considered, the hash decides, so that the choice is always the same.
        let tied = counts.iter().filter(|(_, count)| *count >= smallest).map(|(key, count)| (count, key));
        let selected = self::greatest(tied, NAMED + MAX_TIED);
        let missing = selected.len();
        Self {
            counts: selected.into_iter().map(|(count, key)| (key, count)).collect(),
            names: Vec::new(),
            missing,
        }
    }

    fn find_names(&mut self, name: &str) {
        if self.missing > 0
            && let Some(count) = self.counts.remove(&key(name))
        {
            self.missing -= 1;
            self.names.push(NamedCount { name: name.to_owned(), count: u64::from(count) });
        }
    }

    fn finish(mut self) -> Vec<NamedCount> {
        self.names.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        self.names.truncate(NAMED);
        self.names
    }
}

/// The `limit` greatest values, in descending order.
fn greatest<T: Ord>(all: impl Iterator<Item = T>, limit: usize) -> Vec<T> {
    let mut heap = BinaryHeap::new();
    for item in all {
        if heap.len() < limit {
            heap.push(Reverse(item));
        } else if let Some(mut smallest) = heap.peek_mut()
            && smallest.0 < item
        {
            *smallest = Reverse(item);
        }
    }
    heap.into_sorted_vec().into_iter().map(|Reverse(item)| item).collect()
}

/// The domain of a host in the matrix: the surveyed country domain that contains it, or its top-level domain
/// if that has two letters, which means a country (RFC 1591 §2), or one of the classes without a country.
fn domain_of<'a>(host: &'a str, surveyed: &'a [String]) -> &'a str {
    if let Some(domain) = country_domain(host, surveyed) {
        return domain;
    }
    let top = host.rsplit('.').next().unwrap_or(host);
    match top.len() {
        _ if top.ends_with(']') || top.bytes().all(|byte| byte.is_ascii_digit()) => ADDRESS,
        2 => top,
        _ if top.starts_with("xn--") => OTHER_SCRIPT,
        _ => GENERIC,
    }
}

/// Builds the matrix, with the rows and columns of the most URLs first.
fn matrix(cells: &LinkCounts, listed: &ListedTrees) -> LinkMatrix {
    let mut by_names: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let (mut from_sums, mut to_sums): (BTreeMap<&str, u64>, BTreeMap<&str, u64>) = Default::default();
    for ((from, to), count) in cells {
        let from = listed.labels.name(*from);
        by_names.insert((from, to), *count);
        *from_sums.entry(from).or_default() += count;
        *to_sums.entry(to).or_default() += count;
    }
    let (from, to) = (by_size(from_sums), by_size(to_sums));
    let cell = |from: &str, to: &str| by_names.get(&(from, to)).copied().unwrap_or_default();
    let urls = from.iter().map(|from| to.iter().map(|to| cell(from, to)).collect()).collect();
    LinkMatrix { from, to, urls }
}

fn by_size<'a>(sums: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<String> {
    let mut names: Vec<(&str, u64)> = sums.into_iter().collect();
    names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    names.into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_lie_in_countries_by_label() {
        let surveyed = ["ke".to_owned(), "or.tz".to_owned()];
        for (host, domain) in [
            ("www.a.co.ke", "ke"),
            ("ke", "ke"),
            ("stoke", GENERIC),
            ("a.or.tz", "or.tz"),
            ("a.co.tz", "tz"),
            ("www.example.com", GENERIC),
            ("a.xn--p1ai", OTHER_SCRIPT),
            ("192.0.2.7", ADDRESS),
            ("[2001:db8::1]", ADDRESS),
        ] {
            assert_eq!(domain_of(host, &surveyed), domain, "{host}");
        }
    }
}
