use super::change::Growth;
use crate::World;
use crate::draw::{Key, real, rounded};
use crate::settings::sections::Shape;

/// The pages of one host as a tree that is not stored: a page carries the number of pages in its subtree,
/// itself included, and divides the rest among its children. A page is found by walking down from the front
/// page, which costs depth × fan-out.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    key: Key,
    pages: u64,
    /// Depth of the front page in the site: 1 on the second host.
    pub depth: u64,
    typical_fan_out: f64,
    shape: Shape,
    growth: Growth,
    repeats: Repeats,
}

/// The parts from the second on that repeat the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repeats(u32);

impl Repeats {
    /// As many parts after the first repeat it.
    pub(crate) fn new(parts: u32) -> Self {
        Self(parts)
    }

    /// The part that a part repeats, or itself.
    pub(crate) fn original(self, part: u32) -> u32 {
        if part <= self.0 { 0 } else { part }
    }

    /// Whether a path leads into a part that repeats another.
    pub(crate) fn has(self, path: &[u32]) -> bool {
        path.first().is_some_and(|part| self.original(*part) != *part)
    }
}

/// One page of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The index of the child at each step from the front page.
    pub path: Vec<u32>,
    /// Pages in this subtree, itself included.
    pub budget: u64,
    pub key: Key,
    /// The key of the page that it repeats, in a part that repeats another, else its own: the shape of its
    /// subtree is drawn from it.
    pub origin: Key,
    /// None for the front page.
    family: Option<Family>,
}

/// What a page shares with the other children of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Family {
    parent: Key,
    /// The `origin` of the parent, and what its children repeat.
    origin: Key,
    repeats: Repeats,
    size: u32,
    /// The first child without children.
    first_leaf: Option<u32>,
}

impl Node {
    pub(crate) fn is_leaf(&self) -> bool {
        self.budget <= 1
    }

    /// Number of children of the same parent, this one included.
    pub(crate) fn family_size(&self) -> u32 {
        self.family.map_or(1, |family| family.size)
    }

    /// The key of another child of the same parent; for the front page, its own key.
    pub(crate) fn sibling_key(&self, number: u32) -> Key {
        self.family.map_or(self.key, |family| family.parent.child(u64::from(number)))
    }

    /// The first child of the same parent that has no children, unless it is this one.
    pub(crate) fn first_leaf_sibling(&self) -> Option<Self> {
        let (own, parent) = self.path.split_last()?;
        let number = self.family?.first_leaf.filter(|first| first != own)?;
        let path = parent.iter().copied().chain([number]).collect();
        let origin = self.family?.origin_of(number);
        Some(Self { path, budget: 1, key: self.sibling_key(number), origin, family: self.family })
    }
}

impl Family {
    fn origin_of(&self, number: u32) -> Key {
        self.origin.child(u64::from(self.repeats.original(number)))
    }
}

/// The integer for a weight of 1: weights are rounded to multiples of 1/4096, so that the division uses
/// integers.
const WEIGHT_UNIT: f64 = 4096.0;
/// A weight of `exp(4 × 5)` is far outside any draw; it keeps the sum of weights in range.
const MOST_WEIGHT: u64 = 1 << 42;
/// No page links to more children than a reader would expect to see on one page.
const MOST_CHILDREN: u64 = 1000;

impl Tree {
    pub(crate) fn new(world: &World, key: Key, repeats: Repeats, pages: u64, depth: u64) -> Self {
        let shape = world.shape.clone();
        let typical_fan_out =
            key.draw("typical fan-out").log_normal(shape.fan_out_median, shape.fan_out_site_sigma);
        Self { key, pages, depth, typical_fan_out, shape, growth: Growth::from_world(world), repeats }
    }

    pub(crate) fn root(&self) -> Node {
        let key = self.key.part("front page");
        Node { path: Vec::new(), budget: self.pages, key, origin: key, family: None }
    }

    /// The page at the end of a path, if it exists.
    pub(crate) fn find(&self, path: &[u32]) -> Option<Node> {
        path.iter().try_fold(self.root(), |node, number| self.child(&node, *number))
    }

    /// A child of a page, if it exists in this edition.
    pub(crate) fn child(&self, node: &Node, number: u32) -> Option<Node> {
        self.exists(node, number).then(|| self.child_of_any_edition(node, number)).flatten()
    }

    /// A child of a page, whether it exists in this edition or existed in an earlier one.
    pub(crate) fn child_of_any_edition(&self, node: &Node, number: u32) -> Option<Node> {
        let division = self.division(node);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let added = || self.growth.added_in(node.key, count(division.len()), number).map(|_| 1);
        let budget = division.get(number as usize).copied().or_else(added)?;
        let path = node.path.iter().copied().chain([number]).collect();
        let family = Family {
            parent: node.key,
            origin: node.origin,
            repeats: self.repeats_below(node),
            size: count(division.len()),
            first_leaf: division.iter().position(|budget| *budget == 1).map(count),
        };
        let (key, origin) = (node.key.child(u64::from(number)), family.origin_of(number));
        Some(Node { path, budget, key, origin, family: Some(family) })
    }

