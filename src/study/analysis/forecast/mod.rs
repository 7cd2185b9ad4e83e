//! Forecasts of the cost of a survey in a network environment, for each depth and for other strategies.

pub(super) mod classes;
pub(super) mod comparison;
pub(super) mod environment;
pub(super) mod environment_file;
pub(super) mod replays;

use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;

use super::choice::evidence::Side;
use super::schedule::{Conditions, Exchanges, Pacing, Schedule};
use super::{Criterion, DepthShare, Environment, Estimate, Evidence, Kind, Reading, SitesNeeded, Verdict};

/// The duration, cost and coverage of a survey to each depth in a network environment, and the depth that
/// fits.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// The environment. Values that it leaves open are as recorded.
    pub environment: Environment,
    /// The probability that the recommended depth reaches the wanted coverage. At one half, the corrected
    /// curve decides.
    pub confidence: f64,
    /// The confidence of the intervals that are shown.
    pub interval_confidence: f64,
    /// The kind in which coverage is counted.
    pub of: Kind,
    /// The reading of coverage.
    pub reading: Reading,
    /// What the survey says about the depth.
    pub verdict: Verdict,
    /// The recommended depth; none if none fits or the survey ended too early to say. If a coverage is
    /// wanted, it is the least depth that keeps all bounds, otherwise the greatest.
    pub depth: Option<u16>,
    /// The number of further sites that would make the coverage at that depth certain enough, if a coverage
    /// is wanted.
    pub settling: Option<SitesNeeded>,
    /// If no depth fits, the nearest one, and how far each bound would have to be relaxed for it.
    pub nearest: Option<NearestDepth>,
    /// The deepest level walked. Nothing is known about deeper levels.
    pub deepest: u16,
    /// Site trees of the survey.
    pub trees: u64,
    /// Trees that continue below the deepest level.
    pub open_trees: u64,
    /// How much the survey knows of what there is to find, deeper levels included.
    pub known: DepthShare,
    /// The depths that each bound allows.
    pub limits: Vec<Limit>,
    /// The depths, from 0 down.
    pub levels: Vec<ForecastLevel>,
}

/// The forecast of a survey to one depth.
#[derive(Clone, Debug, Serialize)]
pub struct ForecastLevel {
    /// The deepest level that is walked.
    pub depth: u16,
    /// The duration of the survey.
    pub seconds: f64,
    /// Site trees that are walked.
    pub trees: u64,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Bytes in both directions.
    pub bytes: u64,
    /// The rate in the busiest hour.
    pub busiest_bits_per_second: f64,
    /// Requests per server.
    pub server_requests: ServerSpread,
    /// Bytes per server, in both directions.
    pub server_bytes: ServerSpread,
    /// The share of a server's link that the survey takes over its time at the server. If no link is given,
    /// it is the share of the measured throughput, which is what other users leave of the link.
    pub server_share: Option<ServerSpread>,
    /// The share of the surveyor's link that is used in the busiest hour.
    pub surveyor_share: Option<f64>,
    /// The coverage, as a share of what the recorded survey knows.
    pub coverage: Estimate,
    /// The coverage that decides: of the corrected curve, or its lower bound at the chosen confidence.
    pub deciding_coverage: f64,
    /// The bounds that this depth breaks.
    pub breaks: Vec<Bound>,
}

/// The distribution of a figure over the servers that receive any request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ServerSpread {
    /// At least half of the servers have no more.
    pub median: f64,
    /// At least 95 % of the servers have no more.
    pub p95: f64,
    /// The highest value of any server.
    pub most: f64,
}

/// A bound that a survey must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The days that the survey may take.
    Days,
    /// The share of what is known that the survey must find.
    Coverage,
    /// The share of a server's link that the survey may take.
    ServerShare,
    /// Requests that a server may receive.
    ServerRequests,
    /// Bytes that a server may transfer.
    ServerBytes,
    /// The share of the surveyor's own link that the survey may take.
    SurveyorShare,
}

/// A bound, and the depths that keep it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// The bound.
    pub bound: Bound,
    /// The value in the environment.
    pub wanted: f64,
    /// The depths that keep the bound.
    pub depths: Vec<u16>,
    /// If no depth fits: how far this bound would have to be relaxed, with all others kept; none if that does
    /// not help.
    pub alone: Option<NearestDepth>,
}

