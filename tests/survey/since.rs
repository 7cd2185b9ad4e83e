//! A survey since an earlier one: unchanged pages are not sent again, and are found all the same.
#![allow(clippy::disallowed_methods)] // A test waits for processes, with a deadline.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use ccsurvey::analysis::overview::Overview;
use ccsurvey::exchange::Class;
use ccsurvey::records::units::thousands;
use ccsurvey::records::{ExchangeRow, PageLinkRow, RobotsRow};
use ccsurvey::rehearsal::RecordedWorld;
use ccsurvey::settings::{DepthRule, Settings};
use ccsurvey::survey::Summary;

use crate::common::waiting::until;
use crate::common::{Space, Surveyed, TimelessTables, assert_same_rows, rows, timeless_tables};

/// The small country with an `ETag` or a date, or both, on three of four pages.
fn world(edition: u64) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds/a_small_country.toml");
    let country = std::fs::read_to_string(path).unwrap();
    format!(
        "{country}\n[validators]\npage_last_modified_share = 0.5\npage_etag_share = 0.5\n\
         edition = {edition}\nchanged_share = 0.25\n"
    )
}

/// The same with an `ETag` on every page, and pages of the usual size.
fn tagged_world() -> String {
    world(0).replace("page_etag_share = 0.5", "page_etag_share = 1.0").replace("bytes_median = 1000.0", "")
}

fn recording(space: &Space) -> Settings {
    Settings { record_links: true, ..space.settings() }
}

fn since(space: &Space, earlier: &Path) -> Settings {
    Settings { since: Some(earlier.to_owned()), ..space.settings() }
}

/// All columns but the bytes moved, and those that distinguish an unchanged page from one that was sent.
fn without_304(tables: TimelessTables) -> TimelessTables {
    let mut tables = tables.without_wire_bytes();
    for row in &mut tables.exchanges {
        if row.unchanged_bytes.take().is_some() {
            assert_eq!(row.status, Some(304), "{}", row.url);
            row.status = Some(200);
        }
    }
    tables
}

#[track_caller]
fn assert_same_findings(again: TimelessTables, whole: TimelessTables) {
    let (again, whole) = (without_304(again), without_304(whole));
    assert_same_rows(&again.sites, &whole.sites, "sites");
    assert_same_rows(&again.levels, &whole.levels, "levels");
    assert_same_rows(&again.links, &whole.links, "links");
    assert_same_rows(&again.exchanges, &whole.exchanges, "exchanges");
}

fn page_links_and_robots(dir: &Path) -> (Vec<PageLinkRow>, Vec<RobotsRow>) {
    let (mut links, mut robots) = (rows::<PageLinkRow>(dir), rows::<RobotsRow>(dir));
    links.sort_by(|a, b| (&a.site, &a.page, a.position).cmp(&(&b.site, &b.page, b.position)));
    robots.sort_by(|a, b| (&a.site, &a.url).cmp(&(&b.site, &b.url)));
    (links, robots)
}

#[track_caller]
fn assert_same_page_links(again: &Path, whole: &Path) {
    let ((links, robots), (whole_links, whole_robots)) =
        (page_links_and_robots(again), page_links_and_robots(whole));
    assert_same_rows(&links, &whole_links, "page links");
    assert_same_rows(&robots, &whole_robots, "robots");
}

fn unchanged(dir: &Path) -> usize {
    rows::<ExchangeRow>(dir).iter().filter(|row| row.unchanged_bytes.is_some()).count()
}

fn bytes(surveyed: &Surveyed) -> u64 {
    surveyed.rows::<ExchangeRow>().iter().map(|row| row.sent_bytes + row.received_bytes).sum()
}

fn with_validators(dir: &Path) -> usize {
    let has_any = |row: &&ExchangeRow| row.etag.is_some() || row.last_modified.is_some();
    let is_whole = |row: &&ExchangeRow| row.status == Some(200) && row.failure.is_none();
    rows::<ExchangeRow>(dir).iter().filter(has_any).filter(is_whole).count()
}

#[test]
fn an_unchanged_web_answers_304_and_is_found_as_before() {
    let space = Space::from_toml(&world(0));
    let first = space.survey(recording(&space));
    let before = space.accesses().len();
    let again = space.survey(since(&space, &first.dir()));
    assert_same_findings(again.tables(), first.tables());
    assert_same_page_links(&again.dir(), &first.dir());
    let answers = space.accesses().split_off(before);
    let not_modified = answers.iter().filter(|access| access.status == Some(304)).count();
    assert!(not_modified > 100, "{not_modified}");
    assert_eq!(not_modified, with_validators(&first.dir()));
    assert_eq!(not_modified, unchanged(&again.dir()));
    let summary = Summary::read(&again.dir()).unwrap();
    assert_eq!(summary.unchanged.answers, not_modified as u64);
    let expected_text =
        format!("not changed since the earlier survey: {} pages", thousands(not_modified as u64));
    assert!(summary.to_string().contains(&expected_text), "{summary}");
    assert!(!Summary::read(&first.dir()).unwrap().to_string().contains("not changed since"));
    assert!(!again.dir().join("since.redb").exists(), "a survey that is over needs no store");
}

