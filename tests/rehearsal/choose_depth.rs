//! A depth is chosen from tables, and the predictions for a network environment come true there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use ccsurvey::records::{ExchangeRow, Manifest, ServerRow, SurveyState};
use serde_json::Value;

use crate::common::rows;

/// A folder with worlds, surveys and environment files.
pub(super) struct Workspace {
    folder: tempfile::TempDir,
    /// The survey that forecasts start from.
    pub(super) recorded: String,
}

/// What a survey took and cost.
#[derive(Debug)]
pub(super) struct Cost {
    seconds: f64,
    requests: u64,
    bytes: u64,
    max_server_requests: u64,
}

/// Africa in 2006, with a few sites.
const WORLD: &str = "profile = \"africa-2006\"\n[sites]\ncount = 40\n";

impl Workspace {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), recorded: String::new() }
    }

    /// For commands on a survey in its folder, or elsewhere by its full path.
    pub(super) fn with_recorded(recorded: &str) -> Self {
        Self { recorded: recorded.to_owned(), ..Self::new() }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(super) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let program = env!("CARGO_BIN_EXE_ccsurvey");
        let output = Command::new(program).args(arguments).current_dir(self.folder.path()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    #[track_caller]
    pub(super) fn simulate(&self, world: &str, dir: &str, flags: &[&str]) -> Cost {
        let (code, _, messages) =
            self.run(&[&["simulate", world, dir, "--feed-back", "off"], flags].concat());
        assert_eq!(code, 0, "{messages}");
        cost(&self.path(dir))
    }

    /// With a survey that is recorded once for all tests.
    pub(super) fn recorded() -> Self {
        static RECORDED: LazyLock<Workspace> = LazyLock::new(|| {
            let workspace = Workspace::new();
            workspace.write("world.toml", WORLD);
            workspace.simulate("world.toml", "recorded", &["--depth", "6"]);
            workspace
        });
        let workspace = Self::with_recorded(&RECORDED.path("recorded").display().to_string());
        workspace.write("world.toml", WORLD);
        workspace
    }

    /// Checks that the exit code matches the verdict; returns the advice.
    #[track_caller]
    pub(super) fn choose(&self, flags: &[&str]) -> Value {
        let (code, out, messages) = self.run(&[&["choose-depth", &self.recorded, "--json"], flags].concat());
        let advice: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{code} {messages}"));
        let verdict = advice.get("choice").unwrap_or_else(|| &advice["forecast"])["verdict"].as_str();
        assert_eq!(code, if verdict == Some("recommended") { 0 } else { 4 }, "{verdict:?} {messages}");
        advice
    }

    pub(super) fn forecast(&self, environment: &str) -> Value {
        self.write("environment.toml", environment);
        self.choose(&["--environment", "environment.toml"])["forecast"].take()
    }

    /// Simulates surveys of a world to two depths and compares them with their forecast.
    #[track_caller]
    fn assert_forecast_matches(&self, environment: &str, world: &str, flags: &[&str]) {
        let forecast = self.forecast(environment);
        for depth in [2, 5] {
            let dir = format!("depth-{depth}");
            let found = self.simulate(world, &dir, &[&["--depth", &depth.to_string()], flags].concat());
            let level = &forecast["levels"][depth];
            assert_within(level["seconds"].as_f64().unwrap(), found.seconds, 0.10, "seconds", depth);
            assert_within(
                level["requests"].as_f64().unwrap(),
                found.requests as f64,
                0.01,
                "requests",
                depth,
            );
            assert_within(level["bytes"].as_f64().unwrap(), found.bytes as f64, 0.01, "bytes", depth);
            let most = level["server_requests"]["most"].as_f64().unwrap();
            assert_within(most, found.max_server_requests as f64, 0.01, "requests to a server", depth);
            fs::remove_dir_all(self.path(&dir)).unwrap();
        }
    }

    #[track_caller]
    fn assert_refused(&self, arguments: &[&str], code: i32, message: &str) {
        let (found, out, messages) = self.run(arguments);
        assert_eq!((found, messages, out), (code, format!("ccsurvey: error: {message}\n"), String::new()));
    }
}

#[track_caller]
fn assert_within(estimate: f64, found: f64, tolerance: f64, what: &str, depth: usize) {
    let error = estimate / found - 1.0;
    assert!(
        error.abs() <= tolerance,
        "depth {depth}: {estimate} {what} foretold, {found} found ({error:+.3})"
    );
}

fn cost(dir: &Path) -> Cost {
    let manifest = Manifest::load(dir).unwrap();
    let exchanges: Vec<ExchangeRow> = rows(dir);
    let sent_exchanges = || exchanges.iter().filter(|row| row.total_ms.is_some());
    Cost {
        seconds: (manifest.finished.unwrap().0 - manifest.created.0) as f64 / 1e6,
        requests: sent_exchanges().count() as u64,
        bytes: sent_exchanges().map(|row| row.sent_bytes + row.received_bytes).sum(),
        max_server_requests: rows::<ServerRow>(dir).iter().map(|row| row.requests).max().unwrap_or(0),
    }
}

#[test]
fn a_survey_as_recorded_takes_what_is_foretold() {
    Workspace::recorded().assert_forecast_matches("", "world.toml", &[]);
}

#[test]
fn a_survey_with_other_pauses_and_few_sites_at_once_takes_what_is_foretold() {
    let environment = "[survey]\nsites = 4\nmin-delay = \"8s\"\n";
    Workspace::recorded().assert_forecast_matches(
        environment,
        "world.toml",
        &["--sites", "4", "--min-delay", "8s"],
    );
}

#[test]
fn a_survey_at_a_low_rate_takes_what_is_foretold() {
    let environment = "[survey]\nrate = \"6kB\"\nmin-delay = 1\ndelay-factor = 1\n";
    let flags = ["--rate", "6kB", "--min-delay", "1s", "--delay-factor", "1"];
    Workspace::recorded().assert_forecast_matches(environment, "world.toml", &flags);
}

/// The same sites behind satellites. The survey cannot see how much of each link other users take; on average
/// it is 0.4. Pauses for the sake of the link depend on exactly that, server by server, and end connections
/// that would be kept alive. This test disables them, in the recorded survey too.
#[test]
fn a_survey_of_servers_behind_satellites_takes_what_is_foretold() {
    let mut workspace = Workspace::recorded();
    workspace.simulate("world.toml", "quick", &["--depth", "6", "--harm", "1"]);
    workspace.recorded = "quick".to_owned();
    let servers = "[servers]\nbandwidth_least = 512.0\nbandwidth_median = 512.0\nbandwidth_most = 512.0\n\
                   offshore_round_trip = 600.0\noffshore_deviation = 0.0\nonshore_round_trip = 600.0\n\
                   onshore_deviation = 0.0\nsatellite_round_trip = 600.0\nsatellite_deviation = 0.0\n";
    workspace.write("satellites.toml", &format!("{WORLD}{servers}"));
    let environment = "[servers]\nlink = \"512 kbit/s\"\nothers = 0.4\nrtt = \"600ms\"\n";
    workspace.assert_forecast_matches(environment, "satellites.toml", &["--harm", "1"]);
}

#[test]
fn the_depth_chosen_is_the_least_that_covers_and_the_greatest_that_can_be_afforded() {
    let workspace = Workspace::recorded();
    let choose_by_urls = |wanted: &str| {
        workspace.choose(&["--coverage", wanted, "--of", "urls", "--reading", "pair"])["choice"].take()
    };
    // What covers 40 % of what this survey knows covers far less of all levels.
    assert_eq!(choose_by_urls("0.4")["verdict"], "survey_deeper");
    let choice = choose_by_urls("0.5");
    let levels = choice["levels"].as_array().unwrap();
    let covers = |level: &Value| level["coverage"]["value"].as_f64().unwrap() >= 0.5;
    let depth = levels.iter().position(covers).unwrap() as u64;
    assert_eq!(choice["depth"].as_u64(), Some(depth));
    let [saved, load] =
        [&levels[1]["saved"][0], &levels[1]["load"][0]["value"]].map(|share| share.as_f64().unwrap());
    assert!((saved + load - 1.0).abs() < 1e-9 && saved > 0.5);

    let choice = workspace.choose(&["--load", "0.5", "--load-unit", "bytes"])["choice"].take();
    let levels = choice["levels"].as_array().unwrap();
    let affords = |level: &&Value| level["load"][1]["value"].as_f64().unwrap() <= 0.5;
    assert_eq!(choice["depth"], levels.iter().rfind(affords).unwrap()["depth"]);
    let last = levels.last().unwrap();
    assert_eq!((last["saved"][1].as_f64(), last["load"][1]["value"].as_f64()), (Some(0.0), Some(1.0)));
}

#[test]
fn no_depth_is_recommended_where_nothing_was_found() {
    let workspace = Workspace::with_recorded("dead");
    // The names of three quarters of the sites do not resolve: of four, all.
    workspace.write("dead.toml", "seed = 1\n[sites]\ncount = 4\n[faults]\nno_dns_share = 0.75\n");
    assert_eq!(workspace.simulate("dead.toml", "dead", &[]).requests, 0);
    workspace.write("environment.toml", "[survey]\ndays = 1000\n");
    let said = "No depth is recommended: the survey found no external hosts.\n";
    for flags in [&[] as &[_], &["--load", "0.5"], &["--environment", "environment.toml"]] {
        let advice = workspace.choose(flags);
        let advice = advice.get("choice").unwrap_or_else(|| &advice["forecast"]);
        assert_eq!(advice["verdict"], "nothing_found", "{flags:?}");
        assert!(advice["depth"].is_null(), "{flags:?}");
        let (code, out, _) = workspace.run(&[&["choose-depth", "dead"], flags].concat());
        assert!(code == 4 && out.starts_with(said), "{flags:?} {code} {out}");
    }
    let (_, page, _) = workspace.run(&["report", "dead", "-o", "-", "--environment", "environment.toml"]);
    assert_eq!(page.matches(said.trim()).count(), 2);
}

#[test]
fn a_depth_is_recommended_for_an_environment_or_the_bound_that_forbids_it_is_named() {
    let workspace = Workspace::recorded();
    let free = workspace.forecast("");
    let days = |depth: usize| free["levels"][depth]["seconds"].as_f64().unwrap() / 86_400.0;
    let some = workspace.forecast(&format!("[survey]\ndays = {}\n", days(3) * 1.001));
    assert_eq!(some["depth"], 3);
    let none = workspace.forecast(&format!("[survey]\ndays = {}\ncoverage = 1\n", days(3) * 1.001));
    assert_eq!(none["depth"], Value::Null);
    assert_eq!(none["levels"][5]["breaks"], serde_json::json!(["days", "coverage"]));
    let (_, advice_text, _) =
        workspace.run(&["choose-depth", &workspace.recorded, "--environment", "environment.toml"]);
    assert!(advice_text.starts_with("No depth fits"), "{advice_text}");
    assert!(advice_text.contains("(survey.days): depths 0 to 3 meet it\n"), "{advice_text}");
}

#[test]
fn groups_and_classes_of_servers_have_depths_of_their_own() {
    let workspace = Workspace::recorded();
    for (flags, by) in [(vec!["--classes"], "throughput"), (vec!["--by", "cctld"], "cctld")] {
        let advice = workspace.choose(&flags);
        assert_eq!(advice["grouped_by"], by);
        let groups = advice["groups"].as_array().unwrap();
        assert!(groups.len() > 1);
        let trees: u64 = groups.iter().map(|group| group["trees"].as_u64().unwrap()).sum();
        assert_eq!(trees, 40);
        assert!(groups.iter().all(|group| group["choice"]["levels"].is_array()));
    }
}

#[test]
fn a_survey_without_trees_has_no_depth() {
    let workspace = Workspace::new();
    workspace.assert_refused(&["choose-depth", "d"], 2, "d is not a survey: it has no manifest.json");
    workspace.write("world.toml", "[sites]\ncount = 1\n");
    workspace.simulate("world.toml", "d", &[]);
    let table = workspace.path("d/tables/sites");
    fs::remove_dir_all(&table).unwrap();
    workspace.assert_refused(
        &["choose-depth", "d"],
        1,
        "cannot read folder d/tables/sites: No such file or directory (os error 2)",
    );
    fs::create_dir(&table).unwrap();
    let running = Manifest { state: SurveyState::Running, ..Manifest::load(&workspace.path("d")).unwrap() };
    running.save(&workspace.path("d")).unwrap();
    workspace.assert_refused(
        &["choose-depth", "d"],
        1,
        "d is an empty survey: its tables hold no site tree yet",
    );
}

#[test]
fn a_damaged_table_is_named_with_the_place_of_the_damage() {
    let workspace = Workspace::new();
    workspace.write("world.toml", "[sites]\ncount = 5\n");
    workspace.simulate("world.toml", "d", &[]);
    let path = fs::read_dir(workspace.path("d/tables/levels")).unwrap().next().unwrap().unwrap().path();
    let intact = fs::read(&path).unwrap();
    let name = format!("d/tables/levels/{}", path.file_name().unwrap().to_str().unwrap());
    fs::write(&path, &intact[..intact.len() / 2]).unwrap();
    let (code, _, messages) = workspace.run(&["choose-depth", "d"]);
    let start = format!("ccsurvey: error: cannot read table {name}: its footer is damaged or cut off (");
    assert!(code == 1 && messages.starts_with(&start) && messages.lines().count() == 1, "{code} {messages}");
    let mut damaged = intact;
    damaged[4..600].fill(0x55);
    fs::write(&path, damaged).unwrap();
    let (code, _, messages) = workspace.run(&["choose-depth", "d"]);
    let start = format!("ccsurvey: error: cannot read table {name}: row group 0 of 1 is damaged (");
    assert!(code == 1 && messages.starts_with(&start) && messages.lines().count() == 1, "{code} {messages}");
}

#[test]
fn an_environment_that_cannot_be_is_refused() {
    let workspace = Workspace::new();
    workspace.write("world.toml", "[sites]\ncount = 1\n");
    workspace.simulate("world.toml", "d", &[]);
    let request = ["choose-depth", "d", "--environment", "e.toml"];
    workspace.assert_refused(&request, 2, "cannot read e.toml: No such file or directory (os error 2)");
    for (text, message) in [
        (
            "[servers]\nlink = \"thin\"\n",
            "line 2: 'servers.link' is \"thin\", expected a link's capacity, for example \"512 kbit/s\" or \"4 Mbit/s\"",
        ),
        (
            "[survey]\n\ndayz = 3\n",
            "line 3: unknown key 'survey.dayz' (known here: days, coverage, of, reading, confidence, sites, min-delay, \
             delay-factor, harm, max-delay, rate)",
        ),
        (
            "[survey]\nmin-delay = \"5m\"\n",
            "'survey.min-delay' is 5m, expected at most 'survey.max-delay', which is 1m",
        ),
    ] {
        workspace.write("e.toml", text);
        workspace.assert_refused(&request, 2, &format!("e.toml: {message}"));
    }
    let both = ["choose-depth", "d", "--coverage", "0.9", "--load", "0.5"];
    let (code, _, messages) = workspace.run(&both);
    assert!(code == 2 && messages.contains("cannot be used with"), "{messages}");
    let (code, _, messages) = workspace.run(&["choose-depth", "d", "--coverage", "95"]);
    assert!(
        code == 2 && messages.contains("expected a share above 0 and up to 1, such as 0.95"),
        "{messages}"
    );
}
