//! How far shares are from their truth in a world that is known as a whole, and how often their intervals hold it.

use ccsurvey::analysis::{Curves, Estimate, Grouping, Kind, LevelCost, Occurrences, Recorded, Trees};

/// Which curve.
#[derive(Clone, Copy)]
enum Reading {
    Load(usize, &'static str),
    Pair(Kind),
    Union(Kind),
    /// As a share of what the whole world has, which a survey does not claim.
    Whole(Kind),
}

/// A curve, its truth, and how often it was held.
pub(crate) struct Figure {
    reading: Reading,
    truth: Vec<f64>,
    outcomes: Vec<Outcome>,
}

/// What was seen at one depth, summed over the runs.
#[derive(Clone, Default)]
pub(crate) struct Outcome {
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

pub(crate) fn figures(world: &Recorded, trees: usize, depths: usize) -> Vec<Figure> {
    let load = ["requests", "bytes", "busy_time"]
        .into_iter()
        .enumerate()
        .map(|(unit, word)| Reading::Load(unit, word));
    let pair = Kind::ALL.into_iter().take(3).map(Reading::Pair);
    let union = Kind::ALL.into_iter().map(Reading::Union);
    load.chain(pair)
        .chain(union)
        .chain([Reading::Whole(Kind::Hosts)])
        .map(|reading| {
            let truth = match reading {
                Reading::Union(kind) => {
                    expected_union(world.known.occurrences(kind), &world.trees, trees, depths)
                }
                Reading::Whole(kind) => whole_union(world, kind, depths),
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
            Self::Pair(kind) | Self::Union(kind) | Self::Whole(kind) => level.found()[(kind as usize).min(2)],
        }
    }

    fn of(self, curves: &Curves, depth: usize) -> Option<Estimate> {
        let level = curves.levels.get(depth)?;
        match self {
            Self::Load(unit, _) => Some(level.load[unit]),
            Self::Pair(kind) => level.pair(kind),
            Self::Union(kind) | Self::Whole(kind) => Some(level.union(kind)),
        }
    }

    fn words(self) -> (&'static str, String) {
        match self {
            Self::Load(_, word) => ("load", word.to_owned()),
            Self::Pair(kind) => ("pair", format!("{kind:?}").to_lowercase()),
            Self::Union(kind) => ("union", format!("{kind:?}").to_lowercase()),
            Self::Whole(kind) => ("whole", format!("{kind:?}").to_lowercase()),
        }
    }
}

impl Figure {
    pub(crate) fn judge(&mut self, curves: &Curves, left: f64) {
        for (depth, outcome) in self.outcomes.iter_mut().enumerate() {
            let Some(estimate) = self.reading.of(curves, depth) else { continue };
            if depth + 1 < curves.levels.len() {
                outcome.add(estimate, self.truth[depth], left);
            }
        }
    }

    pub(crate) fn print(&self, name: &str, trees: usize) {
        let (reading, of) = self.reading.words();
        print_all(&self.outcomes, &format!("{name},{reading},{of}"), trees, &self.truth);
    }
}

impl Outcome {
    pub(crate) fn add(&mut self, estimate: Estimate, truth: f64, left: f64) {
        self.runs += 1;
        self.measured.add(estimate.value - truth);
        self.corrected.add(estimate.corrected - truth);
        let Some((low, high)) = estimate.interval() else { return };
        let nearer = |end: f64| estimate.value + (end - estimate.value) * left;
        self.contained += u64::from((nearer(low) - 1e-12..=nearer(high) + 1e-12).contains(&truth));
        self.lows.push(low);
        self.highs.push(high);
    }

    pub(crate) fn print(&self, names: &str, trees: usize, depth: usize, truth: f64) {
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
pub(crate) fn ratio(trees: &Trees, depths: usize, amount: impl Fn(&LevelCost) -> f64) -> Vec<f64> {
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

/// Distinct keys of the whole world that are known from levels 0 to d.
pub(crate) fn whole_union(world: &Recorded, kind: Kind, depths: usize) -> Vec<f64> {
    let known = world.known.counts(kind);
    (0..).take(depths).map(|depth| known.up_to(depth) as f64 / known.total() as f64).collect()
}

/// Distinct keys from levels 0 to d that surveys of so many trees know on average, as a share of all they know.
///
/// A key is missed by a survey if none of its trees is drawn: in each country domain with N trees, f of which
/// know the key, of n drawn ones with chance C(N − f, n) / C(N, n).
pub(crate) fn expected_union(
    occurrences: &Occurrences,
    trees: &Trees,
    drawn: usize,
    depths: usize,
) -> Vec<f64> {
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

pub(crate) fn print_all(outcomes: &[Outcome], names: &str, trees: usize, truth: &[f64]) {
    for (depth, (outcome, truth)) in outcomes.iter().zip(truth).enumerate() {
        outcome.print(names, trees, depth, *truth);
    }
}
