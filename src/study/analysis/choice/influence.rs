use std::collections::HashMap;

use serde::Serialize;

use crate::analysis::curves::LOAD;
use crate::analysis::{Choice, Criterion, Estimate, Evidence, Kind, Reading, Recorded, Sampling};

/// The choice of a depth without one site (leave one out).
#[derive(Clone, Debug, Serialize)]
pub struct Influence {
    /// The site that is left out, with all its trees.
    pub site: String,
    /// The share that this site alone contributes to the criterion: hosts that no other site links to, or
    /// load.
    pub share: f64,
    /// The depth that the criterion chooses without the site.
    pub depth: Option<u16>,
    /// The depth of `figure`.
    pub at: u16,
    /// The figure of the criterion at that depth without the site.
    pub figure: Estimate,
}

/// The number of sites that are left out, each separately: the sites that contribute most alone.
const CANDIDATES: usize = 3;
/// A site with a smaller share changes coverage or load by at most about this.
const MIN_SHARE: f64 = 0.01;
/// Above this number of site trees, only the first of the sites is left out: each takes as long as the choice
/// itself.
const MANY_TREES: usize = 20_000;

impl Influence {
    /// Among the sites that contribute most alone, the one whose removal changes the figure at depth `at`
    /// most. None for a survey of a single site, and if no site has 1 % of the total.
    #[must_use]
    pub fn strongest(recorded: &Recorded, sampling: &Sampling, choice: &Choice, at: u16) -> Option<Self> {
        let figure = |choice: &Choice| Some(choice.criterion.figure_of(choice.level(at)?));
        let with_all_sites = figure(choice)?;
        let (of, reading) = choice.criterion.counted();
        let recorded = &recorded.with_kinds(reading.required_kinds(of));
        let weights = Weights::measure(recorded, &choice.criterion);
        let mut sites: Vec<(usize, f64)> = weights.alone.iter().copied().enumerate().collect();
        sites.sort_by(|(one, alone), (other, more)| more.total_cmp(alone).then(one.cmp(other)));
        if sites.len() < 2 {
            return None;
        }
        sites.retain(|(_, alone)| *alone >= MIN_SHARE * weights.total && *alone > 0.0);
        sites.truncate(if recorded.trees.len() > MANY_TREES { 1 } else { CANDIDATES });
        let left_out = sites.into_iter().map(|(site, alone)| {
            let without = recorded.only(|tree| weights.site_by_tree[tree] != site);
            let evidence = Evidence::measure(&without, sampling, choice.confidence);
            let chosen = Choice::by(&evidence, choice.criterion);
            // Without a deep site, the survey may end above that depth, so nothing is missing there.
            let figure = figure(&chosen).unwrap_or(Estimate::exact(1.0));
            let site = weights.names[site].clone();
            let share = alone / weights.total.max(f64::MIN_POSITIVE);
            Self { site, share, depth: chosen.depth, at, figure }
        });
        let change = |one: &Self| (one.figure.value - with_all_sites.value).abs();
        // Ties go to the site with the largest share.
        left_out
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .max_by(|one, other| change(one).total_cmp(&change(other)))
    }
}

/// What each site alone contributes to the figure of a criterion.
struct Weights {
    names: Vec<String>,
    /// The index of the site of each tree.
    site_by_tree: Vec<usize>,
    /// The contribution of each site alone.
    alone: Vec<f64>,
    total: f64,
}

