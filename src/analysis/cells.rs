//! Site trees told apart by several groupings at once.

use std::collections::HashMap;

use super::groups::{Groups, MOST_NAMED};

/// Trees that are in the same group by every grouping are a *cell*, as in a table of several ways. What is known of each cell
/// tells what each group knows, and what all trees know, so that links are read once for all of them.
///
/// Sets of trees have numbers: 0 are all trees, and then come the groups of one grouping after the other.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    of_tree: Vec<u16>,
    /// The sets that each cell is in.
    sets: Vec<Vec<usize>>,
    /// Of each set, how many share in what one may take.
    sharing: Vec<usize>,
}

/// So many bits tell a cell.
pub(super) const MOST_CELL_BITS: u32 = 13;
pub(super) const MOST_CELLS: usize = 1 << MOST_CELL_BITS;
const _: () = assert!(MOST_NAMED < MOST_CELLS);

impl Cells {
    /// One cell of all trees.
    pub(super) fn whole(trees: usize) -> Self {
        Self { of_tree: vec![0; trees], sets: vec![vec![0]], sharing: vec![1] }
    }

    /// Each of these by the groups in it; none if those are too many.
    pub(super) fn and(&self, groups: &Groups) -> Option<Self> {
        let (first, count) = (self.sharing.len(), groups.names.len());
        let (mut numbers, mut sets) = (HashMap::new(), Vec::new());
        let mut cell_of = |(cell, group): (u16, u32)| {
            *numbers.entry((cell, group)).or_insert_with(|| {
                let mut of_cell = self.sets[usize::from(cell)].clone();
                of_cell.push(first + group as usize);
                sets.push(of_cell);
                sets.len() - 1
            })
        };
        let in_groups = self.of_tree.iter().copied().zip(groups.of_tree.iter().copied());
        let of_tree = in_groups.map(|tree| u16::try_from(cell_of(tree)).ok()).collect::<Option<_>>()?;
        let sharing = self.sharing.iter().copied().chain(std::iter::repeat_n(count, count)).collect();
        (sets.len() <= MOST_CELLS).then_some(Self { of_tree, sets, sharing })
    }

    pub(super) fn count(&self) -> usize {
        self.sets.len()
    }

    pub(super) fn of_tree(&self, tree: u32) -> usize {
        usize::from(self.of_tree[tree as usize])
    }

    pub(super) fn sets_of(&self, cell: usize) -> &[usize] {
        &self.sets[cell]
    }

    /// Of each set, how many share in what one may take: the groups of a grouping.
    pub(super) fn sharing(&self) -> &[usize] {
        &self.sharing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(of_tree: &[u32]) -> Groups {
        let names = (0..=of_tree.iter().copied().max().unwrap()).map(|group| group.to_string()).collect();
        Groups { names, of_tree: of_tree.to_vec(), are_by_size: false }
    }

    #[test]
    fn trees_of_the_same_groups_are_a_cell() {
        let cells =
            Cells::whole(5).and(&groups(&[0, 0, 1, 1, 0])).unwrap().and(&groups(&[2, 1, 0, 0, 2])).unwrap();
        let of_tree: Vec<_> = (0..5).map(|tree| cells.of_tree(tree)).collect();
        assert_eq!((of_tree, cells.count()), (vec![0, 1, 2, 2, 0], 3));
        let sets: Vec<_> = (0..3).map(|cell| cells.sets_of(cell)).collect();
        assert_eq!(sets, [[0, 1, 5], [0, 1, 4], [0, 2, 3]]);
        assert_eq!(cells.sharing(), [1, 2, 2, 3, 3, 3]);
    }

    #[test]
    fn there_may_be_too_many() {
        let each: Vec<u32> = (0..=MOST_CELLS as u32).collect();
        assert!(Cells::whole(each.len()).and(&groups(&each)).is_none());
        assert_eq!(Cells::whole(MOST_CELLS).and(&groups(&each[..MOST_CELLS])).unwrap().count(), MOST_CELLS);
    }
}
