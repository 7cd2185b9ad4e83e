use std::path::Path;

use crate::analysis::curves::subset::numbers;
use crate::analysis::intervals::units::DrawLimits;
use crate::analysis::keys::grouped_keys::GroupedKeys;
use crate::analysis::keys::groups::Groups;
use crate::analysis::tables::with_retries;
use crate::analysis::{AnalysisError, Curves, Evidence, Grouping, KnownKeys, Recorded, Sampling};

/// The curves of the groups of a survey's site trees.
pub struct GroupedCurves<'a> {
    dir: &'a Path,
    recorded: &'a Recorded,
    survey_curves: &'a Curves,
}

impl<'a> GroupedCurves<'a> {
    /// Prepares the groups of the survey in `dir`, whose own curves are `survey_curves`.
    #[must_use]
    pub fn new(dir: &'a Path, recorded: &'a Recorded, survey_curves: &'a Curves) -> Self {
        Self { dir, recorded, survey_curves }
    }

    /// The curves of each of the `max_groups` largest groups of site trees, the largest first, and of all
    /// other trees together at the end. They are computed in the same way as the curves of the survey.
    ///
    /// If there are too many links to keep all occurrences in memory, and they were not read for these groups
    /// before ([`Recorded::with_groups`]), the links of the survey are read once more, so that the unions of
    /// every group are exact. If all trees are in one group, it has the survey's own curves.
    ///
    /// # Errors
    /// The table of links cannot be read.
    pub fn by(&self, by: Grouping, max_groups: usize) -> Result<Vec<(String, Curves)>, AnalysisError> {
        let groups = Groups::largest(&self.recorded.trees, by, max_groups);
        let curves = self.each(&groups, |_, draw| draw(&self.survey_curves.sampling))?;
        Ok(groups.names.into_iter().zip(curves).collect())
    }

    /// The evidence for a depth for each of these groups, from curves like those of [`by`](Self::by).
    ///
    /// # Errors
    /// The table of links cannot be read.
    pub fn evidence(&self, groups: &Groups, confidence: f64) -> Result<Vec<Evidence>, AnalysisError> {
        self.each(groups, |group, draw| Evidence::by(group, &self.survey_curves.sampling, confidence, draw))
    }

    /// Calls `make` for each group, with the survey of its trees and a function that computes its curves.
    fn each<T>(
        &self,
        groups: &Groups,
        make: impl Fn(&Recorded, &dyn Fn(&Sampling) -> Curves) -> T,
    ) -> Result<Vec<T>, AnalysisError> {
        if groups.names.len() == 1 {
            return Ok(vec![make(self.recorded, &|sampling| self.with_sampling(sampling))]);
        }
        let trees = self.recorded.trees.len();
        let limits = DrawLimits::per_group(groups.names.len(), trees);
        // The keys of a group are moved into it: they are not needed elsewhere.
        let mut known = self.known_by_group(groups)?.map(Vec::into_iter);
        let evaluate = |group: usize| {
            let is_in = |tree: usize| groups.has(group, tree);
            let part = match &mut known {
                Some(known) => self.recorded.part(&numbers(trees, is_in), known.next().unwrap_or_default()),
                None => self.recorded.only(is_in),
            };
            make(&part, &|sampling| Curves::draw(&part, limits, sampling))
        };
        Ok((0..groups.names.len()).map(evaluate).collect())
    }

    fn with_sampling(&self, sampling: &Sampling) -> Curves {
        if *sampling == self.survey_curves.sampling {
            self.survey_curves.clone()
        } else {
            Curves::measure(self.recorded, sampling)
        }
    }

    /// The keys that each group knows; none if all occurrences are in memory. Reads the links once more for
    /// groups that were not requested in the first pass.
    fn known_by_group(&self, groups: &Groups) -> Result<Option<Vec<KnownKeys>>, AnalysisError> {
        let Recorded { index, known, kinds, trees, group_keys, .. } = self.recorded;
        if known.has_all_occurrences() {
            return Ok(None);
        }
        let read = group_keys.as_ref().and_then(|group_keys| group_keys.for_groups(groups));
        if read.is_some() {
            return Ok(read);
        }
        let group_keys =
            with_retries(|| GroupedKeys::read(self.dir, index, trees, vec![groups.clone()], kinds))?;
        Ok(group_keys.for_groups(groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::curves::worlds::{country, survey};
    use crate::analysis::{CurveLevel, Kind};

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
        let survey_curves = Curves::measure(&recorded, &Sampling::default());
        // As if there were too many links for memory. There is no table to read them from.
        recorded.known.occurrences.iter_mut().for_each(|key| key.halvings = 1);
        let groups = GroupedCurves::new(Path::new("nowhere"), &recorded, &survey_curves)
            .by(Grouping::Country, 20)
            .unwrap();
        let [(name, curves)] = groups.as_slice() else { panic!("{} groups", groups.len()) };
        assert_eq!((name.as_str(), figures(curves)), ("ke", figures(&survey_curves)));
    }

    #[test]
    fn groups_are_the_largest_first_and_together_the_survey() {
        let recorded = survey(&country(90, 5, 3));
        let survey_curves = Curves::measure(&recorded, &Sampling::default());
        let groups = GroupedCurves::new(Path::new("nowhere"), &recorded, &survey_curves)
            .by(Grouping::Cctld, 2)
            .unwrap();
        let [(_, first), (_, second), (others, rest)] = groups.as_slice() else { panic!() };
        assert!(first.trees >= second.trees && second.trees >= rest.trees && others == "all others");
        assert_eq!(first.trees + second.trees + rest.trees, survey_curves.trees);
        let requests = |curves: &Curves| curves.levels.last().unwrap().requests;
        assert_eq!(requests(first) + requests(second) + requests(rest), requests(&survey_curves));
    }
}
