//! The rate of a survey limits all of its agents together.

use super::processes::{coordinator_with, survey_alone_with};
use crate::common::bus::{Bus, agent};
use crate::common::{Space, assert_same_tables, timeless_tables};

const RATE: u64 = 200_000;
const LARGEST_BODY: u64 = 400_000;
/// What the largest exchange may move beyond its body (`ccsurvey survey --help`, max-bytes).
const BEYOND_BODY: u64 = 512 * 1024;

#[test]
fn agents_together_read_no_faster_than_the_rate() {
    let Some(bus) = Bus::start("cluster_rate") else { return };
    let world = include_str!("../worlds/a_small_country.toml");
    let world = world.replace("bytes_median = 1000.0", "bytes_median = 250000.0");
    let space = Space::from_toml(
        &world.replace("count = 40", "count = 24").replace("start_share = 0.6", "start_share = 1.0"),
    );
    let folder = tempfile::tempdir().unwrap();
    let (dir, rate, max_body) = (folder.path().join("survey"), RATE.to_string(), LARGEST_BODY.to_string());
    let flags = ["--rate", &rate, "--max-body", &max_body, "--depth", "0", "--feed-back", "off"];
    let mut survey = coordinator_with(&space, &bus, &dir, &flags);
    let mut agents = ["one", "two"].map(|name| agent(&bus, name));
    assert!(survey.wait().success(), "a promise was broken");
    assert!(agents.iter_mut().all(|agent| agent.wait().success()));

    let log = space.accesses();
    let sent: u64 = log.iter().map(|access| access.sent_bytes).sum();
    let first = log.iter().map(|access| access.arrival_us).min().unwrap();
    let last = log.iter().map(|access| access.end_us).max().unwrap();
    // Servers send a little before the agent reads; the largest exchange includes that.
    let allowed = RATE * (last - first) / 1_000_000 + LARGEST_BODY + BEYOND_BODY;
    assert!(sent > 10 * RATE, "{sent} bytes are too few to tell");
    assert!(sent <= allowed, "{sent} bytes in {} s, {allowed} at most", (last - first) as f64 / 1e6);
    let alone_dir = folder.path().join("alone");
    survey_alone_with(&space, &alone_dir, &["--max-body", &max_body, "--depth", "0", "--feed-back", "off"]);
    assert_same_tables(&timeless_tables(&dir).without_agents(), &timeless_tables(&alone_dir));
}
