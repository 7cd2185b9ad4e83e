use rayon::prelude::*;

use ccsurvey::analysis::policies::{PolicyPoint, PolicyRun};

/// Load and coverage of a policy at several strengths, as shares of the whole survey.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    points: Vec<PolicyPoint>,
}

/// An estimate with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Interval {
    /// Of all trees.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Surveys drawn to tell how far a ratio scatters: enough for the ends of a 95 % interval.
const DRAWS: u64 = 400;

impl Curve {
    /// Of the strengths of one policy, in any order.
    pub(crate) fn of(points: impl IntoIterator<Item = PolicyPoint>) -> Self {
        let mut points: Vec<PolicyPoint> = points.into_iter().collect();
        points.sort_by(|one, other| one.load.total_cmp(&other.load));
        Self { points }
    }

    /// The least load of a strength that comes to this coverage, for policies with few strengths to choose from.
    pub(crate) fn cheapest(&self, coverage: f64) -> Option<f64> {
        self.points.iter().find(|point| point.coverage >= coverage).map(|point| point.load)
    }

    /// The most that a strength comes to within a load, for policies with few strengths to choose from.
    pub(crate) fn best_within(&self, load: f64) -> Option<f64> {
        let within = self.points.iter().filter(|point| point.load <= load);
        within.map(|point| point.coverage).max_by(f64::total_cmp)
    }

    /// The coverage at a load, straight between strengths, for policies that have one for any.
    pub(crate) fn coverage_at(&self, load: f64) -> Option<f64> {
        let at = self.points.iter().position(|point| point.load >= load)?;
        let (lower, upper) = (self.points[at.checked_sub(1)?], self.points[at]);
        let way = (load - lower.load) / (upper.load - lower.load).max(f64::MIN_POSITIVE);
        Some(lower.coverage + way * (upper.coverage - lower.coverage))
    }

    /// The load at a coverage, straight between strengths, for policies that have one for any.
    pub(crate) fn load_at(&self, coverage: f64) -> Option<f64> {
        let at = self.points.iter().position(|point| point.coverage >= coverage)?;
        let upper = self.points[at];
        let Some(lower) = at.checked_sub(1).map(|before| self.points[before]) else {
            return Some(upper.load);
        };
        let way = (coverage - lower.coverage) / (upper.coverage - lower.coverage).max(f64::MIN_POSITIVE);
        Some(lower.load + way * (upper.load - lower.load))
    }
}

/// By how much less a policy costs at a coverage than another, with the interval over draws of trees: both are played on the same
/// draws. `load_of_other` reads the load of the other off its curve.
pub(crate) fn ratio_interval(
    policy: &[PolicyRun],
    others: &[PolicyRun],
    whole: &PolicyRun,
    coverage: f64,
    load_of_other: fn(&Curve, f64) -> Option<f64>,
) -> Option<Interval> {
    let ratio = |times: &[u32]| {
        let curve = |runs: &[PolicyRun]| Curve::of(runs.iter().map(|run| run.weighted(whole, times)));
        Some(curve(policy).load_at(coverage)? / load_of_other(&curve(others), coverage)?)
    };
    let trees = whole.trees();
    let value = ratio(&vec![1; trees])?;
    let drawn = (0..DRAWS).into_par_iter().filter_map(|draw| ratio(&resample(trees, draw)));
    ends(value, drawn.collect())
}

/// What a policy made at one strength, beside the cheapest of other policies that finds as much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beside {
    /// Requests, as a share of those of the survey.
    pub load: Interval,
    /// Distinct external hosts, as a share of those of the survey.
    pub coverage: Interval,
    /// Which of the others is the cheapest.
    pub cheapest: usize,
    /// Its load and coverage.
    pub other: PolicyPoint,
    /// The requests of the policy for one of the other.
    pub ratio: Interval,
}

/// A policy as it is, and what is the cheapest of others that finds at least as much: with intervals over draws of trees, in each of
/// which the other is chosen anew. None where no other finds as much.
pub(crate) fn beside(policy: &PolicyRun, others: &[PolicyRun], whole: &PolicyRun) -> Option<Beside> {
    let compared = |times: &[u32]| {
        let point = policy.weighted(whole, times);
        let points = others.iter().map(|run| run.weighted(whole, times)).enumerate();
        let finding = points.filter(|(_, other)| other.coverage >= point.coverage);
        let cheapest = finding.min_by(|(_, one), (_, other)| one.load.total_cmp(&other.load))?;
        Some((point, cheapest))
    };
    let trees = whole.trees();
    let (point, (cheapest, other)) = compared(&vec![1; trees])?;
    let drawn = (0..DRAWS).into_par_iter().filter_map(|draw| compared(&resample(trees, draw)));
    let drawn: Vec<(PolicyPoint, PolicyPoint)> = drawn.map(|(point, (_, other))| (point, other)).collect();
    let ratio = |point: &PolicyPoint, other: &PolicyPoint| point.load / other.load.max(f64::MIN_POSITIVE);
    let interval = |value: f64, of: &dyn Fn(&(PolicyPoint, PolicyPoint)) -> f64| {
        ends(value, drawn.iter().map(of).collect())
    };
    Some(Beside {
        load: interval(point.load, &|(point, _)| point.load)?,
        coverage: interval(point.coverage, &|(point, _)| point.coverage)?,
        cheapest,
        other,
        ratio: interval(ratio(&point, &other), &|(point, other)| ratio(point, other))?,
    })
}

/// The interval of a value by draws. Of a survey drawn with replacement fewer hosts are distinct, so that the draws need not lie
/// around the value.
fn ends(value: f64, mut drawn: Vec<f64>) -> Option<Interval> {
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn.get(((drawn.len().max(1) - 1) as f64 * share).round() as usize).copied();
    Some(Interval { value, low: at(0.025)?.min(value), high: at(0.975)?.max(value) })
}

/// How often each tree stands in a draw with replacement.
fn resample(trees: usize, draw: u64) -> Vec<u32> {
    let mut times = vec![0; trees];
    for n in 0..trees as u64 {
        let key = xxhash_rust::xxh3::xxh3_64_with_seed(&n.to_le_bytes(), draw);
        // The upper half of key × trees: as likely for each tree as 64 bits can tell.
        let at = (u128::from(key) * trees as u128) >> 64;
        times[usize::try_from(at).unwrap_or_default()] += 1;
    }
    times
}
