use std::io;
use std::path::Path;
use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::links::{Gathering, Index, each_link};
use super::{AnalysisError, Ended, Known, Labels, LevelCost, Tree, Trees, group};
use crate::records::{ExchangeRow, LevelRow, Manifest, Row, SiteRow, TablesError, read_frames};

/// What is needed of a survey to draw its curves.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub manifest: Manifest,
    pub trees: Trees,
    pub known: Known,
    /// To find the trees of other rows by; empty where these are but some of a survey's trees.
    pub(super) index: Arc<Index>,
}

/// How often tables are read anew whose files are joined to larger ones meanwhile.
const TRIES: u32 = 3;

impl Recorded {
    /// Reads the tables of the survey in `dir`, which may still run: sites that are done are there.
    ///
    /// # Errors
    /// There is no survey, no site tree yet, or a table cannot be read.
    pub fn load(dir: &Path) -> Result<Self, AnalysisError> {
        retried(|| Self::load_once(dir))
    }

    fn load_once(dir: &Path) -> Result<Self, AnalysisError> {
        let manifest = Manifest::load(dir)?;
        let mut loading = Loading::default();
        // Sites first: what belongs to a site that can be read was written before it.
        each::<SiteRow>(dir, SITES, |frame| loading.add_sites(frame))?;
        if loading.trees.is_empty() {
            return Err(AnalysisError::Empty(dir.to_owned()));
        }
        each::<LevelRow>(dir, LEVELS, |frame| loading.add_levels(frame))?;
        each::<ExchangeRow>(dir, EXCHANGES, |frame| loading.add_exchanges(frame))?;
        let (trees, index) = loading.finish();
        let mut gathering = Gathering::new();
        each_link(dir, &index, |tree, depth, keys| gathering.add(tree, depth, keys))?;
        Ok(Self { manifest, trees, known: gathering.finish(), index: Arc::new(index) })
    }
}

