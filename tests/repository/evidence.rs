//! The pages of `reports/` describe the current defaults and worlds, or are listed as stale: `reports/check`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A folder of reports with one page, which has a stamp of this program: a survey of `demo` to depth 3.
struct Reports(tempfile::TempDir);

/// A small figure that is cheap to compute: a truth, without a survey.
const FIGURE: &str = "space truth data/demo.toml@3 --table levels --depth 1";

impl Reports {
    fn with_a_page() -> Self {
        Self::with_a_page_of(FIGURE)
    }

    /// The same with another small figure.
    fn with_a_page_of(figure: &str) -> Self {
        let reports = Self(tempfile::tempdir().unwrap());
        fs::create_dir(reports.0.path().join("made")).unwrap();
        fs::write(reports.stale(), "# None.\n").unwrap();
        fs::write(reports.list(), format!("# One.\n\nmade/RESULTS.md: {figure}\n")).unwrap();
        fs::write(reports.page(), "# A page\n\nWords, and 34.0 days.\n").unwrap();
        fs::write(reports.data(), "days\n34.0\n").unwrap();
        let stamped = reports.stamp_again();
        assert!(stamped.status.success(), "{}", output_text(&stamped));
        reports
    }

    fn stamp_again(&self) -> Output {
        python("reports/stamp.py")
            .arg(self.page())
            .args(["--program", env!("CARGO_BIN_EXE_ccsurvey"), "--command", "reports/made/run"])
            .args(["--ran", "simulate demo DIR --depth 3", "--ran", "choose-depth DIR --coverage 0.9"])
            .arg("--file")
            .arg(self.data())
            .output()
            .unwrap()
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("made/days.csv")
    }

    fn stale(&self) -> PathBuf {
        self.0.path().join("stale")
    }

    /// The list of small figures.
    fn list(&self) -> PathBuf {
        self.0.path().join("small-figures")
    }

    /// The output when stale pages are marked.
    #[track_caller]
    fn mark(&self) -> String {
        let marked = python("reports/check").arg("--mark").arg(self.0.path()).output().unwrap();
        assert_eq!(marked.status.code(), Some(0), "{}", output_text(&marked));
        output_text(&marked)
    }

    fn page(&self) -> PathBuf {
        self.0.path().join("made/RESULTS.md")
    }

    fn stamp(&self) -> PathBuf {
        self.0.path().join("made/RESULTS.stamp.json")
    }

    /// The same with a changed stamp.
    fn with_changed_stamp(change: impl FnOnce(&mut Value)) -> Self {
        Self::with_a_page().change_stamp(change)
    }

    fn change_stamp(self, change: impl FnOnce(&mut Value)) -> Self {
        let reports = self;
        let mut stamp = serde_json::from_slice(&fs::read(reports.stamp()).unwrap()).unwrap();
        change(&mut stamp);
        fs::write(reports.stamp(), stamp.to_string()).unwrap();
        reports
    }

    #[track_caller]
    fn assert_current(&self) {
        let checked = check(self.0.path());
        assert_eq!(checked.status.code(), Some(0), "{}", output_text(&checked));
    }

    #[track_caller]
    fn assert_reported(&self, fault: &str) {
        let checked = check(self.0.path());
        assert_eq!(checked.status.code(), Some(1), "{}", output_text(&checked));
        assert!(output_text(&checked).contains(fault), "{}", output_text(&checked));
    }
}

fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
    command.env("CCSURVEY", env!("CARGO_BIN_EXE_ccsurvey"));
    command
}

fn check(folder: &Path) -> Output {
    python("reports/check").arg(folder).output().unwrap()
}

fn output_text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[test]
fn the_committed_pages_speak_of_the_defaults_and_the_worlds_of_today() {
    let checked = python("reports/check").output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{}", output_text(&checked));
}

#[test]
fn every_page_is_made_by_a_script_that_reports_all_runs() {
    let listed = output_text(&python("reports/all").arg("--list").output().unwrap());
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("reports")).unwrap();
    let folders = folders.map(|folder| folder.unwrap().path()).filter(|folder| folder.is_dir());
    let pages = ["RESULTS.md", "HARM.md", "POLITENESS.md", "CONNECTIONS.md", "IDLE.md"];
    let pages = folders.flat_map(|folder| pages.map(|page| folder.join(page)));
    for page in pages.filter(|page| page.exists()) {
        let name = page.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_str().unwrap();
        assert!(listed.contains(&format!("  {name}\n")), "{name} is not in:\n{listed}");
    }
}

