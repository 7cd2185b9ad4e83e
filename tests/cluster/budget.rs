//! A budget of requests for a survey over several machines.

use ccsurvey::records::{ExchangeRow, Manifest};

use super::processes::{LONG_TIMEOUTS, assert_polite, coordinator_with, survey_alone_with};
use crate::common::bus::{Bus, agent};
use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, rows, timeless_tables};

const BUDGET: usize = 300;

fn flags() -> Vec<&'static str> {
    [&LONG_TIMEOUTS[..], &["--budget", "300"]].concat()
}

#[test]
fn three_agents_spend_a_budget_as_one_machine_does() {
    let Some(bus) = Bus::start("cluster_budget") else { return };
    // Requests that break off at an agent are repeated, and the repetitions count.
    let world =
        include_str!("../worlds/a_small_country.toml").replace("reset_share = 0.05", "reset_share = 0.0");
    let world = world.replace("[extras]", "[extras]\ncut_share = 0.0");
    let (space, folder) = (Space::from_toml(&world), tempfile::tempdir().unwrap());
    let dir = folder.path().join("by-agents");
    let mut survey = coordinator_with(&space, &bus, &dir, &flags());
    let mut agents: Vec<_> = ["one", "two", "three"].map(|name| agent(&bus, name)).into();
    assert!(survey.wait().success());
    assert!(agents.iter_mut().all(|agent| agent.wait().success()));
    assert_polite(&space);
    let lost = Manifest::load(&dir).unwrap().unrecorded_exchanges;
    assert_eq!((space.accesses().len(), lost), (BUDGET, 0));
    let alone_dir = folder.path().join("alone");
    survey_alone_with(&space, &alone_dir, &flags());
    assert_eq!(space.accesses().len(), 2 * BUDGET);
    assert_same_tables(&timeless_tables(&dir).without_agents(), &timeless_tables(&alone_dir));
}

#[test]
fn an_agent_that_dies_makes_a_survey_send_no_more_than_its_budget() {
    let Some(bus) = Bus::start("cluster_budget_death") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let mut survey = coordinator_with(&space, &bus, &dir, &flags());
    let mut doomed = agent(&bus, "doomed");
    assert!(until(|| space.accesses().len() > 60));
    doomed.kill();
    let mut heir = agent(&bus, "heir");
    assert!(survey.wait().success() && heir.wait().success());
    let manifest = Manifest::load(&dir).unwrap();
    let recorded = rows::<ExchangeRow>(&dir).iter().filter(|row| row.was_sent()).count();
    let lost = usize::try_from(manifest.unrecorded_exchanges).unwrap();
    let requests = space.accesses().len();
    assert!(requests <= BUDGET && recorded + lost == BUDGET, "{requests}: {recorded} on record, {lost} lost");
    assert_polite(&space);
}
