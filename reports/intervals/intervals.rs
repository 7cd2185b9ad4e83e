//! Counts how often the intervals of small surveys hold the truth, which a large recorded world is taken for.
//!
//!     intervals curves WORLD-DIR NAME TREES RUNS           CSV on standard output
//!     intervals groups WORLD-DIR NAME TREES RUNS AROUND    groups of a country domain in surveys of AROUND trees
//!     intervals unseen WORLD-DIR NAME TREES RUNS           what no tree of the survey showed
//!     intervals probes WORLD-DIR NAME TREES RUNS           what the rule on scripts hid (--probe-scripts 1)
//!     intervals left-out WORLD-DIR NAME TREES RUNS         what pages left out hid (--depth auto --probe-depth 1)
//!
//! Surveys of TREES site trees are drawn without replacement from the recorded one, from every country domain in
//! proportion. The truth for load rates and pair coverage is the ratio in the whole world; for union coverage,
//! which grows with the survey, it is the expectation for so many trees, exactly, by hypergeometric chances. A depth is
//! judged in surveys that go deeper: at the deepest level of a survey all is known by definition.

use std::error::Error;
use std::path::Path;

use ccsurvey::analysis::overview::{Mean, ProbedTree};
use ccsurvey::analysis::{
    Curves, Estimate, Grouping, Kind, LevelCost, Occurrences, Overview, Readings, Recorded, Sampling, Trees,
    Unseen,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, dir, name, trees, runs, around @ ..] = arguments.as_slice() else {
        return Err(
            "usage: intervals curves|groups|unseen|probes|left-out WORLD-DIR NAME TREES RUNS [AROUND]".into(),
        );
    };
    let (trees, runs): (usize, u64) = (trees.parse()?, runs.parse()?);
    println!("world,what,reading,of,trees,runs,depth,truth,mean,contained,low,high,trees_above,trees_below");
    let world = Recorded::load(Path::new(dir))?;
    match what.as_str() {
        "curves" => curves(&world, name, trees, runs),
        "groups" => {
            let around = around.first().ok_or("groups: AROUND is missing")?.parse()?;
            groups(&world, name, (trees, around), runs);
        }
        "unseen" => unseen(&world, name, trees, runs),
        "probes" => {
            let probes = Overview::load(Path::new(dir))?.kept_back.probes;
            probed(&probes.ok_or("no script was probed")?.trees, name, trees, runs);
        }
        "left-out" => {
            let probes = Overview::load(Path::new(dir))?.kept_back.left_out;
            probed(&probes.ok_or("no page left out was probed")?.trees, name, trees, runs);
        }
        _ => return Err(format!("{what}: expected curves, groups, unseen, probes or left-out").into()),
    }
    Ok(())
}

fn curves(world: &Recorded, name: &str, trees: usize, runs: u64) {
    let mut figures = figures(world, trees, usize::from(world.trees.deepest()) + 1);
    for run in 0..runs {
        let survey = world.sample(trees, 1000 + run);
        let curves = Curves::measure(&survey, &sampling(run));
        figures.iter_mut().for_each(|figure| figure.judge(&survey, &curves));
    }
    figures.iter().for_each(|figure| figure.print(&format!("{name},curves"), trees));
}

/// The country domains take turns; a depth is judged in all of them together.
fn groups(world: &Recorded, name: &str, (trees, around): (usize, usize), runs: u64) {
    let domain = |all: &Recorded, tree: usize| all.trees.group(tree, Grouping::Cctld);
    let mut domains: Vec<u32> = (0..world.trees.len()).map(|tree| domain(world, tree)).collect();
    domains.sort_unstable();
    domains.dedup();
    let depths = usize::from(world.trees.deepest()) + 1;
    let mut all: Vec<Figure> = Vec::new();
    for (turn, of) in (0..).zip(&domains) {
        let country = world.only(|tree| domain(world, tree) == *of);
        let mut figures = figures(&country, trees.min(country.trees.len()), depths);
        for run in (turn..runs).step_by(domains.len()) {
            let survey = world.sample(around, 1000 + run);
            let mut left = trees;
            let is_in = |tree| {
                let is_in = domain(&survey, tree) == *of && left > 0;
                left -= usize::from(is_in);
                is_in
            };
            let group = only(&survey, is_in);
            let readings = Readings::of(&survey, &sampling(run));
            let curves = Curves::of_group(&group, &readings, &sampling(run));
            figures.iter_mut().for_each(|figure| figure.judge(&group, &curves));
        }
        match all.is_empty() {
            true => all = figures,
            false => all.iter_mut().zip(figures).for_each(|(sum, figure)| sum.add(figure)),
        }
    }
    all.iter().for_each(|figure| figure.print(&format!("{name},groups"), trees));
}

/// The trees that a rule keeps which remembers what it kept.
fn only(survey: &Recorded, keep: impl FnMut(usize) -> bool) -> Recorded {
    let kept: Vec<bool> = (0..survey.trees.len()).map(keep).collect();
    survey.only(|tree| kept[tree])
}

