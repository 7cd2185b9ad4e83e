use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};

use crate::analysis::keys::grouped_keys::GroupedKeys;
use crate::analysis::keys::groups::Groups;
use crate::analysis::keys::links::RowIndex;
use crate::analysis::tables::{TreeNumbers, columns, depth_of, digest_each, each, key, retried, with_tree};
use crate::analysis::{
    AnalysisError, Completeness, Grouping, Kind, KnownKeys, Labels, LevelCost, NotFetched, Tree, TreeEnd,
    Trees, UNKNOWN, tables::group,
};
use crate::exchange::{Class, Failure};
use crate::records::{Cost, ExchangeRow, LevelRow, Manifest, SiteRow, Unlevelled};

/// What is needed of a survey to draw its curves.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Which survey it is.
    pub manifest: Manifest,
    /// The site trees that are done.
    pub trees: Trees,
    /// The external URLs, hosts, sites and addresses.
    pub known: KnownKeys,
    /// Site trees that ended because a budget that they share with others was used up.
    pub(in crate::analysis) out_of_budget: u64,
    /// The kinds that links were read for: of others nothing is known.
    pub(in crate::analysis) kinds: &'static [Kind],
    /// To find the trees of other rows by; empty where these are but some of a survey's trees.
    pub(in crate::analysis) index: Arc<RowIndex>,
    /// What groups of trees know, where that was asked for and `known` does not tell it.
    pub(in crate::analysis) divided: Option<Arc<GroupedKeys>>,
}

