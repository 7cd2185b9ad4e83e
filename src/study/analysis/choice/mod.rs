//! The depth to use, with the evidence for it, for all site trees or groups of them.

pub(super) mod curve_rows;
pub(super) mod depth_share;
pub(super) mod evidence;
pub(super) mod grouped;
pub(super) mod influence;
pub(super) mod left_out;
pub(super) mod spent_budget;

use serde::Serialize;

use super::{Bounds, Censoring, CurveLevel, DepthShare, Estimate, Evidence, Kind, LoadUnit, Reading};
use evidence::Side;

/// The depth chosen by one criterion, with all depths for comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The criterion.
    pub criterion: Criterion,
    /// The probability that the chosen depth meets the criterion. At one half, the corrected curve decides.
    pub confidence: f64,
    /// The confidence of the intervals that are shown.
    pub interval_confidence: f64,
    /// What the survey says about the depth.
    pub verdict: Verdict,
    /// The chosen depth; none if no depth meets the criterion or the survey ended too early to say.
    pub depth: Option<u16>,
    /// The depth that the measured curve would choose.
    pub as_measured: Option<u16>,
    /// The depth that the end of the interval on the safe side would choose; none without intervals, or if
    /// the survey ended too early for this certainty.
    pub at_worst: Option<u16>,
    /// The depth that the other end of the interval would choose.
    pub at_best: Option<u16>,
    /// The number of further sites that would make the figure certain enough; none if it is, or if it has no
    /// interval.
    pub settling: Option<SitesNeeded>,
    /// The deepest level walked. Coverage is 1 there by definition, as a share of what is known.
    pub deepest: u16,
    /// Site trees of the survey.
    pub trees: u64,
    /// Trees that were cut before their end.
    pub cut_trees: u64,
    /// Trees that continue below the deepest level.
    pub open_trees: u64,
    /// The share of the total (of what is counted, or of the load) that the survey knows, deeper levels
    /// included.
    pub known: DepthShare,
    /// The depths, from 0 down.
    pub levels: Vec<ChoiceLevel>,
}

/// What a survey says about the depth to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A depth is recommended.
    Recommended,
    /// Too much lies below the levels of the survey, so shares of what it knows are not reliable.
    SurveyDeeper,
    /// No depth meets the criterion or keeps all bounds.
    NoneFits,
    /// The survey found nothing of what coverage counts.
    NothingFound,
    /// The survey left pages out at every level, so it says nothing about a depth.
    LeavesPagesOut,
}

impl Verdict {
    /// Whether strategies can be compared: the survey knows enough to judge them.
    #[must_use]
    pub fn compares_strategies(self) -> bool {
        matches!(self, Self::Recommended | Self::NoneFits)
    }
}

/// The number of further sites that a survey would need until the interval of a figure has a certain width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SitesNeeded {
    /// The half-width of that interval, as a share.
    pub within: f64,
    /// Sites in addition to the surveyed ones. Widths fall with the square root of the number of sites, and
    /// more slowly if a few large sites hold most of the figure.
    pub more_sites: u64,
}

/// The criterion for a depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The least depth whose coverage is at least this.
    Coverage {
        /// The wanted coverage, from 0 to 1.
        at_least: f64,
        /// The kind that is counted.
        of: Kind,
        /// How a key that several trees know is counted.
        reading: Reading,
    },
    /// The greatest depth whose load rate is at most this.
    Load {
        /// The permitted load, from 0 to 1.
        at_most: f64,
        /// The unit of load.
        unit: LoadUnit,
        /// The kind counted by the coverage that is shown with it.
        of: Kind,
        /// How that coverage counts a key that several trees know.
        reading: Reading,
    },
}

/// The cost and the coverage of levels 0 to `depth`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ChoiceLevel {
    /// The deepest level that is counted.
    pub depth: u16,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Bytes on the wire, in both directions.
    pub bytes: u64,
    /// Busy time of the servers, in milliseconds.
    pub busy_ms: f64,
    /// The load as a share of the load of all levels: requests, bytes, busy time.
    pub load: [Estimate; 3],
    /// The share of load that is saved compared with the deepest level walked, in the same units.
    pub saved: [f64; 3],
    /// The coverage in the kind and the reading of the criterion.
    pub coverage: Estimate,
    /// The coverage or load that decides: of the corrected curve, or its safe bound at the chosen confidence.
    pub deciding: f64,
    /// Bounds on the coverage, whatever the cut trees hold.
    pub censored: Bounds,
    /// Whether the criterion is met.
    pub fits: bool,
}

impl Criterion {
    /// The default for the wanted coverage.
    pub const COVERAGE: f64 = 0.95;