/// Three questions: whether the interval holds all there is in the world, whether its low end is no more than that
/// (which it claims), and whether it holds what surveys estimate on average (which chance alone keeps it from).
fn unseen(world: &Recorded, name: &str, trees: usize, runs: u64) {
    let estimates: Vec<Unseen> =
        (0..runs).map(|run| Unseen::estimate(&world.sample(trees, 1000 + run), &sampling(run))).collect();
    for (place, kind) in Kind::ALL.into_iter().enumerate() {
        let of_kind: Vec<Estimate> = estimates.iter().map(|unseen| unseen.kinds[place].all).collect();
        let all = world.known.counts(kind).total() as f64;
        let mean = of_kind.iter().map(|all| all.value).sum::<f64>() / runs as f64;
        let bounds = of_kind.iter().map(|found| Estimate { high: found.high.max(all), ..*found }).collect();
        for (reading, truth, estimates) in
            [("all", all, of_kind.clone()), ("at_least", all, bounds), ("on_average", mean, of_kind)]
        {
            let mut outcome = Outcome::default();
            estimates.iter().for_each(|estimate| outcome.add(*estimate, truth));
            outcome.print(&format!("{name},unseen,{reading},{}", kind.word()), trees, 0, truth);
        }
    }
}

/// What the URLs that a tree kept back would have brought.
type Brought = fn(&ProbedTree) -> f64;

fn probed(all: &[ProbedTree], name: &str, trees: usize, runs: u64) {
    let figures: [(&str, Brought); 2] = [("urls", |tree| tree.urls), ("hosts", |tree| tree.hosts)];
    for (word, brought) in figures {
        let truth = Mean::of(all, brought).value;
        let mut outcome = Outcome::default();
        for run in 0..runs {
            let Mean { value, low, high } = Mean::of(&drawn(all, trees, run), brought);
            outcome.add(Estimate { value, low, high }, truth);
        }
        outcome.print(&format!("{name},probes,mean,{word}"), trees, 0, truth);
    }
}

/// So many trees without replacement: those whose numbers, scrambled, are least (SplitMix64).
fn drawn(all: &[ProbedTree], trees: usize, run: u64) -> Vec<ProbedTree> {
    let scrambled = |tree: usize| {
        let mut mixed = (run << 32 | tree as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|tree| scrambled(*tree));
    order.iter().take(trees).map(|tree| all[*tree]).collect()
}

fn sampling(seed: u64) -> Sampling {
    Sampling { seed, ..Sampling::default() }
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
    runs: u64,
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
            let Some(estimate) = self.reading.of(curves, depth) else { continue };
            if depth + 1 < curves.levels.len() {
                outcome.add(estimate, self.truth[depth]);
            }
            outcome.above +=
                shown.iter().filter(|(first, _)| first.is_some_and(|first| first <= depth)).count();
            outcome.below += shown.iter().filter(|(_, last)| last.is_some_and(|last| last > depth)).count();
        }
    }

    /// Joins what was seen of another group to it; the truth is then the mean.
    fn add(&mut self, other: Self) {
        for ((truth, outcome), (other_truth, other)) in
            self.truth.iter_mut().zip(&mut self.outcomes).zip(other.truth.iter().zip(other.outcomes))
        {
            let all = (outcome.runs + other.runs).max(1) as f64;
            *truth = (*truth * outcome.runs as f64 + other_truth * other.runs as f64) / all;
            outcome.runs += other.runs;
            outcome.value += other.value;
            outcome.contained += other.contained;
            outcome.lows.extend(other.lows);
            outcome.highs.extend(other.highs);
            outcome.above += other.above;
            outcome.below += other.below;
        }
    }

    fn print(&self, name: &str, trees: usize) {
        let (reading, of) = self.reading.words();
        for (depth, (truth, outcome)) in self.truth.iter().zip(&self.outcomes).enumerate() {
            outcome.print(&format!("{name},{reading},{of}"), trees, depth, *truth);
        }
    }
}

impl Outcome {
    fn add(&mut self, estimate: Estimate, truth: f64) {
        self.runs += 1;
        self.value += estimate.value;
        self.contained += u64::from((estimate.low - 1e-12..=estimate.high + 1e-12).contains(&truth));
        self.lows.push(estimate.low);
        self.highs.push(estimate.high);
    }

    fn print(&self, names: &str, trees: usize, depth: usize, truth: f64) {
        let runs = self.runs as f64;
        if self.runs > 0 {
            println!(
                "{names},{trees},{},{depth},{truth:.5},{:.5},{},{:.5},{:.5},{:.1},{:.1}",
                self.runs,
                self.value / runs,
                self.contained,
                median(&self.lows),
                median(&self.highs),
                self.above as f64 / runs,
                self.below as f64 / runs,
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