#[test]
fn a_page_just_stamped_is_of_today_and_carries_the_line_of_its_stamp() {
    let reports = Reports::with_a_page();
    reports.assert_current();
    let page = fs::read_to_string(reports.page()).unwrap();
    assert!(page.starts_with("# A page\n\n*Made on "), "{page}");
    assert!(page.contains(" by `reports/made/run` with ccsurvey "), "{page}");
    assert!(page.ends_with("\n\nWords, and 34.0 days.\n"), "{page}");
}

#[test]
fn a_page_is_named_when_a_default_that_it_speaks_of_was_another() {
    let harm = ccsurvey::settings::Settings::default().harm.unwrap();
    Reports::with_changed_stamp(|stamp| stamp["defaults"]["simulate"]["harm"] = json!("0.005"))
        .assert_reported(&format!("reports/made/RESULTS.md: harm was 0.005, is {harm} by default now\n"));
    Reports::with_changed_stamp(|stamp| stamp["defaults"]["choose-depth"]["seed"] = json!("7"))
        .assert_reported("reports/made/RESULTS.md: choose-depth --seed was 7, is 1 by default now\n");
}

#[test]
fn a_page_is_named_when_a_setting_came_or_went_unless_it_does_nothing_by_default() {
    let without_setting = |key: &str| {
        let key = key.to_owned();
        move |stamp: &mut Value| {
            stamp["defaults"]["simulate"].as_object_mut().unwrap().remove(&key).unwrap();
        }
    };
    Reports::with_changed_stamp(without_setting("delay-factor"))
        .assert_reported("delay-factor was not yet a setting, is 5 by default now\n");
    Reports::with_changed_stamp(without_setting("quiet-hours")).assert_current();
    Reports::with_changed_stamp(|stamp| stamp["defaults"]["simulate"]["haste"] = json!("3"))
        .assert_reported("haste was 3 by default, is no setting now\n");
    Reports::with_changed_stamp(|stamp| stamp["commands"][0]["given"]["haste"] = json!("3"))
        .assert_reported("haste was given, is no setting now\n");
}

#[test]
fn a_default_that_is_written_in_another_way_is_the_same() {
    Reports::with_changed_stamp(|stamp| {
        let defaults = &mut stamp["defaults"]["simulate"];
        assert_eq!([&defaults["max-delay"], &defaults["max-bytes"]], ["1m", "320MiB"]);
        defaults["max-delay"] = json!("60s");
        defaults["max-bytes"] = json!("335544320");
        defaults["generations"] = json!("none");
    })
    .assert_current();
}

#[test]
fn what_was_given_is_no_default_that_a_page_speaks_of() {
    Reports::with_changed_stamp(|stamp| {
        assert_eq!(stamp["commands"][0], json!({ "command": "simulate", "given": { "depth": "3" } }));
        assert_eq!(stamp["defaults"]["simulate"].get("depth"), None);
    })
    .assert_current();
}

#[test]
fn a_page_is_named_when_a_world_that_it_speaks_of_was_another() {
    Reports::with_changed_stamp(|stamp| stamp["values_of_all_worlds"]["sites.count"] = json!("9"))
        .assert_reported("reports/made/RESULTS.md: world demo: sites.count was 9, is 175 now\n");
    Reports::with_changed_stamp(|stamp| {
        let demo = stamp["worlds"]["demo"].clone();
        stamp["worlds"] = json!({ "atlantis": demo });
    })
    .assert_reported("reports/made/RESULTS.md: its world atlantis cannot be read now: ");
}

#[test]
fn a_damaged_stamp_is_named_with_what_was_expected() {
    let reports = Reports::with_a_page();
    fs::write(reports.stamp(), "{ \"page\"").unwrap();
    let expected = "reports/made/RESULTS.stamp.json: not the stamp of a page: expected JSON as reports/stamp.py writes it: ";
    reports.assert_reported(expected);
    Reports::with_changed_stamp(|stamp| stamp["defaults"] = json!("all"))
        .assert_reported("reports/made/RESULTS.stamp.json: not the stamp of a page: expected an object as 'defaults'; stamp the page again\n");
}

#[test]
fn a_page_is_named_that_was_made_again_without_its_stamp() {
    let reports = Reports::with_a_page();
    fs::write(reports.page(), "# A page\n\nOther words.\n").unwrap();
    reports.assert_reported("reports/made/RESULTS.md: the line of its stamp is missing: ");
}

