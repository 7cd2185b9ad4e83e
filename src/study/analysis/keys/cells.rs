//! Site trees divided by several groupings at once.

use foldhash::{HashMap, HashMapExt};

use super::groups::Groups;

/// Trees that are in the same group of every grouping form a *cell*, as in a multi-way table. The keys of
/// each cell give the keys of each group and of all trees, so the links are read only once for all of them.
///
/// Sets of trees are numbered: 0 is the set of all trees, followed by the groups of one grouping after the
/// other.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Cells {
    cell_by_tree: Vec<u32>,
    /// The sets that each cell belongs to, cell by cell: one for each grouping.
    sets: Vec<u32>,
    /// By set, the number of sets that share one limit.
    sharing: Vec<usize>,
    /// The number of sets that a cell belongs to.
    width: usize,
}

impl Cells {
    /// A single cell with all trees.
    pub(in crate::analysis) fn single(trees: usize) -> Self {
        Self { cell_by_tree: vec![0; trees], sets: vec![0], sharing: vec![1], width: 1 }
    }

    /// Divides each cell by the groups of a further grouping.
    pub(in crate::analysis) fn and(&self, groups: &Groups) -> Self {
        let (first, count) = (self.sharing.len() as u32, groups.names.len());
        let (mut numbers, mut sets) = (HashMap::new(), Vec::new());
        let in_groups = self.cell_by_tree.iter().zip(&groups.group_by_tree);
        let cell_of = |(cell, group): (&u32, &u32)| {
            let next = numbers.len() as u32;
            *numbers.entry((*cell, *group)).or_insert_with(|| {
                sets.extend_from_slice(self.sets_of(*cell as usize));
                sets.push(first + group);
                next
            })
        };
        let cell_by_tree = in_groups.map(cell_of).collect();
        let sharing = self.sharing.iter().copied().chain(std::iter::repeat_n(count, count)).collect();
        Self { cell_by_tree, sets, sharing, width: self.width + 1 }
    }

    pub(in crate::analysis) fn count(&self) -> usize {
        self.sets.len() / self.width
    }

    pub(in crate::analysis) fn cell_number(&self, tree: u32) -> usize {
        self.cell_by_tree[tree as usize] as usize
    }

    pub(in crate::analysis) fn sets_of(&self, cell: usize) -> &[u32] {
        &self.sets[cell * self.width..][..self.width]
    }

    /// By set, the number of sets that share one limit: the number of groups in its grouping.
    pub(in crate::analysis) fn sharing(&self) -> &[usize] {
        &self.sharing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(group_by_tree: &[u32]) -> Groups {
        let names =
            (0..=group_by_tree.iter().copied().max().unwrap()).map(|group| group.to_string()).collect();
        Groups { names, group_by_tree: group_by_tree.to_vec() }
    }

    #[test]
    fn trees_of_the_same_groups_are_a_cell() {
        let cells = Cells::single(5).and(&groups(&[0, 0, 1, 1, 0])).and(&groups(&[2, 1, 0, 0, 2]));
        let cell_by_tree: Vec<_> = (0..5).map(|tree| cells.cell_number(tree)).collect();
        assert_eq!((cell_by_tree, cells.count()), (vec![0, 1, 2, 2, 0], 3));
        let sets: Vec<_> = (0..3).map(|cell| cells.sets_of(cell)).collect();
        assert_eq!(sets, [[0, 1, 5], [0, 1, 4], [0, 2, 3]]);
        assert_eq!(cells.sharing(), [1, 2, 2, 3, 3, 3]);
    }
}
