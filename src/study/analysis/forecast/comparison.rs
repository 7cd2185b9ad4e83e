use serde::Serialize;

use super::replays::{BudgetPoint, NotWeighed, Replayed, Replays, Strategy};
use crate::analysis::schedule::{Conditions, Exchanges, Pacing, Schedule};
use crate::analysis::{
    Bound, Choice, Criterion, Curves, Estimate, Forecast, ForecastLevel, LoadUnit, Verdict,
};

/// A comparison of strategies, with the one that meets the requirements at the least cost.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Comparison {
    /// The strategies that were compared; one depth for all sites comes first.
    pub candidates: Vec<Candidate>,
    /// The index of the recommended candidate; none if none fits.
    pub recommended: Option<usize>,
    /// What budgets of requests would have found, by their size.
    pub budgets: Vec<BudgetPoint>,
    /// Strategies that this survey cannot evaluate.
    pub not_weighed: Vec<NotWeighed>,
}

/// A strategy, with what it would have cost and found in this survey.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// The strategy.
    #[serde(flatten)]
    pub strategy: Strategy,
    /// The flags of `ccsurvey survey` for this strategy.
    pub flags: String,
    /// The coverage, as a share of what the survey knows.
    pub coverage: Estimate,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// The requests as a share of the requests of the survey.
    pub load: Estimate,
    /// The duration in the environment, if one is given.
    pub seconds: Option<f64>,
    /// The bounds of the environment that the strategy breaks.
    pub breaks: Vec<Bound>,
    /// Whether the strategy meets the requirements.
    pub fits: bool,
}

impl Comparison {
    /// Compares the chosen depth with the strategies that can be replayed on the pages of the survey.
    /// `curves` are the curves of that survey.
    #[must_use]
    pub fn with_choice(choice: &Choice, curves: &Curves, replays: &Replays<'_>) -> Self {
        let Choice { criterion, .. } = *choice;
        let depth = choice.chosen().map(|level| Candidate {
            requests: level.requests,
            load: load_of(curves, level.depth),
            fits: level.fits,
            ..Candidate::new(Strategy::Depth { depth: level.depth }, level.coverage)
        });
        let (_, reading) = criterion.counted();
        let evaluate = |replayed: &Replayed| Candidate {
            requests: replayed.requests(),
            load: replayed.load(),
            fits: criterion.is_met_by(match criterion {
                Criterion::Coverage { .. } => replayed.deciding_coverage(reading),
                Criterion::Load { .. } => replayed.deciding_load(),
            }),
            ..Candidate::new(replayed.strategy.clone(), replayed.coverage(reading))
        };
        let wanted = match criterion {
            Criterion::Coverage { at_least, .. } => Some(at_least),
            Criterion::Load { .. } => None,
        };
        let fits = |candidate: &Candidate| candidate.fits;
        let replayed = replays.auto(wanted, evaluate, fits).into_iter();
        let replayed = replayed.chain(replays.budget(wanted.is_some(), evaluate, fits));
        let replayed = replayed.chain(replays.focus().as_ref().map(evaluate));
        Self::new(choice.verdict, wanted, depth.into_iter().chain(replayed).collect(), replays)
    }

    /// As [`Self::with_choice`], in a network environment. The schedule of a strategy is played in the same
    /// way as the schedule of a depth.
    #[must_use]
    pub fn with_forecast<P: Pacing>(
        forecast: &Forecast,
        curves: &Curves,
        replays: &Replays<'_>,
        (exchanges, conditions): (&Exchanges, &Conditions),
        pacing: impl Fn() -> P,
    ) -> Self {
        let Forecast { environment, reading, .. } = forecast;
        let nearest = forecast.nearest.as_ref().map(|nearest| nearest.depth);
        let depth = forecast.depth.or(nearest).and_then(|depth| forecast.level(depth)).map(|level| {
            let strategy = Strategy::Depth { depth: level.depth };
            Candidate::in_environment(strategy, level, load_of(curves, level.depth))
        });
        let evaluate = |replayed: &Replayed| {
            let replayed_exchanges = replays.exchanges(replayed, exchanges).unwrap_or_default();
            let schedule = Schedule::play(&replayed_exchanges, u16::MAX, |_| true, conditions, &mut pacing());
            let coverage = (replayed.coverage(*reading), replayed.deciding_coverage(*reading));
            let level = ForecastLevel::from_schedule(
                &schedule,
                &replayed_exchanges,
                forecast.deepest,
                coverage,
                environment,
            );
            Candidate::in_environment(replayed.strategy.clone(), &level, replayed.load())
        };
        let wanted = environment.survey.coverage;
        let is_enough = |candidate: &Candidate| match wanted {
            Some(_) => !candidate.breaks.contains(&Bound::Coverage),
            None => candidate.fits,
        };
        let replayed = replays.auto(wanted, evaluate, is_enough).into_iter();
        let replayed = replayed.chain(replays.budget(wanted.is_some(), evaluate, is_enough));
        let replayed = replayed.chain(replays.focus().as_ref().map(evaluate));
        Self::new(forecast.verdict, wanted, depth.into_iter().chain(replayed).collect(), replays)
    }

    fn new(verdict: Verdict, wanted: Option<f64>, candidates: Vec<Candidate>, replays: &Replays<'_>) -> Self {
        let fitting = || candidates.iter().enumerate().filter(|(_, candidate)| candidate.fits);
        let recommended = match wanted {
            _ if !verdict.compares_strategies() => None,
            Some(_) => fitting().min_by_key(|(_, candidate)| candidate.requests),
            // Ties go to the fewest requests, then to the first candidate: one depth is the simpler rule.
            None => fitting().rev().max_by(|(_, candidate), (_, other)| {
                let by_coverage = candidate.coverage.value.total_cmp(&other.coverage.value);
                by_coverage.then_with(|| other.requests.cmp(&candidate.requests))
            }),
        };
        let recommended = recommended.map(|(index, _)| index);
        Self { candidates, recommended, budgets: replays.budgets(), not_weighed: replays.not_weighed.clone() }
    }

    /// The recommended strategy.
    #[must_use]
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.get(self.recommended?)
    }

    /// The recommended strategy, if it is not one depth for all sites.
    #[must_use]
    pub fn instead_of_a_depth(&self) -> Option<&Candidate> {
        self.best().filter(|best| !matches!(best.strategy, Strategy::Depth { .. }))
    }
}

impl Candidate {
    fn new(strategy: Strategy, coverage: Estimate) -> Self {
        let flags = strategy.flags();
        let load = Estimate::default();
        Self { strategy, flags, coverage, requests: 0, load, seconds: None, breaks: Vec::new(), fits: false }
    }

    fn in_environment(strategy: Strategy, level: &ForecastLevel, load: Estimate) -> Self {
        Self {
            requests: level.requests,
            load,
            seconds: Some(level.seconds),
            breaks: level.breaks.clone(),
            fits: level.breaks.is_empty(),
            ..Self::new(strategy, level.coverage)
        }
    }
}

fn load_of(curves: &Curves, depth: u16) -> Estimate {
    curves
        .levels
        .get(usize::from(depth))
        .map_or_else(Estimate::default, |level| level.load(LoadUnit::Requests))
}
