use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};

use super::key_table::{KeyTable, WithDepth};
use super::sample::{SAMPLE, Sample};
use super::tables::{ByKey, TreeNumbers, depth_of, digest_each, key, with_tree};
use super::{AnalysisError, Kind, Known, KnownByDepth, Occurrence, Occurrences};
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

/// What is known by each of several sets of trees, from the links of the survey in `dir`. `apart` puts occurrences into
/// their sets, with the numbers that trees have there.
pub(super) fn gather(
    dir: &Path,
    index: &Index,
    sets: usize,
    apart: impl Fn(Vec<Occurrence>) -> Vec<Vec<Occurrence>> + Sync,
) -> Result<Vec<Known>, AnalysisError> {
    let mut known = vec![Known::default(); sets];
    for (column, kinds) in PASSES {
        let gatherers: Vec<Vec<Gatherer>> =
            (0..sets).map(|_| kinds.iter().map(|_| Gatherer::of_one_in(sets)).collect()).collect();
        let digest = |frame: DataFrame| {
            let mut named = occurrences(&frame, index, column)?;
            drop(frame);
            for (number, kind) in kinds.iter().enumerate() {
                let of_kind = match kind {
                    Kind::Addresses => at_addresses(&named, index),
                    _ => std::mem::take(&mut named),
                };
                for (gatherers, of_set) in gatherers.iter().zip(apart(of_kind)) {
                    gatherers[number].add(&of_set);
                }
            }
            Ok(())
        };
        digest_each::<LinkRow, _>(dir, &with_tree(&["depth", column]), digest, Ok)?;
        for (known, gatherers) in known.iter_mut().zip(gatherers) {
            for (kind, gatherer) in kinds.iter().map(|kind| *kind as usize).zip(gatherers) {
                (known.counts[kind], known.occurrences[kind]) = gatherer.finish();
            }
        }
    }
    Ok(known)
}

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
pub(super) struct Gatherer {
    distinct: KeyTable<WithDepth>,
    sample: Sample,
}

impl Gatherer {
    /// For one of `sets` that are gathered at once, in the memory of one together.
    pub(super) fn of_one_in(sets: usize) -> Self {
        Self { distinct: KeyTable::new(), sample: Sample::new(SAMPLE / sets.max(1)) }
    }

    pub(super) fn add(&self, occurrences: &[Occurrence]) {
        self.distinct.add_occurrences(occurrences);
        self.sample.add(occurrences);
    }

    pub(super) fn finish(self) -> (KnownByDepth, Occurrences) {
        (self.distinct.known_by_depth(), self.sample.finish())
    }
}
