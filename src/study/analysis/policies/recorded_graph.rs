use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::address::{Host, PageKey, Site, WebUrl};
use crate::exchange::{Class, Depth, Purpose};
use crate::records::{
    ExchangeRow, LevelRow, Manifest, ManifestError, PageLinkRow, Row, TablesError, read_pieces, row_count,
};
use crate::walk::yields::RatesSource;

/// A survey as graphs of its pages.
#[derive(Debug)]
pub struct RecordedGraph {
    /// What it was.
    pub source: RatesSource,
    /// Its site trees, in the order of their first rows.
    pub trees: Vec<SiteTree>,
    /// Internal URLs that were found and that a limit or the depth kept from being asked for.
    pub unrecorded: u64,
}

/// The pages of a site tree that were asked for.
#[derive(Debug, Default)]
pub struct SiteTree {
    /// The site, and which tree of it this is.
    pub name: (String, u16),
    /// In the order asked.
    pub pages: Vec<GraphPage>,
    /// Requests for robots.txt.
    pub robots: u64,
    /// Row by row of its exchanges, the page that was asked for; else [`ROBOTS`] or [`NO_PAGE`].
    pub(super) asked: Vec<u32>,
    /// A page or file came.
    pub(super) has_answered: bool,
}

/// In place of a page: an exchange was for none (a probe, or what was never sent).
pub(super) const NO_PAGE: u32 = u32::MAX;
/// In place of a page: robots.txt, which every policy asks for.
pub(super) const ROBOTS: u32 = u32::MAX - 1;

/// A page that a survey asked for.
#[derive(Debug)]
pub struct GraphPage {
    /// As it was asked for.
    pub url: WebUrl,
    /// At which level it was asked for.
    pub depth: Depth,
    /// Requests that it cost.
    pub requests: u64,
    /// Where it redirects to in the tree.
    pub redirect: Option<u32>,
    /// Pages of the tree that it links to.
    pub links: Vec<u32>,
    /// External hosts that it names.
    pub hosts: Vec<u32>,
}

/// Why a survey is no ground for policies.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// There is no survey, or its manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Its links were not kept.
    #[error("{} was surveyed without its page links: survey with --record-links", .0.display())]
    NoPageLinks(PathBuf),
    /// It left out what promised too little.
    #[error("{} was surveyed with --depth auto or --focus, which leave pages out: survey to a number of levels", .0.display())]
    Auto(PathBuf),
    /// Its tables cannot be read.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// It found nothing.
    #[error("{} has no page with an external host: nothing can be learned from it", .0.display())]
    NoHosts(PathBuf),
}

impl SiteTree {
    /// Requests of the survey, robots.txt included.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.robots + self.pages.iter().map(|page| page.requests).sum::<u64>()
    }
}

impl GraphPage {
    /// It was asked for at level 0.
    #[must_use]
    pub fn is_entrance(&self) -> bool {
        self.depth == Depth(0)
    }
}

impl RecordedGraph {
    /// How many rows of the survey in `dir` are read for a ground: exchanges and page links.
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

    /// Reads the tables of a survey with `--record-links`; its graph is held in memory.
    ///
    /// # Errors
    /// When the folder holds no survey, the survey did not keep its links, or a table cannot be read.
    pub fn read(dir: &Path) -> Result<Self, GraphError> {
        let manifest = Manifest::load(dir)?;
        if manifest.leaves_pages_out() {
            return Err(GraphError::Auto(dir.to_owned()));
        }
        Self::rows(dir)?;
        let mut reading = GraphReader::default();
        let wanted = ["depth", "status", "location", "total_ms", "unchanged_bytes"];
        each::<ExchangeRow>(dir, &wanted, |row| reading.exchange(row))?;
        reading.follow_redirects();
        each::<PageLinkRow>(dir, &[], |row| reading.link(row))?;
        let mut unrecorded = 0;
        each::<LevelRow>(dir, &[], |row| {
            unrecorded += row.classes[Class::Limit] + row.classes[Class::Depth];
        })?;
        let hosts = reading.hosts.len() as u64;
        if hosts == 0 {
            return Err(GraphError::NoHosts(dir.to_owned()));
        }
        // Of those of which only tries were recorded that reached no server, nothing can be played.
        let mut trees = reading.trees;
        trees.retain(|tree| tree.robots > 0 || !tree.pages.is_empty());
        let pages = trees.iter().map(|tree| tree.pages.len() as u64).sum();
        let survey = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
        let source = RatesSource { survey, trees: trees.len() as u64, pages, hosts };
        Ok(Self { source, trees, unrecorded })
    }
}

fn each<R: Row>(dir: &Path, wanted: &[&str], mut tell: impl FnMut(R)) -> Result<(), TablesError> {
    for piece in read_pieces::<R>(dir, wanted)? {
        piece?.into_iter().for_each(&mut tell);
    }
    Ok(())
}

/// Which page of which tree.
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
        let of_tree = &mut self.trees[tree as usize];
        of_tree.asked.push(NO_PAGE);
        // What our own side refused was no request.
        if !was_sent || row.purpose == Purpose::Probe.as_str() {
            return;
        }
        let Some(depth) = row.depth else {
            of_tree.robots += 1;
            if let Some(asked) = of_tree.asked.last_mut() {
                *asked = ROBOTS;
            }
            return;
        };
        let Ok(url) = WebUrl::parse(&row.url) else { return };
        of_tree.has_answered |= matches!(row.status, Some(200..=299)) || row.unchanged_bytes.is_some();
        let pages = &mut of_tree.pages;
        let place = *self.pages.entry((tree, url.page_key())).or_insert_with(|| {
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
        pages[place.1 as usize].requests += 1;
        if let Some(asked) = of_tree.asked.last_mut() {
            *asked = place.1;
        }
        let is_redirect = matches!(row.status, Some(300..=399));
        let target = row.location.filter(|_| is_redirect).and_then(|location| url.join(&location).ok());
        match target {
            Some(target) if !site.is_ok_and(|site| site.has(target.host())) => {
                let host = self.host(target.host().as_str());
                self.trees[tree as usize].pages[place.1 as usize].hosts.push(host);
            }
            Some(target) => self.redirects.push((place, target.page_key())),
            None => {}
        }
    }

    /// Targets are looked up when all pages are known.
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
