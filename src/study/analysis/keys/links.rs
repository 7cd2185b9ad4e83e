use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};

use super::cells::Cells;
use super::key_table::{CellWord, KeyTable, Range};
use super::sample::{KeySample, KeySampler, SAMPLE};
use crate::analysis::tables::{ByKey, TreeNumbers, depth_of, digest_each, key, with_tree};
use crate::analysis::{AnalysisError, Kind, KnownByDepth, Occurrence};
use crate::records::{LinkRow, Row, row_count};

/// Looks up the owners of rows: trees by site and seed, and the server address of each host that was
/// contacted.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct RowIndex {
    pub(in crate::analysis) trees: TreeNumbers,
    pub(in crate::analysis) addresses: ByKey<u64>,
}

/// A column of the table of links, and the kinds that are read from it.
struct LinkColumn {
    name: &'static str,
    /// The kinds. Addresses are found through hosts and come before them.
    counted_kinds: &'static [Kind],
    /// Whether a tree repeats the same value many times.
    repeats: bool,
    /// The maximum number of links for one pass. If there are more, each pass takes the keys of one range.
    /// This bounds the memory of a pass to about 200 MB. A further pass over 10⁸ links takes 4 to 6 seconds
    /// on two cores.
    links_per_pass: u64,
}

/// Each column is read in separate passes, since one may have tens of millions of keys. Sites link to several
/// URLs of each host.
const COLUMNS: [LinkColumn; 3] = [
    LinkColumn { name: "url", counted_kinds: &[Kind::Urls], repeats: false, links_per_pass: 1 << 25 },
    LinkColumn {
        name: "host",
        counted_kinds: &[Kind::Addresses, Kind::Hosts],
        repeats: true,
        links_per_pass: 1 << 26,
    },
    LinkColumn { name: "target_site", counted_kinds: &[Kind::Sites], repeats: true, links_per_pass: 1 << 26 },
];

/// Reads the keys of each of these kinds that the sets of trees know, from the links of the survey in `dir`.
pub(in crate::analysis) fn gather(
    dir: &Path,
    index: &RowIndex,
    cells: &Cells,
    wanted: &[Kind],
) -> Result<Gathered, AnalysisError> {
    let sets = cells.sharing().len();
    let mut gathered = Kind::ALL.map(|_| (vec![KnownByDepth::default(); sets], KeySample::empty(sets)));
    if wanted.is_empty() {
        return Ok(gathered);
    }
    let rows = row_count(dir, LinkRow::TABLE)?.rows;
    for column in COLUMNS {
        let kinds: Vec<Kind> =
            column.counted_kinds.iter().copied().filter(|kind| wanted.contains(kind)).collect();
        if kinds.is_empty() {
            continue;
        }
        let mut gatherers: Vec<Gatherer> = kinds.iter().map(|_| Gatherer::new(cells)).collect();
        for range in Range::each(rows.div_ceil(column.links_per_pass).max(1).next_power_of_two().ilog2()) {
            column.pass(dir, index, range, &kinds, &mut gatherers)?;
        }
        for (kind, gatherer) in kinds.into_iter().zip(gatherers) {
            gathered[kind as usize] = gatherer.finish();
        }
    }
    Ok(gathered)
}

