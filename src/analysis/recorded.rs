use std::path::Path;
use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};

use super::links::{Gathering, Index, each_link};
use super::tables::{TreeNumbers, columns, depth_of, each, key, retried};
use super::{AnalysisError, Ended, Known, Labels, LevelCost, Tree, Trees, Unasked, group};
use crate::records::{Cost, ExchangeRow, LevelRow, Manifest, SiteRow, Unlevelled};

/// What is needed of a survey to draw its curves.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Which survey it is.
    pub manifest: Manifest,
    /// The site trees that are done.
    pub trees: Trees,
    /// The external URLs, hosts, sites and addresses.
    pub known: Known,
    /// To find the trees of other rows by; empty where these are but some of a survey's trees.
    pub(super) index: Arc<Index>,
}

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
        each::<SiteRow>(dir, SiteColumns::NAMES, |frame| loading.add_sites(frame))?;
        if loading.trees.is_empty() {
            return Err(AnalysisError::Empty(dir.to_owned()));
        }
        loading.number_by_name();
        each::<LevelRow>(dir, LevelColumns::NAMES, |frame| loading.add_levels(frame))?;
        each::<ExchangeRow>(dir, ExchangeColumns::NAMES, |frame| loading.add_exchanges(frame))?;
        let (trees, index) = loading.finish();
        let mut gathering = Gathering::new();
        each_link(dir, &index, |tree, depth, keys| gathering.add(tree, depth, keys))?;
        Ok(Self { manifest, trees, known: gathering.finish(), index: Arc::new(index) })
    }
}

columns! {
    SiteColumns {
        site: str, seed: u32, cctld: str, generation: u32, outcome: str, deepest: u32, pages: u64, country: str, asn: u32,
        as_org: str, server: str,
    }
}

columns! {
    LevelColumns {
        site: str, seed: u32, depth: u32, requests: u64, pages: u64, sent_bytes: u64, received_bytes: u64, busy_ms: f64,
        external_urls: u64, external_hosts: u64, external_sites: u64, not_fetched_depth: u64, not_fetched_limit: u64,
        not_fetched_trap: u64, not_fetched_opt_out: u64, not_fetched_yield: u64,
    }
}

columns! {
    ExchangeColumns {
        site: str, seed: u32, depth: u32, host: str, address: str, sent_bytes: u64, received_bytes: u64, total_ms: f64,
    }
}

/// The trees while their tables are read.
#[derive(Default)]
struct Loading {
    trees: Vec<Tree>,
    labels: Labels,
    index: Index,
    levels: Vec<(u32, u16, LevelCost)>,
    unasked: Vec<Unasked>,
    unlevelled: Unlevelled<u32>,
}

impl Loading {
    fn add_sites(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let columns = SiteColumns::of(frame)?;
        for row in 0..frame.height() {
            let (Some(site), Some(seed)) = (columns.site.get(row), columns.seed.get(row)) else { continue };
            if self.index.trees.add(site, seed).is_none() {
                continue;
            }
            let pages = columns.pages.get(row).unwrap_or_default();
            let network = columns.asn.get(row).map(|asn| group::network(asn, columns.as_org.get(row)));
            let software = columns.server.get(row).map(group::software_family);
            let generation = columns.generation.get(row).unwrap_or_default().to_string();
            let groups = [
                columns.cctld.get(row).unwrap_or("other"),
                &generation,
                columns.country.get(row).unwrap_or("unknown"),
                network.as_deref().unwrap_or("unknown"),
                software.filter(|name| !name.is_empty()).unwrap_or("unknown"),
                group::pages_class(pages),
            ]
            .map(|name| self.labels.number(name));
            let deepest = columns.deepest.get(row).and_then(|depth| u16::try_from(depth).ok());
            let seed = u16::try_from(seed).unwrap_or(u16::MAX);
            let ended = Ended::by_outcome(columns.outcome.get(row).unwrap_or_default(), pages);
            self.trees.push(Tree::new(site, seed, ended, deepest, groups));
        }
        Ok(())
    }