    /// What the children of a page repeat: only children of the front page are parts.
    fn repeats_below(&self, node: &Node) -> Repeats {
        if node.path.is_empty() { self.repeats } else { Repeats::default() }
    }

    /// The children that a page has in this edition.
    pub(crate) fn children(&self, node: &Node) -> impl Iterator<Item = u32> {
        let count = self.child_count(node);
        let all = count + self.growth.total_added(node.key, count);
        (0..all).filter(|number| self.exists(node, *number))
    }

    /// The last edition that added a child to this page or removed one.
    pub(crate) fn last_growth(&self, node: &Node) -> Option<u64> {
        if self.growth.is_none() {
            return None;
        }
        let count = self.child_count(node);
        let all = 0..count + self.growth.total_added(node.key, count);
        all.filter_map(|number| self.removed_in(node, number).or_else(|| self.added_in(node, number))).max()
    }

    fn exists(&self, parent: &Node, number: u32) -> bool {
        self.growth.is_none() || self.removed_in(parent, number).is_none()
    }

    /// The edition that added a child to this page; none for the children of edition 0.
    fn added_in(&self, parent: &Node, number: u32) -> Option<u64> {
        let count = self.child_count(parent);
        (number >= count).then(|| self.growth.added_in(parent.key, count, number)).flatten()
    }

    /// The edition that removed a child of this page. The targets of the menu stay: a front page keeps its
    /// children of edition 0.
    fn removed_in(&self, parent: &Node, number: u32) -> Option<u64> {
        let added_in = self.added_in(parent, number);
        if parent.path.is_empty() && added_in.is_none() {
            return None;
        }
        self.growth.removed_in(parent.key.child(u64::from(number)), added_in.unwrap_or_default())
    }

    /// Number of children in edition 0.
    pub(crate) fn child_count(&self, node: &Node) -> u32 {
        if node.budget <= 1 {
            return 0;
        }
        let factor = if node.path.is_empty() { self.shape.root_factor } else { 1.0 };
        let drawn_count =
            node.origin.draw("fan-out").log_normal(self.typical_fan_out * factor, self.shape.fan_out_sigma);
        let count = rounded(drawn_count).clamp(1, MOST_CHILDREN).min(node.budget - 1);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Depth of a page in the site.
    pub(crate) fn depth_of(&self, node: &Node) -> u64 {
        self.depth + node.path.len() as u64
    }

    /// The subtree budgets of a page's children: one page each, and the rest by weights.
    fn division(&self, node: &Node) -> Vec<u64> {
        let count = u64::from(self.child_count(node));
        if count == 0 {
            return Vec::new();
        }
        let (draw, repeats) = (node.origin.draw("branch weight"), self.repeats_below(node));
        let original = |n| u32::try_from(n).map_or(n, |part| u64::from(repeats.original(part)));
        let weights: Vec<u64> = (0..count)
            .map(|n| draw.nth(original(n)).log_normal(WEIGHT_UNIT, self.shape.branch_sigma))
            .map(|weight| rounded(weight).clamp(1, MOST_WEIGHT))
            .collect();
        divide(node.budget - 1 - count, &weights).map(|rest| rest + 1).collect()
    }
}

/// Divides an amount by weights; the parts sum up to it exactly.
fn divide(amount: u64, weights: &[u64]) -> impl Iterator<Item = u64> {
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let mut cumulative_weight: u128 = 0;
    let mut assigned: u64 = 0;
    weights.iter().map(move |weight| {
        cumulative_weight += u128::from(*weight);
        let cumulative_share =
            u64::try_from(u128::from(amount) * cumulative_weight / total).unwrap_or(amount);
        let part = cumulative_share - assigned;
        assigned = cumulative_share;
        part
    })
}

/// The median of a log-normal distribution with mean 1.
pub(crate) fn median_of_mean_one(sigma: f64) -> f64 {
    (-sigma * sigma / 2.0).exp()
}

/// `decay` to the power of a depth.
pub(crate) fn decayed(mean: f64, decay: f64, depth: u64) -> f64 {
    mean * decay.powf(real(depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(tree: &Tree, node: &Node) -> u64 {
        let below: Vec<Node> =
            (0..tree.child_count(node)).map(|number| tree.child(node, number).unwrap()).collect();
        assert_eq!(node.budget, 1 + below.iter().map(|child| child.budget).sum::<u64>(), "{:?}", node.path);
        assert!(tree.child(node, tree.child_count(node)).is_none());
        1 + below.iter().map(|child| count(tree, child)).sum::<u64>()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn budgets_add_up_to_the_pages_of_the_tree(seed: u64, pages in 1..3000_u64) {
            let world = World::parse("").unwrap();
            let tree = Tree::new(&world, Key::of_world("test", seed), Repeats::default(), pages, 0);
            prop_assert_eq!(count(&tree, &tree.root()), pages);
        }

        #[test]
        fn a_division_is_exact(amount in 0..u64::MAX / 2, weights in prop::collection::vec(1..1_u64 << 42, 1..40)) {
            prop_assert_eq!(divide(amount, &weights).sum::<u64>(), amount);
        }
    }
}