impl LinkColumn {
    /// Reads the links once and gathers the keys of a range.
    fn pass(
        &self,
        dir: &Path,
        index: &RowIndex,
        range: Range,
        kinds: &[Kind],
        gatherers: &mut [Gatherer<'_>],
    ) -> Result<(), AnalysisError> {
        let passes: Vec<RangeReader<'_, '_>> =
            gatherers.iter_mut().map(|gatherer| gatherer.pass(range)).collect();
        let digest = |frame: DataFrame| {
            let named = self.occurrences(&frame, index)?;
            drop(frame);
            for (kind, pass) in kinds.iter().zip(&passes) {
                match kind {
                    Kind::Addresses => pass.add(&to_addresses(&named, index)),
                    _ => pass.add(&named),
                }
            }
            Ok(())
        };
        digest_each::<LinkRow, _>(dir, &with_tree(&["depth", self.name]), digest, Ok)?;
        passes.into_iter().for_each(RangeReader::end);
        Ok(())
    }

    /// The occurrences of the values of the column.
    fn occurrences(&self, frame: &DataFrame, index: &RowIndex) -> PolarsResult<Vec<Occurrence>> {
        let trees = index.trees.for_rows(frame)?;
        let (names, depths) = (frame.column(self.name)?.str()?, frame.column("depth")?.u32()?);
        let mut occurrences = Vec::with_capacity(trees.len());
        for ((name, tree), depth) in names.iter().zip(trees).zip(depths.iter()) {
            let (Some(name), Some(tree)) = (name, tree) else { continue };
            occurrences.push(Occurrence { key: key(name), tree, depth: depth_of(depth) });
        }
        if self.repeats {
            once_a_tree(&mut occurrences);
        }
        Ok(occurrences)
    }
}

/// Keeps each key once in a tree, at its least depth. The rows of a tree must be adjacent.
fn once_a_tree(occurrences: &mut Vec<Occurrence>) {
    for tree_occurrences in occurrences.chunk_by_mut(|one, other| one.tree == other.tree) {
        tree_occurrences.sort_unstable_by_key(Occurrence::rank);
    }
    occurrences.dedup_by_key(|one| (one.key, one.tree));
}

/// By kind: the number of keys that each set of trees knows, by depth, and which trees know which keys.
pub(in crate::analysis) type Gathered = [(Vec<KnownByDepth>, KeySample); Kind::ALL.len()];

/// The addresses of the hosts that were contacted.
fn to_addresses(hosts: &[Occurrence], index: &RowIndex) -> Vec<Occurrence> {
    let to_address = |host: &Occurrence| {
        index.addresses.get(&host.key).map(|address| Occurrence { key: *address, ..*host })
    };
    hosts.iter().filter_map(to_address).collect()
}

/// Gathers one kind of keys from the links.
pub(in crate::analysis) struct Gatherer<'c> {
    cells: &'c Cells,
    known: Vec<KnownByDepth>,
    sample: KeySampler<'c>,
}

impl<'c> Gatherer<'c> {
    fn new(cells: &'c Cells) -> Self {
        let known = vec![KnownByDepth::default(); cells.sharing().len()];
        Self { cells, known, sample: KeySampler::new(cells, SAMPLE) }
    }

    /// Gathers the keys of these occurrences.
    #[cfg(test)]
    pub(in crate::analysis) fn collect(
        cells: &'c Cells,
        occurrences: &[Occurrence],
    ) -> (Vec<KnownByDepth>, KeySample) {
        let mut gatherer = Self::new(cells);
        for range in Range::each(1) {
            let pass = gatherer.pass(range);
            pass.add(occurrences);
            pass.end();
        }
        gatherer.finish()
    }

    /// Begins a pass over the links for the keys of a range.
    fn pass(&mut self, range: Range) -> RangeReader<'_, 'c> {
        let Self { cells, known, sample } = self;
        RangeReader { range, distinct: KeyTable::in_cells(cells, range), known, sample }
    }

    fn finish(self) -> (Vec<KnownByDepth>, KeySample) {
        (self.known, self.sample.finish())
    }
}

/// Gathers the keys of a range.
struct RangeReader<'g, 'c> {
    range: Range,
    distinct: KeyTable<CellWord<'c>>,
    known: &'g mut [KnownByDepth],
    sample: &'g KeySampler<'c>,
}

impl RangeReader<'_, '_> {
    fn add(&self, occurrences: &[Occurrence]) {
        let in_range = occurrences.iter().filter(|one| self.range.has(one.key));
        self.distinct.add(in_range.clone());
        self.sample.add(in_range);
    }

    fn end(self) {
        self.distinct.count_in(self.known);
    }
}
