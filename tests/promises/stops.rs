//! A process that stood still (Ctrl-Z, `docker pause`, a frozen machine, sleep) does not mistake that for
//! silence of the servers.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)] // The tests stop processes for some time.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::records::{ExchangeRow, Manifest, SurveyState};

use crate::common::fixed_web::{FEW_FLAGS, FixedSpace, few_starts};
use crate::common::skipped::skip;
use crate::common::waiting::until;
use crate::common::{assert_same_tables, rows, timeless_tables};

/// Servers work on a response for `SERVICE`; the process stands still for longer than its time-outs.
const SERVICE: Duration = Duration::from_millis(1500);
const STOP_DURATION: Duration = Duration::from_secs(6);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
const FLAGS: [&str; 14] = [
    "--depth",
    "1",
    "--feed-back",
    "off",
    "--sites",
    "32",
    "--min-delay",
    "50ms",
    "--max-delay",
    "2s",
    "--first-byte-timeout",
    "4s",
    "--exchange-timeout",
    "5s",
];

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").arg(name).arg(child.id().to_string()).status().unwrap().success());
}

/// Waits until the servers have sent this many more responses.
fn await_responses(space: &FixedSpace, number: usize) {
    let count = || space.accesses().iter().filter(|access| access.status.is_some()).count();
    let before = count();
    assert!(until(|| count() >= before + number));
}

/// The survey has the same results as an undisturbed one; returns the number of requests that were lost.
#[track_caller]
fn assert_as_undisturbed(space: &FixedSpace, folder: &Path, dir: &Path) -> u64 {
    let undisturbed = folder.join("undisturbed");
    let mut reference = space.command(program(), &undisturbed, &folder.join("start.txt"), &FLAGS);
    assert!(reference.spawn().unwrap().wait().unwrap().success());
    for row in rows::<ExchangeRow>(dir) {
        let failure = row.failure.as_deref().unwrap_or_default();
        assert!(!failure.contains("timeout"), "{failure} at {}", row.url);
    }
    assert_same_tables(&timeless_tables(dir), &timeless_tables(&undisturbed));
    let manifest = Manifest::load(dir).unwrap();
    assert_eq!((manifest.state, manifest.broken_promises), (SurveyState::Finished, Vec::new()));
    manifest.unrecorded_exchanges
}

#[test]
fn requests_under_way_while_the_process_is_stopped_are_lost_and_repeated() {
    let space = FixedSpace::serve(SERVICE);
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, few_starts()).unwrap();
    let mut child = space.command(program(), &dir, &start, &FLAGS).spawn().unwrap();
    let mut stops = Vec::new();
    for _ in 0..2 {
        await_responses(&space, 6);
        std::thread::sleep(SERVICE / 3);
        let stopped = now();
        signal(&child, "-STOP");
        std::thread::sleep(STOP_DURATION);
        stops.push((stopped, now()));
        signal(&child, "-CONT");
    }
    assert!(child.wait().unwrap().success());
    let mut log = space.accesses();
    let lost = assert_as_undisturbed(&space, folder.path(), &dir);

    log.sort_by_key(|access| (access.address, access.arrival_us));
    let mut under_way = 0;
    for pair in log.windows(2).filter(|pair| pair[0].address == pair[1].address) {
        let [begun, next] = [pair[0].arrival_us, pair[1].arrival_us].map(Duration::from_micros);
        for (stopped, continued) in &stops {
            // The server responded while the process stood still, and it is unknown when the server was done.
            if pair[0].status.is_some() && begun < *stopped && begun + SERVICE > *stopped + SERVICE / 10 {
                under_way += 1;
                assert!(next >= *continued + LONGEST_PAUSE, "{:?} {:?}", pair[0], pair[1]);
            }
        }
    }
    assert!(under_way >= 4, "{under_way} requests were under way");
    assert!(lost >= under_way, "{lost} are said to be lost, of {under_way} that were under way");
}

