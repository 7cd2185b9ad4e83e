use std::fmt::Write;

use super::forecast_words::{forecast_in_words, interval, kind_in_words, percent};
use super::{Advice, Answer};
use crate::analysis::{Choice, ChoiceLevel, Criterion, Estimate, LoadUnit, Reading};
use crate::cli::columns::{Columns, Side};
use crate::records::units::{bytes, duration, thousands};

/// The advice as people read it.
pub(super) fn advice_in_words(advice: &Advice) -> String {
    let mut text = match &advice.answer {
        Answer::Choice(choice) => of_choice(choice),
        Answer::Forecast(forecast) => forecast_in_words(forecast),
    };
    if let Some(by) = advice.grouped_by {
        let _ = write!(text, "\n{}", of_groups(advice, by));
    }
    for note in &advice.notes {
        let _ = write!(text, "\nNote: {note}.\n");
    }
    text
}

fn of_choice(choice: &Choice) -> String {
    let (kind, reading) = choice.criterion.counted();
    let mut text = format!("{}\n{}\n", table(choice), verdict(choice));
    if let Some(depth) = choice.depth {
        for neighbour in [depth.checked_sub(1), depth.checked_add(1)].into_iter().flatten() {
            if let Some(level) = choice.level(neighbour) {
                let _ = writeln!(text, "  {}", neighbour_in_words(choice, level));
            }
        }
    }
    let _ = write!(
        text,
        "\nCoverage is counted in {} ({} reading), as a share of what the survey knows from levels 0 to {}; of deeper\n\
         levels nothing is known. Intervals are of {} confidence. {}\n",
        kind_in_words(kind),
        reading.word(),
        choice.deepest,
        percent(choice.confidence),
        censoring(choice),
    );
    text
}

fn table(choice: &Choice) -> Columns {
    use Side::{Left, Right};
    let mut table =
        Columns::new(&[Right, Right, Right, Right, Right, Right, Right, Right, Right, Right, Left]);
    table.row([
        "depth", "coverage", "interval", "requests", "load", "bytes", "load", "busy", "load", "saved", "",
    ]);
    let unit = choice.criterion.unit() as usize;
    for level in &choice.levels {
        let [requests, wire, busy] = level.load.map(|load| percent(load.value));
        table.row([
            &level.depth.to_string(),
            &percent(level.coverage.value),
            &interval(level.coverage),
            &thousands(level.requests),
            &requests,
            &bytes(level.bytes),
            &wire,
            &duration(level.busy_ms / 1000.0),
            &busy,
            &percent(level.saved[unit]),
            mark(choice, level),
        ]);
    }
    table
}

fn mark(choice: &Choice, level: &ChoiceLevel) -> &'static str {
    if choice.depth == Some(level.depth) { "<- recommended" } else { "" }
}

fn verdict(choice: &Choice) -> String {
    let Some((depth, level)) = choice.depth.and_then(|depth| Some((depth, choice.level(depth)?))) else {
        return no_depth(choice);
    };
    let unit = choice.criterion.unit();
    let load = level.load[unit as usize];
    let covered = coverage_in_words(choice, level.coverage);
    let needs = format!(
        "It needs {} ({}) of the {} that depth {} needs, and saves {}.",
        percent(load.value),
        interval(load),
        unit_in_words(unit),
        choice.deepest,
        percent(level.saved[unit as usize])
    );
    let why = match choice.criterion {
        Criterion::Coverage { at_least, .. } => {
            format!(
                "the least whose coverage is at least {} at the lower end of its interval",
                percent(at_least)
            )
        }
        Criterion::Load { at_most, .. } => format!(
            "the greatest whose load is at most {} of all {} at the upper end of its interval",
            percent(at_most),
            unit_in_words(unit)
        ),
    };
    format!(
        "Recommended: depth {depth}, {why}.\n  It covers {covered}. {needs}{}",
        as_measured(choice, depth)
    )
}

/// What the figures would choose without regard to their intervals, where that is something else.
fn as_measured(choice: &Choice, depth: u16) -> String {
    let Some(measured) = choice.as_measured.filter(|measured| *measured != depth) else {
        return String::new();
    };
    let Some(level) = choice.level(measured) else { return String::new() };
    let unit = choice.criterion.unit();
    let between = match choice.at_best {
        Some(best) if best != measured => {
            format!(
                ", at {} confidence between {} and {}",
                percent(choice.confidence),
                best.min(depth),
                best.max(depth)
            )
        }
        _ => String::new(),
    };
    format!(
        "\n  As this survey measured it, depth {measured} does{between}: it covers {}\n  with {} of the {} and saves {}.",
        percent(level.coverage.value),
        percent(level.load[unit as usize].value),
        unit_in_words(unit),
        percent(level.saved[unit as usize])
    )
}

