use super::names;
use crate::analysis::{CurveLevel, Curves, Estimate, Kind, LoadUnit, Sampling};
use crate::report::{
    Axis, Block, Cell, Column, Figure, Lines, Mark, Point, Scale, Section, Series, Table, percent,
};

/// The share of the findings against the share of the load: figure 3 of the paper.
#[must_use]
pub(in crate::report) fn section(curves: &Curves, sampling: &Sampling, chosen: Option<u16>) -> Section {
    let lead = curves.levels.iter().find(|level| Some(level.depth) == chosen).map_or_else(
        || {
            "No depth is recommended. The curves show what each level of this survey cost and found."
                .to_owned()
        },
        |level| {
            format!(
                "Depth {} needs {} of the requests that the deepest level walked needs, and finds {} of the \
                 external URLs and {} of the hosts.",
                level.depth,
                Cell::ShareBetween(level.load(LoadUnit::Requests)).display(),
                Cell::ShareBetween(level.union(Kind::Urls)).display(),
                Cell::ShareBetween(level.union(Kind::Hosts)).display(),
            )
        },
    );
    let mut section = Section::new("load-coverage", "Coverage against load", lead)
        .with(by_unit(curves, sampling, chosen))
        .with(by_kind(curves, sampling, chosen))
        .with(table(curves))
        .with(pairs(curves));
    let is_found = !names::kinds(curves).is_empty();
    let end =
        if is_found { "Both are 100 % at the deepest level by definition." } else { names::NOTHING_FOUND };
    section.blocks.push(Block::Note(format!(
        "Load rate: load of levels 0 to d as a share of the load to the deepest level walked. Coverage: what is known from levels 0 to \
         d as a share of all that the survey knows. {end}"
    )));
    section
}

fn load_mark(curves: &Curves, chosen: Option<u16>) -> Option<Mark> {
    let level = curves.levels.iter().find(|level| Some(level.depth) == chosen)?;
    let label = format!("chosen: depth {}", level.depth);
    Some(Mark { x: level.load(LoadUnit::Requests).value, label })
}

/// A point for each depth; the points of the first series are labelled with the depth.
fn points(
    curves: &Curves,
    unit: LoadUnit,
    coverage: impl Fn(&CurveLevel) -> Estimate,
    is_first: bool,
) -> Vec<Point> {
    let point = |level: &CurveLevel| Point {
        x: level.load(unit).value,
        y: coverage(level),
        label: if is_first { level.depth.to_string() } else { String::new() },
    };
    curves.levels.iter().map(point).collect()
}

/// A point without its interval: where several lines show the same coverage, one band is enough.
fn alone(estimate: Estimate) -> Estimate {
    Estimate::exact(estimate.value)
}

/// The coverage at half of the load, interpolated linearly between the depths around it.
fn at_half(points: &[Point]) -> Option<f64> {
    let after = points.iter().position(|point| point.x >= 0.5)?;
    let (to, from) = (&points[after], points.get(after.checked_sub(1)?)?);
    let along = (0.5 - from.x) / (to.x - from.x).max(f64::MIN_POSITIVE);
    Some(from.y.value + along * (to.y.value - from.y.value))
}

fn by_unit(curves: &Curves, sampling: &Sampling, chosen: Option<u16>) -> Figure {
    let urls = |level: &CurveLevel| level.union(Kind::Urls);
    let units = names::units(curves);
    let series: Vec<Series> = units
        .iter()
        .map(|unit| {
            let (unit, is_first) = (*unit, *unit == LoadUnit::Requests);
            let coverage = |level: &CurveLevel| if is_first { urls(level) } else { alone(urls(level)) };
            Series::new(unit.name(), points(curves, unit, coverage, is_first))
        })
        .collect();
    let rows = curves.levels.iter().map(|level| {
        let loads = units.iter().map(|unit| Cell::ShareBetween(level.load(*unit)));
        let ends = [Cell::ShareBetween(urls(level))];
        std::iter::once(Cell::Count(level.depth.into())).chain(loads).chain(ends).collect()
    });
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(units.iter().map(|unit| rate_column(*unit)))
        .chain([Column::interval("coverage of external URLs", "share")])
        .collect();
    let half = series.first().and_then(|requests| at_half(&requests.points));
    let alt = half.filter(|_| !names::kinds(curves).is_empty()).map_or_else(
        || "Coverage of external URLs against load.".to_owned(),
        |share| format!("Half of the requests bring {} of the external URLs.", percent(share)),
    );
    let chart = Lines {
        x: Axis::new("Load rate", Scale::Share),
        y: Axis::new("Coverage of external URLs", Scale::Share),
        series,
        mark: load_mark(curves, chosen),
    };
    let caption = format!(
        "Coverage of external URLs against the share of the load, in each unit of load. Numbers at points are depths. {} \
         The chosen depth is marked at its requests.",
        names::bands(sampling)
    );
    Figure::new("figure-load-units", caption, alt, chart, Table::new("", "", columns).with_rows(rows))
}