impl Limit {
    /// The first and the last depth that keep the bound.
    #[must_use]
    pub fn range(&self) -> Option<(u16, u16)> {
        self.depths.first().copied().zip(self.depths.last().copied())
    }
}

/// A depth for which some bounds would have to be relaxed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearestDepth {
    /// The deepest level that is walked.
    pub depth: u16,
    /// The bounds that the depth breaks.
    pub gives: Vec<Shortfall>,
}

/// How far a bound would have to be relaxed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shortfall {
    /// The bound.
    pub bound: Bound,
    /// The value in the environment.
    pub wanted: f64,
    /// The value at the depth, in the same unit.
    pub found: f64,
}

/// Seconds over which the share of a link is taken, at the least: during the second of a download every link
/// is full.
const MIN_WINDOW: f64 = 60.0;
const DAY: f64 = 86_400.0;
const HOUR: f64 = 3600.0;

impl Forecast {
    /// Forecasts surveys of the trees for which `keep` is true, to every depth that was walked. `pacing`
    /// creates the rule of pauses in that environment, once for each depth.
    #[must_use]
    pub fn play<P: Pacing>(
        exchanges: &Exchanges,
        evidence: &Evidence,
        environment: &Environment,
        conditions: &Conditions,
        keep: impl Fn(usize) -> bool + Sync,
        pacing: impl Fn() -> P + Sync,
    ) -> Self {
        let (of, reading) = environment.survey.counted();
        let curves = &evidence.curves;
        let low_coverage = evidence.deciding(|level| reading.coverage(level, of), Side::Low);
        // Each depth is a separate survey.
        let schedules = curves.levels.par_iter().map(|level| {
            let schedule = Schedule::play(exchanges, level.depth, &keep, conditions, &mut pacing());
            Figures::from_schedule(&schedule, exchanges, environment)
        });
        let schedules: Vec<Figures> = schedules.collect();
        let levels: Vec<ForecastLevel> = (curves.levels.iter().zip(low_coverage).zip(schedules))
            .map(|((level, low_coverage), figures)| {
                figures.level(level.depth, (reading.coverage(level, of), low_coverage), environment)
            })
            .collect();
        let mut fitting = levels.iter().filter(|level| level.breaks.is_empty()).map(|level| level.depth);
        let wanted = environment.survey.coverage;
        let fits = if wanted.is_some() { fitting.next() } else { fitting.next_back() };
        let known = evidence.shares.known_share(of, reading);
        let knows_enough = |level: &ForecastLevel| {
            wanted.is_none_or(|wanted| {
                Criterion::nearly_covers(wanted, evidence.share(known), level.deciding_coverage)
            })
        };
        let verdict = match fits.and_then(|depth| levels.get(usize::from(depth))) {
            _ if evidence.found_nothing((of, reading)) => Verdict::NothingFound,
            None => Verdict::NoneFits,
            Some(level) if knows_enough(level) => Verdict::Recommended,
            Some(_) => Verdict::SurveyDeeper,
        };
        Self {
            environment: environment.clone(),
            confidence: evidence.confidence,
            interval_confidence: curves.sampling.confidence,
            of,
            reading,
            verdict,
            depth: fits.filter(|_| verdict == Verdict::Recommended),
            settling: wanted.and(fits).and_then(|depth| {
                SitesNeeded::from_estimate(
                    reading.coverage(curves.levels.get(usize::from(depth))?, of),
                    curves.trees,
                )
            }),
            nearest: if fits.is_none() { NearestDepth::find(environment, &levels) } else { None },
            deepest: curves.levels.last().map_or(0, |level| level.depth),
            trees: curves.trees,
            open_trees: evidence.shares.open_trees,
            known,
            limits: limits(environment, &levels, fits.is_some()),
            levels,
        }
    }

    /// The level of the recommended depth.
    #[must_use]
    pub fn chosen(&self) -> Option<&ForecastLevel> {
        self.level(self.depth?)
    }

    /// The level of a depth.
    #[must_use]
    pub fn level(&self, depth: u16) -> Option<&ForecastLevel> {
        self.levels.get(usize::from(depth))
    }

