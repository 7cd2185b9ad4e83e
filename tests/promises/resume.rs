//! Promise 6: no record is lost, at whatever moment a process is killed.
#![allow(clippy::disallowed_methods)] // The tests wait for processes, with a deadline.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::address::Neighbourhood;
use ccsurvey::exchange::Class;
use ccsurvey::frontier::{Frontier, Spread};
use ccsurvey::records::{
    ExchangeRow, Geo, LevelRow, Manifest, PageLinkRow, RobotsRow, ServerRow, SiteRow, SurveyState,
};
use ccsurvey::settings::Settings;
use ccsurvey::survey::Snapshot;

use crate::common::fixed_web::{FixedSpace, start_list};
use crate::common::waiting::until;
use crate::common::{Space, assert_same_rows, assert_same_tables, pages_by_site, rows, timeless_tables};

const MIN_DELAY: Duration = Duration::from_millis(4);
const KILLS: usize = 20;
const SITES: usize = 8;

fn ccsurvey(space: &Space, command: &str, dir: &Path, start: &Path) -> Child {
    spawn(space, command, dir, start, &[])
}

fn spawn(space: &Space, command: &str, dir: &Path, start: &Path, more: &[&str]) -> Child {
    begin(program(Stdio::null()), space, command, dir, start, more)
}

/// The program; its standard error goes to `messages`.
fn program(messages: Stdio) -> Command {
    let mut process = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    process.stderr(messages);
    process
}

fn begin(
    mut process: Command,
    space: &Space,
    command: &str,
    dir: &Path,
    start: &Path,
    more: &[&str],
) -> Child {
    process.arg(command).arg(dir);
    if command == "survey" {
        process.args(["--cctld", "ke", "--contact", "https://survey.example/contact"]);
        process.arg("--start").arg(start);
        process.args(["--dns", &space.dns(), "--gateway", &space.gateway()]);
        process.args([
            "--sites",
            &SITES.to_string(),
            "--min-delay",
            "4ms",
            "--delay-factor",
            "0",
            "--max-delay",
            "30ms",
            "--harm",
            "none",
            "--rate",
            "none",
            "--record-links",
        ]);
    }
    process.args(more).stdout(Stdio::null()).spawn().unwrap()
}