#[test]
fn who_opts_out_while_the_process_is_stopped_is_not_asked_when_it_goes_on() {
    let space = FixedSpace::serve(Duration::from_millis(20));
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    let list = folder.path().join("opt-out.txt");
    std::fs::write(&start, few_starts()).unwrap();
    std::fs::write(&list, "# nobody yet\n").unwrap();
    // All pauses are over when it goes on.
    let flags =
        ["--sites", "32", "--min-delay", "2s", "--max-delay", "2s", "--opt-out", list.to_str().unwrap()];
    let mut child = space.command(program(), &dir, &start, &flags).args(FEW_FLAGS).spawn().unwrap();
    await_responses(&space, 12);
    // All servers are paused: a request that was handed to the system before the stop would be sent whoever
    // opts out meanwhile.
    assert!(until(|| space.accesses().iter().all(|it| it.arrival_us + 500_000 < now().as_micros() as u64)));
    signal(&child, "-STOP");
    std::thread::sleep(Duration::from_secs(1));
    let before = space.accesses().len();
    let opted_out = ["ants.ke", "bees.ke", "crows.ke", "doves.ke"];
    std::fs::write(&list, opted_out.join("\n")).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    signal(&child, "-CONT");
    assert!(child.wait().unwrap().success());
    let log = space.accesses();
    let later_requests: Vec<_> =
        log[before..].iter().filter(|it| opted_out.contains(&it.host.as_str())).collect();
    assert!(later_requests.is_empty(), "{later_requests:?}");
    assert!(log[..before].iter().any(|it| it.host == "ants.ke"), "it was asked before");
    assert!(log.len() > before, "others are asked");
}

/// A file that replaces the machine's uptime; it includes the time that the machine is pretended to have
/// slept.
struct Uptime {
    slept: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    writer: Option<std::thread::JoinHandle<()>>,
}

impl Uptime {
    fn begin(path: &Path) -> Self {
        let begun = std::time::Instant::now();
        let (slept, is_over) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let write = {
            let slept = slept.clone();
            move |file: &File| {
                let up = begun.elapsed() + Duration::from_secs(slept.load(Ordering::Relaxed));
                file.write_all_at(format!("{:012.2} 9.00\n", up.as_secs_f64()).as_bytes(), 0).unwrap();
            }
        };
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(path).unwrap();
        write(&file);
        let should_end = is_over.clone();
        let writer = std::thread::spawn(move || {
            while !should_end.load(Ordering::Relaxed) {
                write(&file);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Self { slept, is_over, writer: Some(writer) }
    }
}

impl Drop for Uptime {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.writer.take().unwrap().join().unwrap();
    }
}

#[test]
fn requests_under_way_while_the_machine_sleeps_are_lost_and_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let up = folder.path().join("uptime");
    let uptime = Uptime::begin(&up);
    // In its own namespace the program reads another uptime; its monotonic clock is that of the machine.
    let script = format!("mount --bind {} /proc/uptime && exec \"$@\"", up.display());
    let in_namespace = |command: Command| {
        let mut wrapped = Command::new("unshare");
        wrapped.args(["-rm", "sh", "-c", &script, "sh"]).arg(command.get_program()).args(command.get_args());
        wrapped.stdout(Stdio::null()).stderr(Stdio::null());
        wrapped
    };
    if !in_namespace(Command::new("true")).status().is_ok_and(|status| status.success()) {
        return skip("sleep", "this system lets us mount nothing");
    }
    let space = FixedSpace::serve(SERVICE);
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, few_starts()).unwrap();
    let mut child = in_namespace(space.command(program(), &dir, &start, &FLAGS)).spawn().unwrap();
    for _ in 0..2 {
        await_responses(&space, 6);
        uptime.slept.fetch_add(3 * 3600, Ordering::Relaxed);
    }
    assert!(child.wait().unwrap().success());
    // How many are under way at a moment depends on how busy this machine is.
    let lost = assert_as_undisturbed(&space, folder.path(), &dir);
    assert!(lost > 0, "{lost}");
}
