use super::{names, strategies};
use crate::analysis::{
    Choice, ChoiceLevel, Comparison, Criterion, Influence, Kind, LoadUnit, NoInterval, Reading, Verdict,
};
use crate::report::advice::{self, InfluenceKind, TooShallow, nothing_found};
use crate::report::{Block, Cell, Column, Section, Table, percent};

/// The recommended depth, and the cost and yield of its neighbours and of other strategies.
#[must_use]
pub(in crate::report) fn section(
    choice: &Choice,
    comparison: &Comparison,
    influence: Option<&Influence>,
    is_partial: bool,
) -> Section {
    let chosen = strategies::word_of_the_depth(comparison);
    let lead = strategies::lead(comparison, recommendation(choice, chosen), is_partial);
    let mut section = Section::new("choice", "Which depth to use", lead);
    strategies::add(&mut section, "table-strategies", comparison);
    strategies::add_budgets(&mut section, comparison, choice);
    section.blocks.extend(influence.map(|influence| {
        let changes = match choice.criterion {
            Criterion::Coverage { .. } => InfluenceKind::DepthByCoverage,
            Criterion::Load { .. } => InfluenceKind::DepthByLoad,
        };
        Block::Text(advice::influence(influence, changes).join(" "))
    }));
    if choice.depth.is_some() {
        let parts: Vec<String> = choice.neighbours().map(|level| advice::neighbour(choice, level)).collect();
        section.blocks.push(Block::Text(parts.join(" ")));
    }
    section.blocks.push(table(choice, chosen).into());
    section.blocks.push(Block::Note(format!(
        "Coverage is a share of what this survey knows. The survey ends at depth {}, so no deeper level \
         can be chosen. The corrected coverage decides. A few site trees hold most of the findings, and most samples of \
         sites lack the largest trees, so the coverage that they show is too high. {} The command ccsurvey \
         choose-depth can choose by another coverage or confidence, by load, or for a network environment.",
        choice.deepest,
        NoInterval::rule(),
    )));
    section
}

fn recommendation(choice: &Choice, chosen: &str) -> String {
    let wanted = wanted(&choice.criterion);
    match choice.chosen() {
        Some(level) if level.depth == choice.deepest => format!(
            "Depth {} is {chosen}: {wanted}. It is the deepest level walked, so it saves nothing.",
            level.depth
        ),
        Some(level) => {
            let saved = |unit| level.saving(unit).map_or_else(|| "almost none".to_owned(), percent);
            format!(
                "Depth {} is {chosen}: {wanted}. It covers {} and saves {} of the requests and {} of the bytes that depth \
                 {} needs.",
                level.depth,
                Cell::ShareBetween(level.coverage).display(),
                saved(LoadUnit::Requests),
                saved(LoadUnit::Bytes),
                choice.deepest,
            )
        }
        None if choice.verdict == Verdict::SurveyDeeper => {
            format!("{} The goal was {wanted}.", TooShallow::from(choice).instead_of_a_depth().join(" "))
        }
        None if choice.verdict == Verdict::NothingFound => {
            let (of, reading) = choice.criterion.counted();
            nothing_found(of, reading)
        }
        None => format!("No depth is recommended. The goal was {wanted}."),
    }
}

fn wanted(criterion: &Criterion) -> String {
    let (of, reading) = criterion.counted();
    let counted = counted(of, reading);
    match criterion {
        Criterion::Coverage { at_least, .. } => {
            format!("the smallest depth that covers {} of the {counted}", percent(*at_least))
        }
        Criterion::Load { at_most, unit, .. } => {
            format!("the greatest depth that needs at most {} of the {}", percent(*at_most), unit.name())
        }
    }
}

/// What coverage counts, and whether per site tree or per survey.
pub(super) fn counted(of: Kind, reading: Reading) -> String {
    match reading {
        Reading::Pair => format!("{}, each counted once in every site tree", names::pairs(of)),
        Reading::Union => format!("{}, each counted once in the survey", names::kind(of)),
    }
}

fn table(choice: &Choice, chosen: &'static str) -> Table {
    let (of, reading) = choice.criterion.counted();
    let units = names::units_of(choice.levels.last().map(|last| &last.load));
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(units.iter().map(|unit| Column::interval(unit.name(), "share")))
        .chain([
            Column::interval("coverage", "share"),
            Column::share("corrected coverage"),
            Column::share("if cut trees hold more"),
            Column::text("meets the goal"),
        ])
        .collect();
    let rows = choice.levels.iter().map(|level| {
        let load = units.iter().map(|unit| Cell::ShareBetween(level.load[*unit as usize]));
        let ends = [
            Cell::ShareBetween(level.coverage),
            Cell::Share(level.coverage.corrected),
            Cell::Share(level.censored.low),
            verdict(choice, level, chosen).into(),
        ];
        std::iter::once(Cell::Count(level.depth.into())).chain(load).chain(ends).collect()
    });
    let caption = format!("Load rate and coverage of {} at each depth.", counted(of, reading));
    Table::new("table-choice", caption, columns).with_rows(rows)
}

fn verdict(choice: &Choice, level: &ChoiceLevel, chosen: &'static str) -> &'static str {
    match (choice.depth == Some(level.depth), level.fits) {
        (true, _) => chosen,
        (false, true) => "yes",
        (false, false) => "no",
    }
}
