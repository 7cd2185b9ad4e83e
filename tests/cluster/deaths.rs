//! Agents and coordinators die and are stopped; recorded requests are not repeated, and no pause becomes
//! shorter.

#![allow(clippy::disallowed_methods)] // The test itself reads the clock.

use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::records::{ExchangeRow, Manifest};
use ccsurvey::survey::Snapshot;

use super::processes::{assert_polite, coordinator, survey_alone};
use crate::common::bus::{Bus, Process, agent, program};
use crate::common::fixed_web::{FixedSpace, start_list};
use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, rows, timeless_tables};

#[test]
fn agents_and_coordinators_that_die_leave_the_tables_of_one_machine() {
    let Some(bus) = Bus::start("cluster_deaths") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("by-agents");
    let mut survey = coordinator(&space, &bus, &dir);
    let mut agents = vec![agent(&bus, "agent-1"), agent(&bus, "agent-2")];
    let await_requests = |requests: usize| {
        let target = space.accesses().len() + requests;
        assert!(until(|| space.accesses().len() >= target), "it goes on");
    };
    await_requests(30);
    agents.remove(0).kill();
    agents.push(agent(&bus, "agent-3"));
    await_requests(30);
    // A stopped agent is silent until it goes on.
    agents[0].signal("STOP");
    agents.push(agent(&bus, "agent-4"));
    await_requests(30);
    survey.kill();
    survey = coordinator(&space, &bus, &dir);
    await_requests(30);
    agents[0].signal("CONT");
    assert!(survey.wait().success());
    for agent in &mut agents {
        assert!(agent.wait().success());
    }
    assert_polite(&space);
    let alone_dir = folder.path().join("alone");
    survey_alone(&space, &alone_dir);
    assert_same_tables(&timeless_tables(&dir).without_agents(), &timeless_tables(&alone_dir));
}

#[test]
fn agents_are_told_by_the_status_and_one_that_is_asked_to_end_does() {
    let Some(bus) = Bus::start("cluster_status") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let mut survey = coordinator(&space, &bus, &dir);
    let mut leaving = agent(&bus, "leaves");
    let agents_in_status = || Snapshot::load(&dir).ok().flatten().map(|now| now.agents).unwrap_or_default();
    assert!(until(|| agents_in_status().iter().any(|agent| agent.name == "leaves" && agent.requests > 0)));
    assert!(agents_in_status()[0].since.is_some() && agents_in_status()[0].places == 8);
    leaving.signal("TERM");
    assert_eq!(leaving.wait().code(), Some(130));
    assert!(until(|| agents_in_status().is_empty()), "it has left");
    let mut staying = agent(&bus, "stays");
    assert!(survey.wait().success() && staying.wait().success());
    let exchanges = rows::<ExchangeRow>(&dir);
    assert!(
        ["leaves", "stays"].iter().all(|name| exchanges.iter().any(|row| row.agent.as_deref() == Some(name)))
    );
    // It ended what it was at; on a machine that is very busy a process may stand still, and says so.
    let messages = bus.agent_messages();
    let stood_still = messages.matches("stood still").count() as u64;
    assert_eq!(Manifest::load(&dir).unwrap().unrecorded_exchanges, stood_still, "{messages}");
    assert_polite(&space);
}

#[test]
fn a_server_that_a_dead_agent_may_still_be_talking_to_is_left_alone_until_no_exchange_can_take_longer() {
    const RESPONSE_TIME: Duration = Duration::from_millis(1500);
    /// Longer than a dead agent is waited for, and longer than the longest pause.
    const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(20);
    const PAUSE: Duration = Duration::from_secs(3);
    let Some(bus) = Bus::start("cluster_left_alone") else { return };
    let (space, folder) = (FixedSpace::serve(RESPONSE_TIME), tempfile::tempdir().unwrap());
    let (dir, start) = (folder.path().join("survey"), folder.path().join("starts.txt"));
    // The sites whose servers work for a while on each response.
    let alive: String =
        start_list().lines().filter(|url| !url.contains("down")).map(|url| format!("{url}\n")).collect();
    std::fs::write(&start, alive).unwrap();
    let pace =
        "--min-delay 20ms --delay-factor 0 --max-delay 3s --harm none --rate none --exchange-timeout 20s";
    let mut survey = program();
    survey
        .arg("survey")
        .arg(&dir)
        .arg("--start")
        .arg(&start)
        .args(pace.split(' '))
        .args(["--nats", &bus.url()]);
    survey.args(["--cctld", "ke", "--contact", "https://survey.example/contact"]);
    survey.args(["--dns", &space.dns(), "--gateway", &space.gateway()]);
    bus.set_agent_flags(&["--gateway", &space.gateway()]);
    let _survey = Process(survey.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let mut dying = agent(&bus, "dies");
    assert!(until(|| space.accesses().len() > 20));
    // All servers respond at nearly the same time: half a response time later all of them are working again.
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    let half = now() + RESPONSE_TIME.as_micros() as u64 / 2;
    assert!(until(|| now() > half));
    let died = now();
    dying.kill();
    let _survivor = agent(&bus, "lives");
    // The log records an access when it has ended.
    let in_flight = || {
        let began = died - RESPONSE_TIME.as_micros() as u64 * 9 / 10..died;
        space
            .accesses()
            .into_iter()
            .filter(move |access| began.contains(&access.arrival_us) && access.end_us > died)
    };
    assert!(until(|| in_flight().count() > 0), "it died while servers worked for it");
    let mut lost: Vec<_> = in_flight().collect();
    for _ in 0..3 {
        // One request at a time per server: the next access there.
        until(|| {
            let all = space.accesses();
            lost.retain(|lost| {
                let later = |access: &&ccsurvey::space::Access| {
                    access.address == lost.address && access.arrival_us > lost.arrival_us
                };
                let Some(next) = all.iter().filter(later).min_by_key(|access| access.arrival_us) else {
                    return true;
                };
                let gap = Duration::from_micros(next.arrival_us - lost.arrival_us);
                assert!(gap >= EXCHANGE_TIMEOUT + PAUSE, "{gap:?} after {lost:?}");
                false
            });
            lost.is_empty()
        });
    }
    assert!(lost.is_empty(), "they are asked again: {lost:?}");
}
