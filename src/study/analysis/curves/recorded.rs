use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};

use crate::analysis::keys::grouped_keys::GroupedKeys;
use crate::analysis::keys::groups::Groups;
use crate::analysis::keys::links::RowIndex;
use crate::analysis::tables::{
    TreeNumbers, columns, depth_of, digest_each, for_each_frame, key, with_retries, with_tree,
};
use crate::analysis::{
    AnalysisError, Completeness, Grouping, Kind, KnownKeys, Labels, LevelCost, NotFetched, Tree, TreeEnd,
    Trees, UNKNOWN, tables::group,
};
use crate::exchange::{Class, Failure};
use crate::records::{Cost, ExchangeRow, LevelRow, Manifest, SiteRow, Unlevelled};

/// The part of a survey that its curves are computed from.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The manifest of the survey.
    pub manifest: Manifest,
    /// The finished site trees.
    pub trees: Trees,
    /// The external URLs, hosts, sites and addresses that the trees know.
    pub known: KnownKeys,
    /// Site trees that ended because a budget shared with other trees was used up.
    pub(in crate::analysis) out_of_budget: u64,
    /// The kinds that links were read for. Nothing is known about other kinds.
    pub(in crate::analysis) kinds: &'static [Kind],
    /// Finds the trees of rows in other tables; empty if this holds only some of a survey's trees.
    pub(in crate::analysis) index: Arc<RowIndex>,
    /// The keys known to groups of trees, if requested and if `known` does not hold them.
    pub(in crate::analysis) group_keys: Option<Arc<GroupedKeys>>,
}

impl Recorded {
    /// The completeness of the survey.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        Completeness::new(&self.manifest, self.trees.len() as u64, self.out_of_budget)
    }

    /// Reads the tables of the survey in `dir`. The survey may still be running: its finished sites are
    /// included.
    ///
    /// # Errors
    /// There is no survey, no site tree yet, or a table cannot be read.
    pub fn load(dir: &Path) -> Result<Self, AnalysisError> {
        Self::with_groups(dir, &[], 0)
    }

    /// As [`Self::load`], and in the same pass over the links reads what the `max_groups` largest groups of
    /// each grouping know, and what all other trees together know.
    /// [`GroupedCurves`](crate::analysis::GroupedCurves) then needs no further pass.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn with_groups(dir: &Path, groupings: &[Grouping], max_groups: usize) -> Result<Self, AnalysisError> {
        with_retries(|| Self::read(dir, &Kind::ALL, groupings, max_groups))
    }

    /// As [`Self::with_groups`], for these kinds only: for coverage that needs no other kind
    /// ([`Reading::rests_on`](crate::analysis::Reading)). Links, the largest part of a large survey, are read
    /// only for these kinds, and curves computed from the result cover no other kind.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read_kinds(
        dir: &Path,
        kinds: &'static [Kind],
        groupings: &[Grouping],
        max_groups: usize,
    ) -> Result<Self, AnalysisError> {
        with_retries(|| Self::read(dir, kinds, groupings, max_groups))
    }

    fn read(
        dir: &Path,
        kinds: &'static [Kind],
        groupings: &[Grouping],
        max_groups: usize,
    ) -> Result<Self, AnalysisError> {
        let manifest = Manifest::load(dir)?;
        let mut loading = TreeLoader::default();
        // Sites first: the rows that belong to a site are written before its own row.
        for_each_frame::<SiteRow>(dir, CurveSiteColumns::NAMES, |frame| loading.add_sites(frame))?;
        if loading.trees.is_empty() {
            return Err(AnalysisError::Empty(dir.to_owned()));
        }
        loading.number_by_name();
        loading.read_levels(dir)?;
        loading.read_exchanges(dir)?;
        let out_of_budget = loading.out_of_budget.len() as u64;
        let (trees, index) = loading.finish();
        let groupings = groupings.iter().map(|by| Groups::largest(&trees, *by, max_groups));
        let groupings: Vec<Groups> = groupings.filter(|groups| groups.names.len() > 1).collect();
        let is_divided = !groupings.is_empty();
        let group_keys = GroupedKeys::read(dir, &index, &trees, groupings, kinds)?;
        let known = group_keys.all_trees();
        // If all occurrences are in memory, they show what groups know, too.
        let group_keys = (is_divided && !known.has_all_occurrences()).then(|| Arc::new(group_keys));
        Ok(Self { manifest, trees, known, out_of_budget, kinds, index: Arc::new(index), group_keys })
    }
}

