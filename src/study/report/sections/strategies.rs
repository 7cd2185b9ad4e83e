use crate::analysis::{Candidate, Comparison};
use crate::report::{Block, Cell, Column, Section, Table, advice};

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

fn fits_text(candidate: &Candidate) -> &'static str {
    if candidate.fits { "yes" } else { "no" }
}
