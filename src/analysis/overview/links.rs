use std::collections::{BTreeMap, HashMap, HashSet};

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use super::super::tables::{columns, key};
use super::listed::Listed;
use super::tally::{Counted, Tally};

/// Where external links lead. The unit is the external URL of a site tree: a row of the table of links.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Links {
    /// Rows of the table of links.
    pub external_urls: u64,
    /// Site trees with at least one.
    pub linking_trees: u64,
    /// Distinct over the whole survey.
    pub hosts: u64,
    /// Distinct over the whole survey.
    pub sites: u64,
    /// Inside the surveyed country domains.
    pub in_survey: u64,
    /// With a `rel` or a page that asks not to follow.
    pub nofollow: u64,
    /// By HTML element or header field.
    pub elements: Vec<Counted>,
    /// Hosts by the number of site trees that link to them.
    pub most_linked_hosts: Vec<Counted>,
    /// Sites by the number of site trees that link to them.
    pub most_linked_sites: Vec<Counted>,
    /// From country domains to domains.
    pub matrix: Matrix,
}

/// External URLs from each country domain of ours to each domain of theirs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// Country domains of the linking sites, `outside` for others.
    pub from: Vec<String>,
    /// Country domains of the targets, and [`GENERIC`], [`OTHER_SCRIPT`], [`ADDRESS`].
    pub to: Vec<String>,
    /// A row for each `from`.
    pub urls: Vec<Vec<u64>>,
}

/// A top-level domain of no country.
pub const GENERIC: &str = "generic";
/// A top-level domain in another script: of a country or not, the name alone does not tell.
pub const OTHER_SCRIPT: &str = "other script";
/// A host that is an address.
pub const ADDRESS: &str = "address";

impl Links {
    /// The part of all external URLs whose top-level domain is of no country.
    #[must_use]
    pub fn share_to_generic(&self) -> f64 {
        let to = self.matrix.to.iter().position(|to| to == GENERIC);
        let urls = to.map_or(0, |to| self.matrix.urls.iter().map(|row| row[to]).sum());
        super::spread::share(urls, self.external_urls)
    }
}

columns! {
    LinkColumns { site: str, seed: u32, host: str, target_site: str, element: str, nofollow: bool, in_survey: bool }
}

/// So many of the most linked are named.
const NAMED: usize = 20;

/// Counts in memory: about 20 bytes a host and a site; names come in a second look at the table.
#[derive(Default)]
pub(super) struct LinksMaker {
    links: Links,
    elements: Tally,
    /// By label of the linking country domain, then by domain of the target.
    matrix: HashMap<u32, HashMap<Box<str>, u64>>,
    hosts: HashMap<u64, u32>,
    /// Trees that link to a site; the highest bit tells that it lies in the country domains.
    sites: HashMap<u64, u32>,
    tree: Option<u32>,
    hosts_of_tree: HashSet<u64>,
    sites_of_tree: HashSet<u64>,
    surveyed: Vec<String>,
}

const IN_SURVEY: u32 = 1 << 31;

impl LinksMaker {
    pub(super) fn new(country_domains: &[String]) -> Self {
        Self { surveyed: country_domains.to_vec(), ..Self::default() }
    }

    pub(super) fn add(&mut self, frame: &DataFrame, listed: &Listed) -> PolarsResult<()> {
        let columns = LinkColumns::of(frame)?;
        for row in 0..frame.height() {
            let Some(tree) = listed.tree(columns.site.get(row), columns.seed.get(row)) else { continue };
            let (Some(host), Some(target)) = (columns.host.get(row), columns.target_site.get(row)) else {
                continue;
            };
            let is_inside = columns.in_survey.get(row) == Some(true);
            self.links.external_urls += 1;
            self.links.nofollow += u64::from(columns.nofollow.get(row) == Some(true));
            self.links.in_survey += u64::from(is_inside);
            self.elements.add(columns.element.get(row).unwrap_or(""));
            self.add_to_matrix(listed.get(tree).cctld, host);
            self.add_target(tree, key(host), key(target), is_inside);
        }
        Ok(())
    }

    /// Links of a tree stand together: what it links to twice counts once.
    fn add_target(&mut self, tree: u32, host: u64, site: u64, is_inside: bool) {
        if self.tree.replace(tree) != Some(tree) {
            self.links.linking_trees += 1;
            self.hosts_of_tree.clear();
            self.sites_of_tree.clear();
        }
        if self.hosts_of_tree.insert(host) {
            *self.hosts.entry(host).or_default() += 1;
        }
        let count = self.sites.entry(site).or_default();
        *count += u32::from(self.sites_of_tree.insert(site));
        if is_inside {
            *count |= IN_SURVEY;
        }
    }

