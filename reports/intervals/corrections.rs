//! Ways to correct a share that the program does not take, each with what became of it on the same surveys.

use ccsurvey::analysis::{Estimate, Kind, LevelCost, Occurrences, Recorded, Trees};

use super::judged::{Outcome, expected_union, print_all, ratio, whole_union};

/// Reading, kind, and the amount of that kind at a level.
type Share = (&'static str, &'static str, fn(&LevelCost) -> f64);
const SUMS: [Share; 2] =
    [("load", "requests", |level| f64::from(level.requests)), ("pair", "hosts", |level| level.found()[1])];

/// From what each tree has down to each depth, the share down to each.
type Way = (&'static str, fn(&[Vec<f64>]) -> Vec<f64>);
const WAYS: [Way; 3] = [("jackknife", jackknife), ("Beale", beale), ("Pareto", pareto_tail)];

/// From what is known down to a depth, how much there is down to it.
type Richness = (&'static str, fn(&Frequencies) -> f64);
const RICHNESS: [Richness; 2] = [("Chao", Frequencies::chao), ("Good and Turing", Frequencies::good_turing)];

/// What a way gave to each depth, beside the truth.
struct Judged {
    names: String,
    truth: Vec<f64>,
    outcomes: Vec<Outcome>,
}

impl Judged {
    fn new(names: String, truth: &[f64]) -> Self {
        Self { names, truth: truth.to_vec(), outcomes: vec![Outcome::default(); truth.len()] }
    }

    /// At the deepest level of a survey all is known by definition.
    fn add(&mut self, shares: &[f64], deepest: usize) {
        for ((outcome, share), truth) in self.outcomes.iter_mut().zip(shares).zip(&self.truth).take(deepest) {
            outcome.add(Estimate::exact(share.clamp(0.0, 1.0)), *truth, 1.0);
        }
    }
}

/// Pair coverage of hosts and the load rate of requests by sums over trees; coverage with each host counted once by richness,
/// as a share of what surveys of so many trees know and of what the whole world has. The program's own is in `curves`.
pub(crate) fn corrections(world: &Recorded, name: &str, trees: usize, runs: u64) {
    let depths = usize::from(world.trees.deepest()) + 1;
    let hosts = world.known.occurrences(Kind::Hosts);
    let mut of_sums: Vec<Vec<Judged>> = SUMS
        .iter()
        .map(|(reading, of, amount)| {
            let truth = ratio(&world.trees, depths, amount);
            WAYS.iter().map(|(way, _)| Judged::new(format!("{name},{way},{reading},{of}"), &truth)).collect()
        })
        .collect();
    let truths = [
        ("union", expected_union(hosts, &world.trees, trees, depths)),
        ("whole", whole_union(world, Kind::Hosts, depths)),
    ];
    let mut of_keys: Vec<Vec<Judged>> = RICHNESS
        .iter()
        .map(|(way, _)| {
            truths
                .iter()
                .map(|(reading, truth)| Judged::new(format!("{name},{way},{reading},hosts"), truth))
                .collect()
        })
        .collect();
    for run in 0..runs {
        let survey = world.sample(trees, 1000 + run);
        let deepest = usize::from(survey.trees.deepest());
        for ((_, _, amount), ways) in SUMS.iter().zip(&mut of_sums) {
            let rows = cumulative(&survey.trees, depths, amount);
            WAYS.iter().zip(ways).for_each(|((_, way), judged)| judged.add(&way(&rows), deepest));
        }
        let known = Frequencies::by_depth(survey.known.occurrences(Kind::Hosts), depths);
        for ((_, richness), judged) in RICHNESS.iter().zip(&mut of_keys) {
            let all = known.last().map_or(0.0, richness).max(1e-9);
            let shares: Vec<f64> = known.iter().map(|known| richness(known) / all).collect();
            judged.iter_mut().for_each(|judged| judged.add(&shares, deepest));
        }
    }
    for judged in of_sums.iter().chain(&of_keys).flatten() {
        print_all(&judged.outcomes, &judged.names, trees, &judged.truth);
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

/// How many keys are known down to a depth, from one tree, from two, and the incidences of all.
#[derive(Clone, Copy, Default)]
struct Frequencies {
    known: f64,
    once: f64,
    twice: f64,
    incidences: f64,
}

impl Frequencies {
    fn by_depth(occurrences: &Occurrences, depths: usize) -> Vec<Self> {
        let mut known = vec![Self::default(); depths];
        for key in occurrences.keys() {
            for (depth, known) in known.iter_mut().enumerate() {
                let trees = key.iter().filter(|one| usize::from(one.depth) <= depth).count();
                known.known += f64::from(u8::from(trees > 0));
                known.once += f64::from(u8::from(trees == 1));
                known.twice += f64::from(u8::from(trees == 2));
                known.incidences += trees as f64;
            }
        }
        known
    }

    /// Chao2, in its bias-corrected form.
    fn chao(&self) -> f64 {
        self.known + self.once * (self.once - 1.0).max(0.0) / (2.0 * (self.twice + 1.0))
    }

    /// As many as make what is known the share of all incidences that Good gives it (Biometrika 40, 1953).
    fn good_turing(&self) -> f64 {
        self.known * self.incidences / (self.incidences - self.once).max(1.0)
    }
}
