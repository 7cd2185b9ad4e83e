//! Sentences of advice on a depth, shared by the report and the terminal.

use crate::analysis::{
    Bound, Choice, ChoiceLevel, Criterion, DepthShare, Estimate, Forecast, Influence, Kind, Limit,
    NotWeighed, Reading, SpentBudget,
};
use crate::records::units::{bytes, count, percent, thousands};

/// `96.9–98.0 %`, or a short reason why there is no interval.
#[must_use]
pub fn interval(estimate: Estimate) -> String {
    let range = estimate.interval().map(|(low, high)| format!("{:.1}–{:.1} %", low * 100.0, high * 100.0));
    let no_interval_text =
        || estimate.no_interval.map(|no_interval_text| no_interval_text.short_text().to_owned());
    range.or_else(no_interval_text).unwrap_or_default()
}

/// `97.5 % (corrected 97.1 %, 96.9–98.0 %)`. A correction that changes nothing and a missing interval are
/// left out.
#[must_use]
pub fn with_interval(estimate: Estimate) -> String {
    let (measured, corrected) = (percent(estimate.value), percent(estimate.corrected));
    let corrected = (corrected != measured).then(|| format!("corrected {corrected}"));
    let range = estimate.interval().map(|_| interval(estimate));
    let more: Vec<String> = corrected.into_iter().chain(range).collect();
    if more.is_empty() { measured } else { format!("{measured} ({})", more.join(", ")) }
}

/// The coverage and the cost of a depth next to the chosen one.
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

/// Why a survey recommends no depth that found nothing of what coverage counts.
#[must_use]
pub fn nothing_found(of: Kind, reading: Reading) -> String {
    format!("No depth is recommended: the survey found no {}.", reading.counts(of))
}

/// Why a strategy is not compared with the others.
#[must_use]
pub fn not_weighed(strategy: &NotWeighed) -> String {
    format!("Not compared: {}: {}.", strategy.flags, strategy.reason)
}

/// What the last requests of a budget brought, and what further ones would bring.
pub fn spent_budget(spent: &SpentBudget) -> impl Iterator<Item = String> {
    let SpentBudget { rounds, last_requests, last_hosts, last_price, .. } = *spent;
    let price = last_price.map_or_else(String::new, |price| format!(": {price:.1} requests for each"));
    let last = format!(
        "Its last {} ({}) brought {} that it had not known{price}.",
        if rounds == 1 { "round".to_owned() } else { count(rounds, "round") },
        count(last_requests, "request"),
        count(last_hosts, "external host"),
    );
    let next = spent.next_requests.zip(spent.next_useful).map(|(requests, useful)| match spent.next_hosts {
        _ if useful == 0 => "Nothing else was left to request.".to_owned(),
        Some(hosts) if useful < requests => format!(
            "{} more would be for what is known, and bring about {}; what they find may be worth further ones.",
            count(useful, "request"),
            count(hosts.round() as u64, "host")
        ),
        Some(hosts) => format!(
            "The next {} would bring about {}.",
            count(requests, "request"),
            count(hosts.round() as u64, "host")
        ),
        None => format!("What the next {} would bring is not known.", count(requests, "request")),
    });
    std::iter::once(last).chain(next)
}

/// What a bound allows or requires: `at most 30 days`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts that were made real")]
#[must_use]
pub fn bound(limit: &Limit) -> String {
    let wanted = limit.wanted;
    match limit.bound {
        Bound::Days if wanted == 1.0 => "at most 1 day".to_owned(),
        Bound::Days => format!("at most {wanted} days"),
        Bound::Coverage => format!("coverage of at least {}", percent(wanted)),
        Bound::ServerShare => format!("at most {} of a server's link", percent(wanted)),
        Bound::ServerRequests => format!("at most {} per server", count(wanted as u64, "request")),
        Bound::ServerBytes => format!("at most {} per server", bytes(wanted as u64)),
        Bound::SurveyorShare => format!("at most {} of the surveyor's link", percent(wanted)),
    }
}

/// A survey that ended at a depth below which too many site trees continue.
pub struct TooShallow {
    open_trees: u64,
    trees: u64,
    deepest: u16,
    /// The share of all levels that the survey knows.
    known: DepthShare,
    /// The noun for what the shares count.
    of: &'static str,
    /// The share that a survey must know before a depth can be chosen, as a sentence.
    needs: String,
}