    fn add_to_matrix(&mut self, from: u32, host: &str) {
        let (row, to) = (self.matrix.entry(from).or_default(), domain_of(host, &self.surveyed));
        match row.get_mut(to) {
            Some(count) => *count += 1,
            None => {
                row.insert(to.into(), 1);
            }
        }
    }

    /// Sites of the country domains that are linked and have no tree.
    pub(super) fn known_only_by_links(&self, listed: &Listed) -> u64 {
        let inside = self.sites.iter().filter(|(_, count)| **count & IN_SURVEY != 0);
        inside.filter(|(key, _)| !listed.sites.contains_key(**key)).count() as u64
    }

    /// The names of the most linked are still to be found.
    pub(super) fn finish(mut self, listed: &Listed) -> (Links, Wanted) {
        self.sites.values_mut().for_each(|count| *count &= !IN_SURVEY);
        let wanted = Wanted { hosts: Most::of(&self.hosts), sites: Most::of(&self.sites) };
        let links = Links {
            hosts: self.hosts.len() as u64,
            sites: self.sites.len() as u64,
            elements: self.elements.finish(),
            matrix: matrix(&self.matrix, listed),
            ..self.links
        };
        (links, wanted)
    }
}

/// The hosts and sites whose names are looked for.
pub(super) struct Wanted {
    hosts: Most,
    sites: Most,
}

columns! {
    NameColumns { host: str, target_site: str }
}

impl Wanted {
    pub(super) fn is_satisfied(&self) -> bool {
        self.hosts.missing == 0 && self.sites.missing == 0
    }

    pub(super) fn look(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let NameColumns { host: hosts, target_site: sites } = NameColumns::of(frame)?;
        hosts.iter().flatten().for_each(|host| self.hosts.look(host));
        sites.iter().flatten().for_each(|site| self.sites.look(site));
        Ok(())
    }

    pub(super) fn name(self, links: &mut Links) {
        (links.most_linked_hosts, links.most_linked_sites) = (self.hosts.finish(), self.sites.finish());
    }
}

/// The keys with the highest counts, of which one more is taken at the last place as long as it is equal:
/// names decide then.
struct Most {
    counts: HashMap<u64, u32>,
    names: Vec<Counted>,
    missing: usize,
}

/// A tie for the last place may be between all hosts of a small survey; so many of it are looked at.
const MOST_TIED: usize = 10_000;

impl Most {
    fn of(counts: &HashMap<u64, u32>) -> Self {
        let mut order: Vec<u32> = counts.values().copied().collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let least = order.get(NAMED - 1).or(order.last()).copied().unwrap_or(0);
        let mut taken: Vec<(u32, u64)> =
            counts.iter().filter(|(_, count)| **count >= least).map(|(key, count)| (*count, *key)).collect();
        // The hash decides between more than can be looked at, so that the choice is the same every time.
        taken.sort_unstable_by(|a, b| b.cmp(a));
        taken.truncate(NAMED + MOST_TIED);
        let missing = taken.len();
        Self {
            counts: taken.into_iter().map(|(count, key)| (key, count)).collect(),
            names: Vec::new(),
            missing,
        }
    }

    fn look(&mut self, name: &str) {
        if self.missing > 0
            && let Some(count) = self.counts.remove(&key(name))
        {
            self.missing -= 1;
            self.names.push(Counted { name: name.to_owned(), count: u64::from(count) });
        }
    }

    fn finish(mut self) -> Vec<Counted> {
        self.names.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        self.names.truncate(NAMED);
        self.names
    }
}

/// The domain of a host as the matrix tells it: the surveyed country domain it lies in, else its top-level
/// domain if that has two letters, which are countries' (RFC 1591 §2), else none of a country.
fn domain_of<'a>(host: &'a str, surveyed: &'a [String]) -> &'a str {
    let lies_in = |domain: &&'a String| {
        host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if let Some(domain) = surveyed.iter().find(lies_in) {
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

/// Rows and columns with the most URLs first.
fn matrix(cells: &HashMap<u32, HashMap<Box<str>, u64>>, listed: &Listed) -> Matrix {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (to, count) in cells.values().flatten() {
        *sums.entry(to).or_default() += count;
    }
    let from = cells.iter().map(|(from, row)| (listed.labels.name(*from), row.values().sum()));
    let (from, to) = (by_size(from), by_size(sums));
    let mut rows: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (cctld, row) in cells {
        let counts = to.iter().map(|to| row.get(to.as_str()).copied().unwrap_or_default());
        rows.insert(listed.labels.name(*cctld), counts.collect());
    }
    let urls = from.iter().filter_map(|name| rows.remove(name.as_str())).collect();
    Matrix { from, to, urls }
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
