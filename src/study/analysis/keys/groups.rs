use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::analysis::{Grouping, Trees};

/// Groups of site trees: the largest groups of one grouping in descending order, and all other trees as the
/// last group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    pub(in crate::analysis) names: Vec<String>,
    pub(in crate::analysis) group_by_tree: Vec<u32>,
}

/// The maximum number of groups: more than anybody reads.
const MAX_GROUPS: usize = 4096;

/// The name of the group of all trees outside the largest groups.
const OTHERS: &str = "all others";

impl Groups {
    /// The `max_groups` largest groups, or the maximum number of groups if that is less.
    #[must_use]
    pub fn largest(trees: &Trees, by: Grouping, max_groups: usize) -> Self {
        let max_groups = max_groups.min(MAX_GROUPS);
        let mut sizes = BTreeMap::<u32, usize>::new();
        for tree in 0..trees.len() {
            *sizes.entry(trees.group(tree, by)).or_default() += 1;
        }
        let mut largest: Vec<u32> = sizes.keys().copied().collect();
        largest.sort_by_key(|group| (Reverse(sizes[group]), trees.name_of_group(*group)));
        let has_others = largest.len() > max_groups;
        largest.truncate(max_groups);
        let positions: BTreeMap<u32, u32> = largest.iter().copied().zip(0..).collect();
        let other_group = u32::try_from(largest.len()).unwrap_or(u32::MAX);
        let group_index = |tree| positions.get(&trees.group(tree, by)).copied().unwrap_or(other_group);
        let group_by_tree = (0..trees.len()).map(group_index).collect();
        let mut names: Vec<String> =
            largest.iter().map(|group| trees.name_of_group(*group).to_owned()).collect();
        names.extend(has_others.then(|| OTHERS.to_owned()));
        Self { names, group_by_tree }
    }

    /// Groups with given names, of which `index_by_tree` holds the index for each tree. Groups without trees
    /// are dropped. The number of names must be small.
    #[must_use]
    pub fn named(names: &[&str], index_by_tree: &[usize]) -> Self {
        let has_trees = |group_index: &usize| index_by_tree.contains(group_index);
        let present: Vec<usize> = (0..names.len()).filter(has_trees).collect();
        let group =
            |group_index: &usize| present.iter().position(|it| it == group_index).unwrap_or_default() as u32;
        let group_by_tree = index_by_tree.iter().map(group).collect();
        let names = present.iter().map(|group_index| names[*group_index].to_owned()).collect();
        Self { names, group_by_tree }
    }

    /// The names of the groups, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the tree with this number is in the group with this number.
    #[must_use]
    pub fn has(&self, group: usize, tree: usize) -> bool {
        self.group_by_tree[tree] as usize == group
    }

    /// For each tree, its group and its number within the group.
    pub(in crate::analysis) fn positions(&self) -> Vec<(usize, u32)> {
        let mut sizes = vec![0; self.names.len()];
        let group_index = |group: &u32| {
            let group = *group as usize;
            sizes[group] += 1;
            (group, sizes[group] - 1)
        };
        self.group_by_tree.iter().map(group_index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_groups_are_those_that_have_trees() {
        let groups = Groups::named(&["narrow", "thin", "broad"], &[2, 0, 2, 2]);
        assert_eq!(groups.names(), ["narrow", "broad"]);
        let broad: Vec<usize> = (0..4).filter(|tree| groups.has(1, *tree)).collect();
        assert_eq!(broad, [0, 2, 3]);
    }
}
