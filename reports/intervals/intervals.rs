//! Counts how often the intervals of small surveys hold the truth, which a large recorded world is taken for.
//!
//!     intervals WORLD-DIR NAME TREES RUNS    CSV on standard output
//!
//! Surveys of TREES site trees are drawn without replacement from the recorded one, from every country domain in
//! proportion. The truth for load rates and pair coverage is the ratio in the whole world; for union coverage,
//! which grows with the survey, it is the expectation for so many trees, exactly, by hypergeometric chances.

use std::error::Error;
use std::path::Path;

use ccsurvey::analysis::{
    Curves, Estimate, Grouping, Kind, LevelCost, Occurrences, Recorded, Sampling, Trees,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, name, trees, runs] = arguments.as_slice() else {
        return Err("usage: intervals WORLD-DIR NAME TREES RUNS".into());
    };
    let (trees, runs): (usize, u64) = (trees.parse()?, runs.parse()?);
    let world = Recorded::load(Path::new(dir))?;
    let depths = usize::from(world.trees.deepest()) + 1;
    let mut figures = figures(&world, trees, depths);
    for run in 0..runs {
        let survey = world.sample(trees, 1000 + run);
        let curves = Curves::measure(&survey, &Sampling { seed: run, ..Sampling::default() });
        for figure in &mut figures {
            figure.judge(&survey, &curves);
        }
    }
    println!("world,reading,of,trees,runs,depth,truth,mean,contained,low,high,trees_above,trees_below");
    for figure in &figures {
        figure.print(name, trees, runs);
    }
    Ok(())
}

/// Which curve.
#[derive(Clone, Copy)]
enum Reading {
    Load(usize, &'static str),
    Pair(Kind),
    Union(Kind),
}

/// A curve, its truth, and how often it was held.
struct Figure {
    reading: Reading,
    truth: Vec<f64>,
    outcomes: Vec<Outcome>,
}

/// What was seen at one depth, summed over the runs.
#[derive(Clone, Default)]
struct Outcome {
    value: f64,
    contained: u64,
    lows: Vec<f64>,
    highs: Vec<f64>,
    /// Trees that have something above or below the depth.
    above: usize,
    below: usize,
}

fn figures(world: &Recorded, trees: usize, depths: usize) -> Vec<Figure> {
    let load = ["requests", "bytes", "busy_time"]
        .into_iter()
        .enumerate()
        .map(|(unit, word)| Reading::Load(unit, word));
    let pair = Kind::ALL.into_iter().take(3).map(Reading::Pair);
    let union = Kind::ALL.into_iter().map(Reading::Union);
    load.chain(pair)
        .chain(union)
        .map(|reading| {
            let truth = match reading {
                Reading::Union(kind) => {
                    expected_union(world.known.occurrences(kind), &world.trees, trees, depths)
                }
                _ => ratio(&world.trees, depths, |level| reading.amount(level)),
            };
            Figure { reading, truth, outcomes: vec![Outcome::default(); depths] }
        })
        .collect()
}

impl Reading {
    fn amount(self, level: &LevelCost) -> f64 {
        match self {
            Self::Load(unit, _) => [f64::from(level.requests), level.bytes as f64, level.busy_ms][unit],
            Self::Pair(kind) | Self::Union(kind) => level.found()[(kind as usize).min(2)],
        }
    }

    fn of(self, curves: &Curves, depth: usize) -> Option<Estimate> {
        let level = curves.levels.get(depth)?;
        match self {
            Self::Load(unit, _) => Some(level.load[unit]),
            Self::Pair(kind) => level.pair(kind),
            Self::Union(kind) => Some(level.union(kind)),
        }
    }

    fn words(self) -> (&'static str, String) {
        match self {
            Self::Load(_, word) => ("load", word.to_owned()),
            Self::Pair(kind) => ("pair", format!("{kind:?}").to_lowercase()),
            Self::Union(kind) => ("union", format!("{kind:?}").to_lowercase()),
        }
    }
}

impl Figure {
    fn judge(&mut self, survey: &Recorded, curves: &Curves) {
        let shown = match self.reading {
            Reading::Union(kind) => union_trees(survey.known.occurrences(kind), survey.trees.len()),
            _ => ratio_trees(&survey.trees, |level| self.reading.amount(level)),
        };
        for (depth, outcome) in self.outcomes.iter_mut().enumerate() {
            // A survey may be less deep than the world: it then knows all there.
            let one = Estimate { value: 1.0, low: 1.0, high: 1.0 };
            let estimate = self.reading.of(curves, depth).unwrap_or(one);
            let truth = self.truth[depth];
            outcome.value += estimate.value;
            outcome.contained += u64::from((estimate.low - 1e-12..=estimate.high + 1e-12).contains(&truth));
            outcome.lows.push(estimate.low);
            outcome.highs.push(estimate.high);
            outcome.above +=
                shown.iter().filter(|(first, _)| first.is_some_and(|first| first <= depth)).count();
            outcome.below += shown.iter().filter(|(_, last)| last.is_some_and(|last| last > depth)).count();
        }
    }