    /// The kind and the reading in which coverage is counted.
    #[must_use]
    pub fn counted(&self) -> (Kind, Reading) {
        match self {
            Self::Coverage { of, reading, .. } | Self::Load { of, reading, .. } => (*of, *reading),
        }
    }

    /// The unit in which load is compared: requests if the criterion names none.
    #[must_use]
    pub fn unit(&self) -> LoadUnit {
        match self {
            Self::Coverage { .. } => LoadUnit::Requests,
            Self::Load { unit, .. } => *unit,
        }
    }

    /// The figure of a level to which the criterion applies.
    fn figure(&self, level: &CurveLevel) -> Estimate {
        match self {
            Self::Coverage { of, reading, .. } => reading.coverage(level, *of),
            Self::Load { unit, .. } => level.load(*unit),
        }
    }

    /// The figure of a level of a choice to which the criterion applies.
    #[must_use]
    pub fn figure_of(&self, level: &ChoiceLevel) -> Estimate {
        match self {
            Self::Coverage { .. } => level.coverage,
            Self::Load { unit, .. } => level.load[*unit as usize],
        }
    }

    /// The safe side of that figure.
    fn safe_side(&self) -> Side {
        match self {
            Self::Coverage { .. } => Side::Low,
            Self::Load { .. } => Side::High,
        }
    }

    pub(super) fn is_met_by(&self, figure: f64) -> bool {
        match self {
            Self::Coverage { at_least, .. } => figure >= *at_least,
            Self::Load { at_most, .. } => figure <= *at_most,
        }
    }

    fn choose(&self, figures: impl IntoIterator<Item = f64>) -> Option<u16> {
        let mut fitting =
            (0..).zip(figures).filter(|(_, figure)| self.is_met_by(*figure)).map(|(depth, _)| depth);
        match self {
            Self::Coverage { .. } => fitting.next(),
            Self::Load { .. } => fitting.last(),
        }
    }

    /// The share of the total that the survey knows, in the kind or unit of the criterion.
    fn known_share(&self, evidence: &Evidence) -> DepthShare {
        match self {
            Self::Coverage { of, reading, .. } => evidence.shares.known_share(*of, *reading),
            Self::Load { unit, .. } => evidence.shares.spent(*unit),
        }
    }

    /// Whether a survey that knows the share `known` of the total can choose a depth with this figure. For
    /// coverage: if the depth nearly covers the wanted share of the total, see [`Self::nearly_covers`]. For
    /// load: if the permitted load does not pay for all levels of the survey; otherwise it might pay for
    /// deeper ones too.
    fn can_choose(&self, known: f64, figure: f64) -> bool {
        match self {
            Self::Coverage { at_least, .. } => Self::nearly_covers(*at_least, known, figure),
            Self::Load { at_most, .. } => known > *at_most || *at_most >= 1.0,
        }
    }

    /// Whether a depth that covers the share `covered` of what a survey knows nearly covers the share
    /// `at_least` of all levels, of which the survey knows the share `known`.
    ///
    /// The survey must know `at_least` itself. Of a low goal it may know enough and still mislead: half of
    /// what a survey knows that knows half of all is a quarter of all. So four fifths of the goal must be
    /// covered; for a goal of 0.8 or more this follows from the first condition.
    #[must_use]
    pub fn nearly_covers(at_least: f64, known: f64, covered: f64) -> bool {
        const MIN_COVERED_PART: f64 = 0.8;
        known >= at_least && known * covered >= MIN_COVERED_PART * at_least
    }
}

/// A smaller saving is shown as 0.0 %, so it counts as none.
const MIN_SAVING: f64 = 0.0005;

impl ChoiceLevel {
    /// The share of the load that is saved compared with the deepest level walked; none if it is negligible.
    #[must_use]
    pub fn saving(&self, unit: LoadUnit) -> Option<f64> {
        Some(self.saved[unit as usize]).filter(|saved| *saved >= MIN_SAVING)
    }
}

