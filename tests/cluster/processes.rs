//! The processes of a survey over several machines.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::Space;
use crate::common::bus::{Bus, Process, program};

/// The shortest pause at a server.
pub(crate) const MIN_DELAY_MS: u64 = 20;

/// Time-outs that a server of this machine does not reach, however busy the machine is: for tests that
/// compare the tables of two surveys.
pub(crate) const PATIENT: [&str; 6] =
    ["--first-byte-timeout", "5s", "--idle-timeout", "5s", "--exchange-timeout", "10s"];

/// Starts a survey whose agents walk the sites, or resumes it.
pub(crate) fn coordinator(space: &Space, bus: &Bus, dir: &Path) -> Process {
    coordinator_with(space, bus, dir, &[])
}

/// The same with further flags.
pub(crate) fn coordinator_with(space: &Space, bus: &Bus, dir: &Path, more: &[&str]) -> Process {
    coordinator_from(space, bus, dir, &starts(space, dir), more)
}

/// The same with another start list.
pub(crate) fn coordinator_from(space: &Space, bus: &Bus, dir: &Path, start: &Path, more: &[&str]) -> Process {
    bus.agents_need(&["--gateway", &space.gateway()]);
    coordinator_over(space, &bus.url(), dir, start, more)
}

/// The same with a bus at this address.
pub(crate) fn coordinator_over(space: &Space, bus: &str, dir: &Path, start: &Path, more: &[&str]) -> Process {
    let mut command = command(space, bus, dir, start, more);
    Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// The command that starts or resumes it.
pub(crate) fn coordinator_command(space: &Space, bus: &Bus, dir: &Path, more: &[&str]) -> Command {
    bus.agents_need(&["--gateway", &space.gateway()]);
    command(space, &bus.url(), dir, &starts(space, dir), more)
}

fn command(space: &Space, bus: &str, dir: &Path, start: &Path, more: &[&str]) -> Command {
    let mut command = program();
    if dir.join("manifest.json").exists() {
        command.arg("resume").arg(dir);
    } else {
        command.arg("survey").arg(dir).args(flags(space, more)).arg("--start").arg(start);
        command.args(["--nats", bus]);
    }
    command
}

/// The same survey on one machine.
pub(crate) fn alone(space: &Space, dir: &Path) {
    alone_with(space, dir, &[]);
}

/// The same with further flags.
pub(crate) fn alone_with(space: &Space, dir: &Path, more: &[&str]) {
    let mut command = program();
    command.arg("survey").arg(dir).args(flags(space, more)).arg("--start").arg(starts(space, dir));
    let done = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The usual flags, except those that `more` overrides.
fn flags(space: &Space, more: &[&str]) -> Vec<String> {
    let pace =
        format!("--min-delay {MIN_DELAY_MS}ms --delay-factor 0 --max-delay 60ms --harm none --rate none");
    let words = format!(
        "--cctld ke --contact https://survey.example/contact --idle-timeout 2s --first-byte-timeout 2s --exchange-timeout 4s {pace}"
    );
    let words: Vec<&str> = words.split(' ').collect();
    let usual = words.chunks(2).filter(|flag| !more.contains(&flag[0])).flatten();
    let ends = ["--dns".to_owned(), space.dns(), "--gateway".to_owned(), space.gateway()];
    usual.chain(more).map(|word| (*word).to_owned()).chain(ends).collect()
}

/// The start list of a world, beside the survey.
pub(crate) fn starts(space: &Space, dir: &Path) -> PathBuf {
    let path = dir.with_extension("starts");
    let urls: Vec<String> = space.starts().iter().map(|url| url.as_str().to_owned()).collect();
    std::fs::write(&path, urls.join("\n")).unwrap();
    path
}

/// The servers' own logs show no two requests at once, and no pause that is too short.
pub(crate) fn assert_polite(space: &Space) {
    let mut seen = space.accesses();
    seen.sort_by_key(|access| (access.address, access.arrival_us));
    let mut judged = 0;
    for pair in seen.windows(2).filter(|pair| pair[0].address == pair[1].address && pair[0].address.is_some())
    {
        let gap = pair[1].arrival_us.cast_signed() - pair[0].end_us.cast_signed();
        // Tolerance for two clocks and for early timers.
        let least = MIN_DELAY_MS.cast_signed() * 1000 - 2000;
        assert!(gap >= least, "{gap} µs between {:?} and {:?}", pair[0], pair[1]);
        judged += 1;
    }
    assert!(judged > 20, "{judged} pauses are no test");
}
