use super::{names, strategies};
use crate::analysis::{
    Choice, ChoiceLevel, Comparison, Criterion, Influence, Kind, LoadUnit, NoInterval, Reading, Verdict,
};
use crate::records::units::thousands;
use crate::report::{Block, Cell, Column, Section, Table, percent};

/// Which depth to use, and what the neighbouring ones and other strategies would cost and bring.
#[must_use]
pub(in crate::report) fn section(
    choice: &Choice,
    comparison: &Comparison,
    influence: Option<&Influence>,
    is_partial: bool,
) -> Section {
    let lead = strategies::lead(comparison, recommendation(choice), is_partial);
    let mut section = Section::new("choice", "Which depth to use", lead);
    strategies::add(&mut section, "table-strategies", comparison);
    section.blocks.extend(influence.map(|influence| Block::Text(strategies::influence(influence))));
    if let Some(level) = choice.depth.and_then(|depth| choice.level(depth)) {
        let beside = [level.depth.checked_sub(1), level.depth.checked_add(1)];
        let told: Vec<String> = beside
            .into_iter()
            .flatten()
            .filter_map(|depth| choice.level(depth))
            .map(|level| told(choice, level))
            .collect();
        section.blocks.push(Block::Text(told.join(" ")));
    }
    section.blocks.push(table(choice).into());
    section.blocks.push(Block::Note(format!(
        "Coverage is a share of what this survey knows. The survey ends at depth {}, so no deeper level \
         can be chosen. The corrected coverage decides: a few site trees hold most of what there is, and most samples of \
         sites show too high a coverage, because they lack the largest. {} The command ccsurvey \
         choose-depth chooses by another coverage or confidence, by load or for a network environment.",
        choice.deepest,
        NoInterval::rule(),
    )));
    section
}

fn recommendation(choice: &Choice) -> String {
    let wanted = wanted(&choice.criterion);
    match choice.depth.and_then(|depth| choice.level(depth)) {
        Some(level) if level.depth == choice.deepest => format!(
            "Depth {} is recommended: {wanted}. It is the deepest level walked, so it saves nothing.",
            level.depth
        ),
        Some(level) => {
            let saved = |unit| level.saving(unit).map_or_else(|| "next to none".to_owned(), percent);
            format!(
                "Depth {} is recommended: {wanted}. It covers {} and saves {} of the requests and {} of the bytes that depth \
                 {} needs.",
                level.depth,
                Cell::ShareBetween(level.coverage).shown(),
                saved(LoadUnit::Requests),
                saved(LoadUnit::Bytes),
                choice.deepest,
            )
        }
        None if choice.verdict == Verdict::SurveyDeeper => format!(
            "No depth can be recommended: {} of {} site trees go on below depth {}, where the survey ended. With the \
             next level its coverage may be {} at most, and less with levels below. Survey a sample of the sites deeper. The goal was {wanted}.",
            thousands(choice.open_trees),
            thousands(choice.trees),
            choice.deepest,
            percent(choice.known.with_next),
        ),
        None => format!("No depth is recommended. The goal was {wanted}."),
    }
}

fn wanted(criterion: &Criterion) -> String {
    let (of, reading) = criterion.counted();
    let counted = counted(of, reading);
    match criterion {
        Criterion::Coverage { at_least, .. } => {
            format!("the smallest that covers {} of the {counted}", percent(*at_least))
        }
        Criterion::Load { at_most, unit, .. } => {
            format!("the greatest that needs at most {} of the {}", percent(*at_most), names::unit(*unit))
        }
    }
}

/// What coverage counts, and how often.
pub(super) fn counted(of: Kind, reading: Reading) -> String {
    match reading {
        Reading::Pair => format!("{}, each once in every site tree", names::pairs(of)),
        Reading::Union => format!("{}, each once in the survey", names::kind(of)),
    }
}

fn told(choice: &Choice, level: &ChoiceLevel) -> String {
    let unit = choice.criterion.unit();
    format!(
        "Depth {} would cover {} with {} of the {}.",
        level.depth,
        Cell::ShareBetween(level.coverage).shown(),
        percent(level.load[unit as usize].value),
        names::unit(unit),
    )
}

fn table(choice: &Choice) -> Table {
    let (of, reading) = choice.criterion.counted();
    let units = names::units_of(choice.levels.last().map(|last| &last.load));
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(units.iter().map(|unit| Column::interval(names::unit(*unit), "share")))
        .chain([
            Column::interval("coverage", "share"),
            Column::share("corrected coverage"),
            Column::share("if cut trees hold more"),
            Column::text("meets it"),
        ])
        .collect();
    let rows = choice.levels.iter().map(|level| {
        let load = units.iter().map(|unit| Cell::ShareBetween(level.load[*unit as usize]));
        let ends = [
            Cell::ShareBetween(level.coverage),
            Cell::Share(level.coverage.corrected),
            Cell::Share(level.censored.low),
            verdict(choice, level).into(),
        ];
        std::iter::once(Cell::Count(level.depth.into())).chain(load).chain(ends).collect()
    });
    let caption = format!("Load rate and coverage of {} at each depth.", counted(of, reading));
    Table::new("table-choice", caption, columns).with_rows(rows)
}

fn verdict(choice: &Choice, level: &ChoiceLevel) -> &'static str {
    match (choice.depth == Some(level.depth), level.fits) {
        (true, _) => "recommended",
        (false, true) => "yes",
        (false, false) => "no",
    }
}
