use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use super::links::{Gathering, each_link};
use super::subset::numbers;
use super::tables::retried;
use super::{AnalysisError, Curves, Grouping, Kind, Readings, Recorded, Sampling, Trees};

/// The curves of each of the `most` largest groups of site trees, the largest first, and of all other trees
/// together as the last.
///
/// The links of the survey in `dir` are read once more where they are so many that not all occurrences are in
/// memory, so that the unions of every group are exact.
///
/// # Errors
/// The table of links cannot be read.
pub fn grouped(
    dir: &Path,
    recorded: &Recorded,
    by: Grouping,
    most: usize,
    sampling: &Sampling,
) -> Result<Vec<(String, Curves)>, AnalysisError> {
    let groups = Groups::of(&recorded.trees, by, most);
    let parts = if Kind::ALL.iter().all(|kind| recorded.known.occurrences(*kind).share() >= 1.0) {
        (0..groups.names.len()).map(|group| recorded.only(|tree| groups.of_tree[tree] == group)).collect()
    } else {
        retried(|| read_parts(dir, recorded, &groups))?
    };
    // A class of trees by size has none of like size elsewhere.
    let is_alone = by == Grouping::Pages;
    let survey = (!is_alone).then(|| Readings::of(recorded, sampling));
    let curves = parts.iter().map(|part: &Recorded| match &survey {
        Some(survey) => Curves::of_group(part, survey, sampling),
        None => Curves::measure(part, sampling),
    });
    Ok(groups.names.into_iter().zip(curves).collect())
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

fn read_parts(dir: &Path, recorded: &Recorded, groups: &Groups) -> Result<Vec<Recorded>, AnalysisError> {
    let count = groups.names.len();
    let mut gathered: Vec<Gathering> = (0..count).map(|_| Gathering::of_one_in(count)).collect();
    let numbers_of: Vec<Vec<Option<u32>>> =
        (0..count).map(|group| numbers(recorded.trees.len(), |tree| groups.of_tree[tree] == group)).collect();
    each_link(dir, &recorded.index, |tree, depth, keys| {
        let group = groups.of_tree[tree as usize];
        if let Some(number) = numbers_of[group][tree as usize] {
            gathered[group].add(number, depth, keys);
        }
    })?;
    let parts = gathered.into_iter().zip(&numbers_of);
    Ok(parts.map(|(gathered, numbers)| recorded.part(numbers, gathered.finish())).collect())
}
