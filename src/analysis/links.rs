use std::collections::HashMap;
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};

use super::known::Gatherer;
use super::recorded::{depth_of, each, key, tree_key};
use super::{AnalysisError, Kind, Known, Occurrence};
use crate::records::LinkRow;

const LINKS: &[&str] = &["site", "seed", "depth", "url", "host", "target_site"];

/// Where rows belong: trees by site and seed, and the server of each host that was asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pub(super) numbers: HashMap<u64, u32>,
    pub(super) addresses: HashMap<u64, u64>,
}

impl Index {
    pub(super) fn tree(&self, site: Option<&str>, seed: Option<u32>) -> Option<u32> {
        self.numbers.get(&tree_key(site?, seed?)).copied()
    }
}

/// A link as keys of its URL, host, site and address, in the order of [`Kind::ALL`].
type Keys = [Option<u64>; Kind::ALL.len()];

/// Gives every external link to `take`: its tree, its depth and what it leads to.
pub(super) fn each_link(
    dir: &Path,
    index: &Index,
    mut take: impl FnMut(u32, u16, Keys),
) -> Result<(), AnalysisError> {
    each::<LinkRow>(dir, LINKS, |frame| links_of(frame, index, &mut take))
}

fn links_of(frame: &DataFrame, index: &Index, take: &mut impl FnMut(u32, u16, Keys)) -> PolarsResult<()> {
    let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
    let (depths, urls) = (frame.column("depth")?.u32()?, frame.column("url")?.str()?);
    let (hosts, targets) = (frame.column("host")?.str()?, frame.column("target_site")?.str()?);
    for row in 0..frame.height() {
        let Some(tree) = index.tree(sites.get(row), seeds.get(row)) else { continue };
        let host = hosts.get(row).map(key);
        let address = host.and_then(|host| index.addresses.get(&host).copied());
        let keys = [urls.get(row).map(key), host, targets.get(row).map(key), address];
        take(tree, depth_of(depths.get(row)), keys);
    }
    Ok(())
}

/// What is known, while the links go by.
pub(super) struct Gathering {
    kinds: [Gatherer; Kind::ALL.len()],
}

impl Gathering {
    pub(super) fn new() -> Self {
        Self { kinds: std::array::from_fn(|_| Gatherer::new()) }
    }

    /// For one of `parts` that are gathered at once, in the memory of one together.
    pub(super) fn of_one_in(parts: usize) -> Self {
        Self { kinds: std::array::from_fn(|_| Gatherer::of_one_in(parts)) }
    }

    pub(super) fn add(&mut self, tree: u32, depth: u16, keys: Keys) {
        for (gatherer, key) in self.kinds.iter_mut().zip(keys) {
            if let Some(key) = key {
                gatherer.add(Occurrence { key, tree, depth });
            }
        }
    }

    pub(super) fn finish(self) -> Known {
        let mut known = Known::default();
        for (kind, gatherer) in self.kinds.into_iter().enumerate() {
            (known.counts[kind], known.occurrences[kind]) = gatherer.finish();
        }
        known
    }
}
