use std::fmt::Write;

use super::figures::wrapped;
use super::recommendation::{Advice, Recommendation};
use crate::analysis::{BudgetPoint, Candidate, Comparison, Criterion, Kind, Reading, SkippedPages, Strategy};
use crate::cli::columns::{Columns, Side};
use crate::records::FURTHER_REQUESTS;
use crate::records::units::{count, duration, percent, thousands};
use crate::report::advice::{self, InfluenceKind, interval, with_interval};

/// The texts before the depths, and between the verdict on the depths and their table.
pub(super) struct Lead {
    /// The warning of a partial survey, and the strategy that is recommended instead of a depth.
    pub first: String,
    /// The heading before the depth.
    pub heading: &'static str,
    /// The mark of the depth in the table.
    pub mark: &'static str,
    /// The comparison of strategies, those that cannot be judged, and the influence of a single site on the
    /// result.
    pub details: String,
}

impl Lead {
    pub(super) fn from_advice(advice: &Advice) -> Self {
        let mut first = advice.partial.as_ref().map_or_else(String::new, |partial| {
            wrapped(0, &format!("{} {}", partial.title, partial.text)) + "\n"
        });
        let is_partial = advice.partial.is_some();
        let recommended = if is_partial { "Provisional" } else { "Recommended" };
        let mark = if is_partial { "<- provisional" } else { "<- recommended" };
        let alternative = advice.comparison.instead_of_a_depth();
        if let Some(best) = alternative {
            first += &describe_alternative(best, recommended, advice);
        }
        let (heading, depth_mark) = match alternative {
            Some(_) => ("One depth for all sites", "<- best depth"),
            None => (recommended, mark),
        };
        Self { first, heading, mark: depth_mark, details: details(advice, mark) }
    }
}

/// The strategy that costs less than a depth.
fn describe_alternative(best: &Candidate, heading: &str, advice: &Advice) -> String {
    let time_label = best.seconds.map_or_else(String::new, |seconds| format!(", in {}", duration(seconds)));
    let recommendation = format!(
        "{heading}: {}: {} of the {} known, with {} of the requests{time_label}.",
        best.flags,
        with_interval(best.coverage),
        counted(&advice.outcome),
        with_interval(best.load),
    );
    let mut text = wrapped(0, &recommendation);
    if let Some(depth) = depth_candidate(&advice.comparison)
        && best.requests < depth.requests
    {
        let share = best.requests as f64 / depth.requests as f64;
        let _ = writeln!(text, "  That is {} of the requests of {}.", percent(share), depth.flags);
    }
    if let (Strategy::Budget { budget }, Some(trees)) = (&best.strategy, trees(&advice.outcome)) {
        let _ = writeln!(
            text,
            "  It is for the {} of this survey: {:.1} requests for each.",
            count(trees, "site tree"),
            *budget as f64 / trees as f64
        );
    }
    text
}

/// The number of site trees of the survey, if there are any.
fn trees(outcome: &Recommendation) -> Option<u64> {
    let trees = match outcome {
        Recommendation::Choice(choice) => choice.trees,
        Recommendation::Forecast(forecast) => forecast.trees,
        Recommendation::LeftOut(left_out) => left_out.trees,
    };
    Some(trees).filter(|trees| *trees > 0)
}

/// The name of what coverage counts.
fn counted(outcome: &Recommendation) -> &'static str {
    let (kind, reading) = match outcome {
        Recommendation::Choice(choice) => choice.criterion.counted(),
        Recommendation::Forecast(forecast) => (forecast.of, forecast.reading),
        Recommendation::LeftOut(_) => (Kind::Hosts, Reading::Union),
    };
    reading.counts(kind)
}

fn depth_candidate(comparison: &Comparison) -> Option<&Candidate> {
    let is_depth = |candidate: &&Candidate| matches!(candidate.strategy, Strategy::Depth { .. });
    comparison.candidates.iter().find(is_depth)
}

