use serde::Serialize;

use super::{Bounds, Censoring, CurveLevel, Curves, Estimate, Kind, LoadUnit};

/// A depth chosen by one criterion, with all depths for comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// What was asked of a depth.
    pub criterion: Criterion,
    /// Of the intervals.
    pub confidence: f64,
    /// The depth chosen, by the end of the interval that is on the safe side; none when no depth does.
    pub depth: Option<u16>,
    /// The depth that would be chosen by the figures themselves, as this survey measured them.
    pub as_measured: Option<u16>,
    /// The depth that would be chosen by the other end of the interval.
    pub at_best: Option<u16>,
    /// The deepest level walked. Coverage there is 1 by definition: it is a share of what is known.
    pub deepest: u16,
    /// Site trees of the survey.
    pub trees: u64,
    /// Trees of which not all was seen.
    pub cut_trees: u64,
    /// From depth 0 down.
    pub levels: Vec<ChoiceLevel>,
}

/// What is asked of a depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The least depth whose coverage is at least this, even at the lower end of its interval.
    Coverage {
        /// From 0 to 1.
        at_least: f64,
        /// What is counted.
        of: Kind,
        /// How often what several trees know is counted.
        reading: Reading,
    },
    /// The greatest depth whose load rate is at most this, even at the upper end of its interval.
    Load {
        /// From 0 to 1.
        at_most: f64,
        /// What load is counted in.
        unit: LoadUnit,
        /// What the coverage shown beside it counts.
        of: Kind,
        /// How often that counts what several trees know.
        reading: Reading,
    },
}

/// How coverage counts what several site trees know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Once in every site tree.
    Pair,
    /// Once in the survey.
    Union,
}

/// What the levels 0 to `depth` cost and cover.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ChoiceLevel {
    /// The deepest level that counts.
    pub depth: u16,
    /// Sent, robots.txt included.
    pub requests: u64,
    /// On the wire, both ways.
    pub bytes: u64,
    /// Of the servers, in milliseconds.
    pub busy_ms: f64,
    /// The share of the load of all levels: requests, bytes, busy time.
    pub load: [Estimate; 3],
    /// The load that is saved against the deepest level walked, in the same units.
    pub saved: [f64; 3],
    /// In the unit and the reading of the criterion.
    pub coverage: Estimate,
    /// Between what coverage lies, whatever the cut trees hold.
    pub censored: Bounds,
    /// Whether the criterion is met.
    pub fits: bool,
}

/// Which end of an interval decides.
#[derive(Clone, Copy)]
enum End {
    Safe,
    Measured,
    Best,
}

impl End {
    fn pick(self, safe: f64, measured: f64, best: f64) -> f64 {
        match self {
            Self::Safe => safe,
            Self::Measured => measured,
            Self::Best => best,
        }
    }
}

impl Criterion {
    /// What coverage is counted in.
    #[must_use]
    pub fn counted(&self) -> (Kind, Reading) {
        match self {
            Self::Coverage { of, reading, .. } | Self::Load { of, reading, .. } => (*of, *reading),
        }
    }

    /// The unit in which load is compared: requests where the criterion names none.
    #[must_use]
    pub fn unit(&self) -> LoadUnit {
        match self {
            Self::Coverage { .. } => LoadUnit::Requests,
            Self::Load { unit, .. } => *unit,
        }
    }

    fn is_met_by(&self, level: &CurveLevel, by: End) -> bool {
        match self {
            Self::Coverage { at_least, of, reading } => {
                let coverage = reading.coverage(level, *of);
                by.pick(coverage.low, coverage.value, coverage.high) >= *at_least
            }
            Self::Load { at_most, unit, .. } => {
                let load = level.load(*unit);
                by.pick(load.high, load.value, load.low) <= *at_most
            }
        }
    }

    fn choose(&self, levels: &[CurveLevel], by: End) -> Option<u16> {
        let meeting = levels.iter().filter(|level| self.is_met_by(level, by)).map(|level| level.depth);
        match self {
            Self::Coverage { .. } => meeting.min(),
            Self::Load { .. } => meeting.max(),
        }
    }
}

impl Reading {
    /// The word in files and flags.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Union => "union",
        }
    }

    /// The reading that a word of files and flags stands for.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Pair, Self::Union].into_iter().find(|reading| reading.word() == word)
    }

    /// The coverage of a level. Addresses belong to the survey and not to a tree, so they have one reading.
    #[must_use]
    pub fn coverage(self, level: &CurveLevel, kind: Kind) -> Estimate {
        match self {
            Self::Pair => level.pair(kind).unwrap_or_else(|| level.union(kind)),
            Self::Union => level.union(kind),
        }
    }

    pub(super) fn bounds(self, censoring: &Censoring, depth: usize, kind: Kind) -> Bounds {
        let Some(level) = censoring.levels.get(depth) else { return Bounds { low: 0.0, high: 1.0 } };
        match self {
            Self::Pair => level.pair.get(kind as usize).copied().unwrap_or(level.union[kind as usize]),
            Self::Union => level.union[kind as usize],
        }
    }
}