fn by_kind(curves: &Curves, sampling: &Sampling, chosen: Option<u16>) -> Figure {
    let known = names::kinds(curves);
    let line = |kind: &Kind| {
        let points = points(curves, LoadUnit::Requests, |level| level.union(*kind), *kind == Kind::Urls);
        Series::new(names::kind(*kind), points)
    };
    let series: Vec<Series> = known.iter().map(line).collect();
    let rows = curves.levels.iter().map(|level| {
        let shares = known.iter().map(|kind| Cell::ShareBetween(level.union(*kind)));
        [Cell::Count(level.depth.into()), Cell::ShareBetween(level.load(LoadUnit::Requests))]
            .into_iter()
            .chain(shares)
            .collect()
    });
    let columns = [Column::number("depth", ""), Column::interval("load rate, requests", "share")]
        .into_iter()
        .chain(known.iter().map(|kind| Column::interval(names::kind(*kind), "share")))
        .collect();
    let parts: Vec<String> = (known.iter().zip(&series))
        .filter_map(|(kind, series)| {
            Some(format!("{} of the {}", percent(at_half(&series.points)?), names::kind(*kind)))
        })
        .collect();
    let alt = match parts[..] {
        [] if known.is_empty() => names::NOTHING_FOUND.to_owned(),
        [] => "Coverage against the share of the requests.".to_owned(),
        _ => format!("Half of the requests bring {}.", parts.join(", ")),
    };
    let chart = Lines {
        x: Axis::new("Load rate in requests", Scale::Share),
        y: Axis::new("Union coverage", Scale::Share),
        series,
        mark: load_mark(curves, chosen),
    };
    let caption = format!(
        "Coverage of what is known in the survey against the share of its requests. Numbers at points are depths. {}",
        names::bands(sampling)
    );
    Figure::new("figure-load-kinds", caption, alt, chart, Table::new("", "", columns).with_rows(rows))
}

fn rate_column(unit: LoadUnit) -> Column {
    Column::interval(&format!("load rate, {}", unit.name()), "share")
}

fn table(curves: &Curves) -> Table {
    let (units, known) = (names::units(curves), names::kinds(curves));
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(units.iter().map(|unit| rate_column(*unit)))
        .chain(known.iter().map(|kind| Column::interval(names::kind(*kind), "share")))
        .collect();
    let rows = curves.levels.iter().map(|level| {
        let loads = units.iter().map(|unit| Cell::ShareBetween(level.load(*unit)));
        let unions = known.iter().map(|kind| Cell::ShareBetween(level.union(*kind)));
        std::iter::once(Cell::Count(level.depth.into())).chain(loads).chain(unions).collect()
    });
    let caption =
        "Load rate and union coverage at each depth, with intervals: each thing counts once in the survey.";
    Table::new("table-load-coverage", caption, columns).with_rows(rows)
}

fn pairs(curves: &Curves) -> Table {
    let kinds = [Kind::Urls, Kind::Hosts, Kind::Sites];
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(kinds.map(|kind| Column::interval(names::pairs(kind), "share")))
        .collect();
    let rows = curves.levels.iter().map(|level| {
        std::iter::once(Cell::Count(level.depth.into())).chain(level.pair.map(Cell::ShareBetween)).collect()
    });
    let caption =
        "Pair coverage at each depth, with intervals: each thing counts once in every site tree that has it.";
    Table::new("table-pair-coverage", caption, columns).with_rows(rows)
}
