//! `--budget`: where the requests go, and that the tables depend on nothing else.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ccsurvey::exchange::{Class, Outcome};
use ccsurvey::records::{ExchangeRow, LevelRow, LinkRow, Manifest, SiteRow};

use super::simulate::{simulate, summary_of};
use crate::common::{assert_same_tables, rows, timeless_tables};

/// Sites of many pages, of which few link to other sites.
const WORLD: &str = "profile = \"africa-2006\"\nseed = 5\n\n[sites]\ncount = 60\n";
/// Sites that are found on pages of others.
const FED_BACK: &str = include_str!("../worlds/a_small_country.toml");

/// The file of a world.
fn written(world: &str, folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("world.toml");
    std::fs::write(&path, world).unwrap();
    path
}

fn sent(dir: &Path) -> u64 {
    rows::<ExchangeRow>(dir).iter().filter(|row| row.was_sent()).count() as u64
}

fn hosts(dir: &Path) -> usize {
    let links = rows::<LinkRow>(dir);
    links.iter().map(|row| row.host.as_str()).collect::<std::collections::HashSet<_>>().len()
}

fn summary(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn tables_are_the_same_however_many_sites_are_walked_at_once() {
    for (world, budget) in [(WORLD, "900"), (FED_BACK, "50"), (FED_BACK, "150"), (FED_BACK, "400")] {
        let folder = tempfile::tempdir().unwrap();
        let path = written(world, &folder);
        let [one, some, many] = ["1", "16", "256"].map(|sites| {
            let survey = folder.path().join(sites);
            summary(&simulate(&path, &survey, &["--budget", budget, "--sites", sites]));
            assert_eq!(sent(&survey).to_string(), budget, "all of it is spent");
            // This also checks that every URL is in one class and every request in the sums.
            timeless_tables(&survey)
        });
        assert_same_tables(&some, &one);
        assert_same_tables(&many, &one);
        let new_sites = one.sites.iter().filter(|site| site.generation > 0).count();
        assert!(world == WORLD || new_sites >= 5, "{new_sites} sites that were found joined in");
    }
}

#[test]
fn the_wait_for_a_round_is_no_time_of_a_site() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(WORLD, &folder);
    let [without, with] = ["none", "2h"].map(|time| {
        let survey = folder.path().join(time);
        // No site takes two hours for its forty requests, but the rounds take longer together.
        let flags = ["--budget", "900", "--max-requests", "40", "--max-time", time];
        summary(&simulate(&path, &survey, &flags));
        survey
    });
    let rounds = Manifest::load(&without).unwrap().budget.unwrap().rounds;
    let waited: f64 = rounds.iter().map(|round| round.waited_seconds).sum();
    assert!(waited > 3.0 * 3600.0, "rounds waited for their last trees for {waited} s");
    assert_same_tables(&timeless_tables(&with), &timeless_tables(&without));
    // The report, which has the tables only, does not call that a broken promise.
    let report = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(["report", "-o", "-"]).arg(&with).output();
    let page = String::from_utf8(report.unwrap().stdout).unwrap();
    assert!(page.contains("of time per site") && !page.contains("class=\"broken\""));
}

#[test]
fn a_tenth_of_the_requests_finds_four_fifths_of_the_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let (deep_folder, budget_folder) = (folder.path().join("deep"), folder.path().join("budget"));
    std::fs::create_dir(&deep_folder).unwrap();
    std::fs::create_dir(&budget_folder).unwrap();
    let (deep, _) = summary_of(WORLD, &deep_folder, &["--depth", "20", "--feed-back", "off"]);
    let budget = sent(&deep) / 10;
    let flags = ["--budget", &budget.to_string(), "--feed-back", "off"];
    let (survey, _) = summary_of(WORLD, &budget_folder, &flags);
    assert_eq!(sent(&survey), budget);
    let (found, all) = (hosts(&survey), hosts(&deep));
    assert!(found * 10 > all * 8, "{found} of {all}");
    // What was left out is counted, with what it was expected to bring.
    let levels = rows::<LevelRow>(&survey);
    let left_out: u64 = levels.iter().map(|level| level.classes[Class::Yield]).sum();
    let expected: f64 = levels.iter().filter_map(|level| level.expected_external_hosts).sum();
    assert!(left_out > 1000 && expected > 0.0, "{left_out} {expected}");
    let manifest = Manifest::load(&survey).unwrap();
    let used = manifest.budget.unwrap();
    assert_eq!(used.requests, budget);
    assert!((6..=24).contains(&used.rounds.len()), "{:?}", used.rounds);
    assert!(used.rounds.iter().all(|round| round.trees > 0 && round.began <= round.ended));
    let verdict = manifest.promises.iter().find(|verdict| verdict.id == "survey_budget").unwrap();
    let text = "at most 2,285 requests over the whole survey";
    assert_eq!((verdict.promise.as_str(), verdict.judgement.as_str()), (text, "held"));
}

#[test]
fn a_site_that_the_budget_does_not_reach_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let world = written(WORLD, &folder);
    let survey = folder.path().join("survey");
    let text = summary(&simulate(&world, &survey, &["--budget", "40", "--feed-back", "off"]));
    assert!(text.contains("\nbudget: 40 of 40 requests in "), "{text}");
    assert_eq!(sent(&survey), 40);
    let sites = rows::<SiteRow>(&survey);
    let not_reached = sites.iter().filter(|site| site.outcome == Outcome::RequestBudget.as_str()).count();
    assert!(sites.len() == 60 && not_reached > 20, "{not_reached}");
}