impl From<&Choice> for TooShallow {
    fn from(choice: &Choice) -> Self {
        let Choice { open_trees, trees, deepest, known, criterion, confidence, .. } = *choice;
        let (of, needs) = match criterion {
            Criterion::Coverage { at_least, of, reading } => {
                let first = choice.levels.iter().find(|level| level.fits);
                let covered = first.map(|level| (level.depth, level.deciding));
                (reading.counts(of), needs(at_least, known, confidence, covered))
            }
            Criterion::Load { at_most, unit, .. } => {
                (unit.name(), format!("The limit on load, {}, may allow more levels.", percent(at_most)))
            }
        };
        Self { open_trees, trees, deepest, known, of, needs }
    }
}

impl From<&Forecast> for TooShallow {
    fn from(forecast: &Forecast) -> Self {
        let Forecast { open_trees, trees, deepest, known, of, reading, confidence, .. } = *forecast;
        let first = forecast.levels.iter().find(|level| level.breaks.is_empty());
        let covered = first.map(|level| (level.depth, level.deciding_coverage));
        let wanted = forecast.environment.survey.coverage;
        let needs = wanted.map(|wanted| needs(wanted, known, confidence, covered)).unwrap_or_default();
        Self { open_trees, trees, deepest, known, of: reading.counts(of), needs }
    }
}

impl TooShallow {
    /// What stays open although a depth meets all bounds, in sentences.
    #[must_use]
    pub fn beside_a_depth(&self) -> [String; 2] {
        let open = format!(
            "{}: a deeper survey may meet the bounds too. As a share of all levels, coverage is at most the figure shown: {}.",
            self.open(),
            self.known(),
        );
        [open, DEEPER.to_owned()]
    }

    /// Why no depth can be recommended and what to do instead, in sentences.
    #[must_use]
    pub fn instead_of_a_depth(&self) -> [String; 3] {
        let verdict = format!(
            "Survey deeper: {}, so no depth can be recommended. Coverage and load are shares of what the survey knows. As a \
             share of all levels, coverage is at most the figure shown.",
            self.open(),
        );
        let known = format!("The survey knows too little: {}. {}", self.known(), self.needs);
        [verdict, known, DEEPER.to_owned()]
    }

    /// How much of deeper levels too it knows.
    fn known(&self) -> String {
        let Self { deepest, of, known: DepthShare { with_next, by_trend }, .. } = self;
        let all = if by_trend > with_next {
            format!("by the trend of the levels, {} of those on all levels", percent(*by_trend))
        } else {
            "a smaller share of those on all levels".to_owned()
        };
        format!(
            "levels 0 to {deepest} may hold only {} of the {of} on levels 0 to {}, and {all}",
            percent(*with_next),
            deepest + 1,
        )
    }

    fn open(&self) -> String {
        format!(
            "{} of {} site trees continue below depth {}, where this survey ended",
            thousands(self.open_trees),
            thousands(self.trees),
            self.deepest
        )
    }
}

/// What a survey lacks to choose a depth by coverage: it knows too little, or the first depth that covers
/// enough of what it knows covers too little of all levels.
fn needs(at_least: f64, known: DepthShare, confidence: f64, covered: Option<(u16, f64)>) -> String {
    let wanted = percent(at_least);
    match covered {
        Some((depth, covered)) if known.by_trend >= at_least => format!(
            "Depth {depth} covers {} of what it knows, which may be only {} of all levels, and {wanted} is wanted.",
            percent(covered),
            percent(covered * known.at_confidence(confidence)),
        ),
        _ => format!(
            "To find the depth that covers {wanted}, a survey must know {wanted} of those on all levels."
        ),
    }
}

const DEEPER: &str = "Survey a sample of the sites to a greater depth (--sample, --depth), then run choose-depth \
                      on that survey.";

/// The part of the advice that a single site may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfluenceKind {
    /// The depth chosen by coverage.
    DepthByCoverage,
    /// The depth chosen by load.
    DepthByLoad,
    /// The coverage at the depth. Whether the bounds of an environment hold without the site was not
    /// evaluated.
    Coverage,
}

/// The influence of a single site on the advice, in sentences.
#[must_use]
pub fn influence(influence: &Influence, changes: InfluenceKind) -> [String; 2] {
    let Influence { site, share, depth, at, figure } = influence;
    let (has, figure_of) = match changes {
        InfluenceKind::DepthByLoad => ("accounts for", "load"),
        InfluenceKind::DepthByCoverage | InfluenceKind::Coverage => ("alone has", "coverage"),
    };
    let changed = match depth {
        _ if changes == InfluenceKind::Coverage => String::new(),
        Some(depth) if depth == at => format!("depth {at} would still be chosen: "),
        Some(depth) => format!("depth {depth} would be chosen: "),
        None => "no depth would be chosen: ".to_owned(),
    };
    [
        format!(
            "The most influential site at depth {at} is {site}: it {has} {} of the total.",
            percent(*share)
        ),
        format!("Without it, {changed}the {figure_of} at depth {at} would be {}.", with_interval(*figure)),
    ]
}
