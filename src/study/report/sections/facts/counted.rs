use crate::analysis::overview::NamedCount;
use crate::records::units::thousands;
use crate::report::{Axis, Bar, Bars, Cell, Column, Figure, Scale, Table, percent};

/// The number of bars that a page has space for. The rest becomes one bar.
const BARS: usize = 12;
/// The maximum number of rows of a table. The table is for people; programs read the tables of the survey.
pub(in crate::report::sections) const ROWS: usize = 50;

/// A part of a whole; missing if the whole is 0.
pub(in crate::report::sections) fn share(part: u64, whole: u64) -> Cell {
    if whole == 0 { Cell::Missing } else { Cell::Share(part as f64 / whole as f64) }
}

/// A part of a whole in words: `1,234 (12.3 %)`.
pub(in crate::report::sections) fn share_of(part: u64, whole: u64) -> String {
    match share(part, whole) {
        Cell::Share(share) => format!("{} ({})", thousands(part), percent(share)),
        _ => thousands(part),
    }
}

/// What is counted, its unit, and the total. Shares of a sum are meaningless where one thing counts twice.
#[derive(Clone, Copy)]
pub(in crate::report::sections) struct CountBasis<'a> {
    pub row_noun: &'a str,
    pub unit: &'a str,
    pub whole: u64,
}

impl<'a> CountBasis<'a> {
    /// The basis for things that are each counted once.
    pub(in crate::report::sections) fn sum(row_noun: &'a str, unit: &'a str, list: &[NamedCount]) -> Self {
        Self { row_noun, unit, whole: list.iter().map(|counted| counted.count).sum() }
    }
}

/// A table of things that are each counted once, with their shares. The items beyond the last row are summed
/// up in one row.
pub(in crate::report::sections) fn table(
    id: &str,
    caption: &str,
    row_noun: &str,
    unit: &str,
    list: &[NamedCount],
) -> Table {
    let mut table = table_of(id, caption, CountBasis::sum(row_noun, unit, list), list);
    let rest = remainder(list, ROWS);
    if rest > 0 {
        let whole = list.iter().map(|counted| counted.count).sum();
        table.push(vec![OTHERS.into(), Cell::Count(rest), share(rest, whole)]);
    }
    table
}

fn table_of(id: &str, caption: &str, basis: CountBasis<'_>, list: &[NamedCount]) -> Table {
    let columns = vec![Column::text(basis.row_noun), Column::number(basis.unit, ""), Column::share("share")];
    let row = |counted: &NamedCount| {
        vec![counted.name.clone().into(), Cell::Count(counted.count), share(counted.count, basis.whole)]
    };
    Table::new(id, caption, columns).with_rows(list.iter().take(ROWS).map(row))
}

const OTHERS: &str = "all others";

fn remainder(list: &[NamedCount], shown_rows: usize) -> u64 {
    list.iter().skip(shown_rows).map(|counted| counted.count).sum()
}

fn bar(counted: &NamedCount) -> Bar {
    Bar::new(counted.name.clone(), counted.count as f64, thousands(counted.count))
}

/// Bars of things that are each counted once, the longest first.
pub(in crate::report::sections) fn figure(
    id: &str,
    caption: &str,
    row_noun: &str,
    unit: &str,
    list: &[NamedCount],
) -> Figure {
    let mut bars: Vec<Bar> = list.iter().take(BARS).map(bar).collect();
    let rest = remainder(list, BARS);
    if rest > 0 {
        bars.push(Bar::new(OTHERS, rest as f64, thousands(rest)).as_remainder());
    }
    let chart = Bars::new(Axis::new(&capital(unit), Scale::Count), bars);
    Figure::new(id, caption, first(list), chart, table("", "", row_noun, unit, list))
}

/// Bars in the order given: classes, stages, the first items of a long list.
pub(in crate::report::sections) fn ordered(
    id: &str,
    caption: &str,
    basis: CountBasis<'_>,
    list: &[NamedCount],
) -> Figure {
    let bars = list.iter().take(BARS).map(bar).collect();
    let chart = Bars { axis: Axis::new(&capital(basis.unit), Scale::Count), bars };
    let parts =
        list.iter().take(BARS).map(|counted| format!("{} {}", counted.name, thousands(counted.count)));
    let alt = format!("{}: {}.", capital(basis.unit), parts.collect::<Vec<_>>().join(", "));
    Figure::new(id, caption, alt, chart, table_of("", "", basis, list))
}

/// The first items, in words.
fn first(list: &[NamedCount]) -> String {
    let whole: u64 = list.iter().map(|counted| counted.count).sum();
    let parts: Vec<String> = list
        .iter()
        .take(3)
        .map(|counted| format!("{} {}", counted.name, share_of(counted.count, whole)))
        .collect();
    if parts.is_empty() {
        "There is nothing to show.".to_owned()
    } else {
        format!("Most: {}.", parts.join(", "))
    }
}

pub(in crate::report::sections) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
