//! Whichever agents send the requests, the tables equal those of one machine.
#![allow(clippy::disallowed_methods)] // The test itself reads the clock.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ccsurvey::address::WebUrl;
use ccsurvey::records::{ExchangeRow, LevelRow, Manifest, SiteRow};
use futures_util::StreamExt;

use super::processes::{
    LONG_TIMEOUTS, assert_polite, coordinator, coordinator_from, coordinator_with, survey_alone_with,
};
use crate::common::bus::{Bus, Process, agent, agent_command, agent_with_sites, program};
use crate::common::skipped::skip;
use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, rows, timeless_tables};

#[test]
fn three_agents_make_the_tables_of_one_machine_and_keep_its_pauses() {
    for world in ["a_small_country", "hosts_fail_in_every_way"] {
        let Some(bus) = Bus::start("cluster") else { return };
        let (space, folder) = (Space::serve(world), tempfile::tempdir().unwrap());
        let dir = folder.path().join("by-agents");
        let mut survey = coordinator_with(&space, &bus, &dir, &LONG_TIMEOUTS);
        let mut agents: Vec<_> = ["one", "two", "three"].map(|name| agent(&bus, name)).into();
        assert!(survey.wait().success(), "{world}");
        for agent in &mut agents {
            assert!(agent.wait().success(), "agents end with the survey");
        }
        assert_polite(&space);
        let agents_used: BTreeSet<_> =
            rows::<ExchangeRow>(&dir).into_iter().filter_map(|row| row.agent).collect();
        assert_eq!(agents_used, ["one", "three", "two"].map(str::to_owned).into(), "each had its share");
        assert_lost_only_in_doubt(&dir);
        let alone_dir = folder.path().join("alone");
        survey_alone_with(&space, &alone_dir, &LONG_TIMEOUTS);
        assert_same_tables(&timeless_tables(&dir).without_agents(), &timeless_tables(&alone_dir));
    }
}

/// Each server has its own pace, so an agent that walks sites on many servers sends many requests.
#[test]
fn agents_send_as_many_requests_each_and_one_that_joins_later_gets_its_part() {
    let Some(bus) = Bus::start("cluster_shares") else { return };
    let world = include_str!("../worlds/a_small_country.toml");
    let world = world.replace("count = 40", "count = 120").replace("others = 20", "others = 90");
    let (space, folder) = (Space::from_toml(&world), tempfile::tempdir().unwrap());
    let dir = folder.path().join("by-agents");
    let mut survey = coordinator_with(&space, &bus, &dir, &["--min-delay", "400ms", "--max-delay", "400ms"]);
    let large_agent = |name| agent_with_sites(&bus, name, 64);
    let mut agents: Vec<_> = ["one", "two"].map(large_agent).into();
    assert!(until(|| space.accesses().len() > 150));
    agents.push(large_agent("late"));
    assert!(survey.wait().success());
    assert!(agents.iter_mut().all(|agent| agent.wait().success()));
    let mut sent_exchanges: Vec<_> =
        rows::<ExchangeRow>(&dir).into_iter().filter(|row| row.total_ms.is_some()).collect();
    sent_exchanges.sort_by_key(|row| row.started);
    let joined =
        sent_exchanges.iter().position(|row| row.agent.as_deref() == Some("late")).expect("it gets a part");
    // A while after the agent has joined, until few servers are left.
    let (shared, requests_before) = (&sent_exchanges[joined..], sent_exchanges.len() - joined);
    let shared = &shared[requests_before / 4..requests_before / 2];
    let request_count = |name: &str| shared.iter().filter(|row| row.agent.as_deref() == Some(name)).count();
    let shares = ["one", "two", "late"].map(request_count);
    // On a busy machine, processes take turns, and trees that are being walked stay with their agent. The
    // tests of the dealer check that each agent walks sites on as many servers.
    let all: usize = shares.iter().sum();
    assert!(shares.iter().all(|share| (all / 20..all * 2 / 3).contains(share)), "{shares:?}");
}

