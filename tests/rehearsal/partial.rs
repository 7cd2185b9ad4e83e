//! Advice from a partial survey says so: it is provisional wherever it is shown.

use std::fs;

use ccsurvey::records::{CurveRow, Manifest, SiteRow, SurveyState};
use serde_json::Value;

use super::choose_depth::Desk;
use crate::common::{Space, rows};

const WORLD: &str = "seed = 5\n[sites]\ncount = 40\n";

/// A survey whose manifest has this state.
fn standing(state: SurveyState) -> Desk {
    let desk = Desk::about("survey");
    desk.write("world.toml", WORLD);
    desk.simulate("world.toml", "survey", &["--depth", "6"]);
    let mut manifest = Manifest::load(&desk.path("survey")).unwrap();
    manifest.state = state;
    manifest.save(&desk.path("survey")).unwrap();
    desk
}

fn advice(desk: &Desk, flags: &[&str]) -> (i32, Value, String) {
    let command = [&["choose-depth", desk.recorded.as_str()], flags].concat();
    let (code, words, _) = desk.run(&command);
    let (of_json, json, said) = desk.run(&[&command[..], &["--json"]].concat());
    assert_eq!(code, of_json, "{said}");
    (code, serde_json::from_str(&json).unwrap(), words)
}

/// Checks that hold for every partial survey, with any flags.
#[track_caller]
fn is_provisional(desk: &Desk, title: &str) {
    desk.write("free.toml", "");
    for flags in [&["--coverage", "0.5"] as &[&str], &["--load", "0.9"], &["--environment", "free.toml"]] {
        let (code, json, words) = advice(desk, flags);
        assert_eq!(code, 4, "{words}");
        assert!(words.starts_with(title), "{words}");
        assert!(words.contains("\n\nProvisional: depth ") && words.contains("<- provisional"), "{words}");
        assert!(!words.contains("Recommended") && !words.contains("<- recommended"), "{words}");
        assert_eq!(json["partial"]["title"].as_str(), Some(title));
    }
    let (code, page, said) = desk.run(&["report", &desk.recorded, "-o", "-"]);
    assert_eq!(code, 0, "{said}");
    let first_page = page.split("<h2").next().unwrap();
    assert!(first_page.contains(title) && first_page.contains("(provisional)"), "{first_page}");
    assert!(page.contains("Provisional: based on a part of the survey."));
    assert!(rows::<CurveRow>(&desk.path(&desk.recorded)).iter().all(|row| row.is_partial == Some(true)));
}

#[test]
fn advice_from_a_survey_that_is_not_over_is_provisional() {
    for (state, title) in [
        (SurveyState::Interrupted, "Partial: the survey was interrupted."),
        (SurveyState::Running, "Partial: the survey is in progress, or was killed."),
        (SurveyState::Failed, "Partial: the survey has failed."),
    ] {
        let desk = standing(state);
        is_provisional(&desk, title);
        let (_, _, words) = advice(&desk, &[]);
        let trees = rows::<SiteRow>(&desk.path("survey")).len();
        let done = format!(" {trees} of {trees} known site trees are done, as of ");
        assert!(words.contains(&done), "{words}");
        // Without the last status of its trees.
        fs::remove_file(desk.path("survey/status.json")).unwrap();
        let (code, _, words) = advice(&desk, &[]);
        let done = format!(" {trees} of the site trees are done; only these are in the figures.");
        assert!(code == 4 && words.contains(&done), "{words}");
    }
}

#[test]
fn advice_from_a_whole_survey_is_final() {
    let desk = standing(SurveyState::Finished);
    let (code, json, words) = advice(&desk, &["--coverage", "0.5"]);
    assert!(code == 0 && words.starts_with("Recommended: depth "), "{words}");
    assert_eq!((&json["partial"], &json["standing"]["state"]), (&Value::Null, &"finished".into()));
    let (_, page, _) = desk.run(&["report", "survey", "-o", "-"]);
    assert!(!page.contains("rovisional"));
    assert!(rows::<CurveRow>(&desk.path("survey")).iter().all(|row| row.is_partial == Some(false)));
}

#[test]
fn a_start_url_that_is_added_makes_a_finished_survey_partial() {
    let space = Space::serve("a_small_country");
    let survey = space.survey(space.settings());
    let desk = Desk::about(survey.dir().to_str().unwrap());
    desk.write("more.txt", "http://another.ke/\n");
    let (code, _, said) = desk.run(&["add", &desk.recorded, "--start", "more.txt"]);
    assert_eq!(code, 0, "{said}");
    is_provisional(&desk, "Partial: the survey was interrupted.");
}

#[test]
fn a_budget_that_trees_share_makes_a_survey_partial() {
    let desk = Desk::about("survey");
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/worlds/shared_hosting.toml");
    desk.simulate(world, "survey", &["--max-server-requests", "60"]);
    let sites = rows::<SiteRow>(&desk.path("survey"));
    let ended = sites.iter().filter(|site| site.outcome == "request_budget").count();
    assert!(ended > 3 && ended < sites.len(), "{ended}");
    is_provisional(&desk, "Partial: a budget shared by site trees was used up.");
    let (_, json, words) = advice(&desk, &[]);
    assert!(words.contains(&format!(" {ended} of {} site trees ended because", sites.len())), "{words}");
    assert_eq!(json["standing"]["out_of_budget"].as_u64(), Some(ended as u64));
    // A budget per site cuts trees too, but all in the same way: the curve shows that.
    let desk = Desk::about("survey");
    desk.simulate(world, "survey", &["--max-requests", "4"]);
    let (code, json, _) = advice(&desk, &["--coverage", "0.5"]);
    assert_eq!((code, &json["partial"]), (0, &Value::Null));
}
