use std::fmt::Write;

use super::figures::{
    describe_confidence, describe_low_coverage, describe_needed_sites, format_verdict, wrapped,
};
use super::forecast_words::describe_forecast;
use super::lead::{Lead, describe_skipped_pages};
use super::recommendation::{Advice, Recommendation};
use crate::analysis::{Choice, ChoiceLevel, Criterion, Evidence, Verdict};
use crate::cli::columns::{Columns, Side};
use crate::records::units::{bytes, duration, percent, thousands};
use crate::report::advice::{self, TooShallow, interval, nothing_found, with_interval};

/// The text of the advice.
pub(super) fn describe_advice(advice: &Advice) -> String {
    let lead = Lead::from_advice(advice);
    let mut text = lead.first.clone();
    text += &match &advice.outcome {
        Recommendation::Choice(choice) => describe_choice(choice, &lead),
        Recommendation::Forecast(forecast) => describe_forecast(forecast, &lead),
        Recommendation::LeftOut(left_out) => describe_skipped_pages(left_out),
    };
    if let Some(by) = advice.grouped_by {
        let _ = write!(text, "\n{}", group_table(advice, by));
    }
    for note in &advice.notes {
        let _ = write!(text, "\nNote: {note}.\n");
    }
    text
}

fn describe_choice(choice: &Choice, lead: &Lead) -> String {
    let (kind, reading) = choice.criterion.counted();
    format!(
        "{}{}\n{}\nCoverage is counted in {} ({} reading), as a share of what the survey knows from levels 0 to {};\n\
         nothing is known about deeper levels. Intervals have a confidence of {}. {}\n",
        verdict(choice, lead.heading),
        lead.details,
        table(choice, lead.mark),
        reading.counts(kind),
        reading.word(),
        choice.deepest,
        percent(choice.interval_confidence),
        describe_censoring(choice),
    )
}

fn table(choice: &Choice, mark: &str) -> Columns {
    use Side::{Left, Right};
    let mut table =
        Columns::new(&[Right, Right, Right, Right, Right, Right, Right, Right, Right, Right, Right, Left]);
    table.row([
        "depth",
        "coverage",
        "corrected",
        "interval",
        "requests",
        "load",
        "bytes",
        "load",
        "busy",
        "load",
        "saved",
        "",
    ]);
    let unit = choice.criterion.unit() as usize;
    let were_busy = choice.levels.iter().any(|level| level.busy_ms > 0.0);
    for level in &choice.levels {
        let [requests, wire, busy] = level.load.map(|load| percent(load.value));
        let busy = if were_busy { busy } else { String::new() };
        table.row([
            &level.depth.to_string(),
            &percent(level.coverage.value),
            &percent(level.coverage.corrected),
            &interval(level.coverage),
            &thousands(level.requests),
            &requests,
            &bytes(level.bytes),
            &wire,
            &duration(level.busy_ms / 1000.0),
            &busy,
            &percent(level.saved[unit]),
            if choice.depth == Some(level.depth) { mark } else { "" },
        ]);
    }
    table
}

fn verdict(choice: &Choice, heading: &str) -> String {
    match choice.chosen() {
        Some(level) => recommended(choice, level, heading),
        None if choice.verdict == Verdict::SurveyDeeper => survey_deeper(choice),
        None if choice.verdict == Verdict::NothingFound => {
            let (of, reading) = choice.criterion.counted();
            wrapped(0, &nothing_found(of, reading))
        }
        None => no_depth(choice),
    }
}

/// The depth, its coverage and load, its savings, the risk, and the number of site trees that would settle it.
fn recommended(choice: &Choice, level: &ChoiceLevel, heading: &str) -> String {
    let unit = choice.criterion.unit();
    let load = level.load[unit as usize];
    let recommendation = format!(
        "{heading}: depth {}: {} of the {}, with {} of the {} that depth {} needs.",
        level.depth,
        with_interval(level.coverage),
        counted(choice),
        with_interval(load),
        unit.name(),
        choice.deepest,
    );
    let mut text = wrapped(0, &recommendation);
    text += &wrapped(2, &format!("{}, and {}.", explain_choice(choice), describe_saving(choice, level)));
    text += &wrapped(2, &risk(choice, level));
    if let Some(settling) = choice.settling {
        let _ = writeln!(text, "  {}", describe_needed_sites(settling, choice.trees));
    }
    for neighbour in choice.neighbours() {
        let _ = writeln!(text, "  {}", advice::neighbour(choice, neighbour));
    }
    text
}

fn explain_choice(choice: &Choice) -> String {
    let by = describe_confidence(choice.confidence);
    match choice.criterion {
        Criterion::Coverage { at_least, .. } => {
            format!("It is the smallest depth whose coverage is at least {} {by}", percent(at_least))
        }
        Criterion::Load { at_most, unit, .. } => {
            format!(
                "It is the greatest depth whose load is at most {} of all {} {by}",
                percent(at_most),
                unit.name()
            )
        }
    }
}

fn risk(choice: &Choice, level: &ChoiceLevel) -> String {
    if choice.confidence > Evidence::EVEN_ODDS {
        return measured_risk(choice);
    }
    let Some((low, high)) = choice.criterion.figure_of(level).interval() else {
        let why = choice.criterion.figure_of(level).no_interval.map_or_else(
            || "everything known is covered, by definition".to_owned(),
            |why| format!("{}, so there is no interval", why.reason()),
        );
        return format!("Risk: not known; {why}.");
    };
    let risk_bound = match choice.criterion {
        Criterion::Coverage { .. } => describe_low_coverage(low),
        Criterion::Load { .. } => {
            format!("among all such sites, the load may be as high as {}", percent(high))
        }
    };
    let certainty = percent(f64::midpoint(1.0, choice.interval_confidence));
    let safer = match choice.at_worst.and_then(|depth| choice.level(depth)) {
        Some(safe) if safe.depth == level.depth => {
            format!(
                "This depth also meets the goal at the worse end of the interval: it is {certainty} sure."
            )
        }
        Some(safe) => {
            format!(
                "To be {certainty} sure, take depth {}, which {}.",
                safe.depth,
                describe_saving(choice, safe)
            )
        }
        None => format!("No depth is {certainty} sure to meet the goal."),
    };
    format!("Risk: {risk_bound}. {safer}")
}

