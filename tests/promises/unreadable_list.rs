//! An opt-out list that cannot be read for some time: its entries stay in force, `status` says so, and it is
//! read again.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)] // The tests wait for processes, with a deadline.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::records::{Manifest, SurveyState, read_opt_outs};

use crate::common::fixed_web::{FEW_FLAGS, FixedSpace, few_starts};
use crate::common::power_cut::can_trace;
use crate::common::waiting::until;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ccsurvey");

/// Errors that a disk, a network file system, an editor and a busy machine may cause, and the words of the
/// status for each.
const ERRORS: [(&str, &str); 5] = [
    ("EIO", "Input/output error"),
    ("EACCES", "Permission denied"),
    ("ESTALE", "Stale file handle"),
    ("EMFILE", "Too many open files"),
    ("ENFILE", "Too many open files in system"),
];
/// The system calls that read the list, of which some fail while the survey runs.
const CALLS: [&str; 3] = ["openat", "read", "statx"];

#[test]
fn a_list_that_cannot_be_read_stays_in_force_is_told_of_and_read_again() {
    if !can_trace("unreadable_list") {
        return;
    }
    std::thread::scope(|scope| {
        for (call, (error, message)) in CALLS.iter().flat_map(|call| ERRORS.map(|error| (call, error))) {
            scope.spawn(move || check_failing_call(call, error, message));
        }
    });
}

fn check_failing_call(call: &str, error: &str, message: &str) {
    let space = FixedSpace::serve(Duration::from_millis(10));
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    let list = folder.path().join("opt-out.txt");
    std::fs::write(&start, few_starts()).unwrap();
    std::fs::write(&list, "ants.ke\n").unwrap();
    // For the list alone: the first look is before the survey begins.
    let inject = format!("inject={call}:error={error}:when=3..6");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-P"]).arg(&list).args([
        "-e",
        "trace=openat,read,statx",
        "-e",
        &inject,
    ]);
    strace.arg(PROGRAM);
    let flags =
        ["--sites", "32", "--min-delay", "2s", "--max-delay", "2s", "--opt-out", list.to_str().unwrap()];
    let mut child =
        space.command(strace, &dir, &start, &flags).args(FEW_FLAGS).stderr(Stdio::null()).spawn().unwrap();
    let what = format!("{call} {error}");
    // Each change causes one more look; some looks fail after the first ones, and later ones succeed.
    let mut changes = 0;
    let mut change = || {
        changes += 1;
        let entries = format!("ants.ke\nbees.ke\n{}", "#\n".repeat(changes));
        std::fs::write(&list, entries).unwrap();
    };
    let status = || status_of(&dir);
    assert!(until(|| space.accesses().len() > 3), "{what}");
    assert!(
        until(|| {
            change();
            std::thread::sleep(Duration::from_millis(500));
            let status = status();
            status.contains(message) && status.contains("stay in force")
        }),
        "{what}: {}",
        status()
    );
    assert!(until(|| !status().contains("stay in force")), "{what}: {}", status());
    std::fs::write(&list, "ants.ke\nbees.ke\ncrows.ke\n").unwrap();
    let recorded_opt_outs = || read_opt_outs(&dir.join("opt-out.csv")).unwrap_or_default();
    assert!(
        until(|| recorded_opt_outs().iter().any(|record| record.entry == "crows.ke")),
        "{what}: {:?}",
        recorded_opt_outs()
    );
    let obeyed_from = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(2);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{what}");
    assert_eq!(Manifest::load(&dir).unwrap().state, SurveyState::Finished, "{what}");
    for access in space.accesses() {
        assert_ne!(access.host, "ants.ke", "{what}");
        let is_late = Duration::from_micros(access.arrival_us) > obeyed_from;
        assert!(access.host != "crows.ke" || !is_late, "{what}: {access:?}");
    }
}

/// The output of `ccsurvey status`.
fn status_of(dir: &Path) -> String {
    let output = Command::new(PROGRAM).arg("status").arg(dir).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