impl Choice {
    /// Chooses a depth by a criterion; bounds come from `censoring`.
    #[must_use]
    pub fn by(curves: &Curves, censoring: &Censoring, criterion: Criterion) -> Self {
        let levels: Vec<ChoiceLevel> =
            curves.levels.iter().map(|at| level(at, censoring, &criterion)).collect();
        let choose = |by| criterion.choose(&curves.levels, by);
        Self {
            criterion,
            confidence: curves.sampling.confidence,
            depth: choose(End::Safe),
            as_measured: choose(End::Measured),
            at_best: choose(End::Best),
            deepest: levels.last().map_or(0, |level| level.depth),
            trees: curves.trees,
            cut_trees: censoring.cut_trees,
            levels,
        }
    }

    /// The level of a depth.
    #[must_use]
    pub fn level(&self, depth: u16) -> Option<&ChoiceLevel> {
        self.levels.get(usize::from(depth))
    }
}

fn level(at: &CurveLevel, censoring: &Censoring, criterion: &Criterion) -> ChoiceLevel {
    let (kind, reading) = criterion.counted();
    ChoiceLevel {
        depth: at.depth,
        requests: at.requests,
        bytes: at.bytes,
        busy_ms: at.busy_ms,
        load: at.load,
        saved: at.load.map(|load| 1.0 - load.value),
        coverage: reading.coverage(at, kind),
        censored: reading.bounds(censoring, usize::from(at.depth), kind),
        fits: criterion.is_met_by(at, End::Safe),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Sampling;

    const UNCUT: Censoring =
        Censoring { cut_trees: 0, unasked_urls: 0, might_bring: [0.0; 4], levels: Vec::new() };

    /// Coverage and load of each level with a twentieth to either side.
    fn curves(levels: &[(f64, f64)]) -> Curves {
        let about = |value: f64| Estimate { value, low: value - 0.05, high: (value + 0.05).min(1.0) };
        let levels = (0..).zip(levels).map(|(depth, (coverage, load))| CurveLevel {
            depth,
            pages: 0,
            requests: 0,
            bytes: 0,
            busy_ms: 0.0,
            found: [0; 3],
            known: [0; 4],
            load: [about(*load); 3],
            pair: [about(*coverage); 3],
            union: [about(coverage / 2.0); 4],
            new_servers_per_1000_requests: None,
        });
        Curves { trees: 1, sampling: Sampling::default(), levels: levels.collect() }
    }

    fn depth(criterion: Criterion) -> Option<u16> {
        let censoring =
            Censoring { cut_trees: 0, unasked_urls: 0, might_bring: [0.0; 4], levels: Vec::new() };
        Choice::by(&curves(&[(0.5, 0.2), (0.8, 0.5), (0.96, 0.8), (1.0, 1.0)]), &censoring, criterion).depth
    }

    #[test]
    fn coverage_is_reached_by_the_lower_end_of_the_interval() {
        let coverage =
            |at_least| depth(Criterion::Coverage { at_least, of: Kind::Urls, reading: Reading::Pair });
        assert_eq!([0.75, 0.8, 0.95].map(coverage), [Some(1), Some(2), Some(3)]);
        assert_eq!(coverage(0.96), None);
    }

    #[test]
    fn load_stays_below_with_the_upper_end_of_the_interval() {
        let load = |at_most| {
            depth(Criterion::Load { at_most, unit: LoadUnit::Bytes, of: Kind::Urls, reading: Reading::Pair })
        };
        assert_eq!([0.2, 0.5, 0.56, 1.0].map(load), [None, Some(0), Some(1), Some(3)]);
    }

    #[test]
    fn what_was_measured_and_what_may_be_at_best_choose_depths_of_their_own() {
        let criterion = Criterion::Coverage { at_least: 0.82, of: Kind::Urls, reading: Reading::Pair };
        let choice =
            Choice::by(&curves(&[(0.7, 0.2), (0.8, 0.4), (0.85, 0.8), (1.0, 1.0)]), &UNCUT, criterion);
        assert_eq!([choice.at_best, choice.as_measured, choice.depth], [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn addresses_have_one_reading() {
        let both = [Reading::Pair, Reading::Union]
            .map(|reading| depth(Criterion::Coverage { at_least: 0.3, of: Kind::Addresses, reading }));
        assert_eq!(both, [Some(1), Some(1)]);
    }
}