    /// The limit that is broken at the least depth, and that depth. Coverage is returned only if no other
    /// bound is broken.
    #[must_use]
    pub fn fails_first(&self) -> Option<(&Limit, u16)> {
        let broken = |limit: &Limit| {
            let levels = self.levels.iter();
            levels.filter(|level| level.breaks.contains(&limit.bound)).map(|level| level.depth).next()
        };
        let failing = self.limits.iter().filter_map(|limit| Some((limit, broken(limit)?)));
        failing.min_by_key(|(limit, depth)| (limit.bound == Bound::Coverage, *depth))
    }

    /// Whether only the depth of the recorded survey, and no bound, keeps a deeper survey from being
    /// recommended.
    #[must_use]
    pub fn may_go_deeper(&self) -> bool {
        let is_deepest = self.depth == Some(self.deepest);
        is_deepest && self.environment.survey.coverage.is_none() && self.open_trees > 0
    }

    /// Depths whose survey takes less time than a survey to some lesser depth.
    #[must_use]
    pub fn sooner_than_shallower(&self) -> Vec<u16> {
        let mut longest = 0.0;
        let mut is_sooner = |level: &&ForecastLevel| {
            let is_sooner = level.seconds < longest;
            longest = level.seconds.max(longest);
            is_sooner
        };
        self.levels.iter().filter(&mut is_sooner).map(|level| level.depth).collect()
    }
}

impl Limit {
    /// The bounds that no depth keeps. If every bound is kept by some depth: the bounds that are not kept by
    /// all `depths` depths.
    #[must_use]
    pub fn forbidding(limits: &[Self], depths: usize) -> Vec<&Self> {
        let never: Vec<&Self> = limits.iter().filter(|limit| limit.depths.is_empty()).collect();
        let sometimes = || limits.iter().filter(|limit| limit.depths.len() < depths).collect();
        if never.is_empty() { sometimes() } else { never }
    }
}

/// The figures of the schedule of one depth.
struct Figures {
    duration: Duration,
    trees: u64,
    requests: u64,
    bytes: u64,
    busiest_hour: u64,
    server_requests: ServerSpread,
    server_bytes: ServerSpread,
    server_share: Option<ServerSpread>,
}

impl Figures {
    fn from_schedule(schedule: &Schedule, exchanges: &Exchanges, environment: &Environment) -> Self {
        let requested_servers = || schedule.servers.iter().filter(|server_load| server_load.requests > 0);
        let shares = exchanges.servers().iter().zip(&schedule.servers).filter_map(|(server, server_load)| {
            let link = environment.servers.link.or_else(|| server.throughput())?;
            let span = (server_load.pause_end - server_load.first_start).as_secs_f64().max(MIN_WINDOW);
            (server_load.requests > 0).then(|| server_load.bytes as f64 * 8.0 / span / link)
        });
        Self {
            duration: schedule.duration,
            trees: schedule.trees,
            requests: schedule.requests,
            bytes: schedule.bytes,
            busiest_hour: schedule.busiest_hour,
            server_requests: ServerSpread::from_values(
                requested_servers().map(|server_load| f64::from(server_load.requests)).collect(),
            )
            .unwrap_or_default(),
            server_bytes: ServerSpread::from_values(
                requested_servers().map(|server_load| server_load.bytes as f64).collect(),
            )
            .unwrap_or_default(),
            server_share: ServerSpread::from_values(shares.collect()),
        }
    }

    fn level(
        self,
        depth: u16,
        (coverage, deciding_coverage): (Estimate, f64),
        environment: &Environment,
    ) -> ForecastLevel {
        let seconds = self.duration.as_secs_f64();
        let busiest_bits_per_second = self.busiest_hour as f64 * 8.0 / seconds.clamp(1.0, HOUR);
        let mut level = ForecastLevel {
            depth,
            seconds,
            trees: self.trees,
            requests: self.requests,
            bytes: self.bytes,
            busiest_bits_per_second,
            server_requests: self.server_requests,
            server_bytes: self.server_bytes,
            server_share: self.server_share,
            surveyor_share: environment.surveyor.link.map(|link| busiest_bits_per_second / link),
            coverage,
            deciding_coverage,
            breaks: Vec::new(),
        };
        let broken = bounds(environment).filter(|(bound, wanted)| !bound.is_kept(*wanted, &level));
        level.breaks = broken.map(|(bound, _)| bound).collect();
        level
    }
}

