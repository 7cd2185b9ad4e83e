use crate::analysis::overview::{CountryTimes, Percentiles, Phases, Times};
use crate::records::units::thousands;
use crate::report::{Axis, Block, BoxPlot, Boxes, Cell, Column, Figure, Scale, Section, Table};

/// The response times of servers.
#[must_use]
pub(in crate::report) fn section(times: &Times) -> Section {
    if times.all.total.max <= 0.0 {
        let lead = "Responses took no time: this is a simulation of a world without distances.";
        return Section::new("times", "Response times", lead);
    }
    let Phases { first_byte, whole, total, .. } = times.all;
    let lead = if whole.count == 0 {
        "No response was complete.".to_owned()
    } else {
        format!(
            "Half of the responses begin within {}. Of the {} complete responses, half took at most {} and 95 % took at most \
             {}. {} exchanges reached a server and got no complete response.",
            Cell::Milliseconds(first_byte.median).display(),
            thousands(whole.count),
            Cell::Milliseconds(whole.median).display(),
            Cell::Milliseconds(whole.p95).display(),
            thousands(total.count - whole.count.min(total.count)),
        )
    };
    let mut section = Section::new("times", "Response times", lead)
        .with(by_phase(times))
        .with(Block::from(table("table-times", "Response times by phase", "phase", phases(times))));
    if times.by_country.len() > 1 {
        section = section.with(by_country(times)).with(first_byte_by_country(times));
    }
    section.with(Block::Note(
        "Percentiles are exact to 1 %. Connect: opening a connection, with TLS where it cannot be measured \
         separately. First byte: from the request to the first byte of its response. Whole response: busy time of \
         exchanges with a complete response. Total: busy time of all exchanges, including those that ended in a \
         time-out or another failure."
            .to_owned(),
    ))
}

fn phases(times: &Times) -> Vec<(&str, Percentiles)> {
    let Phases { connect, tls, first_byte, whole, total } = times.all;
    let phases = [
        ("DNS", times.dns),
        ("connect", connect),
        ("TLS", tls),
        ("first byte", first_byte),
        ("whole response", whole),
        ("total", total),
    ];
    phases.into_iter().filter(|(_, percentiles)| percentiles.count > 0).collect()
}

fn by_phase(times: &Times) -> Figure {
    let phases = phases(times);
    let caption = "Response times by phase: 5th, 25th, 50th, 75th and 95th percentile";
    figure("figure-times", caption, "phase", phases)
}

/// The number of boxes that a page has space for.
const BOXES: usize = 12;

fn by_country(times: &Times) -> Figure {
    let totals = times.by_country.iter().map(|country| (country.country.as_str(), country.phases.total));
    let caption =
        "Busy time of an exchange by country of the server: 5th, 25th, 50th, 75th and 95th percentile";
    figure("figure-times-country", caption, "country", totals.collect())
}

fn first_byte_by_country(times: &Times) -> Table {
    let first_byte = |country: &CountryTimes| country.phases.first_byte;
    let rows = times.by_country.iter().map(|country| (country.country.as_str(), first_byte(country)));
    table(
        "table-first-byte-country",
        "Time to the first byte by country of the server",
        "country",
        rows.collect(),
    )
}

fn figure(id: &str, caption: &str, what: &str, rows: Vec<(&str, Percentiles)>) -> Figure {
    let plot = |(label, of): &(&str, Percentiles)| BoxPlot {
        label: (*label).to_owned(),
        percentiles: [of.p5, of.p25, of.median, of.p75, of.p95],
    };
    let chart = Boxes {
        axis: Axis::new("Milliseconds", Scale::LogMilliseconds),
        boxes: rows.iter().take(BOXES).map(plot).collect(),
    };
    let medians = rows
        .iter()
        .take(BOXES)
        .map(|(name, of)| format!("{name} {}", Cell::Milliseconds(of.median).display()));
    let alt = format!("Medians: {}.", medians.collect::<Vec<_>>().join(", "));
    Figure::new(id, caption, alt, chart, table("", "", what, rows))
}

fn table(id: &str, caption: &str, what: &str, rows: Vec<(&str, Percentiles)>) -> Table {
    let heads = ["mean", "5 %", "25 %", "median", "75 %", "95 %", "99 %", "most"];
    let columns = [Column::text(what), Column::number("exchanges", "")]
        .into_iter()
        .chain(heads.map(|head| Column::number(head, "ms")))
        .collect();
    let row = |(name, of): (&str, Percentiles)| {
        let times =
            [of.mean, of.p5, of.p25, of.median, of.p75, of.p95, of.p99, of.max].map(Cell::Milliseconds);
        [Cell::from(name), Cell::Count(of.count)].into_iter().chain(times).collect()
    };
    // Rows without exchanges have no times.
    let timed = rows.into_iter().filter(|(_, of)| of.count > 0);
    Table::new(id, caption, columns).with_rows(timed.map(row))
}