impl Choice {
    /// Chooses a depth by a criterion.
    #[must_use]
    pub fn by(evidence: &Evidence, criterion: Criterion) -> Self {
        let Evidence { curves, censoring, shares, confidence, .. } = evidence;
        let side = criterion.safe_side();
        let deciding = evidence.deciding(|level| criterion.figure(level), side);
        let (chosen, known) = (criterion.choose(deciding.iter().copied()), criterion.known_share(evidence));
        let verdict = match chosen.and_then(|depth| deciding.get(usize::from(depth))) {
            _ if evidence.found_nothing(criterion.counted()) => Verdict::NothingFound,
            None => Verdict::NoneFits,
            Some(figure) if criterion.can_choose(evidence.share(known), *figure) => Verdict::Recommended,
            Some(_) => Verdict::SurveyDeeper,
        };
        let depth = chosen.filter(|_| verdict == Verdict::Recommended);
        let level = |(at, figure): (&CurveLevel, &f64)| level(at, censoring, &criterion, *figure);
        let figures = || curves.levels.iter().map(|level| criterion.figure(level));
        let depth_at_end = |end: Side| criterion.choose(figures().map(|figure| end.end_of(figure)));
        let (depth_at_low, depth_at_high) = (depth_at_end(Side::Low), depth_at_end(Side::High));
        let (at_worst, at_best) =
            if side == Side::Low { (depth_at_low, depth_at_high) } else { (depth_at_high, depth_at_low) };
        let has_intervals = figures().any(|figure| figure.interval().is_some());
        let is_sure = |depth: &u16| {
            let figure = figures().nth(usize::from(*depth)).map(|figure| side.end_of(figure));
            has_intervals && figure.is_some_and(|figure| criterion.can_choose(known.with_next, figure))
        };
        Self {
            criterion,
            confidence: *confidence,
            interval_confidence: curves.sampling.confidence,
            verdict,
            depth,
            as_measured: criterion.choose(figures().map(|figure| figure.value)),
            at_worst: at_worst.filter(is_sure),
            at_best: at_best.filter(|_| has_intervals),
            settling: depth
                .and_then(|depth| SitesNeeded::from_estimate(figures().nth(depth.into())?, curves.trees)),
            deepest: curves.levels.last().map_or(0, |level| level.depth),
            trees: curves.trees,
            cut_trees: censoring.cut_trees,
            open_trees: shares.open_trees,
            known,
            levels: curves.levels.iter().zip(&deciding).map(level).collect(),
        }
    }

    /// The level of the chosen depth.
    #[must_use]
    pub fn chosen(&self) -> Option<&ChoiceLevel> {
        self.level(self.depth?)
    }

    /// The levels next to the chosen one.
    pub fn neighbours(&self) -> impl Iterator<Item = &ChoiceLevel> {
        let adjacent = |depth: u16| [depth.checked_sub(1), depth.checked_add(1)].into_iter().flatten();
        self.depth.into_iter().flat_map(adjacent).filter_map(|depth| self.level(depth))
    }

    /// The level of a depth.
    #[must_use]
    pub fn level(&self, depth: u16) -> Option<&ChoiceLevel> {
        self.levels.get(usize::from(depth))
    }
}

impl SitesNeeded {
    /// Five points to either side: enough to distinguish depths that each add as much.
    const HALF_WIDTH: f64 = 0.05;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates; no count is negative"
    )]
    pub(super) fn from_estimate(figure: Estimate, sites: u64) -> Option<Self> {
        let (low, high) = figure.interval()?;
        let times = ((high - low) / (2.0 * Self::HALF_WIDTH)).powi(2);
        let more = sites as f64 * (times - 1.0);
        (more > 0.0).then(|| Self { within: Self::HALF_WIDTH, more_sites: two_digits(more) as u64 })
    }
}

/// Rounds up to two digits: the estimate is no more precise.
fn two_digits(number: f64) -> f64 {
    let unit = 10.0_f64.powf((number.log10().floor() - 1.0).max(0.0));
    (number / unit).ceil() * unit
}

