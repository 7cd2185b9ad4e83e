use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use super::links::gather;
use super::subset::numbers;
use super::tables::retried;
use super::{AnalysisError, Curves, Grouping, Kind, Known, Occurrence, Readings, Recorded, Trees};

/// The curves of the groups of a survey's site trees.
pub struct Grouped<'a> {
    dir: &'a Path,
    recorded: &'a Recorded,
    whole: &'a Curves,
    /// What all trees contribute, for groups of few; read when the first of them needs it.
    readings: OnceCell<Readings>,
}

impl<'a> Grouped<'a> {
    /// Groups of the survey in `dir`, whose own curves are `whole`.
    #[must_use]
    pub fn of(dir: &'a Path, recorded: &'a Recorded, whole: &'a Curves) -> Self {
        Self { dir, recorded, whole, readings: OnceCell::new() }
    }

    /// The curves of each of the `most` largest groups of site trees, the largest first, and of all other trees
    /// together as the last; drawn as those of the survey were.
    ///
    /// The links of the survey are read once more where they are so many that not all occurrences are in
    /// memory, so that the unions of every group are exact. All trees in one group have the survey's own curves.
    ///
    /// # Errors
    /// The table of links cannot be read.
    pub fn by(&self, by: Grouping, most: usize) -> Result<Vec<(String, Curves)>, AnalysisError> {
        let groups = Groups::of(&self.recorded.trees, by, most);
        if groups.names.len() == 1 {
            return Ok(groups.names.into_iter().map(|name| (name, self.whole.clone())).collect());
        }
        let numbers_in = |group| numbers(self.recorded.trees.len(), |tree| groups.of_tree[tree] == group);
        let curves = match self.known_of(&groups)? {
            Some(known) => (known.into_iter().enumerate())
                .map(|(group, known)| self.curves(&self.recorded.part(&numbers_in(group), known), by))
                .collect(),
            None => (0..groups.names.len())
                .map(|group| self.curves(&self.recorded.only(|tree| groups.of_tree[tree] == group), by))
                .collect::<Vec<_>>(),
        };
        Ok(groups.names.into_iter().zip(curves).collect())
    }

    /// What each group knows, from the links; none where all occurrences are in memory.
    fn known_of(&self, groups: &Groups) -> Result<Option<Vec<Known>>, AnalysisError> {
        let Recorded { index, known, .. } = self.recorded;
        if Kind::ALL.iter().all(|kind| known.occurrences(*kind).share() >= 1.0) {
            return Ok(None);
        }
        let mut sizes = vec![0; groups.names.len()];
        let place = |group: &usize| {
            sizes[*group] += 1;
            (*group, sizes[*group] - 1)
        };
        let places: Vec<(usize, u32)> = groups.of_tree.iter().map(place).collect();
        let apart = |occurrences: Vec<Occurrence>| {
            let mut of_groups = vec![Vec::with_capacity(occurrences.len() / sizes.len() * 2); sizes.len()];
            for one in occurrences {
                let (group, tree) = places[one.tree as usize];
                of_groups[group].push(Occurrence { tree, ..one });
            }
            of_groups
        };
        retried(|| gather(self.dir, index, sizes.len(), apart)).map(Some)
    }

    fn curves(&self, part: &Recorded, by: Grouping) -> Curves {
        let sampling = &self.whole.sampling;
        // A class of trees by size has none of like size elsewhere.
        if by == Grouping::Pages {
            return Curves::measure(part, sampling);
        }
        Curves::of_group(part, self.readings.get_or_init(|| Readings::of(self.recorded, sampling)), sampling)
    }
}

struct Groups {
    names: Vec<String>,
    of_tree: Vec<usize>,
}

impl Groups {
    fn of(trees: &Trees, by: Grouping, most: usize) -> Self {
        let mut sizes = BTreeMap::<u32, usize>::new();
        for tree in 0..trees.len() {
            *sizes.entry(trees.group(tree, by)).or_default() += 1;
        }
        let mut largest: Vec<u32> = sizes.keys().copied().collect();
        largest.sort_by_key(|group| (Reverse(sizes[group]), trees.name_of_group(*group)));
        let has_others = largest.len() > most;
        largest.truncate(most);
        let places: BTreeMap<u32, usize> = largest.iter().copied().zip(0..).collect();
        let place = |tree| places.get(&trees.group(tree, by)).copied().unwrap_or(largest.len());
        let of_tree = (0..trees.len()).map(place).collect();
        let mut names: Vec<String> =
            largest.iter().map(|group| trees.name_of_group(*group).to_owned()).collect();
        names.extend(has_others.then(|| OTHERS.to_owned()));
        Self { names, of_tree }
    }
}

/// The name of what is in none of the largest groups.
const OTHERS: &str = "all others";

#[cfg(test)]
mod tests {
    use super::super::worlds::{country, survey};
    use super::super::{CurveLevel, Sampling};
    use super::*;

    fn figures(curves: &Curves) -> Vec<(u64, [u64; 4], [f64; 2])> {
        let figures = |level: &CurveLevel| {
            let hosts = level.union(Kind::Hosts);
            (level.requests, level.known, [hosts.low, hosts.high])
        };
        curves.levels.iter().map(figures).collect()
    }

    #[test]
    fn a_survey_that_is_one_group_has_its_own_curves_and_its_links_are_not_read_again() {
        let mut grown = country(60, 5, 3);
        grown.iter_mut().for_each(|tree| tree.cctld = "ke");
        let mut recorded = survey(&grown);
        let whole = Curves::measure(&recorded, &Sampling::default());
        // As if there were too many for memory; there is no table to read them from.
        recorded.known.occurrences.iter_mut().for_each(|of| of.halvings = 1);
        let groups = Grouped::of(Path::new("nowhere"), &recorded, &whole).by(Grouping::Country, 20).unwrap();
        let [(name, curves)] = groups.as_slice() else { panic!("{} groups", groups.len()) };
        assert_eq!((name.as_str(), figures(curves)), ("ke", figures(&whole)));
    }

    #[test]
    fn groups_are_the_largest_first_and_together_the_survey() {
        let recorded = survey(&country(90, 5, 3));
        let whole = Curves::measure(&recorded, &Sampling::default());
        let groups = Grouped::of(Path::new("nowhere"), &recorded, &whole).by(Grouping::Cctld, 2).unwrap();
        let [(_, first), (_, second), (others, rest)] = groups.as_slice() else { panic!() };
        assert!(first.trees >= second.trees && second.trees >= rest.trees && others == "all others");
        assert_eq!(first.trees + second.trees + rest.trees, whole.trees);
        let requests = |curves: &Curves| curves.levels.last().unwrap().requests;
        assert_eq!(requests(first) + requests(second) + requests(rest), requests(&whole));
    }
}
