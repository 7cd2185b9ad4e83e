use crate::analysis::{ComparedSurvey, SurveyComparison};
use crate::records::units::thousands;
use crate::report::{Axis, Block, Cell, Column, Figure, Lines, Point, Scale, Section, Series, Table};

/// All surveys in turn.
pub(super) fn section(comparisons: &[SurveyComparison], surveys: &[&ComparedSurvey]) -> Section {
    let lead = comparisons.iter().map(|comparison| {
        format!(
            "{} → {}: {} sites born, {} died",
            comparison.earlier.name,
            comparison.later.name,
            thousands(comparison.sites.born()),
            thousands(comparison.sites.died())
        )
    });
    Section::new("series", "All surveys in turn", format!("{}.", lead.collect::<Vec<_>>().join("; ")))
        .with(steps(comparisons))
        .with(shares(comparisons, surveys))
        .with(Block::Note(
            "Each survey is compared with the one before it. The shares of a step are those of sites that respond in both \
             of its surveys, so the share after a step and that before the next are of different sites."
                .to_owned(),
        ))
}

fn steps(comparisons: &[SurveyComparison]) -> Table {
    let columns = vec![
        Column::text("from"),
        Column::text("to"),
        Column::number("respond before", "sites"),
        Column::number("respond after", "sites"),
        Column::number("born", "sites"),
        Column::interval("share born", "share"),
        Column::number("died", "sites"),
        Column::interval("share died", "share"),
    ];
    let rows = comparisons.iter().map(|comparison| {
        let sites = &comparison.sites;
        vec![
            comparison.earlier.name.clone().into(),
            comparison.later.name.clone().into(),
            Cell::Count(sites.before()),
            Cell::Count(sites.after()),
            Cell::Count(sites.born()),
            Cell::ShareBetween(sites.born_share()),
            Cell::Count(sites.died()),
            Cell::ShareBetween(sites.died_share()),
        ]
    });
    Table::new("table-steps", "Births and deaths of sites, step by step", columns).with_rows(rows)
}

/// The number of lines that a figure can tell apart.
const LINES: usize = 8;

/// Shares after each step.
fn shares(comparisons: &[SurveyComparison], surveys: &[&ComparedSurvey]) -> Figure {
    let names: Vec<&'static str> = comparisons
        .first()
        .map(|first| first.shares.iter().map(|share| share.name).collect())
        .unwrap_or_default();
    let share = |comparison: &SurveyComparison, name: &str| {
        comparison.shares.iter().find(|share| share.name == name).map(|share| share.sites.after())
    };
    let series = names.iter().take(LINES).map(|name| {
        let points = (2_u32..).zip(comparisons).filter_map(|(number, comparison)| {
            Some(Point::estimated(number.into(), share(comparison, name)?))
        });
        Series::new(name, points.collect())
    });
    let chart = Lines {
        x: Axis::new("Survey", Scale::Depth).reaching(surveys.len() as f64),
        y: Axis::new("Share of the sites", Scale::Share),
        series: series.collect(),
        mark: None,
    };
    let columns = std::iter::once(Column::text("survey"))
        .chain(names.iter().map(|name| Column::interval(name, "share")))
        .collect();
    let rows = comparisons.iter().map(|comparison| {
        let cells =
            names.iter().map(|name| share(comparison, name).map_or(Cell::Missing, Cell::ShareBetween));
        std::iter::once(comparison.later.name.clone().into()).chain(cells).collect()
    });
    let caption =
        "Shares of the sites that respond in a survey and in the one before it, with 95 % intervals";
    let alt = format!("Shares of sites in {} surveys, from the second on.", surveys.len());
    Figure::new("figure-series", caption, alt, chart, Table::new("", "", columns).with_rows(rows))
}
