use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Grouping, Trees};

/// The largest groups of site trees by one grouping, the largest first, and all other trees as the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) names: Vec<String>,
    pub(super) of_tree: Vec<u32>,
}

/// With all others they are fewer than cells may be ([`Cells`](super::cells::Cells)).
pub(super) const MOST_NAMED: usize = 4096;

/// The name of what is in none of the largest groups.
const OTHERS: &str = "all others";

impl Groups {
    /// With the `most` largest, or [`MOST_NAMED`].
    pub(super) fn of(trees: &Trees, by: Grouping, most: usize) -> Self {
        let most = most.min(MOST_NAMED);
        let mut sizes = BTreeMap::<u32, usize>::new();
        for tree in 0..trees.len() {
            *sizes.entry(trees.group(tree, by)).or_default() += 1;
        }
        let mut largest: Vec<u32> = sizes.keys().copied().collect();
        largest.sort_by_key(|group| (Reverse(sizes[group]), trees.name_of_group(*group)));
        let has_others = largest.len() > most;
        largest.truncate(most);
        let places: BTreeMap<u32, u32> = largest.iter().copied().zip(0..).collect();
        let others = u32::try_from(largest.len()).unwrap_or(u32::MAX);
        let place = |tree| places.get(&trees.group(tree, by)).copied().unwrap_or(others);
        let of_tree = (0..trees.len()).map(place).collect();
        let mut names: Vec<String> =
            largest.iter().map(|group| trees.name_of_group(*group).to_owned()).collect();
        names.extend(has_others.then(|| OTHERS.to_owned()));
        Self { names, of_tree }
    }

    /// Of each tree its group, and its number among the trees of it.
    pub(super) fn places(&self) -> Vec<(usize, u32)> {
        let mut sizes = vec![0; self.names.len()];
        let place = |group: &u32| {
            let group = *group as usize;
            sizes[group] += 1;
            (group, sizes[group] - 1)
        };
        self.of_tree.iter().map(place).collect()
    }
}
