use std::path::Path;

use super::cells::Cells;
use super::groups::Groups;
use super::links::{Gathered, RowIndex, gather};
use crate::analysis::{AnalysisError, Kind, KnownKeys, Trees};

/// The keys known to all site trees, and to the groups of several groupings.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct GroupedKeys {
    groupings: Vec<Groups>,
    gathered: Gathered,
}

impl GroupedKeys {
    /// Reads the links of the survey in `dir` for these kinds and for all groupings at once. Other kinds stay
    /// empty.
    pub(in crate::analysis) fn read(
        dir: &Path,
        index: &RowIndex,
        trees: &Trees,
        groupings: Vec<Groups>,
        kinds: &[Kind],
    ) -> Result<Self, AnalysisError> {
        let gathered = gather(dir, index, &cells(trees.len(), &groupings), kinds)?;
        Ok(Self { groupings, gathered })
    }

    /// The keys known to all trees.
    pub(in crate::analysis) fn all_trees(&self) -> KnownKeys {
        let counts = self.gathered.each_ref().map(|(counts, _)| counts[0].clone());
        let occurrences = self.gathered.each_ref().map(|(_, sampled)| sampled.all_trees());
        KnownKeys { counts, occurrences }
    }

    /// The keys known to each of these groups, if the links were read for this grouping.
    pub(in crate::analysis) fn for_groups(&self, groups: &Groups) -> Option<Vec<KnownKeys>> {
        let number = self.groupings.iter().position(|other| other == groups)?;
        let first = 1 + self.groupings[..number].iter().map(|other| other.names.len()).sum::<usize>();
        let (sets, positions) = (first..first + groups.names.len(), groups.positions());
        let mut known: Vec<KnownKeys> =
            self.gathered[0].0[sets.clone()].iter().map(|_| KnownKeys::default()).collect();
        for (kind, (counts, sampled)) in self.gathered.iter().enumerate() {
            let by_set = counts[sets.clone()].iter().zip(sampled.sets(sets.clone(), &positions));
            for (known, (counts, occurrences)) in known.iter_mut().zip(by_set) {
                known.counts[kind] = counts.clone();
                known.occurrences[kind] = occurrences;
            }
        }
        Some(known)
    }
}

fn cells(trees: usize, groupings: &[Groups]) -> Cells {
    groupings.iter().fold(Cells::single(trees), |cells, groups| cells.and(groups))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::curves::worlds::{country, survey};
    use crate::analysis::keys::links::Gatherer;
    use crate::analysis::{Grouping, Recorded};

    fn by(names: u32, trees: usize, group: impl Fn(u32) -> u32) -> Groups {
        let group_by_tree = (0..).take(trees).map(group).collect();
        Groups { names: (0..names).map(|name| name.to_string()).collect(), group_by_tree }
    }

    fn group_keys(recorded: &Recorded, groupings: Vec<Groups>) -> GroupedKeys {
        let cells = cells(recorded.trees.len(), &groupings);
        let gathered = recorded.known.occurrences.each_ref().map(|all| Gatherer::collect(&cells, all.list()));
        GroupedKeys { groupings, gathered }
    }

    #[test]
    fn each_group_knows_what_the_survey_of_its_trees_alone_would() {
        let recorded = survey(&country(90, 5, 3));
        let groupings =
            vec![Groups::largest(&recorded.trees, Grouping::Cctld, 1), by(4, 90, |tree| tree / 25)];
        let group_keys = group_keys(&recorded, groupings.clone());
        assert_eq!(group_keys.all_trees().counts, recorded.known.counts);
        for groups in groupings {
            let by_group = group_keys.for_groups(&groups).unwrap();
            assert_eq!(by_group.len(), groups.names.len());
            for (group, known) in (0..).zip(by_group) {
                let alone = recorded.only(|tree| groups.group_by_tree[tree] == group).known;
                assert_eq!(known.counts, alone.counts);
                let lists = |known: &KnownKeys| known.occurrences.each_ref().map(|all| all.list().to_vec());
                assert_eq!(lists(&known), lists(&alone));
            }
        }
        assert!(group_keys.for_groups(&by(2, 90, |tree| tree % 2)).is_none());
    }
}
