//! Sentences of advice on a depth, the same in the report and in the terminal.

use crate::analysis::{
    Bound, Choice, ChoiceLevel, Criterion, DepthShare, Estimate, Forecast, Influence, Limit, NotWeighed,
};
use crate::records::units::{bytes, percent, thousands};

/// `96.9–98.0 %`, or a word why there is no interval.
#[must_use]
pub fn interval(estimate: Estimate) -> String {
    let ends = estimate.interval().map(|(low, high)| format!("{:.1}–{:.1} %", low * 100.0, high * 100.0));
    let why = || estimate.no_interval.map(|why| why.short_text().to_owned());
    ends.or_else(why).unwrap_or_default()
}

/// `97.5 % (corrected 97.1 %, 96.9–98.0 %)`: a correction that changes nothing and an interval that there is not are left
/// out.
#[must_use]
pub fn with_interval(estimate: Estimate) -> String {
    let (measured, corrected) = (percent(estimate.value), percent(estimate.corrected));
    let corrected = (corrected != measured).then(|| format!("corrected {corrected}"));
    let ends = estimate.interval().map(|_| interval(estimate));
    let more: Vec<String> = corrected.into_iter().chain(ends).collect();
    if more.is_empty() { measured } else { format!("{measured} ({})", more.join(", ")) }
}

/// What a depth beside the one chosen would cover and cost.
#[must_use]
pub fn neighbour(choice: &Choice, level: &ChoiceLevel) -> String {
    let unit = choice.criterion.unit();
    format!(
        "Depth {} would cover {} with {} of the {}.",
        level.depth,
        with_interval(level.coverage),
        percent(level.load[unit as usize].value),
        unit.name()
    )
}

/// Why a strategy does not stand beside the others.
#[must_use]
pub fn not_weighed(one: &NotWeighed) -> String {
    format!("Not weighed: {}: {}.", one.flags, one.reason)
}

/// What a bound allows or wants: `at most 30 days`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts that were made real")]
#[must_use]
pub fn bound(limit: &Limit) -> String {
    let wanted = limit.wanted;
    match limit.bound {
        Bound::Days => format!("at most {wanted} days"),
        Bound::Coverage => format!("coverage of at least {}", percent(wanted)),
        Bound::ServerShare => format!("at most {} of a server's link", percent(wanted)),
        Bound::ServerRequests => format!("at most {} requests to a server", thousands(wanted as u64)),
        Bound::ServerBytes => format!("at most {} of a server", bytes(wanted as u64)),
        Bound::SurveyorShare => format!("at most {} of the surveyor's link", percent(wanted)),
    }
}

/// A survey that ended where too many site trees go on.
pub struct TooShallow {
    open_trees: u64,
    trees: u64,
    deepest: u16,
    /// How much of all levels it knows.
    known: DepthShare,
    /// What those shares are of.
    of: &'static str,
    /// What a survey must know so that a depth can be chosen, and what for, as a sentence.
    needs: String,
}

impl From<&Choice> for TooShallow {
    fn from(choice: &Choice) -> Self {
        let Choice { open_trees, trees, deepest, known, criterion, .. } = *choice;
        let (of, needs) = match criterion {
            Criterion::Coverage { at_least, of, reading } => (reading.counts(of), needs(at_least)),
            Criterion::Load { at_most, unit, .. } => {
                (unit.name(), format!("{} may be spent, which may pay for more levels.", percent(at_most)))
            }
        };
        Self { open_trees, trees, deepest, known, of, needs }
    }
}

impl From<&Forecast> for TooShallow {
    fn from(forecast: &Forecast) -> Self {
        let Forecast { open_trees, trees, deepest, known, of, reading, .. } = *forecast;
        let needs = forecast.environment.survey.coverage.map(needs).unwrap_or_default();
        Self { open_trees, trees, deepest, known, of: reading.counts(of), needs }
    }
}

impl TooShallow {
    /// What a depth that keeps all bounds leaves open, in sentences.
    #[must_use]
    pub fn beside_a_depth(&self) -> [String; 2] {
        let open = format!(
            "{}: deeper surveys may keep the bounds too. Of all levels, coverage is at most what is shown: {}.",
            self.open(),
            self.known(),
        );
        [open, DEEPER.to_owned()]
    }

    /// Why no depth can be recommended, and what to do then, in sentences.
    #[must_use]
    pub fn instead_of_a_depth(&self) -> [String; 3] {
        let verdict = format!(
            "Survey deeper: {}, so that no depth can be recommended. Coverage and load are shares of what it knows; of all levels, \
             coverage is at most what is shown.",
            self.open(),
        );
        let known = format!("The survey knows little: {}. {}", self.known(), self.needs);
        [verdict, known, DEEPER.to_owned()]
    }

    /// How much of deeper levels too it knows.
    fn known(&self) -> String {
        let Self { deepest, of, known: DepthShare { with_next, by_trend }, .. } = self;
        let all = if by_trend > with_next {
            format!("by the trend of the levels {} of those of all levels", percent(*by_trend))
        } else {
            "less of those of all levels".to_owned()
        };
        format!(
            "levels 0 to {deepest} may have only {} of the {of} of levels 0 to {}, and {all}",
            percent(*with_next),
            deepest + 1,
        )
    }

    fn open(&self) -> String {
        format!(
            "{} of {} site trees go on below depth {}, where this survey ended",
            thousands(self.open_trees),
            thousands(self.trees),
            self.deepest
        )
    }
}

fn needs(at_least: f64) -> String {
    let known = Criterion::needs_known(at_least);
    format!(
        "To tell which depth covers {}, it must know {} of those of all levels.",
        percent(at_least),
        percent(known)
    )
}

const DEEPER: &str = "Survey a sample of the sites deeper (--sample, --depth), and ask again.";

/// What of an answer a single site may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfluenceKind {
    /// The depth, by coverage.
    DepthByCoverage,
    /// The depth, by load.
    DepthByLoad,
    /// The coverage of the depth. Whether bounds of an environment are kept without the site was not weighed.
    Coverage,
}

/// What a single site does to the answer, in sentences.
#[must_use]
pub fn influence(influence: &Influence, changes: InfluenceKind) -> [String; 2] {
    let Influence { site, share, depth, at, figure } = influence;
    let (has, figure_of) = match changes {
        InfluenceKind::DepthByLoad => ("takes", "load"),
        InfluenceKind::DepthByCoverage | InfluenceKind::Coverage => ("alone knows", "coverage"),
    };
    let changed = match depth {
        _ if changes == InfluenceKind::Coverage => String::new(),
        Some(depth) if depth == at => format!("depth {at} would be chosen too: "),
        Some(depth) => format!("depth {depth} would be chosen: "),
        None => "no depth would be chosen: ".to_owned(),
    };
    [
        format!("The site that counts most is {site}, which {has} {} of all.", percent(*share)),
        format!("Without it {changed}the {figure_of} at depth {at} would be {}.", with_interval(*figure)),
    ]
}