#[test]
fn agents_ask_once_for_a_robots_txt_that_forty_start_urls_of_a_site_need() {
    let Some(bus) = Bus::start("cluster_robots") else { return };
    let (space, folder) = (Space::serve("shared_hosting"), tempfile::tempdir().unwrap());
    let (dir, start) = (folder.path().join("survey"), folder.path().join("start.txt"));
    let islands =
        |url: &WebUrl| (0..40).map(|n| url.join(&format!("/island/{n}")).unwrap()).collect::<Vec<_>>();
    let urls: Vec<WebUrl> = space.starts().iter().flat_map(islands).collect();
    std::fs::write(&start, urls.iter().map(|url| format!("{url}\n")).collect::<String>()).unwrap();
    let flags = ["--seeds-per-site", "40", "--entrances", "1", "--feed-back", "off"];
    let mut survey = coordinator_from(&space, &bus, &dir, &start, &flags);
    let _agents = ["one", "two", "three"].map(|name| agent(&bus, name));
    assert!(survey.wait().success());
    let mut requests_by_origin = HashMap::<_, usize>::new();
    for access in space.accesses().iter().filter(|access| access.path == "/robots.txt") {
        *requests_by_origin.entry((access.is_https, access.host.clone())).or_default() += 1;
    }
    assert!(
        !requests_by_origin.is_empty() && requests_by_origin.values().all(|times| *times == 1),
        "{requests_by_origin:?}"
    );
    let trees = rows::<SiteRow>(&dir).len();
    let shared: u64 = rows::<LevelRow>(&dir).iter().filter_map(|row| row.shared_robots).sum();
    assert!(
        trees >= 40 && shared as usize + requests_by_origin.len() >= trees,
        "{trees} trees, {shared} shared"
    );
}

#[test]
fn who_opts_out_is_left_alone_by_all_agents_within_two_seconds() {
    let Some(bus) = Bus::start("cluster_opt_outs") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let (dir, list) = (folder.path().join("survey"), folder.path().join("opt-out.txt"));
    std::fs::write(&list, "nobody.example\n").unwrap();
    let mut survey = coordinator_with(&space, &bus, &dir, &["--opt-out", list.to_str().unwrap()]);
    let _agents = ["one", "two"].map(|name| agent(&bus, name));
    assert!(until(|| space.accesses().len() > 60));
    let mut requests_by_address = HashMap::<IpAddr, usize>::new();
    space
        .accesses()
        .iter()
        .filter_map(|access| access.address)
        .for_each(|it| *requests_by_address.entry(it).or_default() += 1);
    let (owner, before) = requests_by_address.into_iter().max_by_key(|(_, times)| *times).unwrap();
    let now_us = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    std::fs::write(&list, format!("{owner}\n")).unwrap();
    let obeyed_from = now_us() + 2_000_000;
    assert!(survey.wait().success(), "no promise was broken");
    let owner_accesses = space.accesses().into_iter().filter(|access| access.address == Some(owner));
    let late: Vec<_> = owner_accesses.filter(|access| u128::from(access.arrival_us) > obeyed_from).collect();
    assert!(late.is_empty(), "{before} requests before, and then: {late:?}");
}

#[test]
fn clocks_of_agents_that_differ_by_minutes_shorten_no_pause() {
    if Command::new("faketime").arg("--version").output().is_err() {
        return skip("cluster_clocks", "there is no faketime (tests/setup installs it)");
    }
    let Some(bus) = Bus::start("cluster_clocks") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let mut survey = coordinator(&space, &bus, &dir);
    let before = std::time::SystemTime::now();
    let _agents = [("late", "-5m"), ("early", "+5m")].map(|(name, offset)| {
        let mut command = Command::new("faketime");
        // The monotonic clock runs unchanged: it is that of the machine.
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").args(["-f", offset]).arg(program().get_program());
        Process(agent_command(command, &bus, name).spawn().unwrap())
    });
    assert!(survey.wait().success());
    assert_polite(&space);
    let exchanges = rows::<ExchangeRow>(&dir);
    assert_eq!(exchanges.iter().filter_map(|row| row.agent.clone()).collect::<BTreeSet<_>>().len(), 2);
    let after = std::time::SystemTime::now();
    for row in exchanges {
        let started = std::time::SystemTime::from(row.started);
        assert!(before <= started && started <= after, "{started:?} is the time of an agent");
    }
}

