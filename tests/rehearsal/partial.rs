//! Advice from a partial survey says so: it is provisional wherever it is shown.

use std::fs;

use ccsurvey::records::{CurveRow, Manifest, SiteRow, SurveyState};
use serde_json::Value;

use super::choose_depth::Workspace;
use crate::common::{Space, rows};

const WORLD: &str = "seed = 5\n[sites]\ncount = 40\n";

/// A survey whose manifest has this state.
fn survey_in_state(state: SurveyState) -> Workspace {
    let workspace = Workspace::with_recorded("survey");
    workspace.write("world.toml", WORLD);
    workspace.simulate("world.toml", "survey", &["--depth", "6"]);
    let mut manifest = Manifest::load(&workspace.path("survey")).unwrap();
    manifest.state = state;
    manifest.save(&workspace.path("survey")).unwrap();
    workspace
}

fn advice(workspace: &Workspace, flags: &[&str]) -> (i32, Value, String) {
    let command = [&["choose-depth", workspace.recorded.as_str()], flags].concat();
    let (code, text, _) = workspace.run(&command);
    let (json_code, json, messages) = workspace.run(&[&command[..], &["--json"]].concat());
    assert_eq!(code, json_code, "{messages}");
    (code, serde_json::from_str(&json).unwrap(), text)
}

/// Checks that hold for every partial survey, with any flags.
#[track_caller]
fn assert_provisional(workspace: &Workspace, title: &str) {
    workspace.write("free.toml", "");
    for flags in [&["--coverage", "0.5"] as &[&str], &["--load", "0.9"], &["--environment", "free.toml"]] {
        let (code, json, text) = advice(workspace, flags);
        assert_eq!(code, 4, "{text}");
        assert!(text.starts_with(title), "{text}");
        assert!(text.contains("\n\nProvisional: depth ") && text.contains("<- provisional"), "{text}");
        assert!(!text.contains("Recommended") && !text.contains("<- recommended"), "{text}");
        assert_eq!(json["partial"]["title"].as_str(), Some(title));
    }
    let (code, page, messages) = workspace.run(&["report", &workspace.recorded, "-o", "-"]);
    assert_eq!(code, 0, "{messages}");
    let first_page = page.split("<h2").next().unwrap();
    assert!(first_page.contains(title) && first_page.contains("(provisional)"), "{first_page}");
    assert!(page.contains("Provisional: based on a part of the survey."));
    assert!(
        rows::<CurveRow>(&workspace.path(&workspace.recorded)).iter().all(|row| row.is_partial == Some(true))
    );
}

#[test]
fn advice_from_a_survey_that_is_not_over_is_provisional() {
    for (state, title) in [
        (SurveyState::Interrupted, "Partial: the survey was interrupted."),
        (SurveyState::Running, "Partial: the survey is in progress, or was killed."),
        (SurveyState::Failed, "Partial: the survey has failed."),
    ] {
        let workspace = survey_in_state(state);
        assert_provisional(&workspace, title);
        let (_, _, text) = advice(&workspace, &[]);
        let trees = rows::<SiteRow>(&workspace.path("survey")).len();
        let done = format!(" {trees} of {trees} known site trees are done, as of ");
        assert!(text.contains(&done), "{text}");
        // Without the last status of its trees.
        fs::remove_file(workspace.path("survey/status.json")).unwrap();
        let (code, _, text) = advice(&workspace, &[]);
        let done = format!(" {trees} of the site trees are done; only these are in the figures.");
        assert!(code == 4 && text.contains(&done), "{text}");
    }
}

#[test]
fn advice_from_a_whole_survey_is_final() {
    let workspace = survey_in_state(SurveyState::Finished);
    let (code, json, text) = advice(&workspace, &["--coverage", "0.5"]);
    assert!(code == 0 && text.starts_with("Recommended: depth "), "{text}");
    assert_eq!((&json["partial"], &json["standing"]["state"]), (&Value::Null, &"finished".into()));
    let (_, page, _) = workspace.run(&["report", "survey", "-o", "-"]);
    assert!(!page.contains("rovisional"));
    assert!(rows::<CurveRow>(&workspace.path("survey")).iter().all(|row| row.is_partial == Some(false)));
}

#[test]
fn a_start_url_that_is_added_makes_a_finished_survey_partial() {
    let space = Space::serve("a_small_country");
    let survey = space.survey(space.settings());
    let workspace = Workspace::with_recorded(survey.dir().to_str().unwrap());
    workspace.write("more.txt", "http://another.ke/\n");
    let (code, _, messages) = workspace.run(&["add", &workspace.recorded, "--start", "more.txt"]);
    assert_eq!(code, 0, "{messages}");
    assert_provisional(&workspace, "Partial: the survey was interrupted.");
}

#[test]
fn a_budget_that_trees_share_makes_a_survey_partial() {
    let workspace = Workspace::with_recorded("survey");
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/worlds/shared_hosting.toml");
    workspace.simulate(world, "survey", &["--max-server-requests", "60"]);
    let sites = rows::<SiteRow>(&workspace.path("survey"));
    let ended = sites.iter().filter(|site| site.outcome == "request_budget").count();
    assert!(ended > 3 && ended < sites.len(), "{ended}");
    assert_provisional(&workspace, "Partial: a budget shared by site trees was used up.");
    let (_, json, text) = advice(&workspace, &[]);
    assert!(text.contains(&format!(" {ended} of {} site trees ended because", sites.len())), "{text}");
    assert_eq!(json["standing"]["out_of_budget"].as_u64(), Some(ended as u64));
    // A budget per site cuts trees too, but all in the same way: the curve shows that.
    let workspace = Workspace::with_recorded("survey");
    workspace.simulate(world, "survey", &["--max-requests", "4"]);
    let (code, json, _) = advice(&workspace, &["--coverage", "0.5"]);
    assert_eq!((code, &json["partial"]), (0, &Value::Null));
}
