use crate::analysis::{CurveLevel, Curves, Grouping, Kind, LoadUnit, UNKNOWN};
use crate::report::{Axis, Cell, Column, Figure, Lines, Point, Scale, Section, Series, Table, percent};

/// The curves of groups of site trees beside each other.
#[derive(Clone, Debug)]
pub struct Groups {
    /// What tells the groups apart.
    pub by: Grouping,
    /// The largest groups with their curves, the largest first.
    pub list: Vec<(String, Curves)>,
}

/// Groups that have a line of their own; more cannot be told apart.
const DRAWN: usize = 6;

/// What sets groups of site trees apart: what their depths cost and bring.
#[must_use]
pub(in crate::report) fn section(groups: &Groups) -> Section {
    let (id, by) = named(groups.by);
    let lead = match groups.list.as_slice() {
        [(name, _)] if name == UNKNOWN => format!("The {by} of no site tree is known."),
        [(name, _)] => format!("All site trees are of one {by}: {name}."),
        many => format!("Site trees by {by}: {} groups, the largest first.", many.len()),
    };
    Section::new(id, &format!("Curves by {by}"), lead)
        .with(figure(groups, id, by))
        .with(table(groups, id, by))
}

fn named(by: Grouping) -> (&'static str, &'static str) {
    match by {
        Grouping::Cctld => ("by-cctld", "country domain"),
        Grouping::Generation => ("by-generation", "generation"),
        Grouping::Country => ("by-country", "hosting country"),
        Grouping::Network => ("by-network", "network"),
        Grouping::Software => ("by-software", "server software"),
        Grouping::Pages => ("by-pages", "number of pages"),
    }
}

fn figure(groups: &Groups, id: &str, by: &str) -> Figure {
    // A group that links to nothing has no coverage.
    let links =
        |curves: &Curves| curves.levels.last().is_some_and(|last| last.known[Kind::Hosts as usize] > 0);
    let drawn = || groups.list.iter().filter(|(_, curves)| links(curves)).take(DRAWN);
    let hosts = |level: &CurveLevel| level.union(Kind::Hosts);
    let point = |level: &CurveLevel| Point::exact(level.load(LoadUnit::Requests).value, hosts(level).value);
    let series =
        drawn().map(|(name, curves)| Series::new(name, curves.levels.iter().map(point).collect())).collect();
    let rows = drawn().flat_map(|(name, curves)| {
        curves.levels.iter().map(move |level| {
            vec![
                name.as_str().into(),
                Cell::Count(level.depth.into()),
                Cell::ShareBetween(level.load(LoadUnit::Requests)),
                Cell::ShareBetween(hosts(level)),
            ]
        })
    });
    let columns = vec![
        Column::text(by),
        Column::number("depth", ""),
        Column::interval("load rate, requests", "share"),
        Column::interval("coverage of hosts", "share"),
    ];
    let chart = Lines {
        x: Axis::new("Load rate in requests", Scale::Share),
        y: Axis::new("Coverage of external hosts", Scale::Share),
        series,
        mark: None,
    };
    let told: Vec<String> = drawn()
        .filter_map(|(name, curves)| {
            let level = curves.levels.iter().find(|level| level.load(LoadUnit::Requests).value >= 0.5)?;
            Some(format!("{name} covers {} at depth {}", percent(hosts(level).value), level.depth))
        })
        .collect();
    Figure::new(
        &format!("figure-{id}"),
        format!(
            "Coverage of external hosts against load rate by {by}, a point for every depth; each group as a share of its own."
        ),
        format!("At the first depth with half of the load: {}.", told.join("; ")),
        chart,
        Table::new("", "", columns).with_rows(rows),
    )
}

fn table(groups: &Groups, id: &str, by: &str) -> Table {
    let columns = vec![
        Column::text(by),
        Column::number("site trees", ""),
        Column::number("deepest level", ""),
        Column::number("pages", ""),
        Column::number("requests", ""),
        Column::number("load", "bytes"),
        Column::number("external URLs", ""),
        Column::number("hosts", ""),
        Column::number("depth for 95 % of the hosts", ""),
        Column::share("load rate there"),
    ];
    let rows = groups.list.iter().filter_map(|(name, curves)| {
        let last = curves.levels.last()?;
        // As choose-depth chooses: by the corrected curve.
        let enough = curves.levels.iter().find(|level| level.union(Kind::Hosts).corrected >= 0.95);
        Some(vec![
            name.as_str().into(),
            Cell::Count(curves.trees),
            Cell::Count(last.depth.into()),
            Cell::Count(last.pages),
            Cell::Count(last.requests),
            Cell::Bytes(last.bytes),
            Cell::Count(last.known[Kind::Urls as usize]),
            Cell::Count(last.known[Kind::Hosts as usize]),
            enough.map_or(Cell::Missing, |level| Cell::Count(level.depth.into())),
            enough.map_or(Cell::Missing, |level| Cell::Share(level.load(LoadUnit::Requests).value)),
        ])
    });
    Table::new(&format!("table-{id}"), format!("The groups by {by}."), columns).with_rows(rows)
}