#[test]
fn what_has_changed_is_sent_whole_and_the_next_survey_is_one_since_this() {
    let (old, new) = (Space::from_toml(&world(0)), Space::from_toml(&world(1)));
    let first = old.survey(recording(&old));
    let whole = new.survey(recording(&new));
    let again = new.survey(since(&new, &first.dir()));
    assert_same_findings(again.tables(), whole.tables());
    assert_same_page_links(&again.dir(), &whole.dir());
    let hashes: HashMap<String, Option<String>> =
        first.rows::<ExchangeRow>().into_iter().map(|row| (row.url, row.body_hash)).collect();
    let pages: Vec<ExchangeRow> =
        again.rows::<ExchangeRow>().into_iter().filter(|row| row.body_hash.is_some()).collect();
    let is_as_before = |row: &ExchangeRow| hashes.get(&row.url) == Some(&row.body_hash);
    let sent_again = pages.iter().filter(|row| !is_as_before(row)).count();
    assert!(sent_again > pages.len() / 8, "{sent_again} of {}", pages.len());
    assert!(pages.iter().filter(|row| row.unchanged_bytes.is_some()).all(is_as_before));

    let third = new.survey(since(&new, &again.dir()));
    assert_same_findings(third.tables(), whole.tables());
    assert_eq!(unchanged(&third.dir()), with_validators(&whole.dir()));
    // The size of a page is passed on from survey to survey.
    let bytes_taken = |surveyed: &Surveyed| -> u64 {
        let whole = |row: ExchangeRow| {
            let has_any = row.etag.is_some() || row.last_modified.is_some();
            let was_received = row.status == Some(200) || row.unchanged_bytes.is_some();
            let usable = row.purpose == "page" && row.failure.is_none();
            if has_any && was_received && usable {
                row.unchanged_bytes.unwrap_or(row.received_bytes)
            } else {
                0
            }
        };
        surveyed.rows::<ExchangeRow>().into_iter().map(whole).sum()
    };
    assert_eq!(bytes_taken(&third), bytes_taken(&again));
}

#[test]
fn a_survey_since_a_shallower_one_takes_what_that_has() {
    let space = Space::from_toml(&world(0));
    let shallow = space.survey(Settings { depth: DepthRule::Levels(1), ..recording(&space) });
    let whole = space.survey(recording(&space));
    let again = space.survey(since(&space, &shallow.dir()));
    assert_same_findings(again.tables(), whole.tables());
    assert_eq!(unchanged(&again.dir()), with_validators(&shallow.dir()));
}

#[test]
fn a_web_where_every_page_has_a_tag_costs_less_than_15_percent_of_the_bytes() {
    let space = Space::from_toml(&tagged_world());
    let first = space.survey(recording(&space));
    let again = space.survey(since(&space, &first.dir()));
    assert_same_findings(again.tables(), first.tables());
    let (usual, now) = (bytes(&first), bytes(&again));
    assert!(now * 100 < usual * 15, "{now} of {usual} bytes");
    let unchanged = Overview::load(&again.dir()).unwrap().ledger.found.unchanged;
    let saved = unchanged.whole_bytes - unchanged.received_bytes;
    assert!(saved * 10 > usual * 8, "{saved} of {usual} bytes saved");
}

#[test]
fn the_report_counts_unchanged_pages_like_others_and_tells_them() {
    let space = Space::from_toml(&world(0));
    let first = space.survey(recording(&space));
    let again = space.survey(since(&space, &first.dir()));
    let (usual, now) = (Overview::load(&first.dir()).unwrap(), Overview::load(&again.dir()).unwrap());
    assert_eq!(now.funnel, usual.funnel);
    assert_eq!(now.technology, usual.technology);
    assert_eq!(usual.ledger.found.unchanged.answers, 0);
    assert_eq!(now.ledger.found.unchanged.answers, unchanged(&again.dir()) as u64);
    assert!(now.ledger.found.unchanged.answers < now.ledger.found.answers);
    let page = |dir: &Path| {
        let out = dir.join("report.html");
        let report = ccsurvey(&["report", dir.to_str().unwrap(), "-o", out.to_str().unwrap()]);
        assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
        std::fs::read_to_string(out).unwrap()
    };
    let expected_text = "pages and files had not changed since an earlier survey (status 304)";
    assert!(page(&again.dir()).contains(expected_text) && !page(&first.dir()).contains(expected_text));
}

