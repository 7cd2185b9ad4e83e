use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::address::{Host, PageKey, Site, WebUrl};
use crate::exchange::{Class, Depth, Purpose};
use crate::records::{
    ExchangeRow, LevelRow, Manifest, ManifestError, PageLinkRow, Row, SiteRow, TablesError, read_pieces,
    row_count,
};
use crate::walk::yields::RatesSource;

/// A survey as graphs of its pages.
#[derive(Debug)]
pub struct RecordedGraph {
    /// The survey that the graph comes from.
    pub source: RatesSource,
    /// Its site trees, in the order of their first rows.
    pub trees: Vec<SiteTree>,
    /// Internal URLs that were found and not fetched because of a limit or the depth.
    pub unrecorded: u64,
}

/// The fetched pages of a site tree.
#[derive(Debug, Default)]
pub struct SiteTree {
    /// The site, and the number of this tree within the site.
    pub name: (String, u16),
    /// The pages, in request order.
    pub pages: Vec<GraphPage>,
    /// Requests for robots.txt.
    pub robots: u64,
    /// For each row of its exchanges, the index of the requested page, or [`ROBOTS`] or [`NO_PAGE`].
    pub(super) row_pages: Vec<u32>,
    /// Whether any page or file was delivered.
    pub(super) has_responded: bool,
    /// The numbers of the site's hosts, any of which leads to this tree; none if it was on the start list.
    pub(super) found_by: Vec<u32>,
}

/// Stands for an exchange without a page (a probe, or a request that was never sent).
pub(super) const NO_PAGE: u32 = u32::MAX;
/// Stands for robots.txt, which every policy requests.
pub(super) const ROBOTS: u32 = u32::MAX - 1;

/// A page that a survey fetched.
#[derive(Debug)]
pub struct GraphPage {
    /// The URL as requested.
    pub url: WebUrl,
    /// The depth level of the page.
    pub depth: Depth,
    /// The number of requests for it.
    pub requests: u64,
    /// The page of the tree that it redirects to.
    pub redirect: Option<u32>,
    /// The pages of the tree that it links to.
    pub links: Vec<u32>,
    /// The external hosts that it names, by number.
    pub hosts: Vec<u32>,
}

/// Why policies cannot be replayed on a survey.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// There is no survey, or its manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The survey did not record its page links.
    #[error("{} has no recorded page links: survey with --record-links", .0.display())]
    NoPageLinks(PathBuf),
    /// The survey left out pages of low expected yield.
    #[error("{} was surveyed with --depth auto, --budget or --focus, which leave pages out: survey to a fixed depth", .0.display())]
    Auto(PathBuf),
    /// A table cannot be read.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// The survey found no external host.
    #[error("{} has no page with an external host: nothing can be learned from it", .0.display())]
    NoHosts(PathBuf),
}

impl SiteTree {
    /// The number of requests of the survey in this tree, robots.txt included.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.robots + self.pages.iter().map(|page| page.requests).sum::<u64>()
    }
}

impl GraphPage {
    /// Whether the page was fetched at level 0.
    #[must_use]
    pub fn is_entrance(&self) -> bool {
        self.depth == Depth(0)
    }
}

impl RecordedGraph {
    /// The number of rows that are read for the graph of the survey in `dir`: exchanges and page links.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn rows(dir: &Path) -> Result<u64, GraphError> {
        let is_missing = |error: &TablesError| error.source.kind() == std::io::ErrorKind::NotFound;
        let links = match row_count(dir, PageLinkRow::TABLE) {
            Err(error) if is_missing(&error) => return Err(GraphError::NoPageLinks(dir.to_owned())),
            links => links?.rows,
        };
        Ok(links + row_count(dir, ExchangeRow::TABLE)?.rows)
    }

    /// Reads the tables of a survey with `--record-links`. The graph is held in memory.
    ///
    /// # Errors
    /// When the folder holds no survey, the survey did not record its page links, left pages out or found no
    /// external host, or a table cannot be read.
    pub fn read(dir: &Path) -> Result<Self, GraphError> {
        let manifest = Manifest::load(dir)?;
        if manifest.skips_pages() {
            return Err(GraphError::Auto(dir.to_owned()));
        }
        Self::rows(dir)?;
        let mut reading = GraphReader::default();
        let wanted = ["depth", "status", "location", "total_ms", "unchanged_bytes"];
        each::<ExchangeRow>(dir, &wanted, |row| reading.exchange(row))?;
        reading.follow_redirects();
        each::<PageLinkRow>(dir, &[], |row| reading.link(row))?;
        let mut found_sites: HashMap<String, Vec<u32>> = HashMap::new();
        each::<SiteRow>(dir, &[], |row| {
            let tree = reading.by_name.get(&(row.site.clone(), row.seed));
            if let Some(tree) = tree.filter(|_| row.generation > 0) {
                found_sites.entry(row.site).or_default().push(*tree);
            }
        })?;
        reading.note_hosts_of(&found_sites);
        let mut unrecorded = 0;
        each::<LevelRow>(dir, &[], |row| {
            unrecorded += row.classes[Class::Limit] + row.classes[Class::Depth];
        })?;
        let hosts = reading.hosts.len() as u64;
        if hosts == 0 {
            return Err(GraphError::NoHosts(dir.to_owned()));
        }
        // Trees with only attempts that reached no server cannot be replayed.
        let mut trees = reading.trees;
        trees.retain(|tree| tree.robots > 0 || !tree.pages.is_empty());
        let pages = trees.iter().map(|tree| tree.pages.len() as u64).sum();
        let survey = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
        let source = RatesSource { survey, trees: trees.len() as u64, pages, hosts };
        Ok(Self { source, trees, unrecorded })
    }
}

