//! What `choose-depth` recommends, how certain that is, and what it says when it cannot tell.

use std::sync::LazyLock;

use ccsurvey::records::SiteRow;
use serde_json::Value;

use super::choose_depth::Workspace;
use crate::common::rows;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The least depth whose coverage reaches `wanted` in `figure`, an end of the interval or the value.
fn smallest_depth(choice: &Value, figure: &str, wanted: f64) -> Option<u64> {
    let reaches = |level: &Value| {
        let coverage = &level["coverage"];
        // Without an interval, the value is certain by definition, or nothing is certain.
        let measured = || if coverage["no_interval"].is_null() { number(&coverage["value"]) } else { 0.0 };
        coverage[figure].as_f64().unwrap_or_else(measured) >= wanted
    };
    let depth = choice["levels"].as_array().unwrap().iter().position(reaches)?;
    Some(depth as u64)
}

fn percent(share: &Value) -> String {
    format!("{:.1}", number(share) * 100.0)
}

/// A folder with a survey of enough site trees for intervals.
fn large_survey() -> Workspace {
    static SURVEY: LazyLock<Workspace> = LazyLock::new(|| {
        let workspace = Workspace::with_recorded("survey");
        workspace.write("world.toml", "[sites]\ncount = 160\n");
        workspace.simulate("world.toml", "survey", &["--depth", "3"]);
        workspace
    });
    Workspace::with_recorded(&SURVEY.path("survey").display().to_string())
}

#[test]
fn the_corrected_curve_decides_and_a_higher_confidence_lets_the_end_of_the_interval_decide() {
    let workspace = large_survey();
    let wanted = ["--coverage", "0.2"];
    let choice = workspace.choose(&wanted)["choice"].take();
    assert_eq!(choice["depth"].as_u64(), smallest_depth(&choice, "corrected", 0.2));
    assert_eq!(choice["confidence"], 0.5);
    let sure = workspace.choose(&[&wanted[..], &["--confidence", "0.975"]].concat())["choice"].take();
    assert_eq!(sure["at_worst"].as_u64(), smallest_depth(&choice, "low", 0.2));
    assert_eq!(sure["as_measured"].as_u64(), smallest_depth(&choice, "value", 0.2));
    let deciding = |level: &Value| number(&level["deciding"]);
    for (curve, sure) in choice["levels"].as_array().unwrap().iter().zip(sure["levels"].as_array().unwrap()) {
        let corrected = number(&curve["coverage"]["corrected"]);
        assert!(corrected <= number(&curve["coverage"]["value"]));
        assert_eq!(deciding(curve), corrected);
        // Nothing is certain about a share without an interval.
        let low = curve["coverage"]["low"].as_f64().unwrap_or(0.0);
        assert!((deciding(sure) - low).abs() < 1e-6, "{curve} {sure}");
    }
}

#[test]
fn the_text_leads_with_the_depth_its_coverage_and_interval_then_says_the_risk_and_what_would_settle_it() {
    let workspace = large_survey();
    let choice = workspace.choose(&["--coverage", "0.2"])["choice"].take();
    let depth = choice["depth"].as_u64().unwrap();
    let coverage = &choice["levels"][depth as usize]["coverage"];
    let [value, corrected, low, high] =
        ["value", "corrected", "low", "high"].map(|figure| percent(&coverage[figure]));
    let (code, text, _) = workspace.run(&["choose-depth", &workspace.recorded, "--coverage", "0.2"]);
    let begin = format!(
        "Recommended: depth {depth}: {value} % (corrected {corrected} %, {low}–{high} %) of the external hosts known, with "
    );
    assert!(code == 0 && text.starts_with(&begin), "{text}");
    let risk = format!("\n  Risk: among all such sites, coverage may be as low as {low} %. ");
    assert!(text.contains(&risk), "{text}");
    // An interval 10 points wide is ± 5 points; four times the sites halve the width.
    let width = number(&coverage["high"]) - number(&coverage["low"]);
    let trees = number(&choice["trees"]);
    let more = trees * ((width / 0.1).powi(2) - 1.0);
    let suggested = number(&choice["settling"]["more_sites"]);
    assert!(suggested >= more && suggested < more * 1.1 + 1.0, "{suggested} {more}");
    let settled = format!(
        " more site trees would settle it, with an interval of ± 5 percentage points; this survey has {trees}.\n"
    );
    assert!(text.contains(&settled), "{text}");
}

