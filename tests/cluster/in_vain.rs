//! Agents that are alive but fail to send requests hold no sites.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use ccsurvey::records::ExchangeRow;
use ccsurvey::survey::{AgentSeen, Snapshot};

use super::processes::{assert_polite, coordinator, coordinator_on, starts, survey_alone};
use crate::common::bus::{Bus, Process, agent, agent_command_on, program};
use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, rows, timeless_tables};

/// A user with sufficient permissions, and one that may do everything but receive dispatches.
const USERS: &str = r#"
jetstream {}
authorization {
    users = [
        { user: sound, password: hush }
        { user: deaf, password: hush, permissions: { subscribe: { deny: "ccsurvey.*.orders.>" } } }
    ]
}
"#;

fn agent_status(dir: &Path, name: &str) -> Option<AgentSeen> {
    let now = Snapshot::load(dir).ok().flatten()?;
    now.agents.into_iter().find(|agent| agent.name == name)
}

/// The status shows that the dispatches of this agent fail.
fn is_named(dir: &Path, name: &str) -> bool {
    agent_status(dir, name).is_some_and(|agent| agent.in_vain_since.is_some())
}

/// The survey ends although the dispatches of one agent fail; its tables equal those of one machine.
#[track_caller]
fn assert_ends(mut survey: Process, space: &Space, dir: &Path) {
    assert!(survey.wait().success());
    assert_polite(space);
    let alone_dir = dir.with_extension("alone");
    survey_alone(space, &alone_dir);
    assert_same_tables(&timeless_tables(dir).without_agents(), &timeless_tables(&alone_dir));
}

#[test]
fn an_agent_that_may_not_subscribe_to_what_is_dispatched_holds_no_sites() {
    let Some(bus) = Bus::start_with("cluster_in_vain_rights", USERS) else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let login = folder.path().join("login.toml");
    std::fs::write(&login, "user = \"sound\"\npassword = \"hush\"\n").unwrap();
    let survey = coordinator_on(
        &space,
        &bus.url(),
        &dir,
        &starts(&space, &dir),
        &["--nats-login", login.to_str().unwrap()],
    );
    let begin = |user: &str| {
        let mut command = agent_command_on(program(), &bus.url(), user);
        command.args(["--gateway", &space.gateway()]);
        command.env("CCSURVEY_NATS_USER", user).env("CCSURVEY_NATS_PASSWORD", "hush");
        Process(command.spawn().unwrap())
    };
    let _deaf = begin("deaf");
    assert!(until(|| is_named(&dir, "deaf")));
    assert!(
        agent_status(&dir, "deaf").is_some_and(|agent| agent.sites_walking > 0),
        "as long as it is alone"
    );
    let _sound = begin("sound");
    assert_ends(survey, &space, &dir);
    let by_deaf = |row: &ExchangeRow| row.agent.as_deref() == Some("deaf") && row.total_ms.is_some();
    assert!(!rows::<ExchangeRow>(&dir).iter().any(by_deaf));
}

#[test]
fn an_agent_whose_link_has_become_too_slow_to_do_anything_gives_its_sites_up() {
    let Some(bus) = Bus::start("cluster_in_vain_link") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let (survey, link) = (coordinator(&space, &bus, &dir), bus.link());
    let mut command = agent_command_on(program(), &link.url(), "slow");
    let _slow = Process(command.args(["--gateway", &space.gateway()]).spawn().unwrap());
    assert!(until(|| space.accesses().len() > 60));
    link.delay(Duration::from_millis(3500));
    assert!(until(|| is_named(&dir, "slow")));
    let _sound = agent(&bus, "sound");
    assert_ends(survey, &space, &dir);
}

#[test]
fn sites_move_from_a_slow_agent_to_one_that_has_room() {
    let Some(bus) = Bus::start("cluster_slow") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let (mut survey, link) = (coordinator(&space, &bus, &dir), bus.link());
    let mut command = program();
    command.args(["agent", "--nats", &link.url(), "--name", "slow", "--sites", "64"]);
    command.args(["--gateway", &space.gateway()]);
    let mut slow = Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    assert!(until(|| space.accesses().len() > 40));
    link.delay(Duration::from_millis(400));
    assert!(until(|| agent_status(&dir, "slow").is_some_and(|agent| agent.slow_by_seconds.is_some())));
    let mut quick = agent(&bus, "quick");
    assert!(survey.wait().success() && slow.wait().success() && quick.wait().success());
    assert_polite(&space);
    let exchanges = rows::<ExchangeRow>(&dir);
    let sites_of = |name: &str| -> BTreeSet<String> {
        let by = exchanges.iter().filter(|row| row.agent.as_deref() == Some(name));
        by.map(|row| row.site.clone()).collect()
    };
    let moved = sites_of("slow").intersection(&sites_of("quick")).count();
    assert!(moved >= 4, "{moved} of {} sites of the slow agent went on at the other", sites_of("slow").len());
    let alone_dir = dir.with_extension("alone");
    survey_alone(&space, &alone_dir);
    assert_same_tables(&timeless_tables(&dir).without_agents(), &timeless_tables(&alone_dir));
}