impl Recorded {
    /// Whether these are all trees of the survey.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        Completeness::new(&self.manifest, self.trees.len() as u64, self.out_of_budget)
    }

    /// Reads the tables of the survey in `dir`, which may still run: sites that are done are there.
    ///
    /// # Errors
    /// There is no survey, no site tree yet, or a table cannot be read.
    pub fn load(dir: &Path) -> Result<Self, AnalysisError> {
        Self::with_groups(dir, &[], 0)
    }

    /// The same, and with one look at the links what the `most` largest groups of each of these groupings know, and all other
    /// trees together: [`Grouped`](crate::analysis::GroupedCurves) has it then without another.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn with_groups(dir: &Path, groupings: &[Grouping], most: usize) -> Result<Self, AnalysisError> {
        retried(|| Self::read(dir, &Kind::ALL, groupings, most))
    }

    /// The same as far as these kinds are concerned, for coverage that rests on no other ([`Reading::rests_on`](crate::analysis::Reading)).
    /// Links, most of a large survey, are read only as far as they tell of these kinds; curves that are drawn of it tell of no
    /// other.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn knowing(
        dir: &Path,
        kinds: &'static [Kind],
        groupings: &[Grouping],
        most: usize,
    ) -> Result<Self, AnalysisError> {
        retried(|| Self::read(dir, kinds, groupings, most))
    }

    fn read(
        dir: &Path,
        kinds: &'static [Kind],
        groupings: &[Grouping],
        most: usize,
    ) -> Result<Self, AnalysisError> {
        let manifest = Manifest::load(dir)?;
        let mut loading = TreeLoader::default();
        // Sites first: what belongs to a site that can be read was written before it.
        each::<SiteRow>(dir, CurveSiteColumns::NAMES, |frame| loading.add_sites(frame))?;
        if loading.trees.is_empty() {
            return Err(AnalysisError::Empty(dir.to_owned()));
        }
        loading.number_by_name();
        loading.read_levels(dir)?;
        loading.read_exchanges(dir)?;
        let out_of_budget = loading.out_of_budget.len() as u64;
        let (trees, index) = loading.finish();
        let groupings = groupings.iter().map(|by| Groups::largest(&trees, *by, most));
        let groupings: Vec<Groups> = groupings.filter(|groups| groups.names.len() > 1).collect();
        let is_divided = !groupings.is_empty();
        let divided = GroupedKeys::read(dir, &index, &trees, groupings, kinds)?;
        let known = divided.all_trees();
        // All occurrences tell what groups know, too.
        let divided = (is_divided && !known.has_all_occurrences()).then(|| Arc::new(divided));
        Ok(Self { manifest, trees, known, out_of_budget, kinds, index: Arc::new(index), divided })
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

/// The trees while their tables are read.
#[derive(Default)]
struct TreeLoader {
    trees: Vec<Tree>,
    labels: Labels,
    index: RowIndex,
    /// In pieces, which are never moved to a larger place.
    levels: Vec<Vec<AtLevel>>,
    /// What exchanges without a depth cost.
    booked: Vec<AtLevel>,
    unasked: Vec<NotFetched>,
    unlevelled: Unlevelled<u32>,
    /// Trees that a budget which they share has ended.
    out_of_budget: HashSet<u32>,
}

/// What a tree cost and brought at a depth.
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

    fn read_levels(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        let Self { index, levels, unasked, .. } = self;
        let classes = cut().chain([Class::Depth]).map(Class::as_str);
        let columns: Vec<&str> = LevelColumns::NAMES.iter().copied().chain(classes).collect();
        digest_each::<LevelRow, _>(
            dir,
            &with_tree(&columns),
            |frame| levels_of(&frame, index),
            |(costs, not_asked)| {
                levels.push(costs);
                unasked.extend(not_asked);
                Ok(())
            },
        )
    }

    /// Rows of a tree stand together, in the order they were asked.
    fn read_exchanges(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        let Self { index: RowIndex { trees, addresses }, unlevelled, booked, out_of_budget, .. } = self;
        let mut last = None;
        digest_each::<ExchangeRow, _>(
            dir,
            &with_tree(CurveExchangeColumns::NAMES),
            |frame| exchanges_of(&frame, trees),
            |(exchanges, ended)| {
                out_of_budget.extend(ended);
                for CurveExchange { tree, at, depth, cost } in exchanges {
                    // Of several addresses of a host the least, whichever was asked first.
                    if last.replace(at) != Some(at) {
                        let (host, address) = at;
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
        // Sums of a level are always in the order of the tables, and so the same to the last bit.
        for (tree, depth, cost) in self.levels.into_iter().flatten() {
            levels[self.trees[tree as usize].first_level + usize::from(depth)].add(&cost);
        }
        self.unasked.sort_unstable();
        let trees =
            Trees { trees: self.trees, labels: self.labels, unasked: self.unasked, levels: Arc::new(levels) };
        (trees, self.index)
    }
}

/// Classes that hide what lies below, whatever the depth.
fn cut() -> impl Iterator<Item = Class> {
    Class::reasons().filter(|class| class.is_cut())
}

fn levels_of(frame: &DataFrame, index: &RowIndex) -> PolarsResult<(Vec<AtLevel>, Vec<NotFetched>)> {
    let columns = LevelColumns::from_frame(frame)?;
    let trees = index.trees.of_rows(frame)?;
    let (mut levels, mut unasked) = (Vec::with_capacity(trees.len()), Vec::new());
    let class = |class: Class| frame.column(class.as_str())?.u64();
    let too_deep = class(Class::Depth)?;
    let kept_back = cut().map(class).collect::<PolarsResult<Vec<_>>>()?;
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
        let not_asked = NotFetched {
            tree,
            depth,
            too_deep: count(too_deep.get(row)),
            kept_back: count(Some(kept_back.iter().filter_map(|urls| urls.get(row)).sum())),
        };
        if not_asked.urls() > 0 {
            unasked.push(not_asked);
        }
    }
    Ok((levels, unasked))
}

/// A level that cost nothing and brought nothing is where the tree was not walked.
fn unless_nothing(level: AtLevel) -> Option<AtLevel> {
    (level.2 != LevelCost::default()).then_some(level)
}

/// What is needed of an exchange with a server.
struct CurveExchange {
    tree: u32,
    /// Keys of the host and of its address.
    at: (u64, u64),
    depth: Option<u16>,
    cost: Cost,
}

/// What was asked, and the trees that were refused a request because a budget which they share was used up.
fn exchanges_of(frame: &DataFrame, trees: &TreeNumbers) -> PolarsResult<(Vec<CurveExchange>, Vec<u32>)> {
    let columns = CurveExchangeColumns::from_frame(frame)?;
    let (mut exchanges, mut ended) = (Vec::with_capacity(frame.height()), Vec::new());
    for (row, tree) in trees.of_rows(frame)?.into_iter().enumerate() {
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
        let cost = Cost::of_request(columns.purpose.get(row), sent_bytes, received_bytes, busy_ms);
        exchanges.push(CurveExchange { tree, at: (key(host), key(address)), depth, cost });
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