#[test]
fn a_budget_for_more_than_there_is_says_that_nothing_else_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let world = written(FED_BACK, &folder);
    let survey = folder.path().join("survey");
    let text = summary(&simulate(&world, &survey, &["--budget", "100000"]));
    assert!(
        text.contains("of 100,000 requests in ") && text.contains("; nothing else was left to request\n"),
        "{text}"
    );
    let left_out: u64 = rows::<LevelRow>(&survey).iter().map(|level| level.classes[Class::Yield]).sum();
    assert_eq!(left_out, 0);
}

#[test]
fn a_share_of_an_earlier_survey_is_of_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let world = written(FED_BACK, &folder);
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    summary(&simulate(&world, &old, &["--record-links"]));
    summary(&simulate(&world, &new, &["--budget", "25%", "--since", old.to_str().unwrap()]));
    let used = Manifest::load(&new).unwrap().budget.unwrap();
    assert_eq!((used.earlier_requests, used.requests), (Some(sent(&old)), sent(&old) / 4));
    assert_eq!(sent(&new), used.requests);
}

#[test]
fn flags_that_set_the_same_otherwise_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let world = written(FED_BACK, &folder);
    for (flags, message) in [
        (&["--budget", "100", "--depth", "8"][..], "cannot be used with '--depth"),
        (&["--budget", "100", "--coverage", "0.9"], "--coverage and --budget both set how far to go"),
        (&["--budget", "100", "--probe-depth", "0.1"], "--probe-depth spends requests apart"),
        (&["--budget", "5%"], "--budget 5% needs an earlier survey: give its folder with --since"),
        (&["--budget", "0"], "'0' is not a budget (expected a number of requests such as 100000"),
    ] {
        let output = simulate(&world, &folder.path().join("survey"), flags);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && text.contains(message), "{text}");
    }
}

#[test]
fn what_the_end_of_a_budget_brought_and_what_more_would_bring_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let world = written(WORLD, &folder);
    let survey = |budget: &str| {
        let survey = folder.path().join(budget);
        summary(&simulate(&world, &survey, &["--budget", budget, "--feed-back", "off"]));
        survey
    };
    let told = |dir: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
        let output = command.arg("choose-depth").arg(dir).arg("--json").output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let advice: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        advice["left_out"]["budget"].clone()
    };
    let (less, more) = (survey("3000"), survey("4000"));
    let spent = told(&less);
    assert_eq!((&spent["budget"], &spent["next_requests"]), (&3000.into(), &1000.into()), "{spent}");
    assert_eq!(spent["next_useful"], 1000, "{spent}");
    let [requests, found] = ["last_requests", "last_hosts"].map(|key| spent[key].as_f64().unwrap());
    assert!((300.0..1000.0).contains(&requests) && found > 0.0, "{spent}");
    assert!((spent["last_price"].as_f64().unwrap() - requests / found).abs() < 1e-9, "{spent}");
    let next = hosts(&more) as f64 - hosts(&less) as f64;
    let expected = spent["next_hosts"].as_f64().unwrap();
    assert!(expected > next / 2.0 && expected < next * 2.0, "{spent}, {next} in truth");
    let text = |dir: &Path, command: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
            .args([command.as_ref(), dir.as_os_str()])
            .args(if command == "report" { &["-o", "-"][..] } else { &[] })
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).split_ascii_whitespace().collect::<Vec<_>>().join(" ")
    };
    let sentence = format!("The next 1,000 requests would bring about {} host", expected.round());
    for command in ["choose-depth", "report"] {
        let text = text(&less, command);
        assert!(text.contains(&sentence) && text.contains("requests for each."), "{command}: {text}");
    }
    // Little but sites that were never opened waits, and nobody knows what these bring.
    assert_eq!(told(&survey("3"))["next_hosts"], serde_json::Value::Null);
    // More than there is.
    let whole = survey("100000");
    assert_eq!((&told(&whole)["next_useful"], &told(&whole)["next_hosts"]), (&0.into(), &0.0.into()));
    let text = text(&whole, "choose-depth");
    assert!(text.contains("Nothing else was left to request."), "{text}");
}

#[test]
fn sites_that_are_tried_again_after_the_budget_are_not_what_was_left_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let world = written(WORLD, &folder);
    let survey = folder.path().join("survey");
    // Other sites link to some whose start URL brings nothing.
    summary(&simulate(&world, &survey, &["--budget", "3000"]));
    let left = Manifest::load(&survey).unwrap().budget.unwrap().left.unwrap();
    assert!(left.useful == 1000 && left.expected.is_some_and(|hosts| hosts > 0.0), "{left:?}");
}

#[test]
fn a_budget_is_spent_although_agents_die_with_requests_under_way() {
    let folder = tempfile::tempdir().unwrap();
    // So small that most sites have no part in any round.
    let flags = ["--budget", "100", "--agents", "4", "--agent-life", "2m"];
    let (dir, _) = summary_of(WORLD, folder.path(), &flags);
    let lost = Manifest::load(&dir).unwrap().unrecorded_exchanges;
    assert!(lost > 0, "some agents died with a request under way");
    assert_eq!(sent(&dir) + lost, 100);
}
