//! System calls that a request costs on the machine of the survey, as `strace` counts them: no file is opened
//! per request.
#![cfg(target_os = "linux")]

use std::collections::HashMap;
use std::process::{Command, Stdio};

use crate::common::Space;
use crate::common::power_cut::can_trace;

#[test]
fn no_file_is_opened_for_each_request() {
    if !can_trace("system_calls") {
        return;
    }
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name);
    let starts: String = space.starts().iter().map(|url| format!("{url}\n")).collect();
    std::fs::write(path("start.txt"), starts).unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=open,openat", "-o"]).arg(path("trace"));
    strace.arg(env!("CARGO_BIN_EXE_ccsurvey")).arg("survey").arg(path("survey"));
    strace.args(["--cctld", "ke", "--contact", "https://survey.example/contact", "--start"]);
    strace.arg(path("start.txt")).args(["--dns", &space.dns(), "--gateway", &space.gateway()]);
    strace.args("--min-delay 1ms --delay-factor 0 --harm none --rate none --sites 64".split(' '));
    let ended = strace.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(ended.success());
    let requests = space.accesses().len();
    assert!(requests > 400, "{requests} requests are no test");
    let trace = std::fs::read_to_string(path("trace")).unwrap();
    let mut opened = HashMap::<&str, usize>::new();
    for file in trace.lines().filter_map(|line| line.split('"').nth(1)) {
        *opened.entry(file).or_default() += 1;
    }
    assert!(opened.len() > 20, "{opened:?}");
    let (file, times) = opened.into_iter().max_by_key(|(_, times)| *times).unwrap();
    assert!(times < requests / 4, "{file} was opened {times} times for {requests} requests");
}
