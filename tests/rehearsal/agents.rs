//! Several agents walk the site trees of a simulated survey: the tables equal those of one machine.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use ccsurvey::records::{ExchangeRow, Manifest};

use super::simulate::{simulate, summary_of};
use crate::common::{TimelessTables, assert_same_tables, rows, timeless_tables};

/// Sites of all sizes on few servers, some of them dead, with links among them.
const WORLD: &str = "
seed = 5
country_domains = [\"ke\"]
[sites]
count = 24
start_share = 0.7
most_pages = 16
[servers]
giants = 2
giants_share = 0.3
others = 12
[time]
scale = 1.0
";

const FLAGS: [&str; 8] =
    ["--depth", "4", "--max-requests", "none", "--max-time", "none", "--max-bytes", "none"];

fn survey(folder: &Path, name: &str, flags: &[&str]) -> (PathBuf, serde_json::Value) {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).unwrap();
    summary_of(WORLD, &folder, &[&FLAGS, flags].concat())
}

/// The tables without the agents' names.
fn tables(survey: &Path) -> TimelessTables {
    timeless_tables(survey).without_agents()
}

/// The agents of each tree.
fn agents(survey: &Path) -> BTreeMap<(String, u16), BTreeSet<String>> {
    let mut agents = BTreeMap::<_, BTreeSet<_>>::new();
    for row in rows::<ExchangeRow>(survey) {
        agents.entry((row.site, row.seed)).or_default().insert(row.agent.unwrap());
    }
    agents
}

#[test]
fn however_sites_are_shared_out_the_tables_are_those_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, summary) = survey(folder.path(), "alone", &[]);
    let expected = tables(&alone);
    assert!(rows::<ExchangeRow>(&alone).iter().all(|row| row.agent.is_none()));
    let methods =
        ["static-random", "static-size", "dynamic-random", "dynamic-size", "distributor", "competition"];
    for method in methods {
        let flags = ["--agents", "4", "--machines", "2", "--agent-sites", "3", "--partition", method];
        let sizes = ["--sizes", alone.to_str().unwrap()];
        let (walked, agent_summary) = survey(folder.path(), method, &[flags.as_slice(), &sizes].concat());
        assert_same_tables(&tables(&walked), &expected);
        assert_eq!(agent_summary["unrecorded_exchanges"], 0);
        assert_eq!(agent_summary["requests"], summary["requests"], "{method}");
        let agents = agents(&walked);
        assert!(agents.values().all(|agents| agents.len() == 1), "{method}: {agents:?}");
        let all: BTreeSet<_> = agents.values().flatten().collect();
        assert_eq!(all.len(), 4, "{method}: {all:?}");
        assert_eq!(agent_summary["most_parallel"], 1, "{method}");
    }
}

#[test]
fn agents_that_die_lose_no_answer_and_no_question_is_answered_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, _) = survey(folder.path(), "alone", &[]);
    let expected = tables(&alone);
    for method in ["dynamic-size", "static-random"] {
        let flags = ["--agents", "3", "--agent-life", "40s", "--agent-gap", "10s", "--partition", method];
        let (walked, summary) = survey(folder.path(), method, &flags);
        assert_same_tables(&tables(&walked), &expected);
        let agents = agents(&walked);
        assert!(agents.values().any(|agents| agents.len() > 1), "{method}: none died at work");
        assert!(agents.values().flatten().collect::<BTreeSet<_>>().len() > 6, "{method}: few came");
        assert!(summary["unrecorded_exchanges"].as_u64() > Some(0), "{method}: none died while it asked");
        assert_eq!(summary["most_parallel"], 1, "{method}");
        assert!(summary["broken_promises"].as_array().unwrap().is_empty(), "{method}");
        let simulation_settings = Manifest::load(&walked).unwrap().simulation.unwrap();
        assert_eq!(
            (&simulation_settings["agents"]["partition"], &simulation_settings["agents"]["life_s"]),
            (&method.into(), &40.0.into())
        );
    }
}

#[test]
fn an_agent_reads_no_more_pages_in_a_time_than_its_machine_can() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "--agents",
        "2",
        "--machines",
        "2",
        "--capacity",
        "0.3,0.1",
        "--min-delay",
        "0",
        "--agent-sites",
        "4",
    ];
    let quick = ["--delay-factor", "0", "--harm", "none", "--rate", "none"];
    let (walked, _) = survey(folder.path(), "two", &[flags.as_slice(), &quick].concat());
    let mut started = HashMap::<String, Vec<i64>>::new();
    for row in rows::<ExchangeRow>(&walked) {
        started.entry(row.agent.unwrap()).or_default().push(row.started.0);
    }
    for (agent, capacity) in [("agent-1", 0.3), ("agent-2", 0.1)] {
        let times = started.get_mut(agent).unwrap();
        times.sort_unstable();
        // Each of the four trees may have sent a request while the agent reads.
        let read = times.len() as f64 - 4.0;
        let seconds = (times.last().unwrap() - times[0]) as f64 / 1e6;
        let rate = read / seconds;
        assert!(rate <= capacity * 1.01, "{agent}: {rate} of {capacity}");
    }
    let [first_count, second_count] = ["agent-1", "agent-2"].map(|agent| started[agent].len() as f64);
    assert!(first_count > second_count, "{first_count} {second_count}");
}

#[test]
fn flags_that_make_no_team_are_refused_with_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("world.toml");
    std::fs::write(&world, WORLD).unwrap();
    let nowhere = folder.path().join("nowhere");
    for (flags, expected_message, code) in [
        (vec!["--agents", "0"], "expected 1 or more", 2),
        (vec!["--machines", "2"], "--agents <N>", 2),
        (vec!["--agents", "4", "--machines", "3", "--capacity", "1,2"], "2 values for 3 machines", 2),
        (
            vec!["--agents", "2", "--machines", "3"],
            "--machines is 3, expected at most --agents, which is 2",
            2,
        ),
        (vec!["--agents", "4", "--capacity", "0"], "expected responses per second", 2),
        (vec!["--agents", "4", "--capacity", "1e-30"], "expected responses per second", 2),
        (vec!["--agents", "4", "--agent-life", "0"], "expected 10s to 365days", 2),
        (
            vec!["--agents", "4", "--agent-life", "1h", "--agent-gap", "1000days"],
            "expected 10s to 365days",
            2,
        ),
        (vec!["--agents", "4", "--partition", "fair"], "static-random", 2),
        (vec!["--agents", "4", "--sizes", nowhere.to_str().unwrap()], "is not a survey", 1),
    ] {
        let output = simulate(&world, &folder.path().join("survey"), &flags);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), messages.contains(expected_message)),
            (Some(code), true),
            "{flags:?}: {messages}"
        );
        assert!(!folder.path().join("survey").exists(), "{flags:?}");
    }
}
