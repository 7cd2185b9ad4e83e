//! Python as `tests/setup` installs it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a script of `tests/` in the Python that `tests/setup` has installed; returns its standard output.
pub(crate) fn python(script: &str, arguments: &[&str]) -> String {
    let interpreter = interpreter();
    assert!(interpreter.exists(), "{} is missing: run tests/setup first", interpreter.display());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    // No compiled scripts in the source tree.
    let run = Command::new(&interpreter).arg("-B").arg(&script).args(arguments).output();
    let run = run.unwrap_or_else(|error| panic!("cannot run {}: {error}", interpreter.display()));
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{} found:\n{printed}{errors}", script.display());
    printed
}

pub(crate) fn interpreter() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        PathBuf::from,
    );
    cache.join("ccsurvey/venv/bin/python")
}