impl ForecastLevel {
    /// The forecast for a schedule of these exchanges. `coverage` is the coverage and the coverage that
    /// decides.
    pub(super) fn from_schedule(
        schedule: &Schedule,
        exchanges: &Exchanges,
        depth: u16,
        coverage: (Estimate, f64),
        environment: &Environment,
    ) -> Self {
        Figures::from_schedule(schedule, exchanges, environment).level(depth, coverage, environment)
    }
}

impl ServerSpread {
    /// Percentiles by nearest rank; none for an empty list.
    fn from_values(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let rank =
            |hundredths: usize| values.get((values.len() * hundredths).div_ceil(100).saturating_sub(1));
        Some(Self { median: *rank(50)?, p95: *rank(95)?, most: *values.last()? })
    }
}

impl Bound {
    /// The value of a level, in the unit of the bound; none if not known.
    fn found(self, level: &ForecastLevel) -> Option<f64> {
        match self {
            Self::Days => Some(level.seconds / DAY),
            Self::Coverage => Some(level.deciding_coverage),
            Self::ServerShare => level.server_share.map(|share| share.most),
            Self::ServerRequests => Some(level.server_requests.most),
            Self::ServerBytes => Some(level.server_bytes.most),
            Self::SurveyorShare => level.surveyor_share,
        }
    }

    /// The ratio of a level's value to the bound, inverted for coverage. Up to 1 the bound is kept.
    fn excess(self, wanted: f64, level: &ForecastLevel) -> f64 {
        match (self, self.found(level)) {
            (_, None) => 0.0,
            (Self::Coverage, Some(found)) => wanted / found,
            (_, Some(found)) => found / wanted,
        }
    }

    fn is_kept(self, wanted: f64, level: &ForecastLevel) -> bool {
        self.excess(wanted, level) <= 1.0
    }
}

/// The bounds that an environment sets.
fn bounds(environment: &Environment) -> impl Iterator<Item = (Bound, f64)> {
    let Environment { servers, surveyor, survey } = environment;
    // A given link is itself a bound: no survey can take more than all of it.
    let surveyor_share = surveyor.link.map(|_| surveyor.share.unwrap_or(1.0));
    [
        (Bound::Days, survey.days),
        (Bound::Coverage, survey.coverage),
        (Bound::ServerShare, servers.share),
        (Bound::ServerRequests, servers.requests.map(|requests| requests as f64)),
        (Bound::ServerBytes, servers.bytes.map(|bytes| bytes as f64)),
        (Bound::SurveyorShare, surveyor_share),
    ]
    .into_iter()
    .filter_map(|(bound, wanted)| Some((bound, wanted?)))
}

fn limits(environment: &Environment, levels: &[ForecastLevel], any_fits: bool) -> Vec<Limit> {
    let limit = |(bound, wanted)| {
        let keeping = levels.iter().filter(|level| !level.breaks.contains(&bound));
        let only = || levels.iter().filter(|level| level.breaks == [bound]);
        let excess = |level: &&ForecastLevel| bound.excess(wanted, level);
        let smallest_excess = only().min_by(|one, other| excess(one).total_cmp(&excess(other)));
        Limit {
            bound,
            wanted,
            depths: keeping.map(|level| level.depth).collect(),
            alone: smallest_excess
                .filter(|_| !any_fits)
                .map(|level| NearestDepth::from_level(level, environment)),
        }
    };
    bounds(environment).map(limit).collect()
}

impl NearestDepth {
    /// The level with the smallest excess over its worst bound; ties go to the least depth.
    fn find(environment: &Environment, levels: &[ForecastLevel]) -> Option<Self> {
        let worst = |level: &ForecastLevel| {
            bounds(environment).map(|(bound, wanted)| bound.excess(wanted, level)).fold(0.0, f64::max)
        };
        let nearest = levels.iter().min_by(|one, other| worst(one).total_cmp(&worst(other)))?;
        Some(Self::from_level(nearest, environment))
    }