columns! {
    CurveSiteColumns {
        site: str, seed: u32, cctld: str, generation: u32, outcome: str, deepest: u32, pages: u64, country: str, asn: u32,
        as_org: str, server: str,
    }
}

columns! {
    LevelColumns {
        depth: u32, requests: u64, pages: u64, sent_bytes: u64, received_bytes: u64, busy_ms: f64,
        external_urls: u64, external_hosts: u64, external_sites: u64,
    }
}

columns! {
    CurveExchangeColumns {
        depth: u32, purpose: str, host: str, address: str, failure: str, sent_bytes: u64, received_bytes: u64,
        total_ms: f64,
    }
}

/// Collects the trees while their tables are read.
#[derive(Default)]
struct TreeLoader {
    trees: Vec<Tree>,
    labels: Labels,
    index: RowIndex,
    /// In pieces, so that no large allocation is ever moved.
    levels: Vec<Vec<AtLevel>>,
    /// The cost of exchanges without a depth.
    booked: Vec<AtLevel>,
    not_fetched: Vec<NotFetched>,
    unlevelled: Unlevelled<u32>,
    /// Trees that ended at a shared budget.
    out_of_budget: HashSet<u32>,
}

/// A tree, a depth, and the cost and finds of the tree at that depth.
type AtLevel = (u32, u16, LevelCost);

impl TreeLoader {
    fn add_sites(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let columns = CurveSiteColumns::from_frame(frame)?;
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
                columns.country.get(row).unwrap_or(UNKNOWN),
                network.as_deref().unwrap_or(UNKNOWN),
                software.filter(|name| !name.is_empty()).unwrap_or(UNKNOWN),
                group::pages_class(pages),
            ]
            .map(|name| self.labels.number(name));
            let deepest = columns.deepest.get(row).and_then(|depth| u16::try_from(depth).ok());
            let seed = u16::try_from(seed).unwrap_or(u16::MAX);
            let ended = TreeEnd::by_outcome(columns.outcome.get(row).unwrap_or_default(), pages);
            self.trees.push(Tree::new(site, seed, ended, deepest, groups));
        }
        Ok(())
    }

    /// Numbers trees and groups in the order of their names. The rows are in the order in which sites
    /// happened to finish. With numbers by name, equal surveys have equal figures and equal random draws.
    fn number_by_name(&mut self) {
        self.trees.sort_unstable_by(|a, b| (&a.site, a.seed).cmp(&(&b.site, b.seed)));
        let (old_labels, mut labels) = (std::mem::take(&mut self.labels), Labels::default());
        self.index.trees = TreeNumbers::default();
        for tree in &mut self.trees {
            tree.groups = tree.groups.map(|group| labels.number(old_labels.name(group)));
            self.index.trees.add(&tree.site, tree.seed.into());
        }
        self.labels = labels;
    }

    fn read_levels(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        let Self { index, levels, not_fetched, .. } = self;
        let classes = cut().chain([Class::Depth]).map(Class::as_str);
        let columns: Vec<&str> = LevelColumns::NAMES.iter().copied().chain(classes).collect();
        digest_each::<LevelRow, _>(
            dir,
            &with_tree(&columns),
            |frame| decode_levels(&frame, index),
            |(costs, not_requested)| {
                levels.push(costs);
                not_fetched.extend(not_requested);
                Ok(())
            },
        )
    }

    /// The rows of a tree are adjacent, in request order.
    fn read_exchanges(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        let Self { index: RowIndex { trees, addresses }, unlevelled, booked, out_of_budget, .. } = self;
        let mut last = None;
        digest_each::<ExchangeRow, _>(
            dir,
            &with_tree(CurveExchangeColumns::NAMES),
            |frame| decode_exchanges(&frame, trees),
            |(exchanges, ended)| {
                out_of_budget.extend(ended);
                for CurveExchange { tree, host_and_address, depth, cost } in exchanges {
                    // If a host has several addresses, the one with the smallest key counts, whichever was
                    // contacted first.
                    if last.replace(host_and_address) != Some(host_and_address) {
                        let (host, address) = host_and_address;
                        let known = addresses.entry(host).or_insert(address);
                        *known = address.min(*known);
                    }
                    booked.extend(unlevelled.next(&tree, depth, cost).and_then(at_level));
                }
                Ok(())
            },
        )
    }

    fn finish(mut self) -> (Trees, RowIndex) {
        self.booked.extend(self.unlevelled.end().and_then(at_level));
        self.levels.push(self.booked);
        for (tree, depth, _) in self.levels.iter().flatten() {
            let levels = &mut self.trees[*tree as usize].level_count;
            *levels = usize::from(*depth).max(levels.saturating_sub(1)) + 1;
        }
        let mut next = 0;
        for tree in &mut self.trees {
            tree.first_level = next;
            next += tree.level_count;
        }
        let mut levels = vec![LevelCost::default(); next];
        // The sums of a level are always in the order of the tables, so they are equal to the last bit.
        for (tree, depth, cost) in self.levels.into_iter().flatten() {
            levels[self.trees[tree as usize].first_level + usize::from(depth)].add(&cost);
        }
        self.not_fetched.sort_unstable();
        let trees = Trees {
            trees: self.trees,
            labels: self.labels,
            not_fetched: self.not_fetched,
            levels: Arc::new(levels),
        };
        (trees, self.index)
    }
}