fn details(advice: &Advice, mark: &str) -> String {
    let mut text = String::new();
    let by_load = matches!(influence_kind(advice), InfluenceKind::DepthByLoad);
    let unfit = if by_load { "too much" } else { "not enough" };
    if advice.comparison.candidates.len() > 1 {
        let _ = write!(text, "\n{}", comparison_table(&advice.comparison, mark, unfit));
    }
    if !advice.comparison.budgets.is_empty() {
        let _ = write!(text, "\n{}", budget_table(&advice.comparison.budgets));
    }
    for not_weighed in &advice.comparison.not_weighed {
        let _ = writeln!(text, "  {}", advice::not_weighed(not_weighed));
    }
    if let Some(influence) = &advice.influence {
        text.extend(
            advice::influence(influence, influence_kind(advice)).map(|sentence| wrapped(2, &sentence)),
        );
    }
    text
}

fn comparison_table(comparison: &Comparison, mark: &str, unfit: &str) -> Columns {
    use Side::{Left, Right};
    let mut table = Columns::new(&[Left, Right, Right, Right, Right, Right, Right, Right, Left]);
    let time_label =
        if comparison.candidates.iter().any(|candidate| candidate.seconds.is_some()) { "time" } else { "" };
    table.row([
        "strategy",
        "coverage",
        "corrected",
        "interval",
        "requests",
        "load",
        "interval",
        time_label,
        "",
    ]);
    for (index, candidate) in comparison.candidates.iter().enumerate() {
        let verdict = match candidate.fits {
            _ if comparison.recommended == Some(index) => mark,
            true => "",
            false if candidate.breaks.is_empty() => unfit,
            false => "breaks a bound",
        };
        table.row([
            &candidate.flags,
            &percent(candidate.coverage.value),
            &percent(candidate.coverage.corrected),
            &interval(candidate.coverage),
            &thousands(candidate.requests),
            &percent(candidate.load.value),
            &interval(candidate.load),
            &candidate.seconds.map(duration).unwrap_or_default(),
            verdict,
        ]);
    }
    table
}

/// What budgets of the whole survey would have bought.
fn budget_table(budgets: &[BudgetPoint]) -> Columns {
    use Side::Right;
    let mut table = Columns::new(&[Right; 6]);
    let next = format!("next {} bring", thousands(FURTHER_REQUESTS));
    table.row(["--budget", "load", "hosts", "coverage", &next, "requests per last host"]);
    for point in budgets {
        table.row([
            &point.budget.to_string(),
            &percent(point.load),
            &thousands(point.hosts),
            &percent(point.coverage),
            &thousands(point.next_hosts.round() as u64),
            &point.last_price.map_or_else(|| "-".to_owned(), |price| format!("{price:.1}")),
        ]);
    }
    table
}

fn influence_kind(advice: &Advice) -> InfluenceKind {
    match &advice.outcome {
        Recommendation::Forecast(_) => InfluenceKind::Coverage,
        Recommendation::Choice(choice) if matches!(choice.criterion, Criterion::Load { .. }) => {
            InfluenceKind::DepthByLoad
        }
        _ => InfluenceKind::DepthByCoverage,
    }
}

/// The text for a survey that left pages out.
pub(super) fn describe_skipped_pages(left_out: &SkippedPages) -> String {
    let SkippedPages { flags, trees, requests, hosts, urls, expected_hosts, budget, .. } = left_out;
    let more = match budget {
        Some(budget) => advice::spent_budget(budget).map(|sentence| wrapped(2, &sentence)).collect(),
        None if !left_out.may_have_sample => String::new(),
        None => wrapped(2, "`ccsurvey report` shows what a sample of these pages brought (--probe-depth)."),
    };
    let left = match urls {
        0 => "It found no URL that it left out.".to_owned(),
        _ => format!(
            "It found {} that it left out; these pages were expected to bring {} new in their sites.",
            count(*urls, "URL"),
            count(expected_hosts.round() as u64, "external host"),
        ),
    };
    let known = format!(
        "Its levels took {} in {}, and it knows {}. {left}",
        count(*requests, "request"),
        count(*trees, "site tree"),
        count(*hosts, "external host"),
    );
    format!(
        "No depth can be chosen: this survey was made with {flags}, which leaves pages out at every level.\n{}{more}{}",
        wrapped(2, &known),
        wrapped(
            2,
            "To compare depths with --depth auto and --budget, survey a sample of the sites to a fixed depth, with --record-links, \
             and run this command on that survey."
        ),
    )
}
