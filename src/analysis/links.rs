use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};

use super::cells::Cells;
use super::key_table::{InCells, KeyTable};
use super::sample::{SAMPLE, Sample, Sampled};
use super::tables::{ByKey, TreeNumbers, depth_of, digest_each, key, with_tree};
use super::{AnalysisError, Kind, KnownByDepth, Occurrence};
use crate::records::LinkRow;

/// Where rows belong: trees by site and seed, and the server of each host that was asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pub(super) trees: TreeNumbers,
    pub(super) addresses: ByKey<u64>,
}

/// The passes over the links: a column each, and the kinds that it tells of; addresses come before hosts, by which they are
/// found. A column may have tens of millions of keys, so that passes of their own take a third of the memory of one; what
/// they all read beside it is small.
const PASSES: [(&str, &[Kind]); 3] =
    [("url", &[Kind::Urls]), ("host", &[Kind::Addresses, Kind::Hosts]), ("target_site", &[Kind::Sites])];

/// What the sets of trees know of each of these kinds, from the links of the survey in `dir`.
pub(super) fn gather(
    dir: &Path,
    index: &Index,
    cells: &Cells,
    wanted: &[Kind],
) -> Result<Gathered, AnalysisError> {
    let mut gathered = Kind::ALL.map(|_| Gatherer::new(cells).finish());
    for (column, told) in PASSES {
        let kinds: Vec<Kind> = told.iter().copied().filter(|kind| wanted.contains(kind)).collect();
        if kinds.is_empty() {
            continue;
        }
        let gatherers: Vec<Gatherer> = kinds.iter().map(|_| Gatherer::new(cells)).collect();
        let digest = |frame: DataFrame| {
            let named = occurrences(&frame, index, column)?;
            drop(frame);
            for (kind, gatherer) in kinds.iter().zip(&gatherers) {
                match kind {
                    Kind::Addresses => gatherer.add(&at_addresses(&named, index)),
                    _ => gatherer.add(&named),
                }
            }
            Ok(())
        };
        digest_each::<LinkRow, _>(dir, &with_tree(&["depth", column]), digest, Ok)?;
        for (kind, gatherer) in kinds.into_iter().zip(gatherers) {
            gathered[kind as usize] = gatherer.finish();
        }
    }
    Ok(gathered)
}

/// Of each kind, how many keys each set of trees knows by depth, and which trees know which.
pub(super) type Gathered = [(Vec<KnownByDepth>, Sampled); Kind::ALL.len()];

/// The texts of a column where they occur.
fn occurrences(frame: &DataFrame, index: &Index, column: &str) -> PolarsResult<Vec<Occurrence>> {
    let trees = index.trees.of_rows(frame)?;
    let (names, depths) = (frame.column(column)?.str()?, frame.column("depth")?.u32()?);
    let mut occurrences = Vec::with_capacity(trees.len());
    for ((name, tree), depth) in names.iter().zip(trees).zip(depths.iter()) {
        let (Some(name), Some(tree)) = (name, tree) else { continue };
        occurrences.push(Occurrence { key: key(name), tree, depth: depth_of(depth) });
    }
    Ok(occurrences)
}

/// The addresses of hosts, of those that were asked.
fn at_addresses(hosts: &[Occurrence], index: &Index) -> Vec<Occurrence> {
    let at_address = |host: &Occurrence| {
        index.addresses.get(&host.key).map(|address| Occurrence { key: *address, ..*host })
    };
    hosts.iter().filter_map(at_address).collect()
}

/// Gathers one kind of keys while the links go by.
pub(super) struct Gatherer<'c> {
    distinct: KeyTable<InCells<'c>>,
    sample: Sample<'c>,
}

impl<'c> Gatherer<'c> {
    pub(super) fn new(cells: &'c Cells) -> Self {
        Self { distinct: KeyTable::in_cells(cells), sample: Sample::new(cells, SAMPLE) }
    }

    pub(super) fn add(&self, occurrences: &[Occurrence]) {
        self.distinct.add(occurrences);
        self.sample.add(occurrences);
    }

    pub(super) fn finish(self) -> (Vec<KnownByDepth>, Sampled) {
        (self.distinct.known_by_depth(), self.sample.finish())
    }
}
