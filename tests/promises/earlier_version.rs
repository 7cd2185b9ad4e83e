//! Folders of earlier versions can be resumed: what they recorded, spent and promised is remembered.
#![allow(clippy::disallowed_methods)] // The tests wait for processes, with a deadline.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use ccsurvey::records::{ExchangeRow, Manifest, Row, SiteRow, SurveyState};
use ccsurvey::space::Access;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use redb::{Database, ReadableTable, TableDefinition};

use crate::common::fixed_web::{DOWN_SERVER, FixedSpace, ISLANDS, SHARED_SERVER, start_list};
use crate::common::waiting::until;
use crate::common::{TimelessTables, assert_same_tables, rows, timeless_tables};

/// Request budget of the shared server in the survey with budgets: more than its first site takes.
const SERVER_REQUESTS: usize = 20;
/// After this many connections without a response, the survey gives up a server.
const MAX_FAILURES: usize = 9;

/// A survey that the earlier version started, and how it was stopped.
struct EarlierRun {
    name: &'static str,
    flags: &'static [&'static str],
    signal: &'static str,
    /// True when the servers had seen enough.
    should_stop: fn(&[Access]) -> bool,
}

/// Killed with some trees in the tables, some in journals and one request in flight.
const KILLED: EarlierRun = EarlierRun {
    name: "killed",
    flags: &["--sites", "32"],
    signal: "-KILL",
    should_stop: |log| log.len() >= 112,
};
/// Stopped when one server had been given up, and another had received most of its budget.
const STOPPED: EarlierRun = EarlierRun {
    name: "stopped",
    flags: &["--sites", "2", "--seeds-per-site", "3", "--max-server-requests", "20", "--max-requests", "9"],
    signal: "-TERM",
    should_stop: |log| requests_to(log, DOWN_SERVER) >= MAX_FAILURES && requests_to(log, SHARED_SERVER) >= 8,
};

/// The Web as it was served when the folders were made.
fn web() -> FixedSpace {
    FixedSpace::serve(Duration::from_millis(30))
}

fn survey(web: &FixedSpace, program: &Path, dir: &Path, run: &EarlierRun, folder: &Path) -> Child {
    let start = folder.join("start.txt");
    fs::write(&start, start_list()).unwrap();
    let flags = [&["--min-delay", "2ms", "--max-delay", "4ms", "--record-links"], run.flags].concat();
    web.survey(program, dir, &start, &flags)
}

fn undisturbed(web: &FixedSpace, folder: &Path, run: &EarlierRun) -> PathBuf {
    let dir = folder.join("undisturbed");
    let program = Path::new(env!("CARGO_BIN_EXE_ccsurvey"));
    assert!(survey(web, program, &dir, run, folder).wait().unwrap().success());
    dir
}

/// A copy of the earlier version's folder, with the name server and gateway of this Web.
fn copy_of(web: &FixedSpace, folder: &Path, run: &EarlierRun) -> PathBuf {
    let dir = folder.join(run.name);
    copy(&stored_survey(run), &dir);
    let mut state = Vec::new();
    GzDecoder::new(fs::File::open(dir.join("state.redb.gz")).unwrap()).read_to_end(&mut state).unwrap();
    fs::write(dir.join("state.redb"), state).unwrap();
    let settings = fs::read_to_string(dir.join("survey.toml")).unwrap();
    let adapted = settings.lines().map(|line| match line.split(" = ").next() {
        Some("dns") => format!("dns = \"{}\"\n", web.dns()),
        Some("gateway") => format!("gateway = \"{}\"\n", web.gateway()),
        _ => format!("{line}\n"),
    });
    fs::write(dir.join("survey.toml"), adapted.collect::<String>()).unwrap();
    dir
}

/// Resumes the earlier version's survey; returns the folder and the accesses that the servers saw.
fn resume(web: &FixedSpace, folder: &Path, run: &EarlierRun) -> (PathBuf, Vec<Access>) {
    let dir = copy_of(web, folder, run);
    let before = web.accesses().len();
    let resume = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).arg("resume").arg(&dir).output().unwrap();
    assert!(resume.status.success(), "{}", String::from_utf8_lossy(&resume.stderr));
    (dir, web.accesses().split_off(before))
}

