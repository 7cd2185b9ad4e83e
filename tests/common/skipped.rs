//! Tests that this machine cannot run.

use std::fs::OpenOptions;
use std::io::Write;

/// Reports that a test was skipped, and why, in the file that `tests/run` prints at its end. If `CI=true` is
/// set, no test may be skipped, and the test fails.
///
/// The output of a passing test is not shown, so without `tests/run` the report goes directly to standard
/// error.
#[allow(clippy::disallowed_methods, reason = "a line of the test itself")]
pub(crate) fn skip(test: &str, why: &str) {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: skipped where CI=true is set: {why}");
    let line = format!("skipped {test}: {why}\n");
    match std::env::var_os("CCSURVEY_SKIPPED") {
        Some(file) => {
            let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }
        None => std::io::stderr().write_all(line.as_bytes()).unwrap(),
    }
}
