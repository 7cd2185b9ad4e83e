//! Load and coverage by depth, with their basis: the tables as read, the trees that were cut, the links that
//! were never seen.

pub(super) mod censoring;
pub(super) mod completeness;
pub(super) mod deepest;
pub(super) mod ratios;
pub(super) mod reading;
pub(super) mod recorded;
pub(super) mod subset;
pub(super) mod unions;
pub(super) mod unseen;
#[cfg(test)]
pub(super) mod worlds;

use serde::Serialize;

use super::intervals::chance::Chance;
use super::intervals::sampled_rate::SampledRate;
use super::intervals::units::{DrawLimits, Units};
use super::intervals::{in_order, intervals};
use super::tables::in_turn::parallel_array;
use super::{
    Estimate, Kind, KnownByDepth, KnownKeys, LevelCost, LoadUnit, NoInterval, Recorded, Sampling, Trees,
};
use ratios::ratio;
use unions::Union;

/// Load and coverage against depth, over all site trees of a survey.
#[derive(Clone, Debug, Serialize)]
pub struct Curves {
    /// The number of site trees in the curves.
    pub trees: u64,
    /// How the intervals were computed.
    pub sampling: Sampling,
    /// The levels, from depth 0 to the deepest level that any tree was walked to.
    pub levels: Vec<CurveLevel>,
}

/// The cost and the finds of levels 0 to `depth`.
#[derive(Clone, Debug, Serialize)]
pub struct CurveLevel {
    /// The deepest level that is counted.
    pub depth: u16,
    /// Pages read for links.
    pub pages: u64,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Bytes on the wire, in both directions.
    pub bytes: u64,
    /// Busy time of the servers, in milliseconds.
    pub busy_ms: f64,
    /// External URLs, hosts and sites, each counted once in every site tree.
    pub found: [u64; 3],
    /// External URLs, hosts, sites and server addresses, each counted once in the survey.
    pub known: [u64; 4],
    /// Load up to this level as a share of all load: requests, bytes, busy time.
    pub load: [Estimate; 3],
    /// Pair coverage: the sum over site trees of external URLs, hosts and sites, as a share of all.
    pub pair: [Estimate; 3],
    /// Union coverage: distinct external URLs, hosts, sites and addresses as a share of all that are known.
    pub union: [Estimate; 4],
    /// Server addresses first known at this level, per 1,000 requests of this level.
    pub new_servers_per_1000_requests: Option<f64>,
}

impl CurveLevel {
    /// The load as a share of the load of all levels, in this unit.
    #[must_use]
    pub fn load(&self, unit: LoadUnit) -> Estimate {
        self.load[unit as usize]
    }

    /// Pair coverage; none for addresses, which belong to the survey and not to a tree.
    #[must_use]
    pub fn pair(&self, kind: Kind) -> Option<Estimate> {
        self.pair.get(kind as usize).copied()
    }

    /// Union coverage: each key is counted once in the survey.
    #[must_use]
    pub fn union(&self, kind: Kind) -> Estimate {
        self.union[kind as usize]
    }
}

impl Curves {
    /// Computes the curves of a survey.
    ///
    /// Takes at most half a minute for the largest survey, and about a second for 3,400 site trees of 20
    /// levels. Most of the time goes into the intervals, in proportion to the number of replicates.
    #[must_use]
    pub fn measure(recorded: &Recorded, sampling: &Sampling) -> Self {
        Self::draw(recorded, DrawLimits::WHOLE_SURVEY, sampling)
    }

