//! Agents and coordinators die and are stopped; what is on record is not asked again, and no pause shrinks.

use ccsurvey::records::{ExchangeRow, Manifest};
use ccsurvey::survey::Snapshot;

use super::processes::{alone, assert_polite, coordinator};
use crate::common::bus::{Bus, agent};
use crate::common::waiting::until;
use crate::common::{Space, rows, same_tables, timeless_tables};

#[test]
fn agents_and_coordinators_that_die_leave_the_tables_of_one_machine() {
    let Some(bus) = Bus::start("cluster_deaths") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("by-agents");
    let mut survey = coordinator(&space, &bus, &dir);
    let mut agents = vec![agent(&bus, "agent-1"), agent(&bus, "agent-2")];
    let more = |requests: usize| {
        let target = space.accesses().len() + requests;
        assert!(until(|| space.accesses().len() >= target), "it goes on");
    };
    more(30);
    agents.remove(0).kill();
    agents.push(agent(&bus, "agent-3"));
    more(30);
    // An agent that is stopped is one that nobody hears of, until it goes on.
    agents[0].signal("STOP");
    agents.push(agent(&bus, "agent-4"));
    more(30);
    survey.kill();
    survey = coordinator(&space, &bus, &dir);
    more(30);
    agents[0].signal("CONT");
    assert!(survey.wait().success());
    for agent in &mut agents {
        assert!(agent.wait().success());
    }
    assert_polite(&space);
    let of_one = folder.path().join("alone");
    alone(&space, &of_one);
    same_tables(&timeless_tables(&dir).without_agents(), &timeless_tables(&of_one));
}

#[test]
fn agents_are_told_by_the_status_and_one_that_is_asked_to_end_does() {
    let Some(bus) = Bus::start("cluster_status") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let mut survey = coordinator(&space, &bus, &dir);
    let mut leaves = agent(&bus, "leaves");
    let told = || Snapshot::load(&dir).ok().flatten().map(|now| now.agents).unwrap_or_default();
    assert!(until(|| told().iter().any(|agent| agent.name == "leaves" && agent.requests > 0)));
    assert!(told()[0].since.is_some() && told()[0].places == 8);
    leaves.signal("TERM");
    assert_eq!(leaves.wait().code(), Some(130));
    assert!(until(|| told().is_empty()), "it has left");
    let mut stays = agent(&bus, "stays");
    assert!(survey.wait().success() && stays.wait().success());
    let asked = rows::<ExchangeRow>(&dir);
    assert!(
        ["leaves", "stays"].iter().all(|name| asked.iter().any(|row| row.agent.as_deref() == Some(name)))
    );
    assert_eq!(Manifest::load(&dir).unwrap().unrecorded_exchanges, 0, "it ended what it was at");
    assert_polite(&space);
}
