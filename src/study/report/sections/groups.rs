use crate::analysis::{Choice, Criterion, CurveLevel, Curves, Grouping, Kind, LoadUnit, UNKNOWN};
use crate::report::{Axis, Cell, Column, Figure, Lines, Point, Scale, Section, Series, Table, percent};

/// The curves of groups of site trees, for comparison.
#[derive(Clone, Debug)]
pub struct GroupCurves {
    /// The property that defines the groups.
    pub by: Grouping,
    /// The largest groups, the largest first.
    pub list: Vec<GroupCurve>,
}

/// One group of site trees.
#[derive(Clone, Debug)]
pub struct GroupCurve {
    /// The value that its trees have in common.
    pub name: String,
    /// The curves over its trees.
    pub curves: Curves,
    /// The choice of a depth by the coverage that the report requires.
    pub choice: Choice,
}

/// The number of groups that get a line of their own; more could not be distinguished.
const MAX_DRAWN: usize = 6;

/// How groups of site trees differ in the cost and the yield of their depths.
#[must_use]
pub(in crate::report) fn section(groups: &GroupCurves) -> Section {
    let (id, by) = named(groups.by);
    let lead = match groups.list.as_slice() {
        [group] if group.name == UNKNOWN => format!("No site tree has a known {by}."),
        [group] => format!("All site trees have the same {by}: {}.", group.name),
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

fn figure(groups: &GroupCurves, id: &str, by: &str) -> Figure {
    // A group without external links has no coverage.
    let links =
        |curves: &Curves| curves.levels.last().is_some_and(|last| last.known[Kind::Hosts as usize] > 0);
    let drawn = || groups.list.iter().filter(|group| links(&group.curves)).take(MAX_DRAWN);
    let hosts = |level: &CurveLevel| level.union(Kind::Hosts);
    let point = |level: &CurveLevel| Point::exact(level.load(LoadUnit::Requests).value, hosts(level).value);
    let series = drawn()
        .map(|group| Series::new(&group.name, group.curves.levels.iter().map(point).collect()))
        .collect();
    let rows = drawn().flat_map(|group| {
        group.curves.levels.iter().map(move |level| {
            vec![
                group.name.as_str().into(),
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
    let parts: Vec<String> = drawn()
        .filter_map(|GroupCurve { name, curves, .. }| {
            let level = curves.levels.iter().find(|level| level.load(LoadUnit::Requests).value >= 0.5)?;
            Some(format!("{name} covers {} at depth {}", percent(hosts(level).value), level.depth))
        })
        .collect();
    Figure::new(
        &format!("figure-{id}"),
        format!(
            "Coverage of external hosts against load rate, by {by}. Each point is a depth. Shares are of the group's own totals."
        ),
        format!("At the first depth that takes at least half of the load: {}.", parts.join("; ")),
        chart,
        Table::new("", "", columns).with_rows(rows),
    )
}

fn table(groups: &GroupCurves, id: &str, by: &str) -> Table {
    let columns = vec![
        Column::text(by),
        Column::number("site trees", ""),
        Column::number("deepest level", ""),
        Column::number("pages", ""),
        Column::number("requests", ""),
        Column::number("load", "bytes"),
        Column::number("external URLs", ""),
        Column::number("hosts", ""),
        Column::number(&format!("depth for {} of the hosts", percent(Criterion::COVERAGE)), ""),
        Column::share("load rate at that depth"),
    ];
    let rows = groups.list.iter().filter_map(|GroupCurve { name, curves, choice }| {
        let last = curves.levels.last()?;
        let chosen = choice.depth.and_then(|depth| curves.levels.get(usize::from(depth)));
        Some(vec![
            name.as_str().into(),
            Cell::Count(curves.trees),
            Cell::Count(last.depth.into()),
            Cell::Count(last.pages),
            Cell::Count(last.requests),
            Cell::Bytes(last.bytes),
            Cell::Count(last.known[Kind::Urls as usize]),
            Cell::Count(last.known[Kind::Hosts as usize]),
            chosen.map_or(Cell::Missing, |level| Cell::Count(level.depth.into())),
            chosen.map_or(Cell::Missing, |level| Cell::Share(level.load(LoadUnit::Requests).value)),
        ])
    });
    Table::new(&format!("table-{id}"), format!("The groups by {by}."), columns).with_rows(rows)
}