fn stored_survey(run: &EarlierRun) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/begun-by-0.1").join(run.name)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// The tables without the sites that never respond, because the number of attempts may differ between
/// versions, and without the columns that are new since.
fn without_down_hosts(mut tables: TimelessTables) -> TimelessTables {
    tables.sites.retain(|row| !row.site.starts_with("down"));
    tables.levels.retain(|row| !row.site.starts_with("down"));
    tables.exchanges.retain(|row| !row.site.starts_with("down"));
    TimelessTables {
        sites: with_earlier_columns(&tables.sites),
        levels: with_earlier_columns(&tables.levels),
        links: with_earlier_columns(&tables.links),
        exchanges: with_earlier_columns(&tables.exchanges),
    }
}

/// Compares a survey that an earlier version began with one that this version does alone. A robots.txt is
/// valid for a day (RFC 9309 §2.4). The folders are older, so unfinished sites read theirs again and cost
/// that much more.
#[track_caller]
fn assert_same_but_for_reread_rules(found: TimelessTables, expected: TimelessTables) {
    let (found, expected) = (without_down_hosts(found), without_down_hosts(expected));
    let robots_reads = |tables: &TimelessTables, site: &str| {
        let site_rows = tables.sites.iter().filter(|row| row.site == site);
        site_rows.map(|row| row.robots_requests).sum::<u64>()
    };
    let sites: BTreeSet<String> = found.sites.iter().map(|row| row.site.clone()).collect();
    let reread: BTreeSet<String> = sites
        .iter()
        .filter(|site| robots_reads(&found, site) > robots_reads(&expected, site))
        .cloned()
        .collect();
    assert!(2 * reread.len() < sites.len(), "{reread:?} of {} sites read their rules again", sites.len());
    assert_same_tables(&without(found, &reread), &without(expected, &reread));
}

/// The tables without the rows of some sites.
fn without(mut tables: TimelessTables, sites: &BTreeSet<String>) -> TimelessTables {
    tables.sites.retain(|row| !sites.contains(&row.site));
    tables.levels.retain(|row| !sites.contains(&row.site));
    tables.links.retain(|row| !sites.contains(&row.site));
    tables.exchanges.retain(|row| !sites.contains(&row.site));
    tables
}

fn with_earlier_columns<R: Row>(rows: &[R]) -> Vec<R> {
    let columns =
        include_str!("../data/begun-by-0.1/columns.txt").lines().filter_map(|line| line.split_once(' '));
    let columns = columns.filter(|(table, _)| *table == R::TABLE).map(|(_, column)| column);
    R::rows(&R::frame(rows).unwrap().select(columns).unwrap()).unwrap()
}

fn requests_to(log: &[Access], server: Ipv4Addr) -> usize {
    log.iter().filter(|access| access.address == Some(server.into())).count()
}

/// Number of requests to a server that the tables contain.
fn recorded_count(dir: &Path, server: Ipv4Addr) -> usize {
    let is_at_server = |row: &ExchangeRow| row.address.as_deref() == Some(&server.to_string());
    rows::<ExchangeRow>(dir).iter().filter(|row| is_at_server(row) && row.total_ms.is_some()).count()
}

#[test]
fn a_survey_that_an_earlier_version_was_killed_in_ends_as_an_undisturbed_one() {
    let (web, folder) = (web(), tempfile::tempdir().unwrap());
    let (dir, log) = resume(&web, folder.path(), &KILLED);
    let undisturbed = undisturbed(&web, folder.path(), &KILLED);
    assert_same_but_for_reread_rules(timeless_tables(&dir), timeless_tables(&undisturbed));
    let manifest = Manifest::load(&dir).unwrap();
    assert_eq!((manifest.state, manifest.broken_promises), (SurveyState::Finished, Vec::new()));
    assert_eq!(recorded_count(&dir, DOWN_SERVER), MAX_FAILURES, "its troubles before the kill count");
    let recorded = rows::<ExchangeRow>(&dir).iter().filter(|row| row.total_ms.is_some()).count();
    assert!(log.len() < recorded / 3, "{} of {recorded} requests were put again", log.len());
}

