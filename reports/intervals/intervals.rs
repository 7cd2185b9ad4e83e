//! Counts how often the intervals of small surveys hold the truth, which a large recorded world is taken for.
//!
//!     intervals curves WORLD-DIR NAME TREES RUNS           CSV on standard output
//!     intervals corrections WORLD-DIR NAME TREES RUNS      other ways to correct a share, beside the program's
//!     intervals unseen WORLD-DIR NAME TREES RUNS           what no tree of the survey showed
//!     intervals probes WORLD-DIR NAME TREES RUNS           what the rule on scripts hid (--probe-scripts 1)
//!     intervals left-out WORLD-DIR NAME TREES RUNS         what pages left out hid (--depth auto --probe-depth 1)
//!
//! Surveys of TREES site trees are drawn without replacement from the recorded one, from every country domain in
//! proportion. The truth for load rates and pair coverage is the ratio in the whole world; for union coverage,
//! which grows with the survey, it is the expectation for so many trees, exactly, by hypergeometric chances. A depth is
//! judged in surveys that go deeper: at the deepest level of a survey all is known by definition.
//!
//! A survey that is a large part of its world varies less around it than a survey of an endless country. So an interval holds
//! the truth if it still does when its ends have come nearer to the corrected share by the square root of the part of the
//! world that was not drawn. Whether a share has an interval is counted apart: one that has none holds nothing.

use std::error::Error;
use std::path::Path;

use ccsurvey::analysis::overview::{Mean, ProbedTree};
use ccsurvey::analysis::{
    Curves, Estimate, Grouping, Kind, LevelCost, Occurrences, Overview, Recorded, Sampling, Trees, Unseen,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, dir, name, trees, runs] = arguments.as_slice() else {
        return Err(
            "usage: intervals curves|corrections|unseen|probes|left-out WORLD-DIR NAME TREES RUNS".into()
        );
    };
    let (trees, runs): (usize, u64) = (trees.parse()?, runs.parse()?);
    println!(
        "world,what,reading,of,trees,runs,depth,truth,mean,above,error,corrected,corrected_above,corrected_error,\
         printed,contained,low,high"
    );
    let world = Recorded::load(Path::new(dir))?;
    match what.as_str() {
        "curves" => curves(&world, name, trees, runs),
        "corrections" => corrections(&world, name, trees, runs),
        "unseen" => unseen(&world, name, trees, runs),
        "probes" => {
            let probes = Overview::load(Path::new(dir))?.kept_back.probes;
            probed(&probes.ok_or("no script was probed")?.trees, name, trees, runs);
        }
        "left-out" => {
            let probes = Overview::load(Path::new(dir))?.kept_back.left_out;
            probed(&probes.ok_or("no page left out was probed")?.trees, name, trees, runs);
        }
        _ => return Err(format!("{what}: expected curves, corrections, unseen, probes or left-out").into()),
    }
    Ok(())
}

fn curves(world: &Recorded, name: &str, trees: usize, runs: u64) {
    let mut figures = figures(world, trees, usize::from(world.trees.deepest()) + 1);
    let left = not_drawn(world, trees);
    for run in 0..runs {
        let survey = world.sample(trees, 1000 + run);
        let curves = Curves::measure(&survey, &sampling(run));
        figures.iter_mut().for_each(|figure| figure.judge(&curves, left));
    }
    figures.iter().for_each(|figure| figure.print(&format!("{name},curves"), trees));
}

/// By how much nearer to the world surveys of so many trees are than those of an endless country.
fn not_drawn(world: &Recorded, trees: usize) -> f64 {
    (1.0 - trees as f64 / world.trees.len() as f64).max(0.0).sqrt()
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
            estimates.iter().for_each(|estimate| outcome.add(*estimate, truth, 1.0));
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
            outcome.add(Estimate::between(low, value, high), truth, 1.0);
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
    measured: Errors,
    corrected: Errors,
    contained: u64,
    lows: Vec<f64>,
    highs: Vec<f64>,
}