#[test]
fn a_share_without_an_interval_says_why_in_the_sentence_the_table_and_the_json() {
    let workspace = Workspace::recorded();
    let choice = workspace.choose(&["--coverage", "0.5"])["choice"].take();
    for level in choice["levels"].as_array().unwrap().iter().rev().skip(1) {
        let coverage = &level["coverage"];
        assert_eq!(
            (coverage["low"].is_null(), &coverage["no_interval"]),
            (true, &"largest_tree".into()),
            "{level}"
        );
    }
    let (code, text, _) = workspace.run(&["choose-depth", &workspace.recorded, "--coverage", "0.5"]);
    let why = "\n  Risk: not known; one site tree holds more than half of it, so there is no interval.\n";
    assert!(code == 0 && text.contains(why), "{text}");
    assert!(text.lines().filter(|line| line.contains("one large tree")).count() >= 3, "{text}");
    // No tree holds that much of the load.
    assert_eq!(choice["levels"][0]["load"][0]["no_interval"], "few_trees");
}

#[test]
fn a_survey_that_ended_where_most_trees_go_on_says_survey_deeper_with_a_bound() {
    let workspace = Workspace::recorded();
    workspace.simulate("world.toml", "shallow", &["--depth", "2"]);
    let deep = workspace.choose(&[])["choice"].take();
    let shallow = Workspace::with_recorded(&workspace.path("shallow").display().to_string());
    let choice = shallow.choose(&[])["choice"].take();
    assert_eq!((&choice["verdict"], &choice["depth"]), (&"survey_deeper".into(), &Value::Null));
    assert!(choice["open_trees"].as_u64().unwrap() > 5);
    let coverage = |choice: &Value, depth: usize| number(&choice["levels"][depth]["coverage"]["value"]);
    for depth in 0..=2 {
        assert!(coverage(&choice, depth) > coverage(&deep, depth), "at most the figure shown");
    }
    assert!(coverage(&deep, 2) < 0.95);
    let (code, text, _) = shallow.run(&["choose-depth", &shallow.recorded]);
    assert_eq!(code, 4);
    assert!(
        text.starts_with("Survey deeper: ") && text.contains(" of 40 site trees continue below depth 2"),
        "{text}"
    );
    let next = percent(&choice["known"]["with_next"]);
    let bound = format!("levels 0 to 2 may hold only {next} % of the external hosts on levels 0 to 3");
    assert!(text.contains(&bound), "{text}");
    // A question about an environment gets no answer either, unless it asks for no coverage.
    assert_eq!(shallow.forecast("[survey]\ncoverage = 0.95\n")["verdict"], "survey_deeper");
    assert_eq!(shallow.forecast("[survey]\ndays = 1000\n")["depth"], 2);
    // The answer says that the survey ended at this depth.
    let (code, text, _) =
        shallow.run(&["choose-depth", &shallow.recorded, "--environment", "environment.toml"]);
    let deeper = [
        " of 40 site trees continue below depth 2, where this survey ended: a deeper survey may meet",
        &format!("may hold only {next} %"),
    ];
    assert!(code == 0 && deeper.iter().all(|sentence| text.contains(*sentence)), "{text}");
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let workspace = Workspace::recorded();
    let (code, _, stderr) =
        workspace.run(&["choose-depth", &workspace.recorded, "--of", "addresses", "--reading", "pair"]);
    assert!(code == 2 && stderr.contains("expected '--reading union'"), "{stderr}");
    // These servers respond at once.
    let silent = "silent_share = 0.0\n";
    workspace.write(
        "quick.toml",
        &format!("seed = 2\n[sites]\ncount = 10\n[time]\nscale = 0.0\n[faults]\n{silent}[extras]\n{silent}[robots]\n{silent}"),
    );
    workspace.simulate("quick.toml", "quick", &["--depth", "3"]);
    let (code, _, stderr) = workspace.run(&["choose-depth", "quick", "--load", "0.5", "--load-unit", "time"]);
    assert!(
        code == 2 && stderr.contains("busy for a measurable time, expected 'requests' or 'bytes'"),
        "{stderr}"
    );
}

