use std::time::Duration;

use serde::Serialize;

use super::schedule::{Conditions, Exchanges, Pacing, Schedule};
use super::{Curves, Environment, Estimate, Kind, Reading};

/// What a survey to each depth would take, cost and bring in a network environment, and which depth fits.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// With everything that it leaves open as recorded.
    pub environment: Environment,
    /// Of the intervals.
    pub confidence: f64,
    /// What coverage is counted in.
    pub of: Kind,
    /// Of the coverage.
    pub reading: Reading,
    /// The depth recommended; none when none fits. It is the least that keeps all bounds if a coverage is wanted,
    /// and else the greatest.
    pub depth: Option<u16>,
    /// The deepest level walked: nothing can be said of deeper ones.
    pub deepest: u16,
    /// Which depths each bound allows.
    pub limits: Vec<Limit>,
    /// From depth 0 down.
    pub levels: Vec<ForecastLevel>,
}

/// A survey to one depth.
#[derive(Clone, Debug, Serialize)]
pub struct ForecastLevel {
    /// The deepest level that is walked.
    pub depth: u16,
    /// How long the survey takes.
    pub seconds: f64,
    /// Site trees that are walked.
    pub trees: u64,
    /// Sent, robots.txt included.
    pub requests: u64,
    /// Both ways.
    pub bytes: u64,
    /// In the busiest hour.
    pub busiest_bits_per_second: f64,
    /// Over servers.
    pub server_requests: ServerSpread,
    /// Over servers, both ways.
    pub server_bytes: ServerSpread,
    /// The share of its link, or of what others leave of it where no link is given, that the survey takes of a
    /// server over the time in which it is there.
    pub server_share: Option<ServerSpread>,
    /// The share of the surveyor's link in the busiest hour.
    pub surveyor_share: Option<f64>,
    /// Of what the recorded survey knows.
    pub coverage: Estimate,
    /// The bounds that are broken.
    pub breaks: Vec<Bound>,
}

/// How a figure is spread over the servers that are asked at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ServerSpread {
    /// Half of the servers bear less.
    pub median: f64,
    /// 95 of 100 servers have no more.
    pub p95: f64,
    /// That any server bears.
    pub most: f64,
}

/// What a survey must keep within.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// How long the survey may take.
    Days,
    /// How much of what is known it must find.
    Coverage,
    /// How much of a server's time it may take.
    ServerShare,
    /// Requests that a server may bear.
    ServerRequests,
    /// Bytes that a server may bear.
    ServerBytes,
    /// How much of the surveyor's own link it may take.
    SurveyorShare,
}

/// A bound, and the depths that keep it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// What is bounded.
    pub bound: Bound,
    /// The figure of the environment.
    pub wanted: f64,
    /// That keep to it.
    pub depths: Vec<u16>,
}

/// A share of a link is one over a minute at least: in the second of a download every link is full.
const LEAST_WINDOW: f64 = 60.0;
const DAY: f64 = 86_400.0;
const HOUR: f64 = 3600.0;

impl Forecast {
    /// Foretells surveys of the trees that `keep` says, to every depth that was walked. `pacing` makes the rule of
    /// pauses under that environment, anew for each depth.
    #[must_use]
    pub fn play<P: Pacing>(
        exchanges: &Exchanges,
        curves: &Curves,
        environment: &Environment,
        conditions: &Conditions,
        keep: impl Fn(usize) -> bool + Sync,
        pacing: impl Fn() -> P + Sync,
    ) -> Self {
        let of = environment.survey.of.unwrap_or(Kind::Hosts);
        let reading = environment.survey.reading.unwrap_or(Reading::Union);
        let depths: Vec<u16> = curves.levels.iter().map(|level| level.depth).collect();
        let schedules = in_parallel(&depths, |depth| {
            let schedule = Schedule::play(exchanges, depth, &keep, conditions, &mut pacing());
            Figures::of(&schedule, exchanges, environment)
        });
        let levels: Vec<ForecastLevel> = (curves.levels.iter().zip(schedules))
            .map(|(level, figures)| figures.level(level.depth, reading.coverage(level, of), environment))
            .collect();
        let limits = limits(environment, &levels);
        let mut fitting = levels.iter().filter(|level| level.breaks.is_empty()).map(|level| level.depth);
        let depth = if environment.survey.coverage.is_some() { fitting.next() } else { fitting.next_back() };
        Self {
            environment: environment.clone(),
            confidence: curves.sampling.confidence,
            of,
            reading,
            depth,
            deepest: depths.last().copied().unwrap_or(0),
            limits,
            levels,
        }
    }

    /// The level of a depth.
    #[must_use]
    pub fn level(&self, depth: u16) -> Option<&ForecastLevel> {
        self.levels.get(usize::from(depth))
    }
}

impl Limit {
    /// The bounds that no depth keeps; where each is kept by some depth, all of them, for together they are not.
    #[must_use]
    pub fn forbidding(limits: &[Self]) -> Vec<&Self> {
        let never: Vec<&Self> = limits.iter().filter(|limit| limit.depths.is_empty()).collect();
        if never.is_empty() { limits.iter().collect() } else { never }
    }
}

