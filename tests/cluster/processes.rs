//! The processes of a survey over several machines.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::Space;
use crate::common::bus::{Bus, Process, program};

/// The shortest pause at a server.
pub(crate) const MIN_DELAY_MS: u64 = 20;

/// Time-outs that a server of this machine does not reach, however busy the machine is: for tests that
/// compare the tables of two surveys.
pub(crate) const LONG_TIMEOUTS: [&str; 6] =
    ["--first-byte-timeout", "5s", "--idle-timeout", "5s", "--exchange-timeout", "10s"];

/// Starts a survey whose agents walk the sites, or resumes it.
pub(crate) fn coordinator(space: &Space, bus: &Bus, dir: &Path) -> Process {
    coordinator_with(space, bus, dir, &[])
}

/// The same with further flags.
pub(crate) fn coordinator_with(space: &Space, bus: &Bus, dir: &Path, extra_flags: &[&str]) -> Process {
    coordinator_from(space, bus, dir, &starts(space, dir), extra_flags)
}

/// The same with another start list.
pub(crate) fn coordinator_from(
    space: &Space,
    bus: &Bus,
    dir: &Path,
    start: &Path,
    extra_flags: &[&str],
) -> Process {
    bus.set_agent_flags(&["--gateway", &space.gateway()]);
    coordinator_on(space, &bus.url(), dir, start, extra_flags)
}

/// The same with a bus at this address.
pub(crate) fn coordinator_on(
    space: &Space,
    bus: &str,
    dir: &Path,
    start: &Path,
    extra_flags: &[&str],
) -> Process {
    let mut command = command(space, bus, dir, start, extra_flags);
    Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// The command that starts or resumes it.
pub(crate) fn coordinator_command(space: &Space, bus: &Bus, dir: &Path, extra_flags: &[&str]) -> Command {
    bus.set_agent_flags(&["--gateway", &space.gateway()]);
    command(space, &bus.url(), dir, &starts(space, dir), extra_flags)
}

fn command(space: &Space, bus: &str, dir: &Path, start: &Path, extra_flags: &[&str]) -> Command {
    let mut command = program();
    if dir.join("manifest.json").exists() {
        command.arg("resume").arg(dir);
    } else {
        command.arg("survey").arg(dir).args(flags(space, extra_flags)).arg("--start").arg(start);
        command.args(["--nats", bus]);
    }
    command
}

/// The same survey on one machine.
pub(crate) fn survey_alone(space: &Space, dir: &Path) {
    survey_alone_with(space, dir, &[]);
}

/// The same with further flags.
pub(crate) fn survey_alone_with(space: &Space, dir: &Path, extra_flags: &[&str]) {
    let mut command = program();
    command.arg("survey").arg(dir).args(flags(space, extra_flags)).arg("--start").arg(starts(space, dir));
    let done = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The usual flags, except those that `extra_flags` overrides.
fn flags(space: &Space, extra_flags: &[&str]) -> Vec<String> {
    let pace =
        format!("--min-delay {MIN_DELAY_MS}ms --delay-factor 0 --max-delay 60ms --harm none --rate none");
    let defaults = format!(
        "--cctld ke --contact https://survey.example/contact --idle-timeout 2s --first-byte-timeout 2s --exchange-timeout 4s {pace}"
    );
    let defaults: Vec<&str> = defaults.split(' ').collect();
    let default_flags = defaults.chunks(2).filter(|flag| !extra_flags.contains(&flag[0])).flatten();
    let endpoints = ["--dns".to_owned(), space.dns(), "--gateway".to_owned(), space.gateway()];
    default_flags.chain(extra_flags).map(|word| (*word).to_owned()).chain(endpoints).collect()
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
    let mut log = space.accesses();
    log.sort_by_key(|access| (access.address, access.arrival_us));
    let mut gap_count = 0;
    for pair in log.windows(2).filter(|pair| pair[0].address == pair[1].address && pair[0].address.is_some())
    {
        let gap = pair[1].arrival_us.cast_signed() - pair[0].end_us.cast_signed();
        // Tolerance for two clocks and for early timers.
        let min_gap = MIN_DELAY_MS.cast_signed() * 1000 - 2000;
        assert!(gap >= min_gap, "{gap} µs between {:?} and {:?}", pair[0], pair[1]);
        gap_count += 1;
    }
    assert!(gap_count > 20, "{gap_count} pauses are no test");
}
