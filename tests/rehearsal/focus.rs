//! `--since OLD --focus SHARE`: a re-survey that requests the pages that led somewhere last time.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use ccsurvey::exchange::Class;
use ccsurvey::records::{ExchangeRow, LevelRow, LinkRow};

use super::simulate::simulate;
use crate::common::{assert_same_tables, rows, timeless_tables};

/// Sites of many pages, some of which change with each edition.
fn world(edition: u64) -> String {
    format!(
        "profile = \"africa-2006\"\nseed = 3\n\n[sites]\ncount = 40\n\n[validators]\nedition = {edition}\n\
         changed_share = 0.2\n\n[change]\nnew_share = 0.1\ngone_share = 0.05\nlinks_share = 0.3\n"
    )
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Surveys an edition of the world.
    fn survey(&self, name: &str, edition: u64, flags: &[&str]) -> PathBuf {
        let (world_file, survey) = (self.path(&format!("{name}.toml")), self.path(name));
        std::fs::write(&world_file, world(edition)).unwrap();
        let output = simulate(&world_file, &survey, &[&["--feed-back", "off"], flags].concat());
        assert!(output.status.success(), "{output:?}");
        survey
    }

    fn old(&self) -> PathBuf {
        self.survey("old", 0, &["--record-links"])
    }
}

fn requests(survey: &Path) -> usize {
    rows::<ExchangeRow>(survey).iter().filter(|row| row.total_ms.is_some()).count()
}

fn hosts(survey: &Path) -> HashSet<String> {
    rows::<LinkRow>(survey).into_iter().map(|row| row.host).collect()
}

#[test]
fn it_spends_about_its_share_and_finds_most_of_what_a_full_survey_finds() {
    let folder = Folder::new();
    let old = folder.old();
    let (whole, focused) = (
        folder.survey("whole", 1, &["--record-links"]),
        folder.survey("focused", 1, &["--since", old.to_str().unwrap(), "--focus", "0.25"]),
    );
    let spent = requests(&focused) as f64 / requests(&old) as f64;
    assert!((0.15..0.35).contains(&spent), "{spent}");
    let (all, some) = (hosts(&whole), hosts(&focused));
    let found = all.intersection(&some).count() as f64 / all.len() as f64;
    assert!(found > 0.75, "{found}");
    let plan: serde_json::Value =
        serde_json::from_slice(&std::fs::read(focused.join("focus.json")).unwrap()).unwrap();
    assert_eq!(plan["earlier_requests"].as_u64(), Some(requests(&old) as u64));
    assert!(plan["planned_requests"].as_f64().unwrap() <= 0.25 * requests(&old) as f64, "{plan}");
    let left_out: u64 = rows::<LevelRow>(&focused).iter().map(|level| level.classes[Class::Yield]).sum();
    assert!(left_out > 300, "{left_out}");
    // The store of the earlier survey's data is not needed any more.
    assert!(!focused.join("since.redb").exists());
}

#[test]
fn all_of_an_earlier_survey_is_a_full_survey_but_for_scripts_whose_urls_are_met_in_another_order() {
    let folder = Folder::new();
    let old = folder.old();
    let all = folder.survey("all", 0, &["--since", old.to_str().unwrap(), "--focus", "1"]);
    let (of_all, of_old) = (hosts(&all), hosts(&old));
    assert!(of_all.intersection(&of_old).count() as f64 > 0.99 * of_old.len() as f64);
    let (spent, before) = (requests(&all) as f64, requests(&old) as f64);
    assert!(spent > 0.97 * before && spent < 1.01 * before, "{spent} of {before}");
}

#[test]
fn tables_are_the_same_however_many_sites_are_walked_at_once() {
    let folder = Folder::new();
    let old = folder.old();
    let flags = ["--since", old.to_str().unwrap(), "--focus", "0.1", "--probe-depth", "0.5", "--sites"];
    let [one, many] =
        ["1", "256"].map(|sites| timeless_tables(&folder.survey(sites, 1, &[&flags[..], &[sites]].concat())));
    assert!(one.exchanges.iter().any(|row| row.purpose == "probe"));
    assert_same_tables(&many, &one);
}

#[test]
fn what_it_leaves_out_is_not_new_to_the_survey_after_it() {
    let folder = Folder::new();
    let old = folder.old();
    let first = folder.survey("first", 0, &["--since", old.to_str().unwrap(), "--focus", "0.2"]);
    let second = folder.survey("second", 0, &["--since", first.to_str().unwrap(), "--focus", "1"]);
    assert!(requests(&second) <= requests(&first), "{} {}", requests(&second), requests(&first));
}

#[test]
fn no_depth_is_chosen_and_what_was_left_out_is_told() {
    let folder = Folder::new();
    let old = folder.old();
    let focused = folder.survey("focused", 0, &["--since", old.to_str().unwrap(), "--focus", "0.2"]);
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).arg(&focused).output().unwrap()
    };
    let advice = run(&["choose-depth"]);
    assert_eq!(advice.status.code(), Some(4), "{advice:?}");
    let begin = "No depth can be chosen: this survey was made with --focus 0.2, which leaves pages out";
    assert!(String::from_utf8_lossy(&advice.stdout).starts_with(begin), "{advice:?}");
    let report = run(&["report"]);
    assert!(report.status.success(), "{report:?}");
    let html = std::fs::read_to_string(focused.join("report.html")).unwrap();
    assert!(
        html.contains("Findings missed on pages of low expected yield")
            && html.contains(">low expected yield</abbr>")
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let folder = Folder::new();
    let plain = folder.survey("plain", 0, &["--depth", "1"]);
    let world_file = folder.path("plain.toml");
    let survey = folder.path("survey");
    let refusal = |flags: &[&str], code: i32| {
        let output = simulate(&world_file, &survey, flags);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(!survey.exists(), "{flags:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refusal(&["--focus", "0.1"], 2).contains("give its folder with --since"));
    let plain = plain.to_str().unwrap();
    assert!(refusal(&["--since", plain, "--focus", "0"], 2).contains("a share above 0 and up to 1"));
    assert!(refusal(&["--since", plain, "--focus", "0.1"], 2).contains("survey with --record-links"));
    let twice = ["--since", plain, "--focus", "0.1", "--depth", "auto", "--coverage", "0.9"];
    assert!(refusal(&twice, 2).contains("--coverage and --focus both set how much to fetch"));
}