/// How far values are from the truth.
#[derive(Clone, Default)]
struct Errors {
    sum: f64,
    squares: f64,
    above: f64,
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
    fn judge(&mut self, curves: &Curves, left: f64) {
        for (depth, outcome) in self.outcomes.iter_mut().enumerate() {
            let Some(estimate) = self.reading.of(curves, depth) else { continue };
            if depth + 1 < curves.levels.len() {
                outcome.add(estimate, self.truth[depth], left);
            }
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
    fn add(&mut self, estimate: Estimate, truth: f64, left: f64) {
        self.runs += 1;
        self.measured.add(estimate.value - truth);
        self.corrected.add(estimate.corrected - truth);
        let Some((low, high)) = estimate.interval() else { return };
        let nearer = |end: f64| estimate.corrected + (end - estimate.corrected) * left;
        self.contained += u64::from((nearer(low) - 1e-12..=nearer(high) + 1e-12).contains(&truth));
        self.lows.push(low);
        self.highs.push(high);
    }

    fn print(&self, names: &str, trees: usize, depth: usize, truth: f64) {
        if self.runs > 0 {
            println!(
                "{names},{trees},{},{depth},{truth:.5},{},{},{},{},{:.5},{:.5}",
                self.runs,
                self.measured.told(truth, self.runs),
                self.corrected.told(truth, self.runs),
                self.lows.len(),
                self.contained,
                median(&self.lows),
                median(&self.highs),
            );
        }
    }
}

impl Errors {
    fn add(&mut self, error: f64) {
        self.sum += error;
        self.squares += error * error;
        // A share that is exact is neither above nor below.
        self.above += if error.abs() < 1e-12 { 0.5 } else { f64::from(u8::from(error > 0.0)) };
    }

    /// The mean value, the share of values above the truth, and the root of the mean squared error.
    fn told(&self, truth: f64, runs: u64) -> String {
        let runs = runs as f64;
        format!("{:.5},{:.4},{:.5}", truth + self.sum / runs, self.above / runs, (self.squares / runs).sqrt())
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
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

/// Reading, kind, and the amount of that kind at a level.
type Share = (&'static str, &'static str, fn(&LevelCost) -> f64);

/// Ways to correct pair coverage of hosts, the load rate of requests and union coverage of hosts; the program's own is in
/// `curves`.
fn corrections(world: &Recorded, name: &str, trees: usize, runs: u64) {
    let depths = usize::from(world.trees.deepest()) + 1;
    let figures: [Share; 2] = [
        ("load", "requests", |level| f64::from(level.requests)),
        ("pair", "hosts", |level| level.found()[1]),
    ];
    let ways: [(&str, Way); 3] = [("jackknife", jackknife), ("Beale", beale), ("Pareto", pareto_tail)];
    let surveys = || (0..runs).map(|run| world.sample(trees, 1000 + run));
    for (reading, of, amount) in figures {
        let truth = ratio(&world.trees, depths, amount);
        let mut outcomes = vec![vec![Outcome::default(); depths]; ways.len()];
        for survey in surveys() {
            let rows = cumulative(&survey.trees, depths, amount);
            for ((_, way), outcomes) in ways.iter().zip(&mut outcomes) {
                add_all(outcomes, &way(&rows), &truth, usize::from(survey.trees.deepest()));
            }
        }
        for ((way, _), outcomes) in ways.iter().zip(&outcomes) {
            print_all(outcomes, &format!("{name},{way},{reading},{of}"), trees, &truth);
        }
    }
    let truth = expected_union(world.known.occurrences(Kind::Hosts), &world.trees, trees, depths);
    let mut outcomes = vec![Outcome::default(); depths];
    for survey in surveys() {
        let share = chao(survey.known.occurrences(Kind::Hosts), depths);
        add_all(&mut outcomes, &share, &truth, usize::from(survey.trees.deepest()));
    }
    print_all(&outcomes, &format!("{name},Chao,union,hosts"), trees, &truth);
}

/// From what each tree has down to each depth, the share down to each.
type Way = fn(&[Vec<f64>]) -> Vec<f64>;

fn add_all(outcomes: &mut [Outcome], shares: &[f64], truth: &[f64], deepest: usize) {
    for ((outcome, share), truth) in outcomes.iter_mut().zip(shares).zip(truth).take(deepest) {
        outcome.add(Estimate::exact(share.clamp(0.0, 1.0)), *truth, 1.0);
    }
}

fn print_all(outcomes: &[Outcome], names: &str, trees: usize, truth: &[f64]) {
    for (depth, (outcome, truth)) in outcomes.iter().zip(truth).enumerate() {
        outcome.print(names, trees, depth, *truth);
    }
}

fn cumulative(trees: &Trees, depths: usize, amount: impl Fn(&LevelCost) -> f64) -> Vec<Vec<f64>> {
    let of_tree = |tree: usize| {
        let levels = trees.levels(tree);
        let mut sum = 0.0;
        (0..depths)
            .map(|depth| {
                sum += levels.get(depth).map_or(0.0, &amount);
                sum
            })
            .collect::<Vec<f64>>()
    };
    (0..trees.len()).map(of_tree).filter(|row| row[depths - 1] > 0.0).collect()
}

fn sums(rows: &[Vec<f64>]) -> Vec<f64> {
    let depths = rows.first().map_or(0, Vec::len);
    (0..depths).map(|depth| rows.iter().map(|row| row[depth]).sum()).collect()
}

/// Quenouille's, trees being left out one by one.
fn jackknife(rows: &[Vec<f64>]) -> Vec<f64> {
    let (all, trees) = (sums(rows), rows.len() as f64);
    let whole = all.last().copied().unwrap_or_default();
    let without = |depth: usize| {
        let each = rows.iter().map(|row| (all[depth] - row[depth]) / (whole - row[row.len() - 1]).max(1e-9));
        each.sum::<f64>() / trees
    };
    (0..all.len()).map(|depth| trees * all[depth] / whole - (trees - 1.0) * without(depth)).collect()
}

/// Beale's ratio estimator (Tin, Journal of the American Statistical Association 60, 1965).
fn beale(rows: &[Vec<f64>]) -> Vec<f64> {
    let (all, trees) = (sums(rows), rows.len() as f64);
    let last = all.len().saturating_sub(1);
    let product = |one: usize, other: usize| {
        let sum: f64 = rows.iter().map(|row| row[one] * row[other]).sum();
        (sum - all[one] * all[other] / trees) / (trees - 1.0).max(1.0) * trees
            / (all[one] * all[other]).max(1e-9)
    };
    let of_whole = product(last, last);
    (0..all.len())
        .map(|depth| all[depth] / all[last] * (1.0 + product(depth, last) / trees) / (1.0 + of_whole / trees))
        .collect()
}

/// The large trees, as the program counts them, have what Pareto's law expects of them up to ten times the largest (Hill, 1975),
/// and are together as deep as they are.
fn pareto_tail(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut rows: Vec<&Vec<f64>> = rows.iter().collect();
    let size = |row: &Vec<f64>| row[row.len() - 1];
    rows.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let large = ((2.0 * (rows.len() as f64).powf(0.4)) as usize).max(5).min(rows.len() / 3);
    let Some(threshold) = rows.get(large).map(|row| size(row)).filter(|_| large > 0) else {
        return Vec::new();
    };
    let exponent =
        large as f64 / rows[..large].iter().map(|row| (size(row) / threshold).ln()).sum::<f64>().max(1e-9);
    let most = 10.0 * size(rows[0]) / threshold;
    let beyond = most.powf(1.0 - exponent);
    let mean =
        if (exponent - 1.0).abs() < 1e-6 { 1.0 + most.ln() } else { (exponent - beyond) / (exponent - 1.0) };
    let found: f64 = rows[..large].iter().map(|row| size(row)).sum();
    let times = large as f64 * threshold * mean / found;
    let levels = |depth: usize| -> f64 {
        let (large, small) = rows.split_at(large);
        times * large.iter().map(|row| row[depth]).sum::<f64>()
            + small.iter().map(|row| row[depth]).sum::<f64>()
    };
    let depths = rows[0].len();
    (0..depths).map(|depth| levels(depth) / levels(depths - 1)).collect()
}

/// Chao's richness (Chao2) of what is known down to each depth, as a share of that of all depths.
fn chao(occurrences: &Occurrences, depths: usize) -> Vec<f64> {
    let richness = |deepest: usize| {
        let (mut known, mut once, mut twice) = (0.0, 0.0, 0.0);
        for key in occurrences.keys() {
            let trees = key.iter().filter(|one| usize::from(one.depth) <= deepest).count();
            known += f64::from(u8::from(trees > 0));
            once += f64::from(u8::from(trees == 1));
            twice += f64::from(u8::from(trees == 2));
        }
        known + once * (once - 1.0_f64).max(0.0) / (2.0 * (twice + 1.0))
    };
    let all = richness(depths).max(1e-9);
    (0..depths).map(|depth| richness(depth) / all).collect()
}
