//! No request is sent on old knowledge, whatever stands still: the bus, the coordinator, its link or an
//! agent.
#![allow(clippy::disallowed_methods)] // The test itself reads the clock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::address::WebUrl;
use ccsurvey::records::ExchangeRow;

use super::processes::{assert_polite, coordinator_on, starts};
use crate::common::bus::{Bus, Link, Process, agent};
use crate::common::waiting::until;
use crate::common::{Space, rows};

/// Longer than a dispatch stays valid after its receipt: a message that was stuck is not too old for that
/// reason.
const STALL: Duration = Duration::from_millis(6500);
/// Time after an entry of an opt-out list, in µs.
const OBEYED_WITHIN_US: u64 = 2_000_000;

/// A running survey with two agents.
struct RunningSurvey {
    space: Space,
    bus: Bus,
    /// Between the coordinator and the bus.
    link: Link,
    survey: Process,
    agents: Vec<Process>,
    dir: PathBuf,
    list: PathBuf,
    _folder: tempfile::TempDir,
}

impl RunningSurvey {
    fn begin(test: &str) -> Option<Self> {
        let bus = Bus::start(test)?;
        let (space, link) = (Space::serve("a_small_country"), bus.link());
        let folder = tempfile::tempdir().unwrap();
        let (dir, list) = (folder.path().join("survey"), folder.path().join("opt-out.txt"));
        std::fs::write(&list, "nobody.example\n").unwrap();
        let flags = ["--opt-out", list.to_str().unwrap()];
        bus.set_agent_flags(&["--gateway", &space.gateway()]);
        let survey = coordinator_on(&space, &link.url(), &dir, &starts(&space, &dir), &flags);
        let agents = ["one", "two"].map(|name| agent(&bus, name)).into();
        assert!(until(|| space.accesses().len() > 60));
        Some(Self { space, bus, link, survey, agents, dir, list, _folder: folder })
    }

    /// The owners of all networks opt out; returns the time.
    fn opt_out(&self) -> u64 {
        let entries: String = (1..224).map(|first| format!("{first}.0.0.0/8\n")).collect();
        std::fs::write(&self.list, entries).unwrap();
        microseconds_now()
    }

    /// The survey ends, keeps its promises by its own verdict, and no request came too late by the servers'
    /// logs.
    fn assert_obeyed(mut self, opted_out: u64) {
        assert!(self.survey.wait().success(), "a promise was broken");
        for agent in &mut self.agents {
            assert!(agent.wait().success());
        }
        let all = self.space.accesses();
        let late: Vec<_> =
            all.iter().filter(|access| access.arrival_us > opted_out + OBEYED_WITHIN_US).collect();
        let servers: BTreeSet<_> = late.iter().filter_map(|access| access.address).collect();
        assert!(
            late.is_empty(),
            "{} requests to {} servers, the first {:?}",
            late.len(),
            servers.len(),
            late[0]
        );
        assert_polite(&self.space);
    }
}

fn microseconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64
}

/// Waits while something stands still.
fn wait_for_stall() {
    let end = microseconds_now() + STALL.as_micros() as u64;
    assert!(until(|| microseconds_now() > end));
}

#[test]
fn orders_that_wait_in_a_bus_that_stands_still_reach_nobody_who_opts_out_meanwhile() {
    let Some(running) = RunningSurvey::begin("cluster_gate_bus") else { return };
    running.bus.signal("STOP");
    let opted_out = running.opt_out();
    wait_for_stall();
    running.bus.signal("CONT");
    running.assert_obeyed(opted_out);
}

#[test]
fn orders_that_wait_on_the_line_of_the_coordinator_reach_nobody_who_opts_out_meanwhile() {
    let Some(running) = RunningSurvey::begin("cluster_gate_line") else { return };
    running.link.hold();
    let opted_out = running.opt_out();
    wait_for_stall();
    running.link.release();
    running.assert_obeyed(opted_out);
}

#[test]
fn a_coordinator_that_was_stopped_sends_nothing_to_those_who_opted_out_meanwhile() {
    let Some(running) = RunningSurvey::begin("cluster_gate_coordinator") else { return };
    running.survey.signal("STOP");
    let opted_out = running.opt_out();
    wait_for_stall();
    running.survey.signal("CONT");
    running.assert_obeyed(opted_out);
}

#[test]
fn what_was_sent_while_the_coordinator_was_stopped_is_recorded_with_its_time() {
    let Some(mut running) = RunningSurvey::begin("cluster_gate_times") else { return };
    for _ in 0..3 {
        running.survey.signal("STOP");
        wait_for_stall();
        running.survey.signal("CONT");
        let requests_before = running.space.accesses().len();
        assert!(until(|| running.space.accesses().len() > requests_before + 20));
    }
    assert!(running.survey.wait().success());
    // A repeated request reaches the server more often than the table shows.
    let mut arrivals = BTreeMap::<(String, String), Vec<u64>>::new();
    for access in running.space.accesses() {
        arrivals.entry((access.host, access.path)).or_default().push(access.arrival_us);
    }
    let mut compared = 0;
    for row in rows::<ExchangeRow>(&running.dir).into_iter().filter(|row| row.status.is_some()) {
        let url = WebUrl::parse(&row.url).unwrap();
        let request_key = (url.host().as_str().to_owned(), url.target().to_owned());
        let Some(arrival_times) = arrivals.get(&request_key) else { continue };
        let started = row.started.0.cast_unsigned();
        let difference_us =
            arrival_times.iter().map(|arrival_us| arrival_us.abs_diff(started)).min().unwrap();
        // As late as a ping may be whose reply still permits a request, and a margin.
        assert!(
            difference_us < 3_000_000,
            "{}: recorded {difference_us} µs from when its server saw it",
            row.url
        );
        compared += 1;
    }
    assert!(compared > 200, "{compared} exchanges are no test");
}

#[test]
fn agents_that_were_stopped_send_nothing_to_those_who_opted_out_meanwhile() {
    let Some(running) = RunningSurvey::begin("cluster_gate_agents") else { return };
    running.agents.iter().for_each(|agent| agent.signal("STOP"));
    let opted_out = running.opt_out();
    wait_for_stall();
    running.agents.iter().for_each(|agent| agent.signal("CONT"));
    running.assert_obeyed(opted_out);
}