    /// Numbers trees and groups in the order of their names. Rows stand in the order in which the sites of a survey
    /// happened to end; by numbers of names, equal surveys have equal figures and equal chance.
    fn number_by_name(&mut self) {
        self.trees.sort_unstable_by(|one, other| (&one.site, one.seed).cmp(&(&other.site, other.seed)));
        let (as_read, mut labels) = (std::mem::take(&mut self.labels), Labels::default());
        self.index.trees = TreeNumbers::default();
        for tree in &mut self.trees {
            tree.groups = tree.groups.map(|group| labels.number(as_read.name(group)));
            self.index.trees.add(&tree.site, tree.seed.into());
        }
        self.labels = labels;
    }

    fn add_levels(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let columns = LevelColumns::of(frame)?;
        let kept_back = [
            columns.not_fetched_limit,
            columns.not_fetched_trap,
            columns.not_fetched_opt_out,
            columns.not_fetched_yield,
        ];
        let count = |value: Option<u64>| u32::try_from(value.unwrap_or_default()).unwrap_or(u32::MAX);
        for row in 0..frame.height() {
            let Some(tree) = self.index.trees.find(columns.site.get(row), columns.seed.get(row)) else {
                continue;
            };
            let depth = depth_of(columns.depth.get(row));
            let bytes = [columns.sent_bytes, columns.received_bytes];
            let cost = LevelCost {
                requests: count(columns.requests.get(row)),
                pages: count(columns.pages.get(row)),
                bytes: bytes.iter().filter_map(|bytes| bytes.get(row)).sum(),
                busy_ms: columns.busy_ms.get(row).unwrap_or_default(),
                urls: count(columns.external_urls.get(row)),
                hosts: count(columns.external_hosts.get(row)),
                sites: count(columns.external_sites.get(row)),
            };
            self.add_cost(tree, depth, cost);
            let unasked = Unasked {
                tree,
                depth,
                too_deep: count(columns.not_fetched_depth.get(row)),
                kept_back: count(Some(kept_back.iter().filter_map(|urls| urls.get(row)).sum())),
            };
            if unasked.urls() > 0 {
                self.unasked.push(unasked);
            }
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
        let columns = ExchangeColumns::of(frame)?;
        for row in 0..frame.height() {
            let Some(tree) = self.index.trees.find(columns.site.get(row), columns.seed.get(row)) else {
                continue;
            };
            let (Some(host), Some(address), Some(busy_ms)) =
                (columns.host.get(row), columns.address.get(row), columns.total_ms.get(row))
            else {
                continue;
            };
            // Of several addresses of a host the least, whichever was asked first.
            let address = key(address);
            let known = self.index.addresses.entry(key(host)).or_insert(address);
            *known = address.min(*known);
            let depth = columns.depth.get(row).map(|depth| depth_of(Some(depth)));
            let [sent_bytes, received_bytes] =
                [columns.sent_bytes, columns.received_bytes].map(|bytes| bytes.get(row).unwrap_or_default());
            let booked =
                self.unlevelled.next(&tree, depth, Cost { requests: 1, sent_bytes, received_bytes, busy_ms });
            self.book(booked);
        }
        Ok(())
    }

    fn book(&mut self, booked: Option<(u32, u16, Cost)>) {
        let Some((tree, depth, cost)) = booked else { return };
        let requests = u32::try_from(cost.requests).unwrap_or(u32::MAX);
        let bytes = cost.sent_bytes + cost.received_bytes;
        self.add_cost(
            tree,
            depth,
            LevelCost { requests, bytes, busy_ms: cost.busy_ms, ..LevelCost::default() },
        );
    }

    fn finish(mut self) -> (Trees, Index) {
        let booked = std::mem::take(&mut self.unlevelled).end();
        self.book(booked);
        // Stable: sums of a level are in the same order, and so the same to the last bit.
        self.levels.sort_by_key(|(tree, depth, _)| (*tree, *depth));
        self.unasked.sort_unstable();
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
