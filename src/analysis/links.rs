use std::collections::HashMap;
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};

use super::known::Gatherer;
use super::tables::{TreeNumbers, columns, depth_of, each, key};
use super::{AnalysisError, Kind, Known, Occurrence};
use crate::records::LinkRow;

columns! {
    LinkColumns { site: str, seed: u32, depth: u32, url: str, host: str, target_site: str }
}

/// Where rows belong: trees by site and seed, and the server of each host that was asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pub(super) trees: TreeNumbers,
    pub(super) addresses: HashMap<u64, u64>,
}

/// A link as keys of its URL, host, site and address, in the order of [`Kind::ALL`].
type Keys = [Option<u64>; Kind::ALL.len()];

/// Gives every external link to `take`: its tree, its depth and what it leads to.
pub(super) fn each_link(
    dir: &Path,
    index: &Index,
    mut take: impl FnMut(u32, u16, Keys),
) -> Result<(), AnalysisError> {
    each::<LinkRow>(dir, LinkColumns::NAMES, |frame| links_of(frame, index, &mut take))
}

fn links_of(frame: &DataFrame, index: &Index, take: &mut impl FnMut(u32, u16, Keys)) -> PolarsResult<()> {
    let columns = LinkColumns::of(frame)?;
    for row in 0..frame.height() {
        let Some(tree) = index.trees.find(columns.site.get(row), columns.seed.get(row)) else { continue };
        let host = columns.host.get(row).map(key);
        let address = host.and_then(|host| index.addresses.get(&host).copied());
        let keys = [columns.url.get(row).map(key), host, columns.target_site.get(row).map(key), address];
        take(tree, depth_of(columns.depth.get(row)), keys);
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