    fn from_level(level: &ForecastLevel, environment: &Environment) -> Self {
        let broken = bounds(environment).filter(|(bound, _)| level.breaks.contains(bound));
        let shortfall =
            |(bound, wanted): (Bound, f64)| Some(Shortfall { bound, wanted, found: bound.found(level)? });
        Self { depth: level.depth, gives: broken.filter_map(shortfall).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_nearest_ranks() {
        let spread = ServerSpread::from_values((1..=100).map(f64::from).collect());
        assert_eq!(spread, Some(ServerSpread { median: 50.0, p95: 95.0, most: 100.0 }));
        assert_eq!(
            ServerSpread::from_values(vec![7.0]),
            Some(ServerSpread { median: 7.0, p95: 7.0, most: 7.0 })
        );
        assert_eq!(ServerSpread::from_values(Vec::new()), None);
    }

    /// Levels with these days and coverages, under bounds on both.
    fn forecast(days: f64, coverage: f64, levels: &[(f64, f64)]) -> Forecast {
        let mut environment = Environment::default();
        (environment.survey.days, environment.survey.coverage) = (Some(days), Some(coverage));
        let levels: Vec<ForecastLevel> = (0..)
            .zip(levels)
            .map(|(depth, (days, covers))| {
                let figures = Figures {
                    duration: Duration::from_secs_f64(days * DAY),
                    trees: 1,
                    requests: 1,
                    bytes: 1,
                    busiest_hour: 1,
                    server_requests: ServerSpread::default(),
                    server_bytes: ServerSpread::default(),
                    server_share: None,
                };
                figures.level(depth, (Estimate::exact(*covers), *covers), &environment)
            })
            .collect();
        let fits = levels.iter().find(|level| level.breaks.is_empty()).map(|level| level.depth);
        Forecast {
            confidence: 0.5,
            interval_confidence: 0.95,
            of: Kind::Hosts,
            reading: Reading::Union,
            verdict: Verdict::NoneFits,
            depth: fits,
            settling: None,
            nearest: NearestDepth::find(&environment, &levels),
            deepest: 0,
            trees: 1,
            open_trees: 0,
            known: DepthShare { with_next: 1.0, by_trend: 1.0 },
            limits: limits(&environment, &levels, fits.is_some()),
            levels,
            environment,
        }
    }

    #[test]
    fn where_no_depth_fits_each_bound_says_how_far_it_would_have_to_give() {
        let none = forecast(10.0, 0.8, &[(1.0, 0.3), (5.0, 0.6), (14.0, 0.72), (40.0, 0.9)]);
        let days = |found| Shortfall { bound: Bound::Days, wanted: 10.0, found };
        let coverage = |found| Shortfall { bound: Bound::Coverage, wanted: 0.8, found };
        let [one, two] = [&none.limits[0], &none.limits[1]];
        assert_eq!(one.alone, Some(NearestDepth { depth: 3, gives: vec![days(40.0)] }));
        assert_eq!(two.alone, Some(NearestDepth { depth: 1, gives: vec![coverage(0.6)] }));
        // An excess of a third (0.8 / 0.6) is nearer than an excess of 40 % (14 / 10 days).
        assert_eq!(none.nearest, two.alone);
        assert_eq!(none.fails_first().map(|(limit, depth)| (limit.bound, depth)), Some((Bound::Days, 2)));
        let some = forecast(41.0, 0.8, &[(1.0, 0.3), (40.0, 0.9)]);
        assert_eq!((some.depth, &some.limits[0].alone), (Some(1), &None));
    }

    #[test]
    fn depths_that_are_over_sooner_than_lesser_ones_are_named() {
        let found =
            forecast(9.0, 0.8, &[(1.0, 0.1), (5.0, 0.2), (4.0, 0.3), (4.5, 0.4), (5.0, 0.5), (6.0, 1.0)]);
        assert_eq!(found.sooner_than_shallower(), [2, 3]);
    }

    #[test]
    fn bounds_that_no_depth_keeps_forbid_all() {
        let limit =
            |bound, depths: &[u16]| Limit { bound, wanted: 0.0, depths: depths.to_vec(), alone: None };
        let limits = [limit(Bound::Days, &[]), limit(Bound::Coverage, &[3])];
        assert_eq!(Limit::forbidding(&limits, 4), [&limits[0]]);
        let all = limit(Bound::ServerBytes, &[0, 1, 2, 3]);
        let limits = [limit(Bound::Days, &[0, 1]), all, limit(Bound::Coverage, &[3])];
        assert_eq!(Limit::forbidding(&limits, 4), [&limits[0], &limits[2]]);
    }
}