fn level(at: &CurveLevel, censoring: &Censoring, criterion: &Criterion, deciding: f64) -> ChoiceLevel {
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
        deciding,
        fits: criterion.is_met_by(deciding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Curves, DepthShares, NoInterval, Sampling};

    /// The coverage and the load of each level, with intervals of 0.05 to either side.
    fn curves(levels: &[(f64, f64)]) -> Curves {
        let about = |value: f64| Estimate::between(value - 0.05, value, (value + 0.05).min(1.0));
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
        Curves { trees: 100, sampling: Sampling::default(), levels: levels.collect() }
    }

    /// A survey that knows the share `with_next` at least, and `by_trend` by the trend.
    fn depth_shares(with_next: f64, by_trend: f64) -> DepthShares {
        let share = DepthShare { with_next, by_trend };
        DepthShares { open_trees: 3, pair: [share; 3], union: [share; 4], load: [share; 3] }
    }

    fn choice(confidence: f64, shares: DepthShares, criterion: Criterion) -> Choice {
        let curves = curves(&[(0.5, 0.2), (0.8, 0.5), (0.96, 0.8), (1.0, 1.0)]);
        Choice::by(&Evidence::from_curves(curves, confidence, shares), criterion)
    }

    fn coverage(at_least: f64) -> Criterion {
        Criterion::Coverage { at_least, of: Kind::Urls, reading: Reading::Pair }
    }

    fn load(at_most: f64) -> Criterion {
        Criterion::Load { at_most, unit: LoadUnit::Bytes, of: Kind::Urls, reading: Reading::Pair }
    }

    fn depths(confidence: f64, criteria: [Criterion; 4]) -> [Option<u16>; 4] {
        criteria.map(|criterion| choice(confidence, depth_shares(1.0, 1.0), criterion).depth)
    }

    #[test]
    fn at_even_odds_the_curve_decides() {
        assert_eq!(depths(0.5, [0.5, 0.8, 0.95, 1.0].map(coverage)), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(depths(0.5, [0.1, 0.2, 0.5, 1.0].map(load)), [None, Some(0), Some(1), Some(3)]);
    }

    #[test]
    fn above_even_odds_the_safe_end_of_the_interval_decides() {
        assert_eq!(depths(0.975, [0.75, 0.8, 0.95, 0.96].map(coverage)), [Some(1), Some(2), Some(3), None]);
        assert_eq!(depths(0.975, [0.2, 0.5, 0.56, 1.0].map(load)), [None, Some(0), Some(1), Some(3)]);
    }

    #[test]
    fn what_the_curve_and_either_end_say_stands_beside_the_choice() {
        let choice = choice(0.5, depth_shares(1.0, 1.0), coverage(0.78));
        assert_eq!([choice.at_best, choice.as_measured, choice.at_worst], [Some(1), Some(1), Some(2)]);
        assert_eq!(choice.verdict, Verdict::Recommended);
    }

    #[test]
    fn a_survey_that_knows_less_than_is_wanted_cannot_choose() {
        let verdict = |confidence, criterion| choice(confidence, depth_shares(0.4, 0.9), criterion).verdict;
        assert_eq!(verdict(0.5, coverage(0.9)), Verdict::Recommended);
        assert_eq!(verdict(0.5, coverage(0.95)), Verdict::SurveyDeeper);
        // At a higher confidence, the share that is known at least must be enough.
        assert_eq!(verdict(0.975, coverage(0.9)), Verdict::SurveyDeeper);
        assert_eq!(verdict(0.5, load(0.5)), Verdict::Recommended);
        assert_eq!(verdict(0.5, load(0.95)), Verdict::SurveyDeeper);
        assert_eq!(verdict(0.5, load(1.0)), Verdict::Recommended);
        assert_eq!(choice(0.5, depth_shares(0.4, 0.9), coverage(0.95)).depth, None);
        // Half of what it knows is a quarter of all.
        let low = |by_trend| choice(0.5, depth_shares(0.4, by_trend), coverage(0.5)).verdict;
        assert_eq!(
            [0.5, 0.79, 0.8].map(low),
            [Verdict::SurveyDeeper, Verdict::SurveyDeeper, Verdict::Recommended]
        );
    }

    #[test]
    fn a_level_without_an_interval_is_sure_of_nothing() {
        let mut curves = curves(&[(0.5, 0.2), (0.8, 0.5), (0.96, 0.8), (1.0, 1.0)]);
        let unsure = |value| Estimate { no_interval: Some(NoInterval::FewBelow), ..Estimate::exact(value) };
        curves.levels[2].pair = [unsure(0.96); 3];
        let choose = |confidence| {
            Choice::by(
                &Evidence::from_curves(curves.clone(), confidence, depth_shares(1.0, 1.0)),
                coverage(0.9),
            )
        };
        let (even, sure) = (choose(0.5), choose(0.975));
        assert_eq!((even.depth, even.at_worst), (Some(2), Some(3)));
        assert_eq!(sure.depth, even.at_worst, "as the same confidence chooses");
    }

    #[test]
    fn four_times_the_sites_halve_an_interval() {
        let settling = |width: f64| SitesNeeded::from_estimate(Estimate::between(0.4, 0.5, 0.4 + width), 340);
        assert_eq!(settling(0.2), Some(SitesNeeded { within: 0.05, more_sites: 1100 }));
        assert_eq!([settling(0.09), settling(0.0)], [None, None]);
    }

    #[test]
    fn addresses_have_one_reading() {
        let both = [Reading::Pair, Reading::Union].map(|reading| {
            choice(
                0.5,
                depth_shares(1.0, 1.0),
                Criterion::Coverage { at_least: 0.4, of: Kind::Addresses, reading },
            )
            .depth
        });
        assert_eq!(both, [Some(1), Some(1)]);
    }
}