#[test]
fn budgets_of_servers_and_known_pages_of_an_earlier_version_count_on() {
    let (web, folder) = (web(), tempfile::tempdir().unwrap());
    let (dir, log) = resume(&web, folder.path(), &STOPPED);
    let undisturbed = undisturbed(&web, folder.path(), &STOPPED);
    // Two sites are walked at once. Which site of the shared server gets how much of its budget is a matter
    // of time.
    let [found, expected] = [&dir, &undisturbed].map(|dir| timeless_tables(dir));
    let shared_sites = |tables: &TimelessTables| -> Vec<String> {
        let shared = SHARED_SERVER.to_string();
        let rows = tables.exchanges.iter().filter(|row| row.address.as_deref() == Some(&shared));
        rows.map(|row| row.site.clone()).collect()
    };
    let shared: BTreeSet<String> = [&found, &expected].into_iter().flat_map(shared_sites).collect();
    assert_same_but_for_reread_rules(without(found, &shared), without(expected, &shared));
    for dir in [&dir, &undisturbed] {
        assert_eq!(recorded_count(dir, SHARED_SERVER), SERVER_REQUESTS);
    }
    let later = requests_to(&log, SHARED_SERVER);
    assert!(0 < later && later < SERVER_REQUESTS, "{later} of them after the stop");
    assert_eq!(requests_to(&log, DOWN_SERVER), 0, "it was given up before the stop");
    let trees = rows::<SiteRow>(&dir).iter().filter(|row| row.site == ISLANDS).count();
    assert_eq!(trees, 3);
}

#[test]
fn a_state_that_cannot_be_read_is_named_and_nobody_is_asked() {
    let (web, folder) = (web(), tempfile::tempdir().unwrap());
    let dir = copy_of(&web, folder.path(), &STOPPED);
    let servers: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("servers");
    let store = Database::open(dir.join("state.redb")).unwrap();
    let txn = store.begin_write().unwrap();
    {
        let (mut servers, key) = (txn.open_table(servers).unwrap(), SHARED_SERVER.octets());
        let bytes = servers.get(key.as_slice()).unwrap().unwrap().value().to_vec();
        servers.insert(key.as_slice(), &bytes[..bytes.len() / 2]).unwrap();
    }
    txn.commit().unwrap();
    drop(store);
    let resume = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).arg("resume").arg(&dir).output().unwrap();
    let messages = String::from_utf8_lossy(&resume.stderr);
    assert_eq!(resume.status.code(), Some(1), "{messages}");
    let expected = "state.redb: the survey's state is damaged: the state of server 41.90.1.1 cannot be read";
    assert!(messages.contains(expected), "{messages}");
    assert_eq!(web.accesses().len(), 0);
}

/// Recreates the folders: `CCSURVEY_EARLIER=/path/to/ccsurvey cargo test --test promises folders_are_made`.
#[test]
fn folders_are_made_by_the_program_that_is_named() {
    let Ok(program) = std::env::var("CCSURVEY_EARLIER") else { return };
    for run in [KILLED, STOPPED] {
        let (web, folder) = (web(), tempfile::tempdir().unwrap());
        let dir = stored_survey(&run);
        let _ = fs::remove_dir_all(&dir);
        let mut child = survey(&web, Path::new(&program), &dir, &run, folder.path());
        until(|| (run.should_stop)(&web.accesses()));
        assert!(child.try_wait().unwrap().is_none(), "it was over before");
        let mut kill = Command::new("kill");
        assert!(kill.arg(run.signal).arg(child.id().to_string()).status().unwrap().success());
        child.wait().unwrap();
        let state = fs::read(dir.join("state.redb")).unwrap();
        let packed = fs::File::create(dir.join("state.redb.gz")).unwrap();
        GzEncoder::new(packed, Compression::best()).write_all(&state).unwrap();
        fs::remove_file(dir.join("state.redb")).unwrap();
    }
}
