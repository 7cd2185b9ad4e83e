//! When and from what data the table of curves is computed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ccsurvey::records::{CurveRow, Manifest, Row, read_curves, write_table};

use crate::surveys::{demo, small};

fn ccsurvey(arguments: &[&str], dir: &Path) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).arg(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A copy of a finished survey, with its curves.
fn copy(survey: &Path) -> (tempfile::TempDir, Vec<CurveRow>) {
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(survey.join(".")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let curves = read_curves(folder.path()).unwrap();
    assert!(is_listed(folder.path()) && !curves.is_empty());
    (folder, curves)
}

fn is_listed(dir: &Path) -> bool {
    Manifest::load(dir).unwrap().tables.contains_key(CurveRow::TABLE)
}

/// The state that a process leaves if it is killed between the end of the survey and its curves.
fn without_curves(dir: &Path) {
    fs::remove_dir_all(dir.join("tables/curves")).unwrap();
    let mut manifest = Manifest::load(dir).unwrap();
    manifest.tables.remove(CurveRow::TABLE);
    manifest.save(dir).unwrap();
}

#[test]
fn resume_draws_the_curves_that_a_killed_survey_has_not() {
    let (survey, curves) = copy(&demo().dir);
    without_curves(survey.path());
    ccsurvey(&["resume"], survey.path());
    assert_eq!(read_curves(survey.path()).unwrap(), curves);
    assert!(is_listed(survey.path()));
}

#[test]
fn a_report_draws_curves_that_are_missing_or_of_other_tables() {
    let (survey, curves) = copy(small());
    without_curves(survey.path());
    ccsurvey(&["report"], survey.path());
    assert_eq!(read_curves(survey.path()).unwrap(), curves);
    assert!(is_listed(survey.path()));

    let mut older = curves.clone();
    older[0].requests -= 1;
    write_table(survey.path(), &older).unwrap();
    // Another seed gives the report other intervals, and the table keeps the usual ones.
    ccsurvey(&["report", "--seed", "7"], survey.path());
    assert_eq!(read_curves(survey.path()).unwrap(), curves);
}

#[test]
fn a_report_leaves_curves_alone_that_are_those_of_its_tables() {
    let (survey, _) = copy(small());
    let path = survey.path().join("tables/curves/curves.parquet");
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    ccsurvey(&["report"], survey.path());
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
}

#[test]
fn a_report_is_made_where_no_curves_can_be_written_and_says_so() {
    let (survey, _) = copy(small());
    without_curves(survey.path());
    fs::write(survey.path().join("tables/curves"), "in the way").unwrap();
    let messages = ccsurvey(&["report"], survey.path()).stderr;
    let messages = String::from_utf8_lossy(&messages);
    assert!(
        messages.contains("cannot write the table of curves of ")
            && messages.contains(": cannot create folder"),
        "{messages}"
    );
    assert!(survey.path().join("report.html").is_file() && !is_listed(survey.path()));
}
