//! A survey on a disk that fills up stops, says so, and goes on when there is room again.
//!
//! The small disk is a memory file system in a namespace of our own. The test is skipped if the system does
//! not let us create one.
#![cfg(target_os = "linux")]

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::common::skipped::skip;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ccsurvey");

const WORLD: &str = "seed = 11\n[sites]\ncount = 60\nmost_pages = 60\nlarge_smallest = 50.0\n\
                     [robots]\ncrawl_delay_share = 0.0\nunavailable_share = 0.0\nsilent_share = 0.0\n\
                     [faults]\nunavailable_share = 0.0\nsilent_share = 0.0\ndns_silent_share = 0.0\n\
                     [extras]\nsilent_share = 0.0\n[traps]\ncalendar_share = 0.0\n[dns]\nv6_only_share = 0.0\n";

/// A virtual Web space served by a process that ends with the test.
struct Space {
    process: Child,
    dns: String,
    gateway: String,
}

impl Space {
    fn serve(folder: &Path) -> Self {
        fs::write(folder.join("w.toml"), WORLD).unwrap();
        let mut process = Command::new(PROGRAM)
            .args(["space", "serve", "w.toml", "--dns", "127.0.0.1:0", "--gateway", "127.0.0.1:0"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut printed_lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut last_word = || printed_lines.next().unwrap().split_whitespace().last().unwrap().to_owned();
        let (dns, gateway) = (last_word(), last_word());
        Self { process, dns, gateway }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn run_in_namespace(folder: &Path, script: &str) -> Output {
    Command::new("unshare").args(["-rm", "sh", "-c", script]).current_dir(folder).output().unwrap()
}

fn can_mount(folder: &Path) -> bool {
    let tried = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", "disk"])
        .current_dir(folder)
        .output();
    tried.is_ok_and(|output| output.status.success())
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_survey_on_a_full_disk_stops_says_so_and_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("disk")).unwrap();
    if !can_mount(folder) {
        return skip("full_disk", "this system lets nobody mount a small disk (unshare -rm)");
    }
    let space = Space::serve(folder);
    fs::write(folder.join("s.csv"), printed(folder, &["space", "starts", "w.toml"])).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=700k tmpfs disk\n\
         {PROGRAM} survey disk/d --cctld ke --start s.csv --dns {} --gateway {} --min-delay 0 --delay-factor 0 \
         --max-delay 20ms --harm none --rate 1GB\n\
         echo $?\n\
         mount -o remount,size=64m disk\n\
         {PROGRAM} resume disk/d --json\n",
        space.dns, space.gateway
    );
    let output = run_in_namespace(folder, &script);
    let messages = String::from_utf8(output.stderr).unwrap();
    let message = "ccsurvey: error: disk/d: the disk is full; the survey has stopped and its state is kept: free \
                   some space and continue with `ccsurvey resume disk/d`";
    assert!(messages.lines().any(|line| line == message), "{messages}");
    assert_eq!(output.status.code(), Some(0), "{messages}");
    let script_output = String::from_utf8(output.stdout).unwrap();
    let (code, summary) = script_output.split_once('\n').unwrap();
    assert_eq!(code, "1");

    // Nothing is lost: the survey found every site that can be found.
    let summary: serde_json::Value = serde_json::from_str(summary).unwrap();
    let truth = printed(folder, &["space", "truth", "w.toml"]);
    assert_eq!(summary["state"], "finished");
    // A site that did not open has one row per tree.
    let sites: HashSet<_> = truth.lines().skip(1).filter_map(|row| row.split(',').next()).collect();
    assert_eq!(summary["sites"], sites.len());
}
