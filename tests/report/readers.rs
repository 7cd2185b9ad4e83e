//! Other programs read our tables.
//!
//! A demonstration is surveyed, and polars and `DuckDB` (both from Python) read its tables: while it runs
//! (`watch.py`), then column by column against the data dictionary and the design (`columns.py`), then sum
//! against sum (`reconcile.py`), and the table of curves against all other outputs of the program about them
//! (`curves.py`).
//!
//! Then every common reader, in three versions of pyarrow and pandas, does with every table what an analyst
//! does (`matrix.py`): opens, filters, sorts, joins, groups and exports it.
//!
//! Needs what `tests/setup` installs.

use std::fs;
use std::path::Path;

use ccsurvey::records::dictionary;
use serde_json::{Map, Value, json};

use crate::common::python::python;
use crate::surveys::{demo, with_pages_recorded};

fn text(path: &Path) -> &str {
    path.to_str().expect("the path of the tests is text")
}

#[test]
fn finished_sites_are_read_while_the_survey_runs_and_never_in_part() {
    print!("{}", demo().watched);
}

#[test]
fn every_column_is_what_the_dictionary_and_the_design_say() {
    let survey = &demo().dir;
    let mut tables = Map::new();
    for table in dictionary() {
        let columns: Vec<Value> = table
            .columns
            .iter()
            .map(|column| {
                let name = column.column_type.to_string();
                json!({ "name": column.name, "type": name, "nullable": column.nullable })
            })
            .collect();
        tables.insert(table.name.to_owned(), columns.into());
    }
    let file = survey.with_file_name("dictionary.json");
    fs::write(&file, Value::Object(tables).to_string()).unwrap();
    print!("{}", python("report/readers/columns.py", &[text(survey), text(&file)]));
}

#[test]
fn what_the_tables_count_reconciles() {
    print!("{}", python("report/readers/reconcile.py", &[text(&demo().dir)]));
}

#[test]
fn every_reader_opens_filters_sorts_joins_groups_and_exports_every_table() {
    let printed = python("report/readers/matrix.py", &[text(with_pages_recorded())]);
    print!("{printed}");
    assert!(
        printed.contains(&format!("11 readers x {} tables x 6 operations", dictionary().len())),
        "{printed}"
    );
    // Tables of several files, as in a running or large survey.
    print!("{}", python("report/readers/matrix.py", &[text(&demo().dir)]));
}

#[test]
fn the_table_of_curves_has_the_figures_of_the_report_the_summary_and_choose_depth() {
    let program = env!("CARGO_BIN_EXE_ccsurvey");
    print!("{}", python("report/readers/curves.py", &[program, text(&demo().dir)]));
}
