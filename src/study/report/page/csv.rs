use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::records::{csv_line, disarmed};
use crate::report::{Cell, Column, Form, Table};

/// A link that contains the whole table as CSV.
pub(super) fn href(table: &Table) -> String {
    format!("data:text/csv;charset=utf-8,{}", utf8_percent_encode(&text(table), LITERAL))
}

/// Characters that neither end a URL nor change its meaning are not encoded, which saves two thirds of the
/// size.
const LITERAL: &AsciiSet = &NON_ALPHANUMERIC.remove(b',').remove(b'.').remove(b'-').remove(b'_').remove(b':');

/// A table as CSV (RFC 4180): a header with units, then raw numbers.
fn text(table: &Table) -> String {
    let mut text = String::new();
    push_line(&mut text, table.columns.iter().flat_map(heads));
    for row in &table.rows {
        push_line(&mut text, table.columns.iter().zip(row).flat_map(|(column, cell)| fields(column, cell)));
    }
    text
}

fn heads(column: &Column) -> Vec<String> {
    // Some columns are named by text from outside.
    let name = disarmed(&column.head);
    let head = |suffix: &str| match column.unit {
        "" => format!("{name}{suffix}"),
        unit => format!("{name}{suffix} [{unit}]"),
    };
    match column.form {
        Form::Interval => vec![head(""), head(", low"), head(", high")],
        Form::Text | Form::Number => vec![head("")],
    }
}

fn fields(column: &Column, cell: &Cell) -> Vec<String> {
    let mut fields = match cell {
        Cell::Text(text) | Cell::Word(text, _) => vec![disarmed(text).into_owned()],
        _ => cell.raw(),
    };
    fields.resize(if column.form == Form::Interval { 3 } else { 1 }, String::new());
    fields
}

fn push_line(text: &mut String, fields: impl Iterator<Item = String>) {
    text.push_str(&csv_line(fields));
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Estimate;

    #[test]
    fn a_table_is_csv_with_raw_numbers() {
        let columns = vec![
            Column::text("server"),
            Column::number("load", "bytes"),
            Column::interval("coverage", "share"),
        ];
        let between = Estimate::between(0.25, 0.5, 0.75);
        let table = Table::new("t", "caption", columns).with_rows([
            vec!["a \"b\", c".into(), Cell::Bytes(12_345), Cell::ShareBetween(between)],
            vec!["=cmd()".into(), Cell::Missing, Cell::Missing],
            vec!["-5".into(), Cell::Number(-5.0, 0), Cell::Missing],
        ]);
        assert_eq!(
            text(&table),
            "server,load [bytes],coverage [share],\"coverage, low [share]\",\"coverage, high [share]\"\r\n\
             \"a \"\"b\"\", c\",12345,0.5,0.25,0.75\r\n\
             '=cmd(),,,,\r\n\
             '-5,-5,,,\r\n"
        );
        assert!(href(&table).starts_with("data:text/csv;charset=utf-8,server,load%20%5Bbytes%5D,"));
    }
}