fn each<R: Row>(dir: &Path, wanted: &[&str], mut consume: impl FnMut(R)) -> Result<(), TablesError> {
    for piece in read_pieces::<R>(dir, wanted)? {
        piece?.into_iter().for_each(&mut consume);
    }
    Ok(())
}

/// The indices of a tree and of a page in it.
type PageIndex = (u32, u32);

#[derive(Default)]
struct GraphReader {
    trees: Vec<SiteTree>,
    by_name: HashMap<(String, u16), u32>,
    pages: HashMap<(u32, PageKey), PageIndex>,
    redirects: Vec<(PageIndex, PageKey)>,
    hosts: HashMap<String, u32>,
}

impl GraphReader {
    fn exchange(&mut self, row: ExchangeRow) {
        let site = Host::parse(&row.site).map(Site::new);
        let was_sent = row.was_sent();
        let tree = self.tree(row.site, row.seed);
        let site_tree = &mut self.trees[tree as usize];
        site_tree.row_pages.push(NO_PAGE);
        // An exchange that our side refused to send is not a request.
        if !was_sent || row.purpose == Purpose::Probe.as_str() {
            return;
        }
        let Some(depth) = row.depth else {
            site_tree.robots += 1;
            if let Some(row_page) = site_tree.row_pages.last_mut() {
                *row_page = ROBOTS;
            }
            return;
        };
        let Ok(url) = WebUrl::parse(&row.url) else { return };
        site_tree.has_responded |= matches!(row.status, Some(200..=299)) || row.unchanged_bytes.is_some();
        let pages = &mut site_tree.pages;
        let index = *self.pages.entry((tree, url.page_key())).or_insert_with(|| {
            pages.push(GraphPage {
                url: url.clone(),
                depth: Depth(depth),
                requests: 0,
                redirect: None,
                links: Vec::new(),
                hosts: Vec::new(),
            });
            (tree, u32::try_from(pages.len() - 1).unwrap_or(u32::MAX))
        });
        pages[index.1 as usize].requests += 1;
        if let Some(row_page) = site_tree.row_pages.last_mut() {
            *row_page = index.1;
        }
        let is_redirect = matches!(row.status, Some(300..=399));
        let target = row.location.filter(|_| is_redirect).and_then(|location| url.join(&location).ok());
        match target {
            Some(target) if !site.is_ok_and(|site| site.has(target.host())) => {
                let host = self.host(target.host().as_str());
                self.trees[tree as usize].pages[index.1 as usize].hosts.push(host);
            }
            Some(target) => self.redirects.push((index, target.page_key())),
            None => {}
        }
    }

    /// Resolves the targets of redirects, once all pages are known.
    fn follow_redirects(&mut self) {
        for ((tree, page), target) in std::mem::take(&mut self.redirects) {
            if let Some((_, to)) = self.pages.get(&(tree, target)) {
                self.trees[tree as usize].pages[page as usize].redirect = Some(*to);
            }
        }
    }

    fn link(&mut self, row: PageLinkRow) {
        let Some(tree) = self.by_name.get(&(row.site, row.seed)).copied() else { return };
        let Ok(page) = WebUrl::parse(&row.page) else { return };
        let Some((_, page)) = self.pages.get(&(tree, page.page_key())).copied() else { return };
        let Ok(url) = WebUrl::parse(&row.url) else { return };
        if !row.is_internal {
            let host = self.host(url.host().as_str());
            let hosts = &mut self.trees[tree as usize].pages[page as usize].hosts;
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        } else if let Some((_, to)) = self.pages.get(&(tree, url.page_key())).copied()
            && !row.nofollow
        {
            self.trees[tree as usize].pages[page as usize].links.push(to);
        }
    }

    /// Notes which hosts belong to the sites of these trees. Links are read before: a host that no recorded link
    /// names leads to nothing.
    fn note_hosts_of(&mut self, trees: &HashMap<String, Vec<u32>>) {
        for (name, number) in &self.hosts {
            let parents = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
            let site = std::iter::once(name.as_str()).chain(parents).find_map(|site| trees.get(site));
            for tree in site.into_iter().flatten() {
                self.trees[*tree as usize].found_by.push(*number);
            }
        }
    }

    fn tree(&mut self, site: String, seed: u16) -> u32 {
        let next = u32::try_from(self.trees.len()).unwrap_or(u32::MAX);
        let name = (site, seed);
        let tree = *self.by_name.entry(name.clone()).or_insert(next);
        if tree == next {
            self.trees.push(SiteTree { name, ..SiteTree::default() });
        }
        tree
    }

    fn host(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        if let Some(known) = self.hosts.get(name) {
            return *known;
        }
        self.hosts.insert(name.to_owned(), next);
        next
    }
}
