//! The commands that accept a recorded survey as a world, as a user sees them.

use std::fs;
use std::path::Path;
use std::process::Command;

use ccsurvey::records::{Manifest, PageLinkRow, SegmentRows, SiteRow, Tables, Timestamp};
use ccsurvey::settings::{DepthRule, Settings};

use super::recording;

use crate::common::{Space, rows};

/// Runs `ccsurvey space COMMAND d` in a folder; returns exit code, standard output and standard error.
fn space(folder: &Path, command: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
        .args(["space", command, "d"])
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn assert_refused(folder: &Path, commands: &[&str], message: &str) {
    for command in commands {
        let expected = (2, String::new(), format!("ccsurvey: error: {message}\n"));
        assert_eq!(space(folder, command), expected, "{command}");
    }
}

/// A folder with an empty survey `d` in it.
fn empty_survey() -> (tempfile::TempDir, Tables) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("d");
    let tables = Tables::open(&dir).unwrap();
    tables.write(0, &SegmentRows::default()).unwrap();
    Manifest::new(serde_json::Value::Null, Timestamp::default()).save(&dir).unwrap();
    fs::write(dir.join("survey.toml"), "cctld = [\"ke\"]\ndepth = 3\n").unwrap();
    (folder, tables)
}

#[test]
fn a_folder_named_demo_does_not_stand_in_for_the_world_built_in() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("demo")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
        .args(["space", "starts", "demo"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"url\nhttp://"));
}

const READERS: [&str; 3] = ["serve", "starts", "describe"];

#[test]
fn a_folder_that_is_no_survey_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    assert_refused(folder.path(), &READERS, "d is not a survey: it has no manifest.json");
}

#[test]
fn a_survey_without_page_links_is_refused_with_what_to_do() {
    let (folder, _) = empty_survey();
    let message = "d has no recorded page links and cannot be replayed: survey with --record-links";
    assert_refused(folder.path(), &READERS, message);
}

#[test]
fn a_table_that_is_cut_short_is_named() {
    let (folder, tables) = empty_survey();
    tables.keep_pages().unwrap();
    tables.write(1, &SegmentRows { page_links: vec![PageLinkRow::default()], ..Default::default() }).unwrap();
    let path = folder.path().join("d/tables/page_links/000001.parquet");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let message = "cannot read table d/tables/page_links/000001.parquet: its footer is damaged or cut off (parquet: \
                   File out of specification: The file must end with PAR1)";
    assert_refused(folder.path(), &READERS, message);
}

#[test]
fn the_truth_of_a_recorded_survey_is_its_tables() {
    let (folder, _) = empty_survey();
    let message = "d is a folder: the truth of a recorded survey is its tables, \
                   d/tables/{sites,levels,links}/*.parquet";
    assert_refused(folder.path(), &["truth"], message);
}

#[test]
fn a_recorded_survey_is_described_and_has_the_start_list_it_began_with() {
    let world = Space::serve("a_small_country");
    let recorded = world.survey(Settings { depth: DepthRule::Levels(2), ..recording(&world) });
    let folder = recorded.dir().parent().unwrap().to_owned();
    fs::rename(recorded.dir(), folder.join("d")).unwrap();
    let (code, list, _) = space(&folder, "starts");
    assert_eq!((code, list), (0, format!("url\n{}\n", world.world.start_urls().join("\n"))));
    let (code, description, messages) = space(&folder, "describe");
    assert_eq!((code, messages.as_str()), (0, ""));
    let pages = rows::<SiteRow>(&folder.join("d")).iter().map(|row| row.pages).sum::<u64>();
    let has = |line: [&str; 2]| description.lines().any(|words| words.split_whitespace().eq(line));
    assert!(has(["depth", "2"]) && has(["pages", &pages.to_string()]), "{description}");
}