#[test]
fn a_page_without_a_stamp_is_named() {
    let reports = Reports::with_a_page();
    fs::remove_file(reports.stamp()).unwrap();
    reports.assert_reported("reports/made/RESULTS.md: has no stamp: ");
    fs::remove_file(reports.page()).unwrap();
    reports.assert_reported("reports/small-figures: made/RESULTS.md is no page\n");
}

#[test]
fn a_page_without_a_small_figure_is_named_with_what_to_do_and_cannot_be_stamped() {
    let reports = Reports::with_a_page();
    fs::write(reports.list(), "").unwrap();
    let to_do = "reports/made/RESULTS.md: has no small figure: add a line `made/RESULTS.md: COMMAND` to reports/small-figures, ";
    reports.assert_reported(to_do);
    let stamped = reports.stamp_again();
    assert_eq!(stamped.status.code(), Some(1));
    assert!(output_text(&stamped).contains(to_do), "{}", output_text(&stamped));
}

#[test]
fn a_page_is_named_when_its_small_figure_is_another_by_a_single_request() {
    let simulated = "simulate data/demo.toml@3 DIR --depth 1";
    let reports = Reports::with_a_page_of(simulated);
    reports.assert_current();
    reports
        .change_stamp(|stamp| {
            let requests = &mut stamp["figure"][simulated]["requests"];
            *requests = json!(requests.as_u64().unwrap() + 1);
        })
        .assert_reported(&format!("reports/made/RESULTS.md: its small figure `{simulated}`: requests was "));
}

#[test]
fn a_fact_that_a_page_does_not_speak_of_may_be_another() {
    let simulated = "simulate data/demo.toml@3 DIR --depth 1";
    let reports = Reports::with_a_page_of(simulated)
        .change_stamp(|stamp| stamp["figure"][simulated]["lasted_seconds"] = json!(1.5));
    reports.assert_reported(&format!("its small figure `{simulated}`: lasted_seconds was 1.5, is "));
    let list = fs::read_to_string(reports.list()).unwrap();
    fs::write(reports.list(), list + "made/RESULTS.md: apart from lasted_seconds\n").unwrap();
    reports.assert_current();
    let reports = reports.change_stamp(|stamp| stamp["figure"][simulated]["requests"] = json!(1));
    reports.assert_reported("requests was 1, is ");
}

#[test]
fn a_figure_that_is_changed_in_the_list_needs_the_page_made_again() {
    let reports = Reports::with_a_page();
    fs::write(reports.list(), "made/RESULTS.md: space starts data/demo.toml@3\n").unwrap();
    reports.assert_reported(
        "reports/made/RESULTS.md: its small figure is not that of reports/small-figures: make it again\n",
    );
}

#[test]
fn a_stale_page_is_listed_and_says_so_at_its_head_until_it_is_made_again() {
    let reports = Reports::with_changed_stamp(|stamp| stamp["figure"][FIGURE]["line 2"] = json!("another"));
    let problem = "reports/made/RESULTS.md: its small figure `space truth data/demo.toml@3 --table levels --depth 1`: line 2 was another, is ";
    reports.assert_reported(problem);
    assert!(reports.mark().contains("\n0 of 1 pages are of today, 1 told to be stale\n"));
    let listed = fs::read_to_string(reports.stale()).unwrap();
    assert!(listed.starts_with("# None.\nmade/RESULTS.md: its small figure "), "{listed}");
    let page = fs::read_to_string(reports.page()).unwrap();
    let stamp: Value = serde_json::from_slice(&fs::read(reports.stamp()).unwrap()).unwrap();
    let revision = stamp["revision"].as_str().unwrap();
    assert!(
        page.contains(&format!("\n\n> **Stale**: the numbers are those of revision `{revision}` (")),
        "{page}"
    );
    reports.assert_current();
    // Neither mark is valid without the other.
    fs::write(reports.stale(), "").unwrap();
    reports.assert_reported("reports/made/RESULTS.md: says that it is stale, and reports/stale does not: ");
    let head = page.lines().filter(|line| !line.starts_with("> **Stale**")).collect::<Vec<_>>().join("\n");
    fs::write(reports.stale(), &listed).unwrap();
    fs::write(reports.page(), head).unwrap();
    reports.assert_reported("reports/made/RESULTS.md: does not say at its head that it is stale: ");
    // Marked twice, the page contains the mark once.
    reports.mark();
    reports.mark();
    assert_eq!(fs::read_to_string(reports.page()).unwrap().matches("> **Stale**").count(), 1);
    let again = reports.stamp_again();
    assert!(again.status.success(), "{}", output_text(&again));
    assert_eq!(fs::read_to_string(reports.stale()).unwrap(), "# None.\n");
    assert!(!fs::read_to_string(reports.page()).unwrap().contains("Stale"));
    reports.assert_current();
}

