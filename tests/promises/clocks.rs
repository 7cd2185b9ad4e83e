//! The system's clock is set between two runs of a survey: the servers see pauses that are neither longer nor
//! shorter.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)] // The tests wait for processes, with a deadline.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::records::{ExchangeRow, Manifest, SurveyState};
use ccsurvey::survey::Snapshot;

use crate::common::fixed_web::{FEW_FLAGS, FixedSpace, few_starts};
use crate::common::rows;
use crate::common::skipped::skip;
use crate::common::waiting::until;

const SERVICE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_secs(2);
/// The pause after a request that was in flight when the process died.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// Shorter than a pause. If the survey trusted the clock, the pause would be over while no process runs.
const DOWNTIME: Duration = Duration::from_millis(500);

/// The library that gives a program another time; its uptime and its monotonic clock remain those of the
/// machine.
fn faketime_library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    let mut found = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    found.find(|library| library.exists())
}

fn program(library: &Path, offset: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    program.env("LD_PRELOAD", library).env("FAKETIME", offset).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    program.stdout(Stdio::null()).stderr(Stdio::null());
    program
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

#[test]
fn a_clock_that_is_set_between_runs_makes_no_pause_longer_or_shorter() {
    let Some(library) = faketime_library() else {
        return skip("clocks", "there is no faketime (tests/setup installs it)");
    };
    let space = FixedSpace::serve(SERVICE);
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, few_starts()).unwrap();
    let flags = ["--sites", "32", "--min-delay", "2s", "--max-delay", "3s"];
    let resume =
        |offset: &str| -> Child { program(&library, offset).arg("resume").arg(&dir).spawn().unwrap() };
    let mut deaths = Vec::new();
    // Ahead by 400 days, correct, back by an hour, ahead by a day and a half, and back again.
    for offset in ["+400d", "+0", "-1h", "+36h", "-30m", "+90s", "-400d"] {
        let before = space.accesses().len();
        let mut child = if deaths.is_empty() {
            space.command(program(&library, offset), &dir, &start, &flags).args(FEW_FLAGS).spawn().unwrap()
        } else {
            resume(offset)
        };
        // It goes on before long, whatever pauses are on record.
        let response_count =
            || space.accesses()[before..].iter().filter(|access| access.status.is_some()).count();
        assert!(until(|| response_count() >= 4), "{offset}: {} requests", response_count());
        assert!(child.try_wait().unwrap().is_none(), "{offset}: it was over before");
        child.kill().unwrap();
        child.wait().unwrap();
        let died = now();
        std::thread::sleep(DOWNTIME);
        deaths.push((died, now()));
    }
    let last_began = SystemTime::now();
    assert_eq!(resume("+0").wait().unwrap().code(), Some(0));

    let mut log = space.accesses();
    log.sort_by_key(|access| (access.address, access.arrival_us));
    let mut over_a_death = 0;
    for pair in log.windows(2).filter(|pair| pair[0].address == pair[1].address) {
        let [begun, ended, next] =
            [pair[0].arrival_us, pair[0].end_us, pair[1].arrival_us].map(Duration::from_micros);
        assert!(next >= ended + PAUSE, "{:?} between {:?} and {:?}", next - ended, pair[0], pair[1]);
        for (died, restarted) in &deaths {
            over_a_death += usize::from(ended < *died && next > *died);
            if begun < *died && ended > *died {
                assert!(next >= *restarted + LONGEST_PAUSE, "{:?} and {:?}", pair[0], pair[1]);
            }
        }
    }
    assert!(over_a_death >= 12, "{over_a_death} pauses over a death");

    let manifest = Manifest::load(&dir).unwrap();
    assert_eq!((manifest.state, manifest.broken_promises), (SurveyState::Finished, Vec::new()));
    // Times that users read are by the clock of the run in which they were written.
    let status = Snapshot::read(&dir).unwrap();
    let ended = SystemTime::now();
    assert!(status.updated.is_some_and(|updated| last_began < updated && updated <= ended), "{status:?}");
    let latest = rows::<ExchangeRow>(&dir).into_iter().map(|row| SystemTime::from(row.started));
    assert!(latest.filter(|moment| last_began < *moment && *moment <= ended).count() >= 4);
    let log_text = std::fs::read_to_string(dir.join("log.jsonl")).unwrap();
    for change in ["back by 34560000 s", "back by 3600 s", "forward by 133200 s", "forward by 34560000 s"] {
        assert!(log_text.contains(change), "{change}: {log_text}");
    }
}
