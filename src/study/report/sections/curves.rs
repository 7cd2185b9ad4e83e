use super::names;
use crate::analysis::{CurveLevel, Curves, Kind, Sampling};
use crate::records::units::{bytes, thousands};
use crate::report::{Axis, Cell, Column, Figure, Lines, Mark, Point, Scale, Section, Series, Table, percent};

/// The cost and the yield of each depth level: figure 1 of the paper.
#[must_use]
pub(in crate::report) fn section(curves: &Curves, sampling: &Sampling, chosen: Option<u16>) -> Section {
    let Some(last) = curves.levels.last() else {
        return Section::new("depth", "Load and findings by depth", "No level has been walked.");
    };
    let lead = format!(
        "{} site trees were walked to depth {}: {} pages for {} requests and {}; {} external URLs on {} hosts.",
        thousands(curves.trees),
        last.depth,
        thousands(last.pages),
        thousands(last.requests),
        bytes(last.bytes),
        thousands(last.known[Kind::Urls as usize]),
        thousands(last.known[Kind::Hosts as usize]),
    );
    let mut section = Section::new("depth", "Load and findings by depth", lead)
        .with(shares(curves, sampling, chosen))
        .with(counts(curves, chosen))
        .with(kinds(curves, sampling, chosen));
    if last.known[Kind::Addresses as usize] > 0 {
        section = section.with(yields(curves, chosen));
    }
    section.with(levels(curves))
}

/// The vertical line of the recommended depth.
pub(super) fn mark(chosen: Option<u16>) -> Option<Mark> {
    chosen.map(|depth| Mark { x: depth.into(), label: format!("chosen: depth {depth}") })
}

fn depth_axis(curves: &Curves) -> Axis {
    Axis::new("Depth level", Scale::Depth).reaching(curves.levels.len().saturating_sub(1) as f64)
}

/// The depth at which a share comes close to its final value, as a sentence. If nothing was found, it says
/// so.
fn levels_off(curves: &Curves, what: &str, share: impl Fn(&CurveLevel) -> f64) -> String {
    let level = curves.levels.iter().find(|level| share(level) >= 0.99);
    level.map_or_else(
        || format!("There are no {what}."),
        |level| format!("At least 99 % of all {what} are known at depth {}.", level.depth),
    )
}

fn exact(curves: &Curves, name: &str, value: impl Fn(&CurveLevel) -> f64) -> Series {
    let point = |level: &CurveLevel| Point::exact(level.depth.into(), value(level));
    Series::new(name, curves.levels.iter().map(point).collect())
}

fn pages_share(curves: &Curves) -> impl Fn(&CurveLevel) -> f64 {
    let all = curves.levels.last().map_or(1, |last| last.pages).max(1) as f64;
    move |level| level.pages as f64 / all
}

fn shares(curves: &Curves, sampling: &Sampling, chosen: Option<u16>) -> Figure {
    let pages = pages_share(curves);
    let union = |level: &CurveLevel| level.union(Kind::Urls);
    let pair = |level: &CurveLevel| level.pair(Kind::Urls).unwrap_or_default();
    let rows = curves.levels.iter().map(|level| {
        vec![
            Cell::Count(level.depth.into()),
            Cell::Share(pages(level)),
            Cell::ShareBetween(union(level)),
            Cell::ShareBetween(pair(level)),
        ]
    });
    let data = Table::new(
        "",
        "",
        vec![
            Column::number("depth", ""),
            Column::share("pages"),
            Column::interval("external URLs", "share"),
            Column::interval("URL pairs", "share"),
        ],
    )
    .with_rows(rows);
    let estimated = |name, value: &dyn Fn(&CurveLevel) -> crate::analysis::Estimate| {
        let point = |level: &CurveLevel| Point::estimated(level.depth.into(), value(level));
        Series::new(name, curves.levels.iter().map(point).collect())
    };
    let chart = Lines {
        x: depth_axis(curves),
        y: Axis::new("Share of the total", Scale::Share),
        series: vec![
            exact(curves, "pages", &pages),
            estimated("external URLs (union)", &union),
            estimated("URL pairs", &pair),
        ],
        mark: mark(chosen),
    };
    let alt = format!(
        "Cumulative shares against depth. {} {}",
        levels_off(curves, "pages", &pages),
        levels_off(curves, names::kind(Kind::Urls), |level| union(level).value),
    );
    let caption = format!(
        "Pages, external URLs (each counted once in the survey) and URL pairs (each counted once in every site tree) known \
         from levels 0 to each depth, as shares of the total. {}",
        names::bands(sampling)
    );
    Figure::new("figure-depth-shares", caption, alt, chart, data)
}

