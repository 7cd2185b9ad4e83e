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

/// The kinds that are gathered in one pass over the links. There are about as many distinct URLs as there are of the others
/// together, so that two passes take half the memory of one; the columns that both read are small.
const PASSES: [&[Kind]; 2] = [&[Kind::Urls], &[Kind::Hosts, Kind::Sites, Kind::Addresses]];

/// What is known by each of several sets of trees, from the links of the survey in `dir`. `apart` puts occurrences into
/// their sets, with the numbers that trees have there.
pub(super) fn gather(
    dir: &Path,
    index: &Index,
    sets: usize,
    apart: impl Fn(Vec<Occurrence>) -> Vec<Vec<Occurrence>> + Sync,
) -> Result<Vec<Known>, AnalysisError> {
    let mut known = vec![Known::default(); sets];
    for kinds in PASSES {
        let gatherers: Vec<Vec<Gatherer>> =
            (0..sets).map(|_| kinds.iter().map(|_| Gatherer::of_one_in(sets)).collect()).collect();
        let take = |kind: usize, occurrences: Vec<Occurrence>| {
            for (gatherers, occurrences) in gatherers.iter().zip(apart(occurrences)) {
                gatherers[kind].add(&occurrences);
            }
        };
        let digest = |frame: DataFrame| each_kind(&frame, index, kinds, &take);
        digest_each::<LinkRow, _>(dir, &columns_of(kinds), digest, Ok)?;
        for (known, gatherers) in known.iter_mut().zip(gatherers) {
            for (kind, gatherer) in kinds.iter().map(|kind| *kind as usize).zip(gatherers) {
                (known.counts[kind], known.occurrences[kind]) = gatherer.finish();
            }
        }
    }
    Ok(known)
}

fn columns_of(kinds: &[Kind]) -> Vec<&'static str> {
    let mut columns = with_tree(&["depth"]);
    for column in kinds.iter().map(|kind| column_of(*kind)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

fn column_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Urls => "url",
        Kind::Hosts | Kind::Addresses => "host",
        Kind::Sites => "target_site",
    }
}

/// Gives the occurrences in some rows to `take`, one kind after the other.
fn each_kind(
    frame: &DataFrame,
    index: &Index,
    kinds: &[Kind],
    take: &impl Fn(usize, Vec<Occurrence>),
) -> PolarsResult<()> {
    let trees = index.trees.of_rows(frame)?;
    let depths = frame.column("depth")?.u32()?;
    let depths: Vec<u16> = depths.iter().map(depth_of).collect();
    for (number, kind) in kinds.iter().enumerate() {
        let names = frame.column(column_of(*kind))?.str()?;
        let mut occurrences = Vec::with_capacity(trees.len());
        for ((name, tree), depth) in names.iter().zip(&trees).zip(&depths) {
            let (Some(name), Some(tree)) = (name, *tree) else { continue };
            let key = match kind {
                Kind::Addresses => index.addresses.get(&key(name)).copied(),
                _ => Some(key(name)),
            };
            occurrences.extend(key.map(|key| Occurrence { key, tree, depth: *depth }));
        }
        take(number, occurrences);
    }
    Ok(())
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
