use super::choice::counted;
use super::strategies;
use crate::analysis::{Comparison, Forecast, ForecastLevel, Limit, ServerSpread, Verdict};
use crate::records::units::duration;
use crate::report::advice::{TooShallow, bound, nothing_found};
use crate::report::{Axis, Cell, Column, Columns, Figure, Scale, Section, Table};

/// The duration and the cost of a survey to each depth in a network environment.
#[must_use]
pub(in crate::report) fn section(forecast: &Forecast, comparison: &Comparison, is_partial: bool) -> Section {
    let chosen = strategies::word_of_the_depth(comparison);
    let lead = strategies::lead(comparison, recommendation(forecast, chosen), is_partial);
    let mut section = Section::new("forecast", "In the given network environment", lead);
    strategies::add(&mut section, "table-forecast-strategies", comparison);
    section
        .with(limits(forecast))
        .with(figure(forecast))
        .with(survey(forecast, chosen))
        .with(servers(forecast))
}

fn recommendation(forecast: &Forecast, chosen: &str) -> String {
    match forecast.chosen() {
        Some(level) => format!(
            "Depth {} is {chosen}: it meets all bounds, takes {} and covers {} of the {}.{}",
            level.depth,
            duration(level.seconds),
            Cell::ShareBetween(level.coverage).display(),
            counted(forecast.of, forecast.reading),
            if forecast.may_go_deeper() {
                format!(" {}", TooShallow::from(forecast).beside_a_depth().join(" "))
            } else {
                String::new()
            },
        ),
        None if forecast.verdict == Verdict::SurveyDeeper => {
            TooShallow::from(forecast).instead_of_a_depth().join(" ")
        }
        None if forecast.verdict == Verdict::NothingFound => nothing_found(forecast.of, forecast.reading),
        None => {
            let forbidding: Vec<String> =
                Limit::forbidding(&forecast.limits, forecast.levels.len()).into_iter().map(bound).collect();
            let nearest = forecast
                .nearest
                .as_ref()
                .map_or_else(String::new, |nearest| format!(" The nearest depth is {}.", nearest.depth));
            format!(
                "No depth meets all bounds. The bounds that rule depths out: {}.{nearest}",
                forbidding.join("; ")
            )
        }
    }
}

fn limits(forecast: &Forecast) -> Table {
    let rows = forecast.limits.iter().map(|limit| {
        let depths = match limit.range() {
            Some((first, last)) if first == last => first.to_string(),
            Some((first, last)) => format!("{first} to {last}"),
            None => "none".to_owned(),
        };
        vec![bound(limit).into(), depths.into()]
    });
    let columns = vec![Column::text("bound"), Column::text("depths that meet it")];
    Table::new("table-forecast-bounds", "The bounds of the environment.", columns).with_rows(rows)
}

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;

fn figure(forecast: &Forecast) -> Figure {
    // In days, unless every survey takes less than two.
    let is_short = forecast.levels.iter().all(|level| level.seconds < 2.0 * DAY);
    let (length, unit) = if is_short { (HOUR, "hours") } else { (DAY, "days") };
    let days = |level: &ForecastLevel| level.seconds / length;
    let rows = forecast
        .levels
        .iter()
        .map(|level| vec![Cell::Count(level.depth.into()), Cell::Number(days(level), 2)]);
    let chart = Columns {
        x: "Depth".to_owned(),
        y: Axis::new(if is_short { "Hours" } else { "Days" }, Scale::Number),
        parts: vec![unit.into()],
        columns: forecast.levels.iter().map(|level| (level.depth.to_string(), vec![days(level)])).collect(),
        mark: forecast.depth.map(usize::from),
    };
    let end = |level: Option<&ForecastLevel>| {
        level
            .map_or_else(String::new, |level| format!("{} to depth {}", duration(level.seconds), level.depth))
    };
    let alt =
        format!("The survey takes {} and {}.", end(forecast.levels.first()), end(forecast.levels.last()));
    Figure::new(
        "figure-forecast",
        "Duration of a survey to each depth in the environment.",
        alt,
        chart,
        Table::new("", "", vec![Column::number("depth", ""), Column::number("duration", unit)])
            .with_rows(rows),
    )
}

fn survey(forecast: &Forecast, chosen: &str) -> Table {
    let columns = vec![
        Column::number("depth", ""),
        Column::number("duration", "s"),
        Column::number("requests", ""),
        Column::number("load", "bytes"),
        Column::number("busiest hour, kbit/s", ""),
        Column::share("surveyor's link"),
        Column::interval("coverage", "share"),
        Column::share("corrected coverage"),
        Column::text("breaks"),
    ];
    let rows = forecast.levels.iter().map(|level| {
        let breaks: Vec<String> =
            (forecast.limits.iter()).filter(|limit| level.breaks.contains(&limit.bound)).map(bound).collect();
        let is_chosen = forecast.depth == Some(level.depth);
        vec![
            Cell::Count(level.depth.into()),
            Cell::Seconds(level.seconds),
            Cell::Count(level.requests),
            Cell::Bytes(level.bytes),
            Cell::Number(level.busiest_bits_per_second / 1000.0, 1),
            level.surveyor_share.map_or(Cell::Missing, Cell::Share),
            Cell::ShareBetween(level.coverage),
            Cell::Share(level.coverage.corrected),
            if is_chosen { format!("none ({chosen})").into() } else { breaks.join("; ").into() },
        ]
    });
    let caption = "Duration, cost and coverage of a survey to each depth.";
    Table::new("table-forecast", caption, columns).with_rows(rows)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts that were made real")]
fn servers(forecast: &Forecast) -> Table {
    let of = |what: &str| ["median", "95 of 100", "most"].map(|end| format!("{what}, {end}"));
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(of("requests").iter().map(|head| Column::number(head, "")))
        .chain(of("load").iter().map(|head| Column::number(head, "bytes")))
        .chain(of("link").iter().map(|head| Column::share(head)))
        .collect();
    let cells = |spread: Option<ServerSpread>, cell: fn(f64) -> Cell| {
        spread.map_or([const { Cell::Missing }; 3], |of| [of.median, of.p95, of.most].map(cell))
    };
    let rows = forecast.levels.iter().map(|level| {
        std::iter::once(Cell::Count(level.depth.into()))
            .chain(cells(Some(level.server_requests), |number| Cell::Count(number as u64)))
            .chain(cells(Some(level.server_bytes), |number| Cell::Bytes(number as u64)))
            .chain(cells(level.server_share, Cell::Share))
            .collect()
    });
    let caption = "Load on servers: half of them get at most the median, and 95 of 100 at most the second figure. Link: the \
                   share of a server's link that the survey uses, over the time in which the server is surveyed.";
    Table::new("table-forecast-servers", caption, columns).with_rows(rows)
}
