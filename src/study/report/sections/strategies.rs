use crate::analysis::{Candidate, Comparison, Influence, Strategy};
use crate::report::{Block, Cell, Column, Section, Table, percent};

/// What is recommended, in the words before the depth: a strategy that costs less than it, and that the survey is partial.
pub(super) fn lead(comparison: &Comparison, of_depth: String, is_partial: bool) -> String {
    let provisional = if is_partial { "Provisional, from a part of the survey. " } else { "" };
    let other = comparison.best().filter(|best| !matches!(best.strategy, Strategy::Depth { .. }));
    match other {
        Some(best) => format!(
            "{provisional}{} is recommended: it covers {} of the external hosts with {} of the requests. One depth for all sites: \
             {of_depth}",
            best.flags,
            Cell::ShareBetween(best.coverage).shown(),
            Cell::ShareBetween(best.load).shown(),
        ),
        None => format!("{provisional}{of_depth}"),
    }
}

/// Strategies side by side, and those that this survey cannot judge.
pub(super) fn add(section: &mut Section, id: &str, comparison: &Comparison) {
    if comparison.candidates.len() > 1 {
        section.blocks.push(table(id, comparison).into());
    }
    let not_weighed = comparison.not_weighed.iter();
    section
        .blocks
        .extend(not_weighed.map(|one| Block::Note(format!("Not weighed: {}: {}.", one.flags, one.reason))));
}

fn table(id: &str, comparison: &Comparison) -> Table {
    let is_timed = comparison.candidates.iter().any(|one| one.seconds.is_some());
    let columns = [
        Column::text("strategy"),
        Column::interval("coverage", "share"),
        Column::share("corrected coverage"),
        Column::number("requests", ""),
        Column::interval("load", "share"),
    ]
    .into_iter()
    .chain(is_timed.then(|| Column::number("duration", "s")))
    .chain([Column::text("meets it")]);
    let rows = comparison.candidates.iter().enumerate().map(|(at, one)| {
        let verdict = if comparison.recommended == Some(at) { "recommended" } else { word(one) };
        let (coverage, load) = (Cell::ShareBetween(one.coverage), Cell::ShareBetween(one.load));
        let corrected = Cell::Share(one.coverage.corrected);
        [one.flags.clone().into(), coverage, corrected, Cell::Count(one.requests), load]
            .into_iter()
            .chain(is_timed.then(|| one.seconds.map_or(Cell::Missing, Cell::Seconds)))
            .chain([verdict.into()])
            .collect()
    });
    let caption = "Strategies side by side: what each would have found and fetched of what this survey did.";
    Table::new(id, caption, columns.collect()).with_rows(rows)
}

fn word(one: &Candidate) -> &'static str {
    if one.fits { "yes" } else { "no" }
}

/// What a single site does to the answer.
pub(super) fn influence(influence: &Influence) -> String {
    let Influence { site, share, depth, at, figure } = influence;
    let changed = match depth {
        Some(depth) if depth == at => "the same depth".to_owned(),
        Some(depth) => format!("depth {depth}"),
        None => "no depth".to_owned(),
    };
    format!(
        "The site that counts most is {site}, which alone has {} of what is counted. Without it {changed} would be chosen; at depth \
         {at} the coverage is then {}.",
        percent(*share),
        Cell::ShareBetween(*figure).shown()
    )
}