#[test]
fn one_site_has_no_interval() {
    let workspace = Workspace::with_recorded("one");
    workspace.write("world.toml", "seed = 4\n[sites]\ncount = 1\n");
    workspace.simulate("world.toml", "one", &["--depth", "4"]);
    let choice = workspace.choose(&["--coverage", "0.1"])["choice"].take();
    for level in choice["levels"].as_array().unwrap() {
        let figures = level["load"].as_array().unwrap().iter().chain([&level["coverage"]]);
        for figure in figures {
            let value = number(&figure["value"]);
            // Shares of 0 and 1 hold by definition.
            let is_exact = value <= 0.0 || value >= 1.0;
            assert_eq!((figure["low"].is_f64(), figure["high"].is_f64()), (is_exact, is_exact), "{level}");
        }
    }
    let (_, text, _) = workspace.run(&["choose-depth", "one", "--coverage", "0.1", "--by", "cctld"]);
    let figures = text.lines().filter(|line| line.contains(" % "));
    assert!(figures.clone().count() > 3 && figures.clone().all(|line| !line.contains('–')), "{text}");
}

#[test]
fn equal_surveys_give_equal_advice_in_whatever_order_their_sites_ended() {
    let workspaces = ["4", "64"].map(|sites| {
        let workspace = Workspace::with_recorded("survey");
        workspace.write("world.toml", "[sites]\ncount = 160\n");
        workspace.simulate("world.toml", "survey", &["--depth", "2", "--sites", sites]);
        workspace
    });
    let order = |workspace: &Workspace| {
        rows::<SiteRow>(&workspace.path("survey")).into_iter().map(|row| row.site).collect::<Vec<_>>()
    };
    assert_ne!(
        order(&workspaces[0]),
        order(&workspaces[1]),
        "the sites of both surveys ended in the same order"
    );
    for flags in [&["--by", "network"] as &[&str], &["--confidence", "0.8", "--json"]] {
        let [few, many] = workspaces
            .each_ref()
            .map(|workspace| workspace.run(&[&["choose-depth", "survey"], flags].concat()));
        assert!(few.1.len() > 1000, "{}", few.2);
        assert_eq!(few, many);
    }
}

#[test]
fn where_no_depth_fits_the_first_bound_to_fail_the_nearest_depth_and_what_must_give_are_said() {
    let workspace = Workspace::recorded();
    let free = workspace.forecast("[survey]\ncoverage = 0.5\n");
    let covering = free["depth"].as_u64().unwrap() as usize;
    let days = |depth: usize| number(&free["levels"][depth]["seconds"]) / 86_400.0;
    let allowed = days(covering - 1) * 1.001;
    let none = workspace.forecast(&format!("[survey]\ndays = {allowed}\ncoverage = 0.5\n"));
    assert_eq!((&none["verdict"], &none["depth"]), (&"none_fits".into(), &Value::Null));
    let nearest = none["nearest"]["depth"].as_u64().unwrap() as usize;
    assert!(nearest == covering || nearest == covering - 1, "{}", none["nearest"]);

    let (code, text, _) =
        workspace.run(&["choose-depth", &workspace.recorded, "--environment", "environment.toml"]);
    assert_eq!(code, 4);
    let first =
        format!("\n  The first bound to fail, at depth {covering}: at most {allowed} days (survey.days).\n");
    assert!(text.starts_with("No depth fits") && text.contains(&first), "{text}");
    assert!(text.contains(&format!("\n  The nearest is depth {nearest}. It would need ")), "{text}");
    let alone = &none["limits"][0]["alone"];
    assert_eq!(
        (none["limits"][0]["bound"].as_str(), alone["depth"].as_u64()),
        (Some("days"), Some(covering as u64))
    );
    assert!(
        text.contains(&format!("if only this bound were relaxed, depth {covering} would need ")),
        "{text}"
    );

    // The advice that it gives works.
    let given = number(&alone["gives"][0]["found"]) * 1.000_001;
    let some = workspace.forecast(&format!("[survey]\ndays = {given}\ncoverage = 0.5\n"));
    assert_eq!(some["depth"].as_u64(), Some(covering as u64));
    let (code, text, _) = workspace.run(&["choose-depth", &workspace.recorded, "--load", "0.000001"]);
    assert!(code == 4 && text.contains("The nearest is depth 0: it would need "), "{text}");
}

#[test]
fn an_environment_may_say_that_no_share_of_a_link_is_kept() {
    let workspace = Workspace::recorded();
    let seconds = |environment: &str| number(&workspace.forecast(environment)["levels"][5]["seconds"]);
    let unbounded = seconds("[survey]\nharm = \"none\"\n");
    assert!(unbounded < seconds("") * 0.9);
    assert!(unbounded <= seconds("[survey]\nharm = 1\n"));
}
