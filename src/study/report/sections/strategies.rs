use crate::analysis::{BudgetPoint, Candidate, Choice, Comparison, Estimate, LoadUnit};
use crate::records::FURTHER_REQUESTS;
use crate::records::units::thousands;
use crate::report::{Axis, Block, Cell, Column, Figure, Lines, Point, Scale, Section, Series, Table, advice};

/// The recommendation that precedes the one on depth: a strategy that costs less than the depth, and whether
/// the survey is partial.
pub(super) fn lead(comparison: &Comparison, depth_text: String, is_partial: bool) -> String {
    let provisional = if is_partial { "Provisional: based on a part of the survey. " } else { "" };
    match comparison.instead_of_a_depth() {
        Some(best) => format!(
            "{provisional}{} is recommended: it covers {} of the external hosts with {} of the requests. One depth for all sites: \
             {depth_text}",
            best.flags,
            Cell::ShareBetween(best.coverage).display(),
            Cell::ShareBetween(best.load).display(),
        ),
        None => format!("{provisional}{depth_text}"),
    }
}

/// What the chosen depth is: only one strategy is recommended.
pub(super) fn word_of_the_depth(comparison: &Comparison) -> &'static str {
    if comparison.instead_of_a_depth().is_some() { "the best depth" } else { "recommended" }
}

/// Adds the comparison of strategies, and a note on each one that this survey cannot judge.
pub(super) fn add(section: &mut Section, id: &str, comparison: &Comparison) {
    if comparison.candidates.len() > 1 {
        section.blocks.push(table(id, comparison).into());
    }
    let not_weighed = comparison.not_weighed.iter();
    section.blocks.extend(not_weighed.map(|candidate| Block::Note(advice::not_weighed(candidate))));
}

fn table(id: &str, comparison: &Comparison) -> Table {
    let is_timed = comparison.candidates.iter().any(|candidate| candidate.seconds.is_some());
    let columns = [
        Column::text("strategy"),
        Column::interval("coverage", "share"),
        Column::share("corrected coverage"),
        Column::number("requests", ""),
        Column::interval("load", "share"),
    ]
    .into_iter()
    .chain(is_timed.then(|| Column::number("duration", "s")))
    .chain([Column::text("meets the goal")]);
    let rows = comparison.candidates.iter().enumerate().map(|(index, candidate)| {
        let verdict =
            if comparison.recommended == Some(index) { "recommended" } else { fits_text(candidate) };
        let (coverage, load) = (Cell::ShareBetween(candidate.coverage), Cell::ShareBetween(candidate.load));
        let corrected = Cell::Share(candidate.coverage.corrected);
        [candidate.flags.clone().into(), coverage, corrected, Cell::Count(candidate.requests), load]
            .into_iter()
            .chain(is_timed.then(|| candidate.seconds.map_or(Cell::Missing, Cell::Seconds)))
            .chain([verdict.into()])
            .collect()
    });
    let caption = "Comparison of strategies: the part of this survey that each would have found and fetched.";
    Table::new(id, caption, columns.collect()).with_rows(rows)
}

/// Adds what budgets of the whole survey would have found, beside one depth for all sites.
pub(super) fn add_budgets(section: &mut Section, comparison: &Comparison, choice: &Choice) {
    let Some(last) = comparison.budgets.last() else { return };
    let line = |points: &mut dyn Iterator<Item = (f64, f64, String)>| {
        points.map(|(x, y, label)| Point { x, y: Estimate::exact(y), label }).collect::<Vec<_>>()
    };
    let mut budgets =
        comparison.budgets.iter().map(|point| (point.load, point.coverage, point.budget.to_string()));
    let mut depths = choice.levels.iter().map(|level| {
        (level.load[LoadUnit::Requests as usize].value, level.coverage.value, level.depth.to_string())
    });
    let chart = Lines {
        x: Axis::new("Requests, as a share of those of this survey", Scale::Share),
        y: Axis::new("Coverage of external hosts", Scale::Share),
        series: vec![
            Series::new("--budget", line(&mut budgets)),
            Series::new("one depth", line(&mut depths)),
        ],
        mark: None,
    };
    let alt = format!(
        "With {} of the requests, a budget finds {} of the external hosts.",
        Cell::Share(last.load).display(),
        Cell::Share(last.coverage).display()
    );
    let caption = "External hosts that a budget of requests of the whole survey would have found, replayed on the pages of this \
                   survey, and those of one depth for all sites. Numbers at points are budgets and depths.";
    section
        .blocks
        .push(Figure::new("figure-budgets", caption, alt, chart, budget_table(&comparison.budgets)).into());
}

fn budget_table(budgets: &[BudgetPoint]) -> Table {
    let columns = vec![
        Column::number("--budget", ""),
        Column::share("load"),
        Column::number("external hosts", ""),
        Column::share("coverage"),
        Column::number(&format!("next {} requests bring", thousands(FURTHER_REQUESTS)), "hosts"),
        Column::number("requests per last host", ""),
    ];
    let rows = budgets.iter().map(|point| {
        vec![
            Cell::Count(point.budget),
            Cell::Share(point.load),
            Cell::Count(point.hosts),
            Cell::Share(point.coverage),
            Cell::Count(point.next_hosts.round() as u64),
            point.last_price.map_or(Cell::Missing, |price| Cell::Number(price, 1)),
        ]
    });
    Table::new("", "", columns).with_rows(rows)
}

fn fits_text(candidate: &Candidate) -> &'static str {
    if candidate.fits { "yes" } else { "no" }
}