#[test]
fn orders_and_answers_that_a_bridge_delivers_twice_count_once() {
    let Some(bus) = Bus::start("cluster_twice") else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let repeated = repeat_messages(&bus);
    let mut survey = coordinator_with(&space, &bus, &dir, &LONG_TIMEOUTS);
    let mut agents = ["one", "two"].map(|name| agent(&bus, name));
    assert!(survey.wait().success());
    for agent in &mut agents {
        assert!(agent.wait().success());
    }
    let requests = |from: usize| {
        let requests = space.accesses().into_iter().skip(from);
        requests.map(|access| (access.host, access.is_https, access.path)).collect::<Vec<_>>()
    };
    let by_agents = requests(0);
    assert_polite(&space);
    let alone_dir = folder.path().join("alone");
    survey_alone_with(&space, &alone_dir, &LONG_TIMEOUTS);
    let mut unmatched = by_agents.clone();
    for request in requests(by_agents.len()) {
        let index = unmatched.iter().position(|by_agent| *by_agent == request);
        unmatched.swap_remove(index.unwrap_or_else(|| panic!("no agent asked for {request:?}")));
    }
    let lost = assert_lost_only_in_doubt(&dir);
    assert!(
        unmatched.len() as u64 <= lost,
        "asked for once more than by one machine, {lost} counted: {unmatched:?}"
    );
    assert!(repeated.load(Ordering::SeqCst) > by_agents.len(), "orders were repeated");
    assert_same_tables(&timeless_tables(&dir).without_agents(), &timeless_tables(&alone_dir));
}

/// Returns how many requests are counted as lost. If an agent's network may be why a request failed, the
/// request is repeated. Each that broke off is, once. Of those that failed otherwise few are: on a busy
/// machine it can happen that no other server responds meanwhile.
fn assert_lost_only_in_doubt(dir: &Path) -> u64 {
    let lost = Manifest::load(dir).unwrap().unrecorded_exchanges;
    let sent = rows::<ExchangeRow>(dir).into_iter().filter(|row| row.total_ms.is_some());
    let failures: Vec<String> = sent.filter_map(|row| row.failure).collect();
    let broke_off =
        |failure: &&String| ["body_truncated", "idle_closed", "reset"].contains(&failure.as_str());
    let broken_off = failures.iter().filter(broke_off).count();
    let others = failures.len() - broken_off;
    let most = (broken_off + others / 2 + 4) as u64;
    assert!(lost <= most, "{lost}, though {broken_off} broke off and {others} failed otherwise");
    lost
}

/// Delivers each dispatch once more to its agent, and to all others, and each reply once more; counts them.
fn repeat_messages(bus: &Bus) -> Arc<AtomicUsize> {
    let (count, url) = (Arc::new(AtomicUsize::new(0)), bus.url());
    let (counted, (ready, is_ready)) = (count.clone(), std::sync::mpsc::channel());
    std::thread::spawn(move || {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let client = async_nats::connect(url).await.unwrap();
            let orders = client.subscribe("ccsurvey.*.orders.*").await.unwrap();
            let mut all =
                futures_util::stream::select(orders, client.subscribe("ccsurvey.*.said").await.unwrap());
            client.flush().await.unwrap();
            ready.send(()).unwrap();
            let (mut seen, mut agents) = (HashSet::new(), BTreeSet::new());
            while let Some(message) = all.next().await {
                if !seen.insert(message.payload.clone()) {
                    continue;
                }
                let mut subjects = vec![message.subject.clone()];
                if message.subject.contains(".orders.") {
                    agents.insert(message.subject.to_string());
                    subjects = agents.iter().map(|agent| agent.as_str().into()).collect();
                }
                for subject in subjects {
                    counted.fetch_add(1, Ordering::SeqCst);
                    client.publish(subject, message.payload.clone()).await.unwrap();
                }
            }
        });
    });
    is_ready.recv().unwrap();
    count
}