    /// As [`Self::measure`], with limits on the random draws behind the intervals.
    pub(super) fn draw(recorded: &Recorded, limits: DrawLimits, sampling: &Sampling) -> Self {
        let totals = totals(&recorded.trees);
        let readings = Readings::in_units(recorded, limits, sampling);
        let shares = Shares::new(&readings, &recorded.known, limits, sampling);
        let (mut levels, mut before) = (Vec::with_capacity(totals.len()), (0, 0));
        // A single site does not show how sites differ.
        let has_one_site = recorded.trees.has_one_site();
        let share_at = |shares: &[Estimate], depth: u16| {
            let share = shares[usize::from(depth)];
            if has_one_site { one_site_estimate(share.value) } else { share }
        };
        for (depth, total) in (0..).zip(totals) {
            let known = Kind::ALL.map(|kind| recorded.known.counts(kind).up_to(depth));
            let addresses = known[Kind::Addresses as usize];
            let (servers, requests) = (addresses - before.0, total.requests - before.1);
            before = (addresses, total.requests);
            levels.push(CurveLevel {
                depth,
                pages: total.pages,
                requests: total.requests,
                bytes: total.bytes,
                busy_ms: total.busy_ms,
                found: total.found,
                known,
                load: shares.load.each_ref().map(|shares| share_at(shares, depth)),
                pair: shares.pair.each_ref().map(|shares| share_at(shares, depth)),
                union: shares.union.each_ref().map(|shares| share_at(shares, depth)),
                new_servers_per_1000_requests: (requests > 0)
                    .then(|| servers as f64 * 1000.0 / requests as f64),
            });
        }
        Self { trees: recorded.trees.len() as u64, sampling: *sampling, levels }
    }
}

/// Load rates and coverage at every depth, with their intervals.
struct Shares {
    load: [Vec<Estimate>; 3],
    pair: [Vec<Estimate>; 3],
    union: [Vec<Estimate>; 4],
}

/// The amount of a level that is summed over trees.
pub(super) type Amount = fn(&LevelCost) -> f64;

pub(super) const LOAD: [Amount; 3] =
    [|level| f64::from(level.requests), |level| level.bytes as f64, |level| level.busy_ms];
const FOUND: [Amount; 3] =
    [|level| f64::from(level.urls), |level| f64::from(level.hosts), |level| f64::from(level.sites)];

/// The contribution of each tree to the load and the coverage of a survey.
struct Readings {
    load: [SampledRate; 3],
    pair: [SampledRate; 3],
    union: [SampledRate; 4],
}

impl Readings {
    /// Reads the contributions of all trees, in random groups if there are more trees than `limits.units`.
    fn in_units(recorded: &Recorded, limits: DrawLimits, sampling: &Sampling) -> Self {
        let trees = &recorded.trees;
        let units = Units::draw(trees, limits.units, &mut Chance::new(sampling.seed, 0));
        let rate = |amount: Amount| ratio(trees, &units, amount);
        let union = |kind| {
            let occurrences = recorded.known.occurrences(kind);
            Union::new(occurrences, &units, trees.depths()).read(&units.strata)
        };
        let rates: [SampledRate; 10] = parallel_array(|number| match number {
            0..3 => rate(LOAD[number]),
            3..6 => rate(FOUND[number - 3]),
            _ => union(Kind::ALL[number - 6]),
        });
        let [requests, bytes, busy, urls, hosts, sites, union @ ..] = rates;
        Self { load: [requests, bytes, busy], pair: [urls, hosts, sites], union }
    }
}

impl Shares {
    fn new(readings: &Readings, known: &KnownKeys, limits: DrawLimits, sampling: &Sampling) -> Self {
        let draw_intervals = |first: u64, kind: usize, reading: &SampledRate| {
            let mut chance = Chance::new(sampling.seed, first + kind as u64);
            intervals(reading, limits.weights, sampling, &mut chance)
        };
        let load = |unit| draw_intervals(1, unit, &readings.load[unit]);
        let pair = |kind| draw_intervals(4, kind, &readings.pair[kind]);
        let union = |kind| draw_intervals(7, kind, &readings.union[kind]);
        let shares: [Vec<Estimate>; 10] = parallel_array(|number| match number {
            0..3 => in_order(load(number)),
            3..6 => in_order(pair(number - 3)),
            _ => in_order(with_exact_values(union(number - 6), known.counts(Kind::ALL[number - 6]))),
        });
        let [requests, bytes, busy, urls, hosts, sites, union @ ..] = shares;
        Self { load: [requests, bytes, busy], pair: [urls, hosts, sites], union }
    }
}

/// An estimate without an interval, for a survey of a single site.
fn one_site_estimate(value: f64) -> Estimate {
    let is_part = value > 0.0 && value < 1.0;
    Estimate { no_interval: is_part.then_some(NoInterval::OneSite), ..Estimate::exact(value) }
}

