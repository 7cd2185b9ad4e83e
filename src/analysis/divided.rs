use std::path::Path;

use super::cells::Cells;
use super::groups::Groups;
use super::links::{Gathered, Index, gather};
use super::{AnalysisError, Kind, Known, Trees};

/// What all site trees know, and what the groups of several groupings do.
#[derive(Clone, Debug)]
pub(super) struct Divided {
    groupings: Vec<Groups>,
    gathered: Gathered,
}

impl Divided {
    /// Reads the links of the survey in `dir` once for as many groupings as have few enough cells together, and so on: those that
    /// tell of these kinds. Of others nothing is known.
    pub(super) fn read(
        dir: &Path,
        index: &Index,
        trees: &Trees,
        groupings: Vec<Groups>,
        kinds: &[Kind],
    ) -> Result<Vec<Self>, AnalysisError> {
        let mut read = Vec::new();
        for (groupings, cells) in at_once(trees.len(), groupings) {
            let gathered = gather(dir, index, &cells, kinds)?;
            read.push(Self { groupings, gathered });
        }
        Ok(read)
    }

    /// What all trees know.
    pub(super) fn whole(&self) -> Known {
        let counts = self.gathered.each_ref().map(|(counts, _)| counts[0].clone());
        let occurrences = self.gathered.each_ref().map(|(_, sampled)| sampled.whole());
        Known { counts, occurrences }
    }

    /// What each of these groups knows, if they are among those of which links were read.
    pub(super) fn of_groups(&self, groups: &Groups) -> Option<Vec<Known>> {
        let number = self.groupings.iter().position(|other| other == groups)?;
        let first = 1 + self.groupings[..number].iter().map(|other| other.names.len()).sum::<usize>();
        let (sets, places) = (first..first + groups.names.len(), groups.places());
        let mut known: Vec<Known> =
            self.gathered[0].0[sets.clone()].iter().map(|_| Known::default()).collect();
        for (kind, (counts, sampled)) in self.gathered.iter().enumerate() {
            let of_sets = counts[sets.clone()].iter().zip(sampled.sets(sets.clone(), &places));
            for (known, (counts, occurrences)) in known.iter_mut().zip(of_sets) {
                known.counts[kind] = counts.clone();
                known.occurrences[kind] = occurrences;
            }
        }
        Some(known)
    }
}

/// Groupings in their order, as many together as have few enough cells; the first may be none.
fn at_once(trees: usize, groupings: Vec<Groups>) -> Vec<(Vec<Groups>, Cells)> {
    let mut all = vec![(Vec::new(), Cells::whole(trees))];
    for groups in groupings {
        let (together, cells) = all.last_mut().expect("there is one at first");
        if let Some(more) = cells.and(&groups) {
            together.push(groups);
            *cells = more;
        } else {
            let alone =
                Cells::whole(trees).and(&groups).expect("groups of one grouping are fewer than cells");
            all.push((vec![groups], alone));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::links::Gatherer;
    use super::super::worlds::{country, survey};
    use super::super::{Grouping, Recorded};
    use super::*;

    fn by(names: u32, trees: usize, group: impl Fn(u32) -> u32) -> Groups {
        let of_tree = (0..).take(trees).map(group).collect();
        Groups { names: (0..names).map(|name| name.to_string()).collect(), of_tree, are_by_size: false }
    }

    fn divided(recorded: &Recorded, groupings: Vec<Groups>) -> Divided {
        let [(groupings, cells)] = at_once(recorded.trees.len(), groupings).try_into().unwrap();
        let gathered = recorded.known.occurrences.each_ref().map(|occurrences| {
            let gatherer = Gatherer::new(&cells);
            gatherer.add(occurrences.list());
            gatherer.finish()
        });
        Divided { groupings, gathered }
    }

    #[test]
    fn each_group_knows_what_the_survey_of_its_trees_alone_would() {
        let recorded = survey(&country(90, 5, 3));
        let groupings = vec![Groups::of(&recorded.trees, Grouping::Cctld, 1), by(4, 90, |tree| tree / 25)];
        let divided = divided(&recorded, groupings.clone());
        assert_eq!(divided.whole().counts, recorded.known.counts);
        for groups in groupings {
            let of_groups = divided.of_groups(&groups).unwrap();
            assert_eq!(of_groups.len(), groups.names.len());
            for (group, known) in (0..).zip(of_groups) {
                let alone = recorded.only(|tree| groups.of_tree[tree] == group).known;
                assert_eq!(known.counts, alone.counts);
                let lists = |known: &Known| known.occurrences.each_ref().map(|all| all.list().to_vec());
                assert_eq!(lists(&known), lists(&alone));
            }
        }
        assert!(divided.of_groups(&by(2, 90, |tree| tree % 2)).is_none());
    }

    #[test]
    fn links_are_read_again_where_cells_are_too_many() {
        let (hundreds, ones) = (by(100, 10_000, |tree| tree / 100), by(100, 10_000, |tree| tree % 100));
        let tens = by(10, 10_000, |tree| tree % 10);
        let groupings = vec![hundreds.clone(), tens.clone(), ones.clone()];
        let read: Vec<_> = at_once(10_000, groupings).into_iter().map(|(groupings, _)| groupings).collect();
        assert_eq!(read, [vec![hundreds, tens], vec![ones]]);
    }
}