/// A sequence without pattern that is the same in every run.
fn pseudo_random_count(turn: usize) -> usize {
    let mixed = (turn as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from((mixed ^ (mixed >> 29)) % 40).unwrap() + 3
}

/// Lets the process work until the servers have seen this many more requests, then kills it.
fn kill_after(space: &Space, mut child: Child, requests: usize) -> bool {
    let target = space.accesses().len() + requests;
    let mut has_ended = false;
    until(|| {
        has_ended = child.try_wait().unwrap().is_some();
        has_ended || space.accesses().len() >= target
    });
    if has_ended {
        return false;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

#[test]
fn a_survey_killed_twenty_times_ends_with_the_tables_of_an_undisturbed_one() {
    killed_twenty_times(&Space::serve("a_small_country"), &[]);
}

#[test]
fn a_survey_as_deep_as_it_is_worth_ends_with_these_tables_too() {
    let flags = ["--depth", "auto", "--coverage", "0.9", "--probe-depth", "0.5"];
    let left_out = killed_twenty_times(&Space::serve("a_small_country"), &flags);
    assert!(left_out > 0, "nothing was left out");
}

#[test]
fn a_survey_with_a_budget_for_all_of_it_ends_with_these_tables_too() {
    killed_twenty_times(&Space::serve("a_small_country"), &["--budget", "100000"]);
}

/// Requests in flight when a process dies are lost and count, so the tables may have fewer.
#[test]
fn a_survey_with_a_budget_that_is_killed_twenty_times_sends_no_more_than_that() {
    const BUDGET: usize = 300;
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("killed"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let mut command = "survey";
    for turn in 0..KILLS {
        let more: &[&str] = if command == "survey" { &["--budget", "300"] } else { &[] };
        kill_after(&space, spawn(&space, command, &dir, &start, more), pseudo_random_count(turn) / 2);
        command = if dir.join("manifest.json").exists() { "resume" } else { "survey" };
        if command == "survey" {
            let _ = std::fs::remove_dir_all(&dir);
        }
    }
    assert!(ccsurvey(&space, "resume", &dir, &start).wait().unwrap().success());
    let manifest = Manifest::load(&dir).unwrap();
    assert_eq!(manifest.state, SurveyState::Finished);
    let (requests, lost) = (space.accesses().len(), manifest.unrecorded_exchanges);
    let recorded = rows::<ExchangeRow>(&dir).iter().filter(|row| row.was_sent()).count() as u64;
    assert!(requests <= BUDGET, "{requests} at the servers, {recorded} on record and {lost} without");
    assert!(recorded + lost == BUDGET as u64, "{recorded} on record, {lost} without: none is left over");
}

#[test]
fn a_survey_that_remembers_another_ends_with_these_tables_too() {
    let space = Space::serve("a_small_country");
    let old = space.survey(Settings { record_links: true, ..space.settings() });
    let flags = ["--since", old.dir().to_str().unwrap(), "--focus", "0.9"].map(str::to_owned);
    let left_out = killed_twenty_times(&space, &flags.each_ref().map(String::as_str));
    assert!(left_out > 0, "nothing was left out");
}

/// A tree is walked before the trees before it are in the tables, so it is in its journal when the process
/// dies.
#[test]
fn a_survey_of_many_trees_a_site_ends_with_these_tables_too() {
    let space = Space::serve("a_small_country");
    let pages = pages_by_site(&space.survey(space.settings()).dir());
    let starts: Vec<String> =
        pages.into_values().flatten().step_by(2).map(|url| url.as_str().to_owned()).collect();
    let flags = ["--seeds-per-site", "50", "--depth", "1"];
    killed_twenty_times_from(&space, &starts, &flags);
}

/// Returns the number of URLs that were not fetched because they promised too little.
fn killed_twenty_times(space: &Space, more: &[&str]) -> u64 {
    killed_twenty_times_from(space, &space.world.start_urls(), more)
}

fn killed_twenty_times_from(space: &Space, starts: &[String], more: &[&str]) -> u64 {
    let before = space.accesses().len();
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().join("start.txt");
    std::fs::write(&start, starts.join("\n")).unwrap();

    let undisturbed = folder.path().join("undisturbed");
    assert!(spawn(space, "survey", &undisturbed, &start, more).wait().unwrap().success());
    let usual_requests = space.accesses().len() - before;

    let killed = folder.path().join("killed");
    let mut kills = 0;
    let mut command = "survey";
    for turn in 0..KILLS {
        let more = if command == "survey" { more } else { &[] };
        let child = spawn(space, command, &killed, &start, more);
        let was_killed = kill_after(space, child, pseudo_random_count(turn));
        kills += usize::from(was_killed);
        // Killed before the survey had begun: there is nothing to resume yet.
        command = if killed.join("manifest.json").exists() { "resume" } else { "survey" };
        // A power cut may leave this file truncated as well: it is written once a second without waiting for
        // the disk, except at the end of a run.
        if was_killed && turn % 3 == 0 && killed.join("status.json").exists() {
            std::fs::write(killed.join("status.json"), "{\"state\": \"runn").unwrap();
        }
        if command == "survey" {
            let _ = std::fs::remove_dir_all(&killed);
        } else if turn % 4 == 0 {
            assert_no_final_advice(&killed);
        }
    }
    // On a busy machine the last kills may come too late.
    assert!(kills > KILLS / 2, "{kills}");
    assert!(ccsurvey(space, "resume", &killed, &start).wait().unwrap().success());

    assert_same_tables(&timeless_tables(&killed), &timeless_tables(&undisturbed));
    let kept = |dir: &Path| {
        let (mut links, mut robots) = (rows::<PageLinkRow>(dir), rows::<RobotsRow>(dir));
        links.sort_by(|a, b| (&a.site, &a.page, a.position).cmp(&(&b.site, &b.page, b.position)));
        robots.sort_by(|a, b| (&a.site, &a.url).cmp(&(&b.site, &b.url)));
        (links, robots)
    };
    let ((links, robots), (undisturbed_links, undisturbed_robots)) = (kept(&killed), kept(&undisturbed));
    assert_same_rows(&links, &undisturbed_links, "page links");
    assert_same_rows(&robots, &undisturbed_robots, "robots");
    let server_loads = |dir: &Path| -> Vec<(String, u32, u32, u64, u64)> {
        let load_of = |row: ServerRow| (row.address, row.hosts, row.sites, row.requests, row.received_bytes);
        rows::<ServerRow>(dir).into_iter().map(load_of).collect()
    };
    assert_same_rows(&server_loads(&killed), &server_loads(&undisturbed), "servers");
    assert_same_accounts(&killed, &undisturbed);
    let manifest = Manifest::load(&killed).unwrap();
    assert_eq!(manifest.state, SurveyState::Finished);
    let repeated = space.accesses().len() - before - 2 * usual_requests;
    let in_flight = usize::try_from(manifest.unrecorded_exchanges).unwrap();
    assert!(repeated <= in_flight, "{repeated} requests repeated, {in_flight} were in flight when killed");
    assert!(in_flight <= KILLS * SITES, "{in_flight}");
    assert!(std::fs::read_dir(killed.join("journal")).unwrap().next().is_none(), "no journal is left");

    // Pauses hold across all the deaths, as the servers saw it.
    let mut log = space.accesses().split_off(before + usual_requests);
    log.sort_by_key(|access| (access.address, access.arrival_us));
    for pair in log.windows(2).filter(|pair| pair[0].address == pair[1].address) {
        let gap = Duration::from_micros(pair[1].arrival_us.saturating_sub(pair[0].end_us));
        assert!(gap >= MIN_DELAY, "{gap:?} between {:?} and {:?}", pair[0], pair[1]);
    }
    rows::<LevelRow>(&killed).iter().map(|level| level.classes[Class::Yield]).sum()
}

/// A killed survey gives provisional advice, or none if no tree is in its tables yet.
#[track_caller]
fn assert_no_final_advice(dir: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).arg("choose-depth").arg(dir).output().unwrap();
    let (words, messages) =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).into();
    match output.status.code() {
        Some(4) => {
            assert!(words.starts_with("Partial: the survey is in progress, or was killed."), "{words}");
        }
        code => assert!(code == Some(1) && !messages.is_empty(), "{code:?} {words} {messages}"),
    }
}

/// The error counts and the input of the promises' judge are the same, times aside.
fn assert_same_accounts(found: &Path, expected: &Path) {
    let (found, expected) = (Snapshot::read(found).unwrap(), Snapshot::read(expected).unwrap());
    assert!(!found.errors.is_empty());
    assert_eq!(found.errors, expected.errors);
    let counts = |status: &Snapshot| {
        let seen = &status.seen;
        let tree = seen.tree.clone().map(|worst| worst.most);
        (seen.exchanges, seen.special.clone(), seen.opted_out.clone(), seen.in_quiet_hours.clone(), tree)
    };
    assert_eq!(counts(&found), counts(&expected));
    let verdicts = |status: Snapshot| -> Vec<_> {
        status.promises.into_iter().map(|verdict| (verdict.id, verdict.judgement)).collect()
    };
    assert_eq!(verdicts(found), verdicts(expected));
}

/// How long a server works on a response. If the process is killed meanwhile, it does not see the end of the
/// exchange.
const SERVICE: Duration = Duration::from_millis(600);
const PAUSE: Duration = Duration::from_millis(2000);
const LONGEST_PAUSE: Duration = Duration::from_millis(3500);
/// Time from a death to the next start.
const DOWNTIME: Duration = Duration::from_millis(700);

#[test]
fn pauses_of_seconds_hold_over_deaths_as_the_servers_see_it() {
    let space = FixedSpace::serve(SERVICE);
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, start_list()).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_ccsurvey"));
    let flags = ["--sites", "32", "--min-delay", "2s", "--max-delay", "3500ms"];
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut deaths: Vec<(Duration, Duration)> = Vec::new();
    // While most servers are paused, and while most work on a response.
    for kill_delay in
        [PAUSE / 4, PAUSE + SERVICE / 2, PAUSE / 4, PAUSE + SERVICE / 2, PAUSE + SERVICE / 2, PAUSE * 3]
    {
        let before = space.accesses().len();
        let mut child = if deaths.is_empty() {
            space.survey(program, &dir, &start, &flags)
        } else {
            let mut resume = Command::new(program);
            resume.arg("resume").arg(&dir).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        // Servers that are down return nothing, at once.
        until(|| space.accesses()[before..].iter().any(|access| access.status.is_some()));
        std::thread::sleep(kill_delay);
        assert!(child.try_wait().unwrap().is_none(), "it was over before");
        child.kill().unwrap();
        child.wait().unwrap();
        let died = now();
        std::thread::sleep(DOWNTIME);
        deaths.push((died, now()));
    }

    let mut log = space.accesses();
    log.sort_by_key(|access| (access.address, access.arrival_us));
    let (mut in_flight, mut while_stopped) = (0, 0);
    for pair in log.windows(2).filter(|pair| pair[0].address == pair[1].address) {
        let [begun, ended] = [pair[0].arrival_us, pair[0].end_us].map(Duration::from_micros);
        let next = Duration::from_micros(pair[1].arrival_us);
        assert!(next >= ended + PAUSE, "{:?} between {:?} and {:?}", next - ended, pair[0], pair[1]);
        for (died, restarted) in &deaths {
            if begun < *died && ended > *died {
                let pause = next.saturating_sub(*restarted);
                assert!(
                    pause >= LONGEST_PAUSE,
                    "{pause:?} after the restart: {:?} and {:?}",
                    pair[0],
                    pair[1]
                );
                in_flight += 1;
            }
            while_stopped += usize::from(ended < *died && next > *died);
        }
    }
    assert!(in_flight >= 3 && while_stopped >= 8, "{in_flight} in flight, {while_stopped} at rest");
}

#[test]
fn of_two_surveys_begun_in_one_folder_at_once_one_is_made_and_the_other_told() {
    const TRIES: usize = 44;
    let space = Space::serve("a_site_with_one_page");
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().join("start.txt");
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let mut refusals = 0;
    for turn in 0..TRIES {
        let dir = folder.path().join(format!("race{turn}"));
        // An empty mounted folder counts as no folder.
        if turn % 4 == 0 {
            std::fs::create_dir(&dir).unwrap();
        }
        // In every other turn the rival cannot create the survey and removes what it has created so far.
        let rival: &[&str] = if turn % 2 == 0 { &["--geo", "/nowhere.mmdb"] } else { &[] };
        let with = |more: &[&str]| begin(program(Stdio::piped()), &space, "survey", &dir, &start, more);
        let (rival, plain) = (with(rival), with(&[]));
        let (plain, rival) = (plain.wait_with_output().unwrap(), rival.wait_with_output().unwrap());
        let created_count = [&plain, &rival].iter().filter(|it| it.status.success()).count();
        for refused in [&plain, &rival].into_iter().filter(|it| !it.status.success()) {
            let messages = String::from_utf8_lossy(&refused.stderr).into_owned();
            let known_messages =
                ["another process is working on this survey", "exists: choose another", "nowhere.mmdb"];
            assert!(known_messages.iter().any(|known| messages.contains(known)), "{messages}");
            refusals += usize::from(!messages.contains("nowhere.mmdb"));
        }
        assert!(created_count <= 1 && (turn % 2 == 0 || created_count == 1), "{created_count} made");
        if created_count == 1 {
            assert_eq!(Manifest::load(&dir).unwrap().state, SurveyState::Finished);
            assert!(!rows::<SiteRow>(&dir).is_empty());
        } else {
            let remaining = std::fs::read_dir(&dir).map_or(0, Iterator::count);
            assert_eq!(remaining, 0, "what could not be made is taken back");
        }
    }
    assert!(refusals >= TRIES / 2, "{refusals}");
}

#[test]
fn survey_or_resume_begins_goes_on_and_says_that_it_is_finished() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let survey_or_resume = |more: &[&str]| {
        let flags = [&["--or-resume"], more].concat();
        let begun = begin(program(Stdio::piped()), &space, "survey", &dir, &start, &flags);
        let ended = begun.wait_with_output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    assert!(kill_after(&space, spawn(&space, "survey", &dir, &start, &["--or-resume"]), 50));
    // Killed while it was being created: no request was sent, and it is started again.
    let half_created = folder.path().join("half");
    std::fs::create_dir_all(half_created.join("journal")).unwrap();
    assert!(kill_after(&space, spawn(&space, "survey", &half_created, &start, &["--or-resume"]), 5));

    let (code, messages) = survey_or_resume(&["--depth", "1"]);
    assert_eq!(code, Some(2), "{messages}");
    assert!(messages.contains("depth is 1, but the survey began with 8"), "{messages}");
    let (code, messages) = survey_or_resume(&["--max-requests", "20000"]);
    assert_eq!(code, Some(2), "{messages}");
    // The start list is needed at the beginning only.
    std::fs::remove_file(&start).unwrap();
    let (code, messages) = survey_or_resume(&["--max-requests", "9000"]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(std::fs::read_to_string(dir.join("survey.toml")).unwrap().contains("max-requests = \"9000\""));
    let manifest = std::fs::read(dir.join("manifest.json")).unwrap();
    let (code, messages) = survey_or_resume(&[]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(messages.contains("the survey is finished, nothing is left to do"), "{messages}");
    assert_eq!(survey_or_resume(&["--depth", "1"]).0, Some(2));
    assert_eq!(std::fs::read(dir.join("manifest.json")).unwrap(), manifest);
}

#[test]
fn a_network_bears_no_more_than_its_share_however_often_the_survey_is_killed() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let geo = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demo-geo.mmdb");
    let shares = ["--max-network-requests", "30", "--max-as-requests", "40", "--geo", geo.to_str().unwrap()];
    let mut kills = usize::from(kill_after(&space, spawn(&space, "survey", &dir, &start, &shares), 20));
    for turn in 1..KILLS {
        kills += usize::from(kill_after(
            &space,
            ccsurvey(&space, "resume", &dir, &start),
            pseudo_random_count(turn) / 2,
        ));
    }
    assert!(kills > KILLS / 2, "{kills}");
    assert!(ccsurvey(&space, "resume", &dir, &start).wait().unwrap().success());

    let geo = Geo::open(&[geo]).unwrap();
    let (mut networks, mut systems): (HashMap<_, u32>, HashMap<_, u32>) = Default::default();
    for address in space.accesses().iter().filter_map(|access| access.address) {
        *networks.entry(Neighbourhood::from_address(address)).or_default() += 1;
        *systems.entry(geo.lookup(address).asn).or_default() += 1;
    }
    assert!(networks.values().all(|requests| *requests <= 30), "{networks:?}");
    assert!(systems.values().all(|requests| *requests <= 40), "{systems:?}");
    assert!(systems.values().any(|requests| *requests > 30), "{systems:?}");
    let manifest = Manifest::load(&dir).unwrap();
    assert_eq!((manifest.state, manifest.broken_promises), (SurveyState::Finished, Vec::new()));
}

#[test]
fn a_second_process_on_the_same_survey_is_refused() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let mut first = ccsurvey(&space, "survey", &dir, &start);
    until(|| !space.accesses().is_empty());
    let second = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).arg("resume").arg(&dir).output().unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let message = String::from_utf8(second.stderr).unwrap();
    let expected = format!("{}: another process is working on this survey", dir.display());
    assert!(message.contains(&expected), "{message}");
}

/// Waits until the servers have seen twenty requests, then sends the signals one after another.
fn send(space: &Space, child: &Child, signals: &[&str]) {
    until(|| space.accesses().len() >= 20);
    for signal in signals {
        let mut kill = Command::new("kill");
        assert!(kill.arg(signal).arg(child.id().to_string()).status().unwrap().success());
    }
}

#[test]
fn ctrl_c_ends_politely_with_130_and_resume_goes_on() {
    ends_politely_with_130_and_resume_goes_on(Command::new(env!("CARGO_BIN_EXE_ccsurvey")), &["-INT"]);
}

/// The shell sends the signal when the terminal is gone, and then the system does.
#[test]
fn a_lost_terminal_ends_politely_with_130_and_resume_goes_on() {
    // The tests themselves may run under nohup.
    let mut program = Command::new("env");
    program.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_ccsurvey")]);
    ends_politely_with_130_and_resume_goes_on(program, &["-HUP", "-HUP"]);
}

#[test]
fn a_lost_terminal_is_nothing_to_a_survey_under_nohup() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let mut nohup = Command::new("nohup");
    nohup.arg(env!("CARGO_BIN_EXE_ccsurvey")).stderr(Stdio::null());
    let mut child = begin(nohup, &space, "survey", &dir, &start, &[]);
    send(&space, &child, &["-HUP"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(Manifest::load(&dir).unwrap().state, SurveyState::Finished);
}

fn ends_politely_with_130_and_resume_goes_on(mut program: Command, signals: &[&str]) {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    program.stderr(Stdio::null());
    let mut child = begin(program, &space, "survey", &dir, &start, &[]);
    send(&space, &child, signals);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(Manifest::load(&dir).unwrap().state, SurveyState::Interrupted);
    assert_eq!(Manifest::load(&dir).unwrap().unrecorded_exchanges, 0, "exchanges in flight were let finish");
    assert!(ccsurvey(&space, "resume", &dir, &start).wait().unwrap().success());
    let undisturbed = folder.path().join("undisturbed");
    assert!(ccsurvey(&space, "survey", &undisturbed, &start).wait().unwrap().success());
    assert_same_tables(&timeless_tables(&dir), &timeless_tables(&undisturbed));
}

/// Exit code and standard error of the program with these arguments.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_finished_survey_is_told_again_and_left_as_it_is_and_missing_tables_are_named() {
    let space = Space::serve("a_site_with_one_page");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    assert!(ccsurvey(&space, "survey", &dir, &start).wait().unwrap().success());
    drop(space);
    let manifest = std::fs::read(dir.join("manifest.json")).unwrap();
    let name = dir.to_str().unwrap();
    let (code, messages) = run(&["resume", name]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(messages.contains("the survey is finished, nothing is left to do"), "{messages}");
    assert_eq!(std::fs::read(dir.join("manifest.json")).unwrap(), manifest);
    for file in std::fs::read_dir(dir.join("tables/exchanges")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let (code, messages) = run(&["report", name]);
    assert_eq!(code, Some(1), "{messages}");
    let missing = "exchanges: found 0 rows in 0 files, but manifest.json lists 2 rows in 1 file";
    assert!(messages.contains(missing), "{messages}");
}

#[test]
fn a_survey_goes_on_as_it_began_or_gentler() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    assert!(kill_after(&space, ccsurvey(&space, "survey", &dir, &start), 50));
    let settings = std::fs::read_to_string(dir.join("survey.toml")).unwrap();
    let change = |from: &str, to: &str| {
        assert!(settings.contains(from), "{settings}");
        std::fs::write(dir.join("survey.toml"), settings.replace(from, to)).unwrap();
    };
    for (from, to, key) in [
        ("depth = 8", "depth = 1", "depth is 1, but the survey began with 8"),
        ("min-delay = \"4ms\"", "min-delay = \"3ms\"", "min-delay is 3ms, but the survey began with 4ms"),
    ] {
        change(from, to);
        let (code, messages) = run(&["resume", dir.to_str().unwrap()]);
        assert_eq!(code, Some(2), "{messages}");
        assert!(messages.contains("survey.toml") && messages.contains(key), "{messages}");
    }
    change("min-delay = \"4ms\"", "min-delay = \"8ms\"");
    let before = space.accesses().len();
    assert!(ccsurvey(&space, "resume", &dir, &start).wait().unwrap().success());
    let mut later = space.accesses().split_off(before);
    later.sort_by_key(|access| (access.address, access.arrival_us));
    for pair in later.windows(2).filter(|pair| pair[0].address == pair[1].address) {
        let gap = Duration::from_micros(pair[1].arrival_us.saturating_sub(pair[0].end_us));
        assert!(gap >= MIN_DELAY * 2, "{gap:?} between {:?} and {:?}", pair[0], pair[1]);
    }
    let manifest = Manifest::load(&dir).unwrap();
    assert_eq!((manifest.broken_promises, &manifest.settings["min-delay"]), (Vec::new(), &"4ms".into()));
}

#[test]
fn who_opts_out_while_a_survey_rests_is_not_asked_again() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    let list = folder.path().join("opt-out.txt");
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    std::fs::write(&list, "# nobody yet\n").unwrap();
    let child = spawn(&space, "survey", &dir, &start, &["--opt-out", list.to_str().unwrap()]);
    assert!(kill_after(&space, child, 150));
    let requested_hosts: Vec<String> = space.accesses().iter().map(|access| access.host.clone()).collect();
    let host = requested_hosts.last().unwrap().clone();
    std::fs::write(&list, format!("{host}\n")).unwrap();
    let before = space.accesses().len();
    assert!(spawn(&space, "resume", &dir, &start, &[]).wait().unwrap().success());
    let later = space.accesses().split_off(before);
    assert!(!later.is_empty() && later.iter().all(|access| access.host != host), "{host} was asked again");
    assert!(rows::<LevelRow>(&dir).iter().all(LevelRow::reconciles));
}

#[test]
fn a_survey_whose_folder_is_replaced_ends_and_leaves_alone_what_is_there_now() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    for is_recreated in [true, false] {
        let before = space.accesses().len();
        let child = program(Stdio::piped())
            .arg("survey")
            .args([&dir, Path::new("--start"), &start])
            .args(["--cctld", "ke", "--contact", "https://survey.example/contact", "--min-delay", "1s"])
            .args(["--dns", &space.dns(), "--gateway", &space.gateway()])
            .spawn()
            .unwrap();
        assert!(until(|| space.accesses().len() > before + 5));
        std::fs::rename(&dir, folder.path().join(format!("away-{is_recreated}"))).unwrap();
        if is_recreated {
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("state.redb"), "of another survey").unwrap();
        }
        let ended = child.wait_with_output().unwrap();
        let message = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{message}");
        assert!(
            message.contains("survey's folder was removed or replaced while the survey ran"),
            "{message}"
        );
        let remaining: Vec<_> =
            std::fs::read_dir(&dir).into_iter().flatten().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(remaining.len(), usize::from(is_recreated), "{remaining:?}");
        let _ = std::fs::remove_dir_all(&dir);
    }
}