/// Each depth is a survey of its own; every processor plays its part of them.
fn in_parallel<T: Send>(depths: &[u16], play: impl Fn(u16) -> T + Sync) -> Vec<T> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(depths.len().max(1));
    let play = &play;
    let mut shares: Vec<_> = std::thread::scope(|scope| {
        // Deep surveys take long and shallow ones do not: the depths are dealt like cards.
        let work = |worker: usize| {
            move || depths.iter().skip(worker).step_by(workers).map(|depth| play(*depth)).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).map(Vec::into_iter).collect()
    });
    let dealt = (0..depths.len()).filter_map(|place| shares.get_mut(place % workers)?.next());
    dealt.collect()
}

/// What a schedule says of one depth.
struct Figures {
    took: Duration,
    trees: u64,
    requests: u64,
    bytes: u64,
    busiest_hour: u64,
    server_requests: ServerSpread,
    server_bytes: ServerSpread,
    server_share: Option<ServerSpread>,
}

impl Figures {
    fn of(schedule: &Schedule, exchanges: &Exchanges, environment: &Environment) -> Self {
        let asked = || schedule.servers.iter().filter(|borne| borne.requests > 0);
        let shares = exchanges.servers().iter().zip(&schedule.servers).filter_map(|(server, borne)| {
            let link = environment.servers.link.or_else(|| server.throughput())?;
            let span = (borne.until - borne.from).as_secs_f64().max(LEAST_WINDOW);
            (borne.requests > 0).then(|| borne.bytes as f64 * 8.0 / span / link)
        });
        Self {
            took: schedule.took,
            trees: schedule.trees,
            requests: schedule.requests,
            bytes: schedule.bytes,
            busiest_hour: schedule.busiest_hour,
            server_requests: ServerSpread::of(asked().map(|borne| f64::from(borne.requests)).collect())
                .unwrap_or_default(),
            server_bytes: ServerSpread::of(asked().map(|borne| borne.bytes as f64).collect())
                .unwrap_or_default(),
            server_share: ServerSpread::of(shares.collect()),
        }
    }

    fn level(self, depth: u16, coverage: Estimate, environment: &Environment) -> ForecastLevel {
        let seconds = self.took.as_secs_f64();
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
            breaks: Vec::new(),
        };
        let broken = bounds(environment).filter(|(bound, wanted)| !bound.is_kept(*wanted, &level));
        level.breaks = broken.map(|(bound, _)| bound).collect();
        level
    }
}

impl ServerSpread {
    /// Nearest ranks; none of nothing.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let rank =
            |hundredths: usize| values.get((values.len() * hundredths).div_ceil(100).saturating_sub(1));
        Some(Self { median: *rank(50)?, p95: *rank(95)?, most: *values.last()? })
    }
}

impl Bound {
    fn is_kept(self, wanted: f64, level: &ForecastLevel) -> bool {
        match self {
            Self::Days => level.seconds <= wanted * DAY,
            Self::Coverage => level.coverage.low >= wanted,
            Self::ServerShare => level.server_share.is_none_or(|share| share.most <= wanted),
            Self::ServerRequests => level.server_requests.most <= wanted,
            Self::ServerBytes => level.server_bytes.most <= wanted,
            Self::SurveyorShare => level.surveyor_share.is_none_or(|share| share <= wanted),
        }
    }
}

/// The bounds that an environment sets.
fn bounds(environment: &Environment) -> impl Iterator<Item = (Bound, f64)> {
    let Environment { servers, surveyor, survey } = environment;
    // A link that is given is a bound of its own: no more than all of it can be taken.
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

fn limits(environment: &Environment, levels: &[ForecastLevel]) -> Vec<Limit> {
    bounds(environment)
        .map(|(bound, wanted)| {
            let keeping = levels.iter().filter(|level| !level.breaks.contains(&bound));
            Limit { bound, wanted, depths: keeping.map(|level| level.depth).collect() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_nearest_ranks() {
        let spread = ServerSpread::of((1..=100).map(f64::from).collect());
        assert_eq!(spread, Some(ServerSpread { median: 50.0, p95: 95.0, most: 100.0 }));
        assert_eq!(ServerSpread::of(vec![7.0]), Some(ServerSpread { median: 7.0, p95: 7.0, most: 7.0 }));
        assert_eq!(ServerSpread::of(Vec::new()), None);
    }

    #[test]
    fn depths_played_in_parallel_stand_in_their_order() {
        let depths: Vec<u16> = (0..13).collect();
        assert_eq!(
            in_parallel(&depths, |depth| depth * 2),
            depths.iter().map(|depth| depth * 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn bounds_that_no_depth_keeps_forbid_all() {
        let limit = |bound, depths: &[u16]| Limit { bound, wanted: 0.0, depths: depths.to_vec() };
        let limits = [limit(Bound::Days, &[]), limit(Bound::Coverage, &[3])];
        assert_eq!(Limit::forbidding(&limits), [&limits[0]]);
        let limits = [limit(Bound::Days, &[0, 1]), limit(Bound::Coverage, &[3])];
        assert_eq!(Limit::forbidding(&limits), [&limits[0], &limits[1]]);
    }
}
