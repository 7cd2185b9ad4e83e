//! The notebooks run on a survey made here, and their output equals the committed one.
//!
//! `notebooks/run --same` executes them on a survey of the demonstration. Every output must be the committed
//! one, except for cells tagged `times`, and the survey must equal the demonstration's truth
//! (`02-load-and-coverage.ipynb`).
//!
//! Needs what `tests/setup` installs.

use std::path::Path;
use std::process::Command;

use crate::surveys::demo;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ccsurvey");

#[test]
fn notebooks_run_on_the_demo_and_say_what_they_are_committed_with() {
    let notebooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks/run");
    let messages = run(Command::new(notebooks).arg("--same").arg(&demo().dir).env("CCSURVEY", PROGRAM));
    assert_eq!(messages.lines().count(), 3, "a line for each notebook:\n{messages}");
}

#[test]
fn a_folder_that_is_no_survey_is_refused() {
    let empty = tempfile::tempdir().unwrap();
    let notebooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks/run");
    let refused = Command::new(notebooks).arg(empty.path()).output().unwrap();
    let messages = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && messages.contains("is no survey"), "{messages}");
}

/// Runs a program, which must succeed, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}:\n{printed}{errors}", output.status);
    printed
}