#[test]
fn a_survey_with_unchanged_pages_is_replayed_with_them() {
    let space = Space::from_toml(&world(0));
    let first = space.survey(recording(&space));
    let again = space.survey(since(&space, &first.dir()));
    let (usual, replay) = (
        RecordedWorld::read(&first.dir()).unwrap().replay,
        RecordedWorld::read(&again.dir()).unwrap().replay,
    );
    assert_eq!(replay.contents(), usual.contents());
    assert_eq!(replay.contents().pages_without_links, 0);
}

#[test]
fn a_simulation_since_another_finds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("world.toml"), world(0)).unwrap();
    let simulate = |dir: &str, flag: &[&str]| {
        let done = ccsurvey(&[&["simulate", &path("world.toml"), dir], flag].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    simulate(&path("first"), &["--record-links"]);
    simulate(&path("again"), &["--since", &path("first")]);
    let (first, again) = (PathBuf::from(path("first")), PathBuf::from(path("again")));
    assert_same_findings(timeless_tables(&again), timeless_tables(&first));
    assert_eq!(unchanged(&again), with_validators(&first));
}

#[test]
fn a_killed_survey_goes_on_without_the_earlier_one_and_ends_with_the_same_tables() {
    let space = Space::from_toml(&world(0));
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().join("start.txt");
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let first = space.survey(recording(&space));
    let earlier = folder.path().join("earlier");
    std::fs::rename(first.dir(), &earlier).unwrap();

    let undisturbed = folder.path().join("undisturbed");
    assert!(spawn(&space, &undisturbed, &start, &earlier).wait().unwrap().success());
    let killed = folder.path().join("killed");
    kill_after(&space, spawn(&space, &killed, &start, &earlier), 60);
    std::fs::remove_dir_all(&earlier).unwrap();
    for requests in [40, 90] {
        kill_after(&space, resume(&killed), requests);
    }
    let (store, away) = (killed.join("since.redb"), folder.path().join("away.redb"));
    std::fs::rename(&store, &away).unwrap();
    let lost = ccsurvey(&["resume", killed.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&lost.stderr).contains("since.redb is missing"), "{lost:?}");
    std::fs::rename(&away, &store).unwrap();
    assert!(resume(&killed).wait().unwrap().success());
    let (tables, expected) = (timeless_tables(&killed), timeless_tables(&undisturbed));
    crate::common::assert_same_tables(&tables, &expected);
    assert_same_page_links(&killed, &undisturbed);
    assert!(unchanged(&killed) > 100);

    // A finished survey does not need its store any more.
    assert!(!store.exists());
    assert!(resume(&killed).wait().unwrap().success());
}

#[test]
fn what_is_added_to_a_finished_survey_is_surveyed_since_the_earlier_one_while_that_is_there() {
    let space = Space::from_toml(&world(0));
    let folder = tempfile::tempdir().unwrap();
    let earlier = folder.path().join("earlier");
    std::fs::rename(space.survey(recording(&space)).dir(), &earlier).unwrap();
    let urls: Vec<String> = space.starts().iter().map(|url| url.as_str().to_owned()).collect();
    let thirds: Vec<PathBuf> = (0..3).map(|third| folder.path().join(format!("{third}.txt"))).collect();
    for (file, urls) in thirds.iter().zip(urls.chunks(urls.len().div_ceil(3))) {
        std::fs::write(file, urls.join("\n")).unwrap();
    }
    let dir = folder.path().join("again");
    let mut begun = survey(&space, &dir, &thirds[0], &earlier);
    let quietly = begun.args(["--feed-back", "off"]).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(quietly.status().unwrap().success());
    let mut total_unchanged = unchanged(&dir);
    assert!(total_unchanged > 0 && !dir.join("since.redb").exists());
    let mut add = |file: &Path| {
        let (dir_text, file) = (dir.to_str().unwrap(), file.to_str().unwrap());
        let added = ccsurvey(&["add", dir_text, "--start", file]);
        assert!(added.status.success(), "{added:?}");
        assert!(resume(&dir).wait().unwrap().success());
        let added_unchanged = unchanged(&dir) - total_unchanged;
        total_unchanged += added_unchanged;
        (added_unchanged, String::from_utf8(added.stderr).unwrap())
    };
    let (added_unchanged, _) = add(&thirds[1]);
    assert!(added_unchanged > 0);
    std::fs::remove_dir_all(&earlier).unwrap();
    let (added_unchanged, message) = add(&thirds[2]);
    assert_eq!(added_unchanged, 0);
    assert!(message.contains("nothing of the earlier survey is left"), "{message}");
}

#[test]
fn what_is_added_to_a_finished_survey_with_a_focus_is_chosen_by_what_the_earlier_one_found() {
    let space = Space::from_toml(&world(0));
    let folder = tempfile::tempdir().unwrap();
    let earlier = folder.path().join("earlier");
    std::fs::rename(space.survey(recording(&space)).dir(), &earlier).unwrap();
    let urls: Vec<String> = space.starts().iter().map(|url| url.as_str().to_owned()).collect();
    let (first, second) = urls.split_at(urls.len() / 2);
    let lists = [("all", &urls[..]), ("first", first), ("second", second)].map(|(name, urls)| {
        let file = folder.path().join(format!("{name}.txt"));
        std::fs::write(&file, urls.join("\n")).unwrap();
        file
    });
    let [all_list, first_list, second_list] = lists;
    let focused = |name: &str, start: &Path| {
        let dir = folder.path().join(name);
        let mut begun = survey(&space, &dir, start, &earlier);
        let flags = ["--feed-back", "off", "--focus", "0.4", "--probe-depth", "0.02"];
        let quietly = begun.args(flags).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(quietly.status().unwrap().success());
        dir
    };
    let (whole, halves) = (focused("whole", &all_list), focused("halves", &first_list));
    let added = ccsurvey(&["add", halves.to_str().unwrap(), "--start", second_list.to_str().unwrap()]);
    assert!(added.status.success(), "{added:?}");
    assert!(resume(&halves).wait().unwrap().success());
    let (whole, halves) = (timeless_tables(&whole), timeless_tables(&halves));
    let left_out: u64 = whole.levels.iter().map(|level| level.classes[Class::Yield]).sum();
    assert!(left_out > 0, "everything was asked for");
    assert_same_findings(halves, whole);
}

#[test]
fn an_earlier_survey_that_cannot_be_used_is_named_and_nothing_is_made() {
    let space = Space::from_toml(&world(0));
    let (first, unrecorded) = (space.survey(recording(&space)), space.survey(space.settings()));
    let requests_before = space.accesses().len();
    let folder = tempfile::tempdir().unwrap();
    let (new, start) = (folder.path().join("new"), folder.path().join("start.txt"));
    std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
    let refused = |earlier: &Path, message: &str| {
        let done = survey(&space, &new, &start, earlier).output().unwrap();
        let text = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{text}");
        assert!(text.contains("--since: ") && text.contains(message), "{text}");
        assert!(!new.exists());
    };
    refused(&folder.path().join("nowhere"), "nowhere is not a survey: it has no manifest.json");
    refused(&unrecorded.dir(), "survey with --record-links, which adds no load on servers");
    for table in ["exchanges", "page_links"] {
        let tables = std::fs::read_dir(first.dir().join("tables").join(table)).unwrap();
        let file = tables.map(|entry| entry.unwrap().path()).next().unwrap();
        let whole = std::fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        std::fs::write(&file, &whole[..whole.len() - 100]).unwrap();
        refused(&first.dir(), &format!("{table}/{name}: its footer is damaged or cut off"));
        let mut damaged = whole.clone();
        damaged[whole.len() / 4..whole.len() / 2].fill(0x55);
        std::fs::write(&file, &damaged).unwrap();
        refused(&first.dir(), &format!("{table}/{name}"));
        std::fs::write(&file, whole).unwrap();
    }
    let itself = folder.path().join("itself");
    std::fs::create_dir(&itself).unwrap();
    let done = survey(&space, &itself, &start, &itself).output().unwrap();
    let text = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{text}");
    assert!(text.contains("is the folder of the new survey itself"), "{text}");
    assert_eq!(space.accesses().len(), requests_before, "no server was asked");
}

fn ccsurvey(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).output().unwrap()
}

fn survey(space: &Space, dir: &Path, start: &Path, earlier: &Path) -> Command {
    let mut process = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    process.arg("survey").arg(dir).arg("--start").arg(start).arg("--since").arg(earlier);
    process.args(["--cctld", "ke", "--contact", "https://survey.example/contact"]);
    process.args(["--dns", &space.dns(), "--gateway", &space.gateway()]);
    process.args(["--sites", "8", "--min-delay", "4ms", "--delay-factor", "0", "--max-delay", "30ms"]);
    process
}

fn spawn(space: &Space, dir: &Path, start: &Path, earlier: &Path) -> Child {
    let mut process = survey(space, dir, start, earlier);
    process.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn resume(dir: &Path) -> Child {
    let mut process = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    process.arg("resume").arg(dir).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Lets the process work until the servers have seen this many more requests, then kills it.
#[track_caller]
fn kill_after(space: &Space, mut child: Child, requests: usize) {
    let target = space.accesses().len() + requests;
    until(|| {
        assert!(child.try_wait().unwrap().is_none(), "the survey was over before it could be killed");
        space.accesses().len() >= target
    });
    child.kill().unwrap();
    child.wait().unwrap();
}