/// The classes of URLs that cut a tree, whatever the depth.
fn cut() -> impl Iterator<Item = Class> {
    Class::reasons().filter(|class| class.is_cut())
}

fn decode_levels(frame: &DataFrame, index: &RowIndex) -> PolarsResult<(Vec<AtLevel>, Vec<NotFetched>)> {
    let columns = LevelColumns::from_frame(frame)?;
    let trees = index.trees.for_rows(frame)?;
    let (mut levels, mut not_fetched) = (Vec::with_capacity(trees.len()), Vec::new());
    let class = |class: Class| frame.column(class.as_str())?.u64();
    let too_deep = class(Class::Depth)?;
    let skipped = cut().map(class).collect::<PolarsResult<Vec<_>>>()?;
    let count = |value: Option<u64>| u32::try_from(value.unwrap_or_default()).unwrap_or(u32::MAX);
    for (row, tree) in trees.into_iter().enumerate() {
        let Some(tree) = tree else { continue };
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
        levels.extend(unless_nothing((tree, depth, cost)));
        let not_requested = NotFetched {
            tree,
            depth,
            too_deep: count(too_deep.get(row)),
            skipped: count(Some(skipped.iter().filter_map(|urls| urls.get(row)).sum())),
        };
        if not_requested.urls() > 0 {
            not_fetched.push(not_requested);
        }
    }
    Ok((levels, not_fetched))
}

/// Drops a level without cost or finds: the tree was not walked there.
fn unless_nothing(level: AtLevel) -> Option<AtLevel> {
    (level.2 != LevelCost::default()).then_some(level)
}

/// The part of an exchange with a server that curves need.
struct CurveExchange {
    tree: u32,
    /// The keys of the host and of its address.
    host_and_address: (u64, u64),
    depth: Option<u16>,
    cost: Cost,
}

/// The exchanges with servers, and the trees that were refused a request because a shared budget was used up.
fn decode_exchanges(frame: &DataFrame, trees: &TreeNumbers) -> PolarsResult<(Vec<CurveExchange>, Vec<u32>)> {
    let columns = CurveExchangeColumns::from_frame(frame)?;
    let (mut exchanges, mut ended) = (Vec::with_capacity(frame.height()), Vec::new());
    for (row, tree) in trees.for_rows(frame)?.into_iter().enumerate() {
        let Some(tree) = tree else { continue };
        if columns.failure.get(row) == Some(Failure::ServerBudget.as_str()) {
            ended.push(tree);
        }
        let (Some(host), Some(address), Some(busy_ms)) =
            (columns.host.get(row), columns.address.get(row), columns.total_ms.get(row))
        else {
            continue;
        };
        let depth = columns.depth.get(row).map(|depth| depth_of(Some(depth)));
        let [sent_bytes, received_bytes] =
            [columns.sent_bytes, columns.received_bytes].map(|bytes| bytes.get(row).unwrap_or_default());
        let cost = Cost::from_request(columns.purpose.get(row), sent_bytes, received_bytes, busy_ms);
        exchanges.push(CurveExchange { tree, host_and_address: (key(host), key(address)), depth, cost });
    }
    Ok((exchanges, ended))
}

fn at_level((tree, depth, cost): (u32, u16, Cost)) -> Option<AtLevel> {
    let requests = u32::try_from(cost.requests).unwrap_or(u32::MAX);
    let bytes = cost.sent_bytes + cost.received_bytes;
    unless_nothing((
        tree,
        depth,
        LevelCost { requests, bytes, busy_ms: cost.busy_ms, ..LevelCost::default() },
    ))
}