#[test]
fn a_page_of_today_may_not_be_told_to_be_stale() {
    let reports = Reports::with_a_page();
    let page = fs::read(reports.page()).unwrap();
    fs::write(reports.stale(), "made/RESULTS.md: takes a week\nmade/OTHER.md: takes a year\n").unwrap();
    reports.assert_reported("reports/made/RESULTS.md: is of today, and listed in reports/stale: ");
    reports.assert_reported("reports/stale: made/OTHER.md is no page\n");
    reports.mark();
    assert_eq!(fs::read_to_string(reports.stale()).unwrap(), "\n");
    assert_eq!(fs::read(reports.page()).unwrap(), page);
}

#[test]
fn a_number_that_is_written_by_hand_is_named_and_words_are_not() {
    let reports = Reports::with_a_page();
    let page = fs::read_to_string(reports.page()).unwrap();
    fs::write(reports.page(), page.replace("Words", "Other words")).unwrap();
    reports.assert_current();
    fs::write(reports.page(), page.replace("34.0", "36.8")).unwrap();
    reports.assert_reported(
        "reports/made/RESULTS.md: a number is not as its script wrote it: make the page again\n",
    );
}

#[test]
fn a_file_of_data_is_that_of_its_page_and_none_has_no_page() {
    let reports = Reports::with_a_page();
    fs::write(reports.data(), "days\n36.8\n").unwrap();
    reports.assert_reported(
        "reports/made/RESULTS.md: days.csv is not as it was made with the page: make both again\n",
    );
    fs::write(reports.data(), "days\n34.0\n").unwrap();
    fs::write(reports.0.path().join("made/more.csv"), "days\n1\n").unwrap();
    reports.assert_reported("reports/made/more.csv: belongs to no page: ");
    fs::write(
        reports.0.path().join("without-page"),
        "made/more.csv: written by hand\nmade/gone.csv: as well\n",
    )
    .unwrap();
    reports.assert_reported("reports/without-page: made/gone.csv is no file of data\n");
}

#[test]
fn a_folder_that_has_no_reports_is_bad_usage() {
    let empty = tempfile::tempdir().unwrap();
    let checked = check(empty.path());
    assert_eq!(checked.status.code(), Some(2), "{}", output_text(&checked));
    assert_eq!(python("reports/check").arg("--all").output().unwrap().status.code(), Some(2));
}

#[test]
fn worlds_that_a_script_writes_into_one_file_are_each_told_as_they_were() {
    let reports = Reports::with_a_page();
    let script = "
import pathlib, sys
from ccsurvey import built
from stamp import Stamp
page, world = map(pathlib.Path, sys.argv[1:])
made = Stamp(page, built(), 'reports/made/run')
for sites in (3, 4):
    world.write_text(f'[sites]\\ncount = {sites}\\n')
    made.on(world)
made.mark()
made.write(page.with_name('days.csv'))
";
    let world = reports.0.path().join("world.toml");
    let stamped = Command::new("python3")
        .args(["-c", script])
        .args([reports.page(), world])
        .env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("reports"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("CCSURVEY", env!("CARGO_BIN_EXE_ccsurvey"))
        .output()
        .unwrap();
    assert!(stamped.status.success(), "{}", String::from_utf8_lossy(&stamped.stderr));
    let stamp: Value = serde_json::from_slice(&fs::read(reports.stamp()).unwrap()).unwrap();
    let count = |world: &str| stamp["worlds"][world]["values"]["sites.count"].clone();
    assert_eq!([count("world.toml"), count("world.toml (2)")], [json!("3"), json!("4")]);
    reports.assert_current();
}

#[test]
fn a_page_of_before_there_were_small_figures_can_be_told_to_be_stale_and_nothing_else() {
    let reports = Reports::with_changed_stamp(|stamp| {
        let stamp = stamp.as_object_mut().unwrap();
        stamp["revision"] = Value::Null;
        for part in ["figure", "numbers", "files"] {
            stamp.remove(part).unwrap();
        }
    });
    reports.assert_reported("reports/made/RESULTS.md: it was made before pages had a small figure\n");
    reports.mark();
    let stamp: Value = serde_json::from_slice(&fs::read(reports.stamp()).unwrap()).unwrap();
    assert_eq!(stamp["revision"], "unknown");
    assert!(stamp["files"]["days.csv"].is_string(), "{stamp}");
    reports.assert_current();
}
