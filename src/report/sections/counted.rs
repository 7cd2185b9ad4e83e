use crate::analysis::overview::Counted;
use crate::records::units::thousands;
use crate::report::{Axis, Bar, Bars, Cell, Column, Figure, Scale, Table, percent};

/// Bars that a page has room for; what is beyond them is one bar.
const BARS: usize = 12;
/// Rows of a table; it is there to be read, and programs read the tables of the survey.
pub(super) const ROWS: usize = 50;

/// A part of a whole; of nothing it is not known.
pub(super) fn share(part: u64, whole: u64) -> Cell {
    if whole == 0 { Cell::Missing } else { Cell::Share(part as f64 / whole as f64) }
}

/// A part of a whole in words: `1,234 (12.3 %)`.
pub(super) fn of(part: u64, whole: u64) -> String {
    match share(part, whole) {
        Cell::Share(share) => format!("{} ({})", thousands(part), percent(share)),
        _ => thousands(part),
    }
}

/// Counts with their shares, what is beyond the rows as one.
pub(super) fn table(id: &str, caption: &str, what: &str, unit: &str, list: &[Counted]) -> Table {
    let whole: u64 = list.iter().map(|counted| counted.count).sum();
    let columns = vec![Column::text(what), Column::number(unit, ""), Column::share("share")];
    let row = |name: &str, count: u64| vec![Cell::from(name), Cell::Count(count), share(count, whole)];
    let rows = list.iter().take(ROWS).map(|counted| row(&counted.name, counted.count));
    let mut table = Table::new(id, caption, columns).with_rows(rows);
    let rest: u64 = list.iter().skip(ROWS).map(|counted| counted.count).sum();
    if rest > 0 {
        table.push(row("all others", rest));
    }
    table
}

/// Counts as bars, the longest first.
pub(super) fn figure(id: &str, caption: &str, what: &str, unit: &str, list: &[Counted]) -> Figure {
    let bar =
        |counted: &Counted| Bar::new(counted.name.clone(), counted.count as f64, thousands(counted.count));
    let mut bars: Vec<Bar> = list.iter().take(BARS).map(bar).collect();
    let rest: u64 = list.iter().skip(BARS).map(|counted| counted.count).sum();
    if rest > 0 {
        bars.push(Bar::new("all others", rest as f64, thousands(rest)).rest());
    }
    let chart = Bars::new(Axis::new(&capital(unit), Scale::Count), bars);
    Figure::new(id, caption, first(list), chart, table("", "", what, unit, list))
}

/// Counts as bars in the order given: classes, stages.
pub(super) fn ordered(id: &str, caption: &str, what: &str, unit: &str, list: &[Counted]) -> Figure {
    let bar =
        |counted: &Counted| Bar::new(counted.name.clone(), counted.count as f64, thousands(counted.count));
    let chart = Bars { axis: Axis::new(&capital(unit), Scale::Count), bars: list.iter().map(bar).collect() };
    let told: Vec<String> =
        list.iter().map(|counted| format!("{} {}", counted.name, thousands(counted.count))).collect();
    Figure::new(
        id,
        caption,
        format!("{}: {}.", capital(unit), told.join(", ")),
        chart,
        table("", "", what, unit, list),
    )
}

/// What stands first, in words.
fn first(list: &[Counted]) -> String {
    let whole: u64 = list.iter().map(|counted| counted.count).sum();
    let told: Vec<String> =
        list.iter().take(3).map(|counted| format!("{} {}", counted.name, of(counted.count, whole))).collect();
    if told.is_empty() {
        "There is nothing to show.".to_owned()
    } else {
        format!("Most: {}.", told.join(", "))
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