/// A folder from which files were lost, truncated or restored from elsewhere.
#[test]
fn a_survey_without_its_own_state_is_refused_and_nothing_of_it_is_lost() {
    let space = Space::serve("a_site_with_one_page");
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("survey"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    assert!(ccsurvey(&space, "survey", &dir, &start).wait().unwrap().success());
    let tables = timeless_tables(&dir);
    let interrupted = Manifest { state: SurveyState::Interrupted, ..Manifest::load(&dir).unwrap() };
    interrupted.save(&dir).unwrap();
    let state = dir.join("state.redb");
    let refused = |expected: &str| {
        let before = files(&dir);
        let refused = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).arg("resume").arg(&dir).output().unwrap();
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{message}");
        assert!(message.contains(expected), "{message}");
        assert_eq!(files(&dir), before);
    };
    let original_state = std::fs::read(&state).unwrap();
    std::fs::remove_file(&state).unwrap();
    refused("state.redb is missing: the survey cannot continue without it; its tables were not changed");
    std::fs::write(&state, "").unwrap();
    refused("state.redb: the survey's state is empty");
    std::fs::remove_file(&state).unwrap();
    drop(Frontier::open(&state, Spread::default()).unwrap());
    refused("it records 0 rows in the table sites, whose files have 0 rows (later files: 1)");
    std::fs::write(&state, original_state).unwrap();
    let segment = std::fs::read_dir(dir.join("tables/sites")).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read(&segment).unwrap();
    std::fs::remove_file(&segment).unwrap();
    refused("it records 1 row in the table sites, whose files have 0 rows (later files: 0)");
    std::fs::write(&segment, kept).unwrap();
    let segment = std::fs::read_dir(dir.join("tables/exchanges")).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, vec![0; kept.len()]).unwrap();
    refused(segment.to_str().unwrap());
    std::fs::remove_file(&segment).unwrap();
    refused("rows in the table exchanges, whose files have 0 rows (later files: 0)");
    std::fs::write(&segment, kept).unwrap();
    assert_same_tables(&timeless_tables(&dir), &tables);
    assert!(spawn(&space, "resume", &dir, &start, &[]).wait().unwrap().success());
    assert_same_tables(&timeless_tables(&dir), &tables);
}

/// The tables and journals of a survey with their sizes.
fn files(dir: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.metadata().unwrap() {
                what if what.is_dir() => folders.push(entry.path()),
                what => drop(found.insert(entry.path(), what.len())),
            }
        }
    }
    found.retain(|path, _| path.extension().is_some_and(|kind| kind == "parquet" || kind == "journal"));
    found
}
