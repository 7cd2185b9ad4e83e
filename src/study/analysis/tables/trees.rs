use std::sync::Arc;

use crate::analysis::{Grouping, Labels};
use crate::exchange::{Outcome, OutcomeGroup};

/// The site trees of a survey, each with the cost and the finds of its levels.
#[derive(Clone, Debug, Default)]
pub struct Trees {
    pub(in crate::analysis) trees: Vec<Tree>,
    /// The levels of all trees of the survey, also if `trees` holds only some of them.
    pub(in crate::analysis) levels: Arc<Vec<LevelCost>>,
    /// URLs not fetched because of a limit, by tree and depth.
    pub(in crate::analysis) not_fetched: Vec<NotFetched>,
    pub(in crate::analysis) labels: Labels,
}

/// One site tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The registrable domain.
    pub site: Arc<str>,
    /// The number of the tree within its site, from 0.
    pub seed: u16,
    /// Whether the tree was walked to its end.
    pub ended: TreeEnd,
    /// The deepest level at which a page was requested; none if nothing was requested.
    pub deepest: Option<u16>,
    /// The numbers of the group names, in the order of [`Grouping::ALL`].
    pub(in crate::analysis) groups: [u32; Grouping::ALL.len()],
    pub(in crate::analysis) first_level: usize,
    pub(in crate::analysis) level_count: usize,
}

/// Internal URLs at one depth of a tree that were found and not fetched because of a limit of the survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotFetched {
    /// The number of the tree.
    pub tree: u32,
    /// The depth of the URLs, mostly the first below the levels that were walked.
    pub depth: u16,
    /// URLs below the depth of the survey. A deeper survey would fetch them.
    pub too_deep: u32,
    /// URLs skipped because of a budget, a stop, a trap or an opt-out. A deeper survey would not fetch them
    /// either.
    pub skipped: u32,
}

/// Whether a tree was walked to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeEnd {
    /// Ended by itself: there was nothing more to fetch.
    ByItself,
    /// Cut by the depth, a budget, a trap or a stop: the levels below are not known.
    Cut,
    /// No page was ever read.
    NoPage,
}

/// The cost and the finds of one level of one tree. The load includes the robots.txt requests that the level
/// caused.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelCost {
    /// Requests sent, robots.txt included.
    pub requests: u32,
    /// Pages read for links.
    pub pages: u32,
    /// Bytes in both directions.
    pub bytes: u64,
    /// Busy time of the servers, in milliseconds.
    pub busy_ms: f64,
    /// External URLs new in the tree at this level.
    pub urls: u32,
    /// External hosts new in the tree at this level.
    pub hosts: u32,
    /// External sites new in the tree at this level.
    pub sites: u32,
}

impl Trees {
    /// The number of trees.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// Whether there are no trees.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// The trees, in the order of their numbers.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tree> {
        self.trees.iter()
    }

    /// The tree with this number.
    #[must_use]
    pub fn get(&self, tree: usize) -> &Tree {
        &self.trees[tree]
    }

    /// Whether any tree has measurable busy time of servers.
    #[must_use]
    pub fn were_busy(&self) -> bool {
        (0..self.len()).flat_map(|tree| self.levels(tree)).any(|level| level.busy_ms > 0.0)
    }

    /// The levels of a tree from 0 down. Levels without any activity at the end of the list are missing.
    #[must_use]
    pub fn levels(&self, tree: usize) -> &[LevelCost] {
        let tree = &self.trees[tree];
        &self.levels[tree.first_level..tree.first_level + tree.level_count]
    }

    /// Internal URLs that were found and not fetched because of a limit, tree by tree and depth by depth.
    #[must_use]
    pub fn not_fetched(&self) -> &[NotFetched] {
        &self.not_fetched
    }

    /// Whether all trees belong to one site, which does not show how sites differ.
    #[must_use]
    pub fn has_one_site(&self) -> bool {
        self.trees.first().is_none_or(|first| self.trees.iter().all(|tree| tree.site == first.site))
    }

    /// The deepest level that any tree was walked to.
    #[must_use]
    pub fn deepest(&self) -> u16 {
        self.trees.iter().filter_map(|tree| tree.deepest).max().unwrap_or(0)
    }

    /// The number of levels of the deepest tree.
    pub(in crate::analysis) fn depths(&self) -> usize {
        let longest = self.trees.iter().map(|tree| tree.level_count).max().unwrap_or(0);
        longest.max(usize::from(self.deepest()) + 1)
    }

    /// The number of the group that a tree belongs to.
    #[must_use]
    pub fn group(&self, tree: usize, by: Grouping) -> u32 {
        self.trees[tree].groups[by as usize]
    }

    /// The name of a group by its number.
    #[must_use]
    pub fn name_of_group(&self, group: u32) -> &str {
        self.labels.name(group)
    }
}

impl Tree {
    pub(in crate::analysis) fn new(
        site: &str,
        seed: u16,
        ended: TreeEnd,
        deepest: Option<u16>,
        groups: [u32; Grouping::ALL.len()],
    ) -> Self {
        Self { site: site.into(), seed, ended, deepest, groups, first_level: 0, level_count: 0 }
    }
}

impl TreeEnd {
    /// Derives the end from the outcome of the tree, as recorded in the tables, and the number of pages read.
    pub(in crate::analysis) fn by_outcome(outcome: &str, pages: u64) -> Self {
        match pages {
            0 => Self::NoPage,
            _ if Outcome::named(outcome).is_some_and(|outcome| outcome.group() == OutcomeGroup::Whole) => {
                Self::ByItself
            }
            _ => Self::Cut,
        }
    }
}

impl NotFetched {
    /// All URLs that were not fetched, whatever the limit.
    #[must_use]
    pub fn urls(&self) -> u64 {
        u64::from(self.too_deep) + u64::from(self.skipped)
    }
}

impl LevelCost {
    /// External URLs, hosts and sites new in the tree.
    #[must_use]
    pub fn found(&self) -> [f64; 3] {
        [self.urls, self.hosts, self.sites].map(f64::from)
    }

    pub(in crate::analysis) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.pages += other.pages;
        self.bytes += other.bytes;
        self.busy_ms += other.busy_ms;
        self.urls += other.urls;
        self.hosts += other.hosts;
        self.sites += other.sites;
    }
}