/// Replaces the coverage of a sample of keys by the exact coverage, and shifts the intervals with it.
fn with_exact_values(mut estimates: Vec<Estimate>, known: &KnownByDepth) -> Vec<Estimate> {
    for (depth, estimate) in (0..).zip(&mut estimates) {
        let exact = if known.total() > 0 { known.up_to(depth) as f64 / known.total() as f64 } else { 0.0 };
        let shifted = |end: f64| (end + exact - estimate.value).clamp(0.0, 1.0);
        let ends = estimate.interval().map(|(low, high)| (shifted(low), shifted(high)));
        let (low, high) = ends.unwrap_or((exact, exact));
        let corrected = shifted(estimate.corrected).min(exact);
        *estimate = Estimate { value: exact, corrected, low, high, no_interval: estimate.no_interval };
    }
    estimates
}

/// Cumulative sums over all trees.
#[derive(Clone, Default)]
struct Total {
    pages: u64,
    requests: u64,
    bytes: u64,
    busy_ms: f64,
    found: [u64; 3],
}

fn totals(trees: &Trees) -> Vec<Total> {
    let mut totals = vec![Total::default(); trees.depths()];
    for tree in 0..trees.len() {
        for (depth, level) in trees.levels(tree).iter().enumerate() {
            let total = &mut totals[depth];
            total.pages += u64::from(level.pages);
            total.requests += u64::from(level.requests);
            total.bytes += level.bytes;
            total.busy_ms += level.busy_ms;
            let found = [level.urls, level.hosts, level.sites];
            for (sum, new) in total.found.iter_mut().zip(found) {
                *sum += u64::from(new);
            }
        }
    }
    for depth in 1..totals.len() {
        let above = totals[depth - 1].clone();
        totals[depth].add(&above);
    }
    totals
}