/// Reads tables again when a file that was listed is gone: its rows are in a larger one now.
pub(super) fn retried<T>(mut read: impl FnMut() -> Result<T, AnalysisError>) -> Result<T, AnalysisError> {
    let mut tries = 1;
    loop {
        match read() {
            Err(AnalysisError::Tables(wrong)) if has_vanished(&wrong) && tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

fn has_vanished(wrong: &TablesError) -> bool {
    wrong.source.kind() == io::ErrorKind::NotFound && wrong.path.extension().is_some()
}

/// Gives the wanted columns of a table to `take`, one segment at a time.
pub(super) fn each<R: Row>(
    dir: &Path,
    columns: &[&str],
    mut take: impl FnMut(&DataFrame) -> PolarsResult<()>,
) -> Result<(), AnalysisError> {
    for frame in read_frames::<R>(dir, columns)? {
        take(&frame?).map_err(|wrong| AnalysisError::of_columns(dir, R::TABLE, &wrong))?;
    }
    Ok(())
}

const SITES: &[&str] = &[
    "site",
    "seed",
    "cctld",
    "generation",
    "outcome",
    "deepest",
    "pages",
    "country",
    "asn",
    "as_org",
    "server",
];
const LEVELS: &[&str] = &[
    "site",
    "seed",
    "depth",
    "requests",
    "pages",
    "sent_bytes",
    "received_bytes",
    "busy_ms",
    "external_urls",
    "external_hosts",
    "external_sites",
    "not_fetched_depth",
    "not_fetched_limit",
    "not_fetched_trap",
    "not_fetched_opt_out",
];
/// Reasons of the levels table that are a limit of the survey: what they kept back might have been walked.
const LIMITS: [&str; 4] =
    ["not_fetched_depth", "not_fetched_limit", "not_fetched_trap", "not_fetched_opt_out"];
const EXCHANGES: &[&str] =
    &["site", "seed", "depth", "host", "address", "sent_bytes", "received_bytes", "total_ms"];

/// The trees while their tables are read.
#[derive(Default)]
struct Loading {
    trees: Vec<Tree>,
    labels: Labels,
    index: Index,
    levels: Vec<(u32, u16, LevelCost)>,
    unasked: Vec<(u32, u16, u32)>,
    /// Load of robots.txt files whose level is told by the next page that is asked for.
    robots: LevelCost,
    robots_of: Option<u32>,
    last_depth: u16,
}

impl Loading {
    fn add_sites(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let (cctlds, generations) = (frame.column("cctld")?.str()?, frame.column("generation")?.u32()?);
        let (outcomes, deepest) = (frame.column("outcome")?.str()?, frame.column("deepest")?.u32()?);
        let (pages, countries) = (frame.column("pages")?.u64()?, frame.column("country")?.str()?);
        let (systems, organisations) = (frame.column("asn")?.u32()?, frame.column("as_org")?.str()?);
        let servers = frame.column("server")?.str()?;
        for row in 0..frame.height() {
            let (Some(site), Some(seed)) = (sites.get(row), seeds.get(row)) else { continue };
            let number = u32::try_from(self.trees.len()).unwrap_or(u32::MAX);
            if self.index.numbers.insert(tree_key(site, seed), number).is_some() {
                continue;
            }
            let pages = pages.get(row).unwrap_or_default();
            let network = systems.get(row).map(|asn| group::network(asn, organisations.get(row)));
            let software = servers.get(row).map(group::software_family);
            let generation = generations.get(row).unwrap_or_default().to_string();
            let groups = [
                cctlds.get(row).unwrap_or("other"),
                &generation,
                countries.get(row).unwrap_or("unknown"),
                network.as_deref().unwrap_or("unknown"),
                software.filter(|name| !name.is_empty()).unwrap_or("unknown"),
                group::pages_class(pages),
            ]
            .map(|name| self.labels.number(name));
            let deepest = deepest.get(row).and_then(|depth| u16::try_from(depth).ok());
            let seed = u16::try_from(seed).unwrap_or(u16::MAX);
            let ended = Ended::of(outcomes.get(row).unwrap_or_default(), pages);
            self.trees.push(Tree::new(site, seed, ended, deepest, groups));
        }
        Ok(())
    }

    fn tree(&self, site: Option<&str>, seed: Option<u32>) -> Option<u32> {
        self.index.tree(site, seed)
    }

    fn add_levels(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let depths = frame.column("depth")?.u32()?;
        let (requests, pages) = (frame.column("requests")?.u64()?, frame.column("pages")?.u64()?);
        let (sent, received) = (frame.column("sent_bytes")?.u64()?, frame.column("received_bytes")?.u64()?);
        let (busy, urls) = (frame.column("busy_ms")?.f64()?, frame.column("external_urls")?.u64()?);
        let (hosts, external_sites) =
            (frame.column("external_hosts")?.u64()?, frame.column("external_sites")?.u64()?);
        let count = |value: Option<u64>| u32::try_from(value.unwrap_or_default()).unwrap_or(u32::MAX);
        for row in 0..frame.height() {
            let Some(tree) = self.tree(sites.get(row), seeds.get(row)) else { continue };
            let cost = LevelCost {
                requests: count(requests.get(row)),
                pages: count(pages.get(row)),
                bytes: sent.get(row).unwrap_or_default() + received.get(row).unwrap_or_default(),
                busy_ms: busy.get(row).unwrap_or_default(),
                urls: count(urls.get(row)),
                hosts: count(hosts.get(row)),
                sites: count(external_sites.get(row)),
            };
            self.add_cost(tree, depth_of(depths.get(row)), cost);
        }
        self.add_unasked(frame)
    }

    fn add_unasked(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let depths = frame.column("depth")?.u32()?;
        let mut sums = vec![0; frame.height()];
        for limit in LIMITS {
            for (sum, urls) in sums.iter_mut().zip(frame.column(limit)?.u64()?.iter()) {
                *sum += urls.unwrap_or_default();
            }
        }
        for (row, urls) in sums.into_iter().enumerate().filter(|(_, urls)| *urls > 0) {
            let Some(tree) = self.tree(sites.get(row), seeds.get(row)) else { continue };
            let urls = u32::try_from(urls).unwrap_or(u32::MAX);
            self.unasked.push((tree, depth_of(depths.get(row)), urls));
        }
        Ok(())
    }

    /// A level that cost nothing and brought nothing is where the tree was not walked.
    fn add_cost(&mut self, tree: u32, depth: u16, cost: LevelCost) {
        if cost != LevelCost::default() {
            self.levels.push((tree, depth, cost));
        }
    }

    /// Rows of a tree stand together, in the order they were asked.
    fn add_exchanges(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
        let (depths, hosts) = (frame.column("depth")?.u32()?, frame.column("host")?.str()?);
        let (addresses, busy) = (frame.column("address")?.str()?, frame.column("total_ms")?.f64()?);
        let (sent, received) = (frame.column("sent_bytes")?.u64()?, frame.column("received_bytes")?.u64()?);
        for row in 0..frame.height() {
            let Some(tree) = self.tree(sites.get(row), seeds.get(row)) else { continue };
            if self.robots_of != Some(tree) {
                self.end_of_exchanges(Some(tree));
            }
            let (Some(host), Some(address), Some(busy_ms)) =
                (hosts.get(row), addresses.get(row), busy.get(row))
            else {
                continue;
            };
            self.index.addresses.entry(key(host)).or_insert_with(|| key(address));
            if let Some(depth) = depths.get(row) {
                self.last_depth = depth_of(Some(depth));
                self.book_robots();
            } else {
                self.robots.requests += 1;
                self.robots.bytes +=
                    sent.get(row).unwrap_or_default() + received.get(row).unwrap_or_default();
                self.robots.busy_ms += busy_ms;
            }
        }
        Ok(())
    }

    /// What is left of the robots.txt of a tree was asked for last, for a level that then asked for nothing.
    fn end_of_exchanges(&mut self, next: Option<u32>) {
        self.book_robots();
        (self.robots_of, self.last_depth) = (next, 0);
    }

    fn book_robots(&mut self) {
        let cost = std::mem::take(&mut self.robots);
        if let Some(tree) = self.robots_of {
            self.add_cost(tree, self.last_depth, cost);
        }
    }

    fn finish(mut self) -> (Trees, Index) {
        self.end_of_exchanges(None);
        self.levels.sort_unstable_by_key(|(tree, depth, _)| (*tree, *depth));
        let (labels, unasked) = (self.labels, self.unasked);
        let mut trees = Trees { trees: self.trees, labels, unasked, levels: Vec::new() };
        for level in self.levels.chunk_by(|one, other| one.0 == other.0) {
            let deepest = level.last().map_or(0, |(_, depth, _)| usize::from(*depth));
            let tree = &mut trees.trees[level[0].0 as usize];
            (tree.first_level, tree.level_count) = (trees.levels.len(), deepest + 1);
            trees.levels.resize(tree.first_level + tree.level_count, LevelCost::default());
            for (_, depth, cost) in level {
                trees.levels[tree.first_level + usize::from(*depth)].add(cost);
            }
        }
        (trees, self.index)
    }
}

pub(super) fn key(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

pub(super) fn tree_key(site: &str, seed: u32) -> u64 {
    xxh3_64_with_seed(site.as_bytes(), u64::from(seed))
}

pub(super) fn depth_of(depth: Option<u32>) -> u16 {
    u16::try_from(depth.unwrap_or_default()).unwrap_or(u16::MAX)
}