    fn print(&self, name: &str, trees: usize, runs: u64) {
        let (reading, of) = self.reading.words();
        for (depth, (truth, outcome)) in self.truth.iter().zip(&self.outcomes).enumerate() {
            println!(
                "{name},{reading},{of},{trees},{runs},{depth},{truth:.5},{:.5},{},{:.5},{:.5},{:.1},{:.1}",
                outcome.value / runs as f64,
                outcome.contained,
                median(&outcome.lows),
                median(&outcome.highs),
                outcome.above as f64 / runs as f64,
                outcome.below as f64 / runs as f64,
            );
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The share of a sum over all trees that comes from levels 0 to d.
fn ratio(trees: &Trees, depths: usize, amount: impl Fn(&LevelCost) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; depths];
    for tree in 0..trees.len() {
        for (depth, level) in trees.levels(tree).iter().enumerate().take(depths) {
            sums[depth] += amount(level);
        }
    }
    cumulative_share(sums)
}

fn cumulative_share(mut sums: Vec<f64>) -> Vec<f64> {
    for depth in 1..sums.len() {
        sums[depth] += sums[depth - 1];
    }
    let all = sums.last().copied().unwrap_or_default();
    sums.iter().map(|sum| sum / all).collect()
}

/// The first and last level at which each tree has something.
fn ratio_trees(trees: &Trees, amount: impl Fn(&LevelCost) -> f64) -> Vec<(Option<usize>, Option<usize>)> {
    let has = |tree: usize| {
        let levels = trees.levels(tree);
        let first = levels.iter().position(|level| amount(level) > 0.0);
        (first, levels.iter().rposition(|level| amount(level) > 0.0))
    };
    (0..trees.len()).map(has).collect()
}

/// The first and last level at which each tree brings something that the survey knows from nowhere above.
fn union_trees(occurrences: &Occurrences, trees: usize) -> Vec<(Option<usize>, Option<usize>)> {
    let mut shown = vec![(None, None); trees];
    for key in occurrences.keys() {
        if let Some(least) = key.iter().min_by_key(|one| one.depth) {
            let (depth, place) = (usize::from(least.depth), &mut shown[least.tree as usize]);
            place.0 = Some(place.0.map_or(depth, |first: usize| first.min(depth)));
            place.1 = Some(place.1.map_or(depth, |last: usize| last.max(depth)));
        }
    }
    shown
}

/// Distinct keys from levels 0 to d that surveys of so many trees know on average, as a share of all they know.
///
/// A key is missed by a survey if none of its trees is drawn: in each country domain with N trees, f of which
/// know the key, of n drawn ones with chance C(N − f, n) / C(N, n).
fn expected_union(occurrences: &Occurrences, trees: &Trees, drawn: usize, depths: usize) -> Vec<f64> {
    let misses = Misses::new(trees, drawn);
    let mut sums = vec![0.0; depths];
    for key in occurrences.keys() {
        let mut by_depth: Vec<(u16, u32)> =
            key.iter().map(|one| (one.depth, trees.group(one.tree as usize, Grouping::Cctld))).collect();
        by_depth.sort_unstable();
        let (mut counts, mut missed) = (vec![0; misses.strata.len()], 1.0);
        for level in by_depth.chunk_by(|one, other| one.0 == other.0) {
            level.iter().for_each(|(_, stratum)| counts[misses.place(*stratum)] += 1);
            let now = misses.chance(&counts);
            sums[usize::from(level[0].0)] += missed - now;
            missed = now;
        }
    }
    cumulative_share(sums)
}

struct Misses {
    /// Country domain, its trees, trees drawn.
    strata: Vec<(u32, usize, usize)>,
    /// Logarithms of factorials.
    factorials: Vec<f64>,
}

impl Misses {
    fn new(trees: &Trees, drawn: usize) -> Self {
        let mut groups: Vec<u32> = (0..trees.len()).map(|tree| trees.group(tree, Grouping::Cctld)).collect();
        groups.sort_unstable();
        let strata = groups
            .chunk_by(|one, other| one == other)
            .map(|group| {
                let share = group.len() as f64 / trees.len() as f64;
                (group[0], group.len(), (drawn as f64 * share).round() as usize)
            })
            .collect();
        let mut factorials = vec![0.0];
        for number in 1..=trees.len() {
            factorials.push(factorials[number - 1] + (number as f64).ln());
        }
        Self { strata, factorials }
    }

    fn place(&self, stratum: u32) -> usize {
        self.strata.iter().position(|(group, _, _)| *group == stratum).unwrap_or(0)
    }

    fn chance(&self, counts: &[usize]) -> f64 {
        let ln = |number: usize| self.factorials[number];
        let of_stratum = |((_, all, drawn), count): (&(u32, usize, usize), &usize)| {
            let left = all - count;
            if left < *drawn {
                return 0.0;
            }
            (ln(left) - ln(left - drawn) - ln(*all) + ln(all - drawn)).exp()
        };
        self.strata.iter().zip(counts).map(of_stratum).product()
    }
}