impl Total {
    fn add(&mut self, above: &Self) {
        self.pages += above.pages;
        self.requests += above.requests;
        self.bytes += above.bytes;
        self.busy_ms += above.busy_ms;
        for (sum, above) in self.found.iter_mut().zip(above.found) {
            *sum += above;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::worlds::{TestTree, country, survey, tree};
    use super::*;

    fn estimates(curves: &Curves) -> Vec<Estimate> {
        curves
            .levels
            .iter()
            .flat_map(|level| {
                level.load.iter().chain(&level.pair).chain(&level.union).copied().collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn intervals_hold_the_value_and_stay_within_nothing_and_all() {
        for trees in [1, 2, 3, 17, 300] {
            let curves = Curves::measure(&survey(&country(trees, 7, 5)), &Sampling::default());
            for one in estimates(&curves) {
                for value in [one.value].into_iter().chain(one.interval().map(|_| one.corrected)) {
                    assert!(0.0 <= one.low && one.low <= value && value <= one.high, "{trees}: {one:?}");
                }
                assert!(one.high <= 1.0 && one.corrected <= one.value, "{trees}: {one:?}");
                assert!(one.interval().is_none() || one.no_interval.is_none(), "{trees}: {one:?}");
                assert_eq!(one.is_unsure(), one.no_interval.is_some(), "{trees}: {one:?}");
            }
            let last = curves.levels.last().unwrap();
            assert_eq!(last.union[0], Estimate::exact(1.0));
        }
    }

    #[test]
    fn a_share_without_an_interval_says_why() {
        let reasons = |trees: &[TestTree]| {
            let level = &Curves::measure(&survey(trees), &Sampling::default()).levels[0];
            assert!(level.union[0].interval().is_none());
            (level.load[0].no_interval, level.union[0].no_interval)
        };
        let one = |names: &'static [u64]| tree("complete", &[(2, names), (3, &[900])]);
        assert_eq!(reasons(&[one(&[1])]), (Some(NoInterval::OneSite), Some(NoInterval::OneSite)));
        let few: Vec<TestTree> = (0..30).map(|_| one(&[1, 2])).collect();
        assert_eq!(reasons(&few), (Some(NoInterval::FewTrees), Some(NoInterval::FewTrees)));
        let mut uneven: Vec<TestTree> = (0..60).map(|_| tree("complete", &[(2, &[1])])).collect();
        uneven.push(tree("complete", &[(1, &[]), (900, &[2])]));
        assert_eq!(reasons(&uneven).0, Some(NoInterval::LargestTree));
        uneven[60] = tree("complete", &[(1, &[]), (9, &[2])]);
        assert_eq!(reasons(&uneven).0, Some(NoInterval::FewBelow));
    }

    #[test]
    fn the_same_seed_gives_the_same_intervals() {
        let recorded = survey(&country(300, 6, 5));
        let with_seed =
            |seed| estimates(&Curves::measure(&recorded, &Sampling { seed, ..Sampling::default() }));
        assert_eq!(with_seed(1), with_seed(1));
        assert_ne!(with_seed(1), with_seed(2));
    }

    #[test]
    fn nothing_known_is_nothing_covered() {
        let curves = Curves::measure(&survey(&[tree("unreachable", &[])]), &Sampling::default());
        assert_eq!(curves.levels[0].union[0], Estimate::default());
        assert_eq!(curves.levels[0].pair[0], Estimate::default());
    }

    /// A small version of the measurement in `reports/intervals` on virtual Webs: surveys of 400 trees out of
    /// 4,000.
    #[test]
    fn intervals_of_small_surveys_hold_the_truth_of_the_country() {
        let (runs, depths) = (40, 6);
        let whole = survey(&country(4000, depths, 11));
        let truth = Curves::measure(&whole, &Sampling { replicates: 1, ..Sampling::default() });
        let (mut covered, mut interval_count) = ([[0_u32; 2]; 6], 0);
        for seed in 0..runs {
            let curves = Curves::measure(
                &whole.sample(400, seed),
                &Sampling { seed, replicates: 200, ..Sampling::default() },
            );
            for (depth, covered) in covered.iter_mut().enumerate().take(depths - 1) {
                let Some(level) = curves.levels.get(depth) else { continue };
                let pair = (level.load[0], truth.levels[depth].load[0]);
                let found = (level.pair[0], truth.levels[depth].pair[0]);
                for (covered, (estimate, truth)) in covered.iter_mut().zip([pair, found]) {
                    interval_count += u32::from(estimate.interval().is_some());
                    *covered += u32::from(
                        estimate.is_unsure() || (estimate.low..=estimate.high).contains(&truth.value),
                    );
                }
            }
        }
        // If each of 40 intervals holds the truth with probability 0.93, fewer than 32 do so once in 200
        // times.
        assert!(covered.iter().flatten().all(|covered| *covered == 0 || *covered >= 32), "{covered:?}");
        assert!(interval_count > 200, "{interval_count}");
    }

    /// The same for the correction, with surveys of 100 trees. The largest trees of this country are neither
    /// very large nor much deeper, so there is little to correct, and the correction may be slightly too
    /// large.
    #[test]
    fn corrected_shares_of_small_surveys_stay_near_the_truth_of_the_country() {
        let (runs, depths) = (40, 6);
        let whole = survey(&country(4000, depths, 11));
        let truth = Curves::measure(&whole, &Sampling { replicates: 1, ..Sampling::default() });
        let (mut measured, mut corrected) = (Vec::new(), Vec::new());
        for seed in 0..runs {
            let sampling = Sampling { seed, replicates: 100, ..Sampling::default() };
            let curves = Curves::measure(&whole.sample(100, seed), &sampling);
            for (level, truth) in curves.levels.iter().zip(&truth.levels).take(depths - 1) {
                for (share, truth) in [(level.load[0], truth.load[0]), (level.pair[0], truth.pair[0])] {
                    measured.push(share.value - truth.value);
                    corrected.push(share.corrected - truth.value);
                }
            }
        }
        let [measured, corrected] =
            [measured, corrected].map(|errors: Vec<f64>| errors.iter().sum::<f64>() / errors.len() as f64);
        // On average, measured shares are 0.6 points above the truth, and corrected shares 1.0 below it.
        assert!((0.003..0.01).contains(&measured), "{measured}");
        assert!((-0.015..0.0).contains(&corrected), "{corrected}");
    }
}