/// The depth by the measured curve, where a higher confidence decides.
fn measured_risk(choice: &Choice) -> String {
    let Some(level) = choice.as_measured.and_then(|depth| choice.level(depth)) else {
        return "By the curve as measured, no depth meets the goal.".to_owned();
    };
    let caveat = choice.criterion.figure_of(level).no_interval.map_or_else(String::new, |why| {
        format!(" That depth cannot have this confidence, because it has no interval: {}.", why.reason())
    });
    format!(
        "Risk: {} of such surveys would be wrong. By the curve as measured, depth {} meets the goal: it covers {} and {}.{caveat}",
        percent(1.0 - choice.confidence),
        level.depth,
        with_interval(level.coverage),
        describe_saving(choice, level)
    )
}

/// The savings of a depth compared with the deepest one.
fn describe_saving(choice: &Choice, level: &ChoiceLevel) -> String {
    let unit = choice.criterion.unit();
    match level.saving(unit) {
        _ if level.depth == choice.deepest => "is the deepest level walked, so it saves nothing".to_owned(),
        Some(saved) => format!("saves {} of the {}", percent(saved), unit.name()),
        None => format!("saves almost none of the {}", unit.name()),
    }
}

fn survey_deeper(choice: &Choice) -> String {
    format_verdict(&TooShallow::from(choice).instead_of_a_depth())
}

fn no_depth(choice: &Choice) -> String {
    let by = describe_confidence(choice.confidence);
    let nearest = match choice.criterion {
        Criterion::Coverage { .. } => choice.levels.last(),
        Criterion::Load { .. } => choice.levels.first(),
    };
    let Some(level) = nearest else { return "No depth fits: the survey has no levels.\n".to_owned() };
    match choice.criterion {
        Criterion::Coverage { at_least, .. } => format!(
            "No depth fits: none covers {} {by}. The nearest is depth {}: it covers {} where {} is wanted.\n",
            percent(at_least),
            level.depth,
            percent(level.deciding),
            percent(at_least)
        ),
        Criterion::Load { at_most, unit, .. } => format!(
            "No depth fits: none stays within {} of all {} {by}. The nearest is depth {}: it would need {}\nwhere {} is \
             allowed.\n",
            percent(at_most),
            unit.name(),
            level.depth,
            percent(level.deciding),
            percent(at_most)
        ),
    }
}

/// The total of which coverage is a share.
fn counted(choice: &Choice) -> String {
    let (kind, reading) = choice.criterion.counted();
    format!("{} known", reading.counts(kind))
}

fn describe_censoring(choice: &Choice) -> String {
    if choice.cut_trees == 0 {
        return "No site tree was cut short.".to_owned();
    }
    let (cut, trees) = (thousands(choice.cut_trees), thousands(choice.trees));
    let shown_level = choice.chosen().or(choice.levels.last());
    let bound = shown_level.map_or_else(String::new, |level| {
        let low = percent(level.censored.low);
        format!(
            "; if everything that\nthey may still hold were new, coverage at depth {} would be about {low}",
            level.depth
        )
    });
    let were = if choice.cut_trees == 1 { "was" } else { "were" };
    format!("{cut} of {trees} site trees {were} cut short{bound}.")
}

fn group_table(advice: &Advice, by: &str) -> Columns {
    use Side::{Left, Right};
    let mut table = Columns::new(&[Left, Right, Right, Right, Right, Right, Right]);
    table.row([by, "site trees", "depth", "coverage", "interval", "load", "time"]);
    for group in &advice.groups {
        let trees = thousands(group.trees);
        let (depth, coverage, load, time) = match &group.outcome {
            Recommendation::Choice(choice) => {
                let level = choice.chosen();
                let load = level.map(|level| percent(level.load[choice.criterion.unit() as usize].value));
                let coverage = level.map(|level| level.coverage);
                (choice.depth, coverage, load, None)
            }
            Recommendation::LeftOut(_) => (None, None, None, None),
            Recommendation::Forecast(forecast) => {
                let level = forecast.chosen();
                let coverage = level.map(|level| level.coverage);
                let load = level
                    .zip(forecast.levels.last())
                    .map(|(level, last)| share(level.requests, last.requests));
                let time = level.map(|level| duration(level.seconds));
                (forecast.depth, coverage, load, time)
            }
        };
        table.row([
            group.name.as_str(),
            trees.as_str(),
            &depth
                .map_or_else(|| no_depth_word(group.outcome.verdict()).to_owned(), |depth| depth.to_string()),
            &coverage.map(|coverage| percent(coverage.value)).unwrap_or_default(),
            &coverage.map(interval).unwrap_or_default(),
            &load.unwrap_or_default(),
            &time.unwrap_or_default(),
        ]);
    }
    table
}

/// The text in place of a depth.
fn no_depth_word(verdict: Verdict) -> &'static str {
    if verdict == Verdict::SurveyDeeper { "deeper" } else { "none" }
}

fn share(part: u64, whole: u64) -> String {
    percent(if whole > 0 { part as f64 / whole as f64 } else { 0.0 })
}
