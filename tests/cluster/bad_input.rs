//! Every error is reported, with its exit code, and nothing is lost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::processes::{coordinator, starts};
use crate::common::bus::{Bus, Process, agent, program};
use crate::common::waiting::until;
use crate::common::{Space, rows};

/// Exit code and standard error of a command.
fn run_program(arguments: &[&str]) -> (i32, String) {
    let done = program().args(arguments).stdin(Stdio::null()).output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

#[track_caller]
fn assert_refused(arguments: &[&str], code: i32, expected: &[&str]) {
    let (exit_code, messages) = run_program(arguments);
    assert!(
        exit_code == code && expected.iter().all(|text| messages.contains(text)),
        "{arguments:?}: {exit_code}: {messages}"
    );
}

fn survey_arguments<'a>(dir: &'a str, start: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let begin = ["survey", dir, "--cctld", "ke", "--contact", "https://survey.example", "--start", start];
    [&begin, more].concat()
}

#[test]
fn a_bus_that_cannot_be_used_is_told_and_no_survey_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (dir, start) = (file("survey"), file("starts.csv"));
    std::fs::write(&start, "http://a.ke/\n").unwrap();
    let (bad, login) = (file("bad.toml"), file("login.toml"));
    std::fs::write(&bad, "user = \"me\"\npassword = \"wrong\"\n").unwrap();
    std::fs::write(&login, "user = \"me\"\npassword = \"hush\"\n").unwrap();
    let survey = |more: &[&str], code, expected: &[&str]| {
        assert_refused(&survey_arguments(&dir, &start, more), code, expected);
        assert!(!Path::new(&dir).exists(), "nothing was begun");
    };
    survey(
        &["--nats", "somewhere"],
        2,
        &["--nats: 'somewhere' is not the address of a NATS server (expected nats://HOST:PORT"],
    );
    survey(
        &["--nats", "nats://me:hush@127.0.0.1"],
        2,
        &["--nats: '127.0.0.1' is not the address of a NATS server"],
    );
    survey(&["--nats", "nats://127.0.0.1:1"], 1, &["nats://127.0.0.1:1: cannot connect to a NATS server"]);
    survey(
        &["--nats", "nats://127.0.0.1:1", "--nats-login", &file("gone.toml")],
        2,
        &["gone.toml: cannot be read"],
    );
    survey(
        &["--nats", "nats://127.0.0.1:1", "--per-site", "2", "--impolite"],
        2,
        &["--per-site: 2", "expected 1"],
    );
    let Some(plain) = Bus::start_with("cluster_bad_input", "") else { return };
    survey(&["--nats", &plain.url()], 1, &["has no JetStream (start it with `nats-server -js`)"]);
    let users = "jetstream {}\nauthorization { user: me, password: hush }";
    let Some(closed) = Bus::start_with("cluster_bad_input", users) else { return };
    survey(&["--nats", &closed.url()], 1, &["refuses the login", "--nats-login"]);
    survey(&["--nats", &closed.url(), "--nats-login", &bad], 1, &["refuses the login"]);
    assert_refused(&["agent", "--nats", &closed.url()], 1, &["refuses the login"]);
    assert_refused(
        &["agent", "--nats", &closed.url(), "--nats-login", &login, "--name", "a b"],
        2,
        &["--name: 'a b'"],
    );
    assert_refused(&["agent", "--nats", &closed.url(), "--sites", "0"], 2, &["'0' for '--sites <N>'"]);
}

#[test]
fn a_survey_has_its_name_on_a_bus_and_one_coordinator() {
    let Some(bus) = Bus::start("cluster_names") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("kenya");
    let mut survey = coordinator(&space, &bus, &dir);
    let mut first_agent = agent(&bus, "one");
    assert!(until(|| space.accesses().len() > 20));
    // Another survey of the same name.
    let other_folder = folder.path().join("other");
    std::fs::create_dir(&other_folder).unwrap();
    let (same_name, start) = (other_folder.join("kenya"), starts(&space, &other_folder));
    let arguments = survey_arguments(same_name.to_str().unwrap(), start.to_str().unwrap(), &["--nats"]);
    assert_refused(
        &[&arguments[..], &[&bus.url()]].concat(),
        2,
        &["another survey named 'kenya'", "rename the folder"],
    );
    assert!(!same_name.exists());
    // The same survey once more: in the same folder, and in a copy of it.
    assert_refused(&["resume", dir.to_str().unwrap()], 1, &["another process is working on this survey"]);
    survey.kill();
    let copied = Command::new("cp").arg("-R").arg(&dir).arg(&other_folder).status().unwrap();
    assert!(copied.success());
    // Requests after this come from the next coordinator: after two seconds without a reply of the last one,
    // the agent sends nothing.
    std::thread::sleep(Duration::from_secs(3));
    let requests_before = space.accesses().len();
    let mut survey = coordinator(&space, &bus, &dir);
    assert!(until(|| space.accesses().len() > requests_before), "it goes on");
    assert_refused(
        &["resume", same_name.to_str().unwrap()],
        1,
        &["another process coordinates the survey 'kenya'"],
    );
    // An agent of another version, whose messages begin with another byte.
    let response = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let client = async_nats::connect(bus.url()).await.unwrap();
        client.request("ccsurvey.kenya.here", vec![99, 1, 2, 3].into()).await.unwrap().payload
    });
    assert!(
        String::from_utf8_lossy(&response).contains("a message has version 99 (expected"),
        "{response:?}"
    );
    // A second agent of the same name waits until the first is gone.
    let mut again = program();
    again.args(["agent", "--nats", &bus.url(), "--survey", "kenya", "--name", "one"]);
    again.args(["--gateway", &space.gateway()]);
    let mut again = Process(again.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    assert!(again.await_line("waiting: ").contains("an agent named 'one' is already running"));
    first_agent.kill();
    assert!(survey.wait().success() && again.wait().success(), "it went on with the other");
    assert!(rows::<ccsurvey::records::SiteRow>(&dir).len() > 10);
}

#[test]
fn a_bus_whose_store_is_full_stops_the_survey_which_goes_on_when_there_is_room() {
    let Some(small) = Bus::start_with("cluster_full", "jetstream { max_file_store: 60KB }") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let mut survey = coordinator(&space, &small, &dir);
    let _first = agent(&small, "first");
    assert_eq!(survey.wait().code(), Some(1));
    assert_refused(&["resume", dir.to_str().unwrap()], 1, &["cannot store more", "free some space there"]);
    drop(small);
    // Another bus, named in survey.toml, has room.
    let Some(large) = Bus::start("cluster_full") else { return };
    let settings = dir.join("survey.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let line = text.lines().find(|line| line.starts_with("nats = ")).unwrap().to_owned();
    std::fs::write(&settings, text.replace(&line, &format!("nats = \"{}\"", large.url()))).unwrap();
    let mut survey = coordinator(&space, &large, &dir);
    let mut second = agent(&large, "second");
    assert!(survey.wait().success() && second.wait().success());
    let alone_dir = folder.path().join("alone");
    super::processes::survey_alone(&space, &alone_dir);
    crate::common::assert_same_tables(
        &crate::common::timeless_tables(&dir).without_agents(),
        &crate::common::timeless_tables(&alone_dir),
    );
}