impl Weights {
    fn measure(recorded: &Recorded, criterion: &Criterion) -> Self {
        let (mut numbers, mut names, mut site_by_tree) = (HashMap::new(), Vec::new(), Vec::new());
        for tree in recorded.trees.iter() {
            let next = names.len();
            let number = *numbers.entry(tree.site.clone()).or_insert(next);
            if number == next {
                names.push(tree.site.to_string());
            }
            site_by_tree.push(number);
        }
        let mut alone = vec![0.0; names.len()];
        let mut total = 0.0;
        let mut add = |site: usize, amount: f64| {
            alone[site] += amount;
            total += amount;
        };
        let mut add_sums = |amount: &dyn Fn(&crate::analysis::LevelCost) -> f64| {
            for (tree, site) in site_by_tree.iter().enumerate() {
                add(*site, recorded.trees.levels(tree).iter().map(amount).sum());
            }
        };
        match *criterion {
            Criterion::Load { unit, .. } => add_sums(&|level| LOAD[unit as usize](level)),
            Criterion::Coverage { of, reading: Reading::Pair, .. } if of != Kind::Addresses => {
                add_sums(&|level| level.found()[of as usize]);
            }
            Criterion::Coverage { of, .. } => {
                let occurrences = recorded.known.occurrences(of);
                for key in occurrences.keys() {
                    total += 1.0;
                    let site = site_by_tree[key[0].tree as usize];
                    if key.iter().all(|one| site_by_tree[one.tree as usize] == site) {
                        alone[site] += 1.0;
                    }
                }
            }
        }
        Self { names, site_by_tree, alone, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::LoadUnit;
    use crate::analysis::curves::worlds::{TestTree, survey, tree};

    /// Sites whose links to hosts are on their front pages, and one site whose links are deep.
    fn with_a_giant() -> Vec<TestTree> {
        let mut grown: Vec<TestTree> =
            (0..30).map(|n| tree("complete", &[(1, &[n * 10, n * 10 + 1]), (1, &[])])).collect();
        let hosts: Vec<u64> = (1000..1040).collect();
        grown.push(tree("complete", &[(1, &[]), (20, &[]), (30, &hosts)]));
        grown
    }

    fn choice(recorded: &Recorded, criterion: Criterion) -> Choice {
        Choice::by(&Evidence::measure(recorded, &Sampling::default(), Evidence::EVEN_ODDS), criterion)
    }

    fn strongest_influence(recorded: &Recorded, criterion: Criterion, at: u16) -> Option<Influence> {
        Influence::strongest(recorded, &Sampling::default(), &choice(recorded, criterion), at)
    }

    #[test]
    fn the_site_that_makes_the_curve_is_named_with_the_answer_without_it() {
        let recorded = survey(&with_a_giant());
        for reading in [Reading::Union, Reading::Pair] {
            let criterion = Criterion::Coverage { at_least: 0.9, of: Kind::Hosts, reading };
            assert_eq!(choice(&recorded, criterion).depth, Some(2));
            let influence = strongest_influence(&recorded, criterion, 2).unwrap();
            assert_eq!((influence.site.as_str(), influence.share), ("site30.ke", 0.4));
            assert_eq!((influence.depth, influence.at, influence.figure.value), (Some(0), 2, 1.0));
        }
        let criterion = Criterion::Load {
            at_most: 0.6,
            unit: LoadUnit::Requests,
            of: Kind::Hosts,
            reading: Reading::Union,
        };
        let influence = strongest_influence(&recorded, criterion, 1).unwrap();
        // The site has 51 of 111 requests. Without it, half of all requests are for front pages.
        assert_eq!((influence.site.as_str(), influence.share), ("site30.ke", 51.0 / 111.0));
        assert_eq!((influence.depth, influence.figure.value), (Some(0), 1.0));
    }

    #[test]
    fn a_site_of_several_trees_is_left_out_whole() {
        let mut recorded = survey(&with_a_giant());
        // The first three trees belong to one site. Each knows two hosts that no other site knows.
        for (seed, tree) in (0..).zip(&mut recorded.trees.trees[..3]) {
            (tree.site, tree.seed) = ("several.ke".into(), seed);
        }
        let criterion = Criterion::Coverage { at_least: 0.5, of: Kind::Hosts, reading: Reading::Union };
        let weights = Weights::measure(&recorded, &criterion);
        let index = weights.names.iter().position(|name| name == "several.ke").unwrap();
        assert_eq!((weights.alone[index], weights.total), (6.0, 100.0));
    }

    #[test]
    fn one_site_has_no_influence_on_others() {
        let recorded = survey(&[tree("complete", &[(1, &[1, 2]), (4, &[3])])]);
        let criterion = Criterion::Coverage { at_least: 0.5, of: Kind::Hosts, reading: Reading::Union };
        assert!(strongest_influence(&recorded, criterion, 0).is_none());
    }
}
