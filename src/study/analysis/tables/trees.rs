use std::sync::Arc;

use crate::analysis::{Grouping, Labels};
use crate::exchange::{Outcome, OutcomeGroup};

/// The site trees of a survey, each with what its levels cost and brought.
#[derive(Clone, Debug, Default)]
pub struct Trees {
    pub(in crate::analysis) trees: Vec<Tree>,
    /// Those of all trees of the survey, whichever these are.
    pub(in crate::analysis) levels: Arc<Vec<LevelCost>>,
    /// URLs that a limit left unasked, by tree and depth.
    pub(in crate::analysis) unasked: Vec<NotFetched>,
    pub(in crate::analysis) labels: Labels,
}

/// One site tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The registrable domain.
    pub site: Arc<str>,
    /// Which tree of its site it is, from 0.
    pub seed: u16,
    /// Whether it was seen to its end.
    pub ended: TreeEnd,
    /// The deepest level at which a page was asked for; none when nothing was.
    pub deepest: Option<u16>,
    /// The numbers of its groups, in the order of [`Grouping::ALL`].
    pub(in crate::analysis) groups: [u32; Grouping::ALL.len()],
    pub(in crate::analysis) first_level: usize,
    pub(in crate::analysis) level_count: usize,
}

/// Internal URLs at one depth of a tree that were found and left unasked by a limit of the survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotFetched {
    /// The number of the tree.
    pub tree: u32,
    /// Theirs, mostly the first below the levels that were walked.
    pub depth: u16,
    /// By the depth of the survey: a deeper one would ask for them.
    pub too_deep: u32,
    /// By a budget, a stop, a trap or an opt-out: a deeper survey would not ask for them either.
    pub kept_back: u32,
}

/// Whether a tree was seen to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeEnd {
    /// By itself: there was nothing more to ask for.
    ByItself,
    /// Cut by the depth, a budget, a trap, a stop: what lies below is not known.
    Cut,
    /// No page was ever read: there is no tree to speak of.
    NoPage,
}

/// What one level of one tree cost and brought. Load includes what robots.txt cost that the level made us
/// ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelCost {
    /// Sent, robots.txt included.
    pub requests: u32,
    /// Read for links.
    pub pages: u32,
    /// Both ways.
    pub bytes: u64,
    /// Of the servers, in milliseconds.
    pub busy_ms: f64,
    /// External URLs, hosts and sites new in the tree at this level.
    pub urls: u32,
    /// See `urls`.
    pub hosts: u32,
    /// See `urls`.
    pub sites: u32,
}

impl Trees {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// In the order of their numbers.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tree> {
        self.trees.iter()
    }

    /// The tree with this number.
    #[must_use]
    pub fn get(&self, tree: usize) -> &Tree {
        &self.trees[tree]
    }

    /// Whether the servers of any were busy for a time that could be measured.
    #[must_use]
    pub fn were_busy(&self) -> bool {
        (0..self.len()).flat_map(|tree| self.levels(tree)).any(|level| level.busy_ms > 0.0)
    }

    /// The levels of a tree from 0 down; levels at which nothing happened at its end are missing.
    #[must_use]
    pub fn levels(&self, tree: usize) -> &[LevelCost] {
        let tree = &self.trees[tree];
        &self.levels[tree.first_level..tree.first_level + tree.level_count]
    }

    /// Internal URLs that were found and left unasked by a limit, tree by tree and depth by depth.
    #[must_use]
    pub fn unasked(&self) -> &[NotFetched] {
        &self.unasked
    }

    /// Whether all trees are of one site, which says nothing of how sites differ.
    #[must_use]
    pub fn is_of_one_site(&self) -> bool {
        self.trees.first().is_none_or(|first| self.trees.iter().all(|tree| tree.site == first.site))
    }

    /// The deepest level that any tree was walked to.
    #[must_use]
    pub fn deepest(&self) -> u16 {
        self.trees.iter().filter_map(|tree| tree.deepest).max().unwrap_or(0)
    }

    /// How many levels the deepest tree has.
    pub(in crate::analysis) fn depths(&self) -> usize {
        let longest = self.trees.iter().map(|tree| tree.level_count).max().unwrap_or(0);
        longest.max(usize::from(self.deepest()) + 1)
    }

    /// The number of a tree's group, for telling trees apart.
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
    /// By the outcome of the tree, a word of the tables, and the pages that were read.
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
    /// By whatever limit.
    #[must_use]
    pub fn urls(&self) -> u64 {
        u64::from(self.too_deep) + u64::from(self.kept_back)
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