fn no_depth(choice: &Choice) -> String {
    let level = match choice.criterion {
        Criterion::Coverage { .. } => choice.levels.last(),
        Criterion::Load { .. } => choice.levels.first(),
    };
    let Some(level) = level else { return "No depth: the survey has no levels.".to_owned() };
    match choice.criterion {
        Criterion::Coverage { at_least, .. } => format!(
            "No depth reaches {}: depth {} covers {}. A deeper survey would tell more.",
            percent(at_least),
            level.depth,
            coverage_in_words(choice, level.coverage)
        ),
        Criterion::Load { at_most, unit, .. } => {
            let load = level.load[unit as usize];
            format!(
                "No depth stays within {} of all {}: depth {} alone needs {} ({}).",
                percent(at_most),
                unit_in_words(unit),
                level.depth,
                percent(load.value),
                interval(load)
            )
        }
    }
}

fn neighbour_in_words(choice: &Choice, level: &ChoiceLevel) -> String {
    let unit = choice.criterion.unit();
    format!(
        "Depth {} would cover {} ({}) with {} of the {}.",
        level.depth,
        percent(level.coverage.value),
        interval(level.coverage),
        percent(level.load[unit as usize].value),
        unit_in_words(unit)
    )
}

fn coverage_in_words(choice: &Choice, coverage: Estimate) -> String {
    let (kind, reading) = choice.criterion.counted();
    let of = match reading {
        Reading::Union => format!("{} known", kind_in_words(kind)),
        Reading::Pair => format!("{} that the site trees know", kind_in_words(kind)),
    };
    format!("{} ({}) of the {of}", percent(coverage.value), interval(coverage))
}

fn censoring(choice: &Choice) -> String {
    if choice.cut_trees == 0 {
        return "No site tree was cut short.".to_owned();
    }
    let (cut, trees) = (thousands(choice.cut_trees), thousands(choice.trees));
    let shown = choice.depth.and_then(|depth| choice.level(depth)).or(choice.levels.last());
    let bound = shown.map_or_else(String::new, |level| {
        let low = percent(level.censored.low);
        format!(
            " if what they might hold were all new,\ncoverage at depth {} would be about {low}.",
            level.depth
        )
    });
    format!("Of {trees} site trees {cut} were cut short;{bound}")
}

fn of_groups(advice: &Advice, by: &str) -> Columns {
    use Side::{Left, Right};
    let mut table = Columns::new(&[Left, Right, Right, Right, Right, Right, Right]);
    table.row([by, "site trees", "depth", "coverage", "interval", "load", "takes"]);
    for group in &advice.groups {
        let trees = thousands(group.trees);
        let (depth, coverage, load, takes) = match &group.answer {
            Answer::Choice(choice) => {
                let level = choice.depth.and_then(|depth| choice.level(depth));
                let load = level.map(|level| percent(level.load[choice.criterion.unit() as usize].value));
                let coverage = level.map(|level| level.coverage);
                (choice.depth, coverage, load, None)
            }
            Answer::Forecast(forecast) => {
                let level = forecast.depth.and_then(|depth| forecast.level(depth));
                let coverage = level.map(|level| level.coverage);
                let load = level
                    .zip(forecast.levels.last())
                    .map(|(level, last)| share(level.requests, last.requests));
                let takes = level.map(|level| duration(level.seconds));
                (forecast.depth, coverage, load, takes)
            }
        };
        table.row([
            group.name.as_str(),
            trees.as_str(),
            &depth.map_or_else(|| "none".to_owned(), |depth| depth.to_string()),
            &coverage.map(|coverage| percent(coverage.value)).unwrap_or_default(),
            &coverage.map(interval).unwrap_or_default(),
            &load.unwrap_or_default(),
            &takes.unwrap_or_default(),
        ]);
    }
    table
}

fn share(part: u64, whole: u64) -> String {
    percent(if whole > 0 { part as f64 / whole as f64 } else { 0.0 })
}

fn unit_in_words(unit: LoadUnit) -> &'static str {
    match unit {
        LoadUnit::Requests => "requests",
        LoadUnit::Bytes => "bytes",
        LoadUnit::BusyTime => "busy time",
    }
}