fn counts(curves: &Curves, chosen: Option<u16>) -> Figure {
    let urls = |level: &CurveLevel| level.known[Kind::Urls as usize];
    let rows = curves.levels.iter().map(|level| {
        vec![Cell::Count(level.depth.into()), Cell::Count(level.pages), Cell::Count(urls(level))]
    });
    let heads = ["depth", "pages", "external URLs"].map(|head| Column::number(head, ""));
    let chart = Lines {
        x: depth_axis(curves),
        y: Axis::new("Known from levels 0 to this depth", Scale::Count),
        series: vec![
            exact(curves, "pages", |level| level.pages as f64),
            exact(curves, "external URLs", |level| urls(level) as f64),
        ],
        mark: mark(chosen),
    };
    let (first, last) = (curves.levels.first(), curves.levels.last());
    let describe = |level: Option<&CurveLevel>| {
        level.map_or_else(String::new, |level| {
            format!(
                "{} pages and {} external URLs at depth {}",
                thousands(level.pages),
                thousands(urls(level)),
                level.depth
            )
        })
    };
    let alt = format!("Cumulative numbers against depth: from {} to {}.", describe(first), describe(last));
    Figure::new(
        "figure-depth-counts",
        "Pages and external URLs known from levels 0 to each depth.",
        alt,
        chart,
        Table::new("", "", heads.into()).with_rows(rows),
    )
}

fn kinds(curves: &Curves, sampling: &Sampling, chosen: Option<u16>) -> Figure {
    let series = |kind: Kind| {
        let point = |level: &CurveLevel| Point::estimated(level.depth.into(), level.union(kind));
        Series::new(names::kind(kind), curves.levels.iter().map(point).collect())
    };
    let known = names::kinds(curves);
    let rows = curves.levels.iter().map(|level| {
        let shares = known.iter().map(|kind| Cell::ShareBetween(level.union(*kind)));
        std::iter::once(Cell::Count(level.depth.into())).chain(shares).collect()
    });
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(known.iter().map(|kind| Column::interval(names::kind(*kind), "share")))
        .collect();
    let alt = curves.levels.first().filter(|_| !known.is_empty()).map_or_else(
        || names::NOTHING_FOUND.to_owned(),
        |level| {
            let share =
                |kind: &Kind| format!("{} of the {}", percent(level.union(*kind).value), names::kind(*kind));
            let first = known.iter().map(share).collect::<Vec<_>>().join(", ");
            format!("Coverage rises with depth. Depth 0 alone shows {first}.")
        },
    );
    let chart = Lines {
        x: depth_axis(curves),
        y: Axis::new("Share of all known", Scale::Share),
        series: known.iter().copied().map(series).collect(),
        mark: mark(chosen),
    };
    Figure::new(
        "figure-depth-kinds",
        format!(
            "Union coverage against depth: external URLs, hosts, sites and addresses. {}",
            names::bands(sampling)
        ),
        alt,
        chart,
        Table::new("", "", columns).with_rows(rows),
    )
}

fn yields(curves: &Curves, chosen: Option<u16>) -> Figure {
    let rows = curves.levels.iter().map(|level| {
        let new = level.new_servers_per_1000_requests;
        vec![Cell::Count(level.depth.into()), new.map_or(Cell::Missing, |new| Cell::Number(new, 3))]
    });
    let found = |level: &CurveLevel| {
        let new = level.new_servers_per_1000_requests.filter(|new| *new > 0.0)?;
        Some(Point::exact(level.depth.into(), new))
    };
    let name = "new servers per 1,000 requests";
    let chart = Lines {
        x: depth_axis(curves),
        y: Axis::new("New server addresses per 1,000 requests", Scale::LogNumber),
        series: vec![Series::new(name, curves.levels.iter().filter_map(found).collect())],
        mark: mark(chosen),
    };
    let parts: Vec<String> = (curves.levels.iter().take(4))
        .filter_map(|level| {
            let new = level.new_servers_per_1000_requests?;
            Some(format!("{} at depth {}", Cell::Number(new, 1).display(), level.depth))
        })
        .collect();
    let columns = vec![Column::number("depth", ""), Column::number(name, "")];
    Figure::new(
        "figure-new-servers",
        "Yield of each level: server addresses first known from it, per 1,000 requests that it cost. Levels \
         without a new address have no point. Each grid line is ten times the one below.",
        format!(
            "New server addresses per 1,000 requests: {}; see the table for deeper levels.",
            parts.join(", ")
        ),
        chart,
        Table::new("", "", columns).with_rows(rows),
    )
}

fn levels(curves: &Curves) -> Table {
    let columns = vec![
        Column::number("depth", ""),
        Column::number("pages", ""),
        Column::number("requests", ""),
        Column::number("load", "bytes"),
        Column::number("busy time", "s"),
        Column::number("external URLs", ""),
        Column::number("hosts", ""),
        Column::number("sites", ""),
        Column::number("addresses", ""),
    ];
    let rows = curves.levels.iter().map(|level| {
        let known = level.known.map(Cell::Count);
        let load = [
            Cell::Count(level.depth.into()),
            Cell::Count(level.pages),
            Cell::Count(level.requests),
            Cell::Bytes(level.bytes),
            Cell::Seconds(level.busy_ms / 1000.0),
        ];
        load.into_iter().chain(known).collect()
    });
    let caption =
        "Cost and findings of levels 0 to each depth together. Each finding counts once in the survey.";
    Table::new("table-levels", caption, columns).with_rows(rows)
}
