//! `ccsurvey add`: start URLs are added to a survey that runs, is interrupted or is finished, exactly once,
//! whatever process dies meanwhile.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use ccsurvey::records::{Manifest, SurveyState};
use ccsurvey::settings::{DepthRule, FeedBackRule, Settings};

use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, rows, timeless_tables};

fn ccsurvey(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).output().unwrap()
}

/// A folder with the start list of a world in two halves.
struct Workspace {
    space: Space,
    folder: tempfile::TempDir,
    halves: [Vec<String>; 2],
}

impl Workspace {
    fn new() -> Self {
        let space = Space::serve("a_small_country");
        let urls: Vec<String> = space.starts().iter().map(|url| url.as_str().to_owned()).collect();
        let (first, second) = urls.split_at(urls.len() / 2);
        let halves = [first.to_vec(), second.to_vec()];
        let workspace = Self { space, folder: tempfile::tempdir().unwrap(), halves };
        fs::write(workspace.path("first.txt"), workspace.halves[0].join("\n")).unwrap();
        fs::write(workspace.path("second.txt"), workspace.halves[1].join("\n")).unwrap();
        workspace
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn dir(&self) -> std::path::PathBuf {
        self.folder.path().join("d")
    }

    fn survey(&self, more: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
            .args([
                "survey",
                &self.path("d"),
                "--cctld",
                "ke",
                "--start",
                &self.path("first.txt"),
                "--feed-back",
                "off",
            ])
            .args([
                "--contact",
                "https://survey.example/contact",
                "--dns",
                &self.space.dns(),
                "--gateway",
                &self.space.gateway(),
                "--delay-factor",
                "0",
            ])
            .args(["--max-delay", "60ms", "--harm", "none", "--rate", "none", "--json", "--depth", "1"])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn add(&self) -> (i32, String) {
        let output = ccsurvey(&["add", &self.path("d"), "--start", &self.path("second.txt")]);
        let message = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code().unwrap(),
            message.lines().last().unwrap_or_default().replace(&self.path("d"), "d"),
        )
    }

    fn resume(&self) -> i32 {
        ccsurvey(&["resume", &self.path("d"), "--json"]).status.code().unwrap()
    }

    /// The tables of a survey of the whole list.
    fn whole(&self) -> crate::common::TimelessTables {
        let settings =
            Settings { depth: DepthRule::Levels(1), feed_back: FeedBackRule::Off, ..self.space.settings() };
        self.space.survey(settings).tables()
    }

    fn start_list(&self) -> Vec<String> {
        let text = fs::read_to_string(self.dir().join("start.csv")).unwrap();
        text.lines().skip(1).map(str::to_owned).collect()
    }

    #[track_caller]
    fn assert_surveyed_all_once(&self) {
        assert_eq!(Manifest::load(&self.dir()).unwrap().state, SurveyState::Finished);
        assert_eq!(self.start_list(), self.halves.concat());
        assert!(lists(&self.dir()).is_empty());
        assert_same_tables(&timeless_tables(&self.dir()), &self.whole());
    }
}

fn lists(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir.join("added")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_finished_survey_goes_on_with_what_is_added_and_ends_as_if_it_had_begun_with_it() {
    let workspace = Workspace::new();
    assert_eq!(workspace.survey(&["--min-delay", "0s"]).wait().unwrap().code(), Some(0));
    let (code, message) = workspace.add();
    let sites = workspace.halves[1].len();
    assert_eq!(
        (code, message),
        (0, format!("ccsurvey: {sites} sites to survey; `ccsurvey resume d` continues the survey"))
    );
    assert_eq!(Manifest::load(&workspace.dir()).unwrap().state, SurveyState::Interrupted);
    let status: serde_json::Value =
        serde_json::from_slice(&fs::read(workspace.dir().join("status.json")).unwrap()).unwrap();
    assert_eq!((&status["state"], &status["sites_waiting"]), (&"interrupted".into(), &sites.into()));
    assert_eq!(workspace.resume(), 0);
    workspace.assert_surveyed_all_once();
    let before = workspace.space.accesses().len();
    let (code, message) = workspace.add();
    assert!(code == 0 && message.starts_with("ccsurvey: d: nothing new to add: "), "{message}");
    assert_eq!(Manifest::load(&workspace.dir()).unwrap().state, SurveyState::Finished);
    assert_eq!((workspace.resume(), workspace.space.accesses().len()), (0, before));
}

#[test]
fn a_survey_at_work_takes_in_what_is_added() {
    let workspace = Workspace::new();
    let mut child = workspace.survey(&["--min-delay", "60ms"]);
    until(|| workspace.space.accesses().len() >= 5);
    let (code, message) = workspace.add();
    let urls = workspace.halves[1].len();
    assert_eq!(
        (code, message),
        (0, format!("ccsurvey: another process added {urls} start URLs to the survey"))
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let toml = workspace.dir().join("survey.toml");
    assert!(toml.exists());
    assert_eq!(workspace.start_list(), workspace.halves.concat());
    assert_eq!(workspace.resume(), 0);
    assert_eq!(rows::<ccsurvey::records::SiteRow>(&workspace.dir()).len(), workspace.halves.concat().len());
    workspace.assert_surveyed_all_once();
}

/// A list was offered, and the process died before `start.csv` contained it or before the list was removed.
#[test]
fn what_is_added_is_taken_in_once_also_by_a_process_that_dies() {
    let workspace = Workspace::new();
    assert_eq!(workspace.survey(&["--min-delay", "0s"]).wait().unwrap().code(), Some(0));
    let start_list = workspace.dir().join("start.csv");
    let before = fs::read(&start_list).unwrap();
    // Handed over, but not taken in: the state cannot be opened.
    let state = workspace.dir().join("state.redb");
    let moved_state = workspace.path("held.redb");
    fs::rename(&state, &moved_state).unwrap();
    fs::create_dir(&state).unwrap();
    assert_ne!(workspace.add().0, 0);
    fs::remove_dir(&state).unwrap();
    fs::rename(&moved_state, &state).unwrap();
    assert_eq!(lists(&workspace.dir()), Vec::<String>::new(), "a survey without its state is refused before");
    // Offered and recorded; then the crash restores the list, with and without its URLs in `start.csv`.
    let list = ccsurvey::starts::StartList::read(workspace.halves[1].join("\n").as_bytes(), None).unwrap();
    let handed_over = ccsurvey::survey::submit_list(&workspace.dir(), &list).unwrap();
    let name = lists(&workspace.dir()).remove(0);
    let file = workspace.dir().join("added").join(&name);
    let bytes = fs::read(&file).unwrap();
    let counts = ccsurvey::survey::add_waiting_lists(&workspace.dir()).unwrap().unwrap();
    assert_eq!((counts.sites, handed_over.is_taken()), (workspace.halves[1].len(), true));
    for start in [Some(&before), None] {
        fs::write(&file, &bytes).unwrap();
        if let Some(start) = start {
            fs::write(&start_list, start).unwrap();
        }
        assert_eq!(ccsurvey::survey::add_waiting_lists(&workspace.dir()).unwrap().unwrap().sites, 0);
        assert_eq!(workspace.start_list(), workspace.halves.concat());
        assert!(lists(&workspace.dir()).is_empty());
    }
    assert_eq!(workspace.resume(), 0);
    workspace.assert_surveyed_all_once();
}

#[test]
fn what_waits_in_a_finished_survey_is_taken_in_by_resume() {
    let workspace = Workspace::new();
    assert_eq!(workspace.survey(&["--min-delay", "0s"]).wait().unwrap().code(), Some(0));
    let list = ccsurvey::starts::StartList::read(workspace.halves[1].join("\n").as_bytes(), None).unwrap();
    let handed_over = ccsurvey::survey::submit_list(&workspace.dir(), &list).unwrap();
    assert!(ccsurvey::survey::has_waiting_lists(&workspace.dir()) && !handed_over.is_taken());
    assert_eq!(workspace.resume(), 0);
    workspace.assert_surveyed_all_once();
}

#[test]
fn what_is_no_survey_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("l.txt");
    fs::write(&list, "a.ke\n").unwrap();
    let dir = folder.path().join("none").display().to_string();
    let output = ccsurvey(&["add", &dir, "--start", &list.display().to_string()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), message),
        (Some(2), format!("ccsurvey: error: {dir} is not a survey: it has no manifest.json\n"))
    );
}
