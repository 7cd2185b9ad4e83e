//! Agents whose own link to the Internet is broken put no wrong outcome into a table. Each agent has its own
//! network namespace.
#![allow(clippy::disallowed_methods)] // The links between agents and servers have their own sockets.

use std::collections::BTreeSet;
use std::io::copy;
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ccsurvey::records::{ExchangeRow, Manifest, SiteRow, SurveyState};
use ccsurvey::survey::{AgentSeen, Snapshot};

use super::processes::{coordinator_with, survey_alone_with};
use crate::common::bus::{Bus, Process, agent, program};
use crate::common::skipped::skip;
use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, rows, timeless_tables};

/// The reason of a lost request stays in doubt for half the longest pause: long enough for connections that
/// fail meanwhile.
const FLAGS: [&str; 4] = ["--max-delay", "4s", "--connect-timeout", "1s"];

/// Slow enough for another agent to join meanwhile, and fast enough for a connection to be kept until the
/// next request.
const ONE_BY_ONE: [&str; 2] = ["--min-delay", "60ms"];

/// Slow servers: at most moments a request is in flight.
const SLOW: &str = "\n[time]\nscale = 0.3\n";

/// The network of an agent in its own namespace.
struct FarNetwork {
    folder: tempfile::TempDir,
    bus: String,
    gateway: String,
}

impl FarNetwork {
    /// None where no namespace can be created.
    fn begin(test: &str, space: &Space, bus: &Bus) -> Option<Self> {
        let succeeds = |program: &str, arguments: &[&str]| {
            Command::new(program)
                .args(arguments)
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|done| done.success())
        };
        if !succeeds("unshare", &["-n", "ip", "link", "set", "lo", "up"])
            || !succeeds("python3", &["--version"])
        {
            skip(test, "there can be no network namespace (as root, with unshare, ip and python3)");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let bus = bus.url().trim_start_matches("nats://").to_owned();
        let far = Self { folder, bus, gateway: space.gateway() };
        far.set_mode("open");
        std::fs::write(far.path("bus-mode"), "open").unwrap();
        for (name, address) in [("bus", &far.bus), ("gateway", &far.gateway)] {
            bridge(&far.path(name), address.clone());
        }
        Some(far)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `open`, `refuse`, `drop` or `forget`.
    fn set_mode(&self, mode: &str) {
        let (new, path) = (self.path("new-mode"), self.path("mode"));
        std::fs::write(&new, mode).unwrap();
        std::fs::rename(new, path).unwrap();
    }

    /// An agent in that namespace.
    fn agent(&self, name: &str) -> Process {
        let port = |address: &str| address.rsplit_once(':').unwrap().1.to_owned();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/far_network.py");
        let mut command = Command::new("unshare");
        // The shell becomes the script, and the script becomes the agent.
        command.args(["-n", "sh", "-c", "ip link set lo up; exec python3 \"$@\"", "far"]);
        command.arg(script);
        for (name, address, mode) in [("bus", &self.bus, "bus-mode"), ("gateway", &self.gateway, "mode")] {
            let [socket, mode] = [name, mode].map(|file| self.path(file).display().to_string());
            command.arg(format!("{}:{socket}:{mode}", port(address)));
        }
        command.arg("--").arg(program().get_program());
        command.args(["agent", "--nats", &format!("nats://{}", self.bus), "--name", name, "--sites", "64"]);
        command.args(["--gateway", &self.gateway]);
        Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

/// Connects a socket in the file system, which all namespaces share, to an address.
fn bridge(path: &Path, address: String) {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = TcpStream::connect(&address) else { continue };
            let (mut near_in, mut near_out) = (near.try_clone().unwrap(), near);
            let (mut far_in, mut far_out) = (far.try_clone().unwrap(), far);
            std::thread::spawn(move || {
                let _ = copy(&mut near_in, &mut far_out);
                let _ = far_out.shutdown(std::net::Shutdown::Write);
            });
            std::thread::spawn(move || {
                let _ = copy(&mut far_in, &mut near_out);
                let _ = near_out.shutdown(std::net::Shutdown::Write);
            });
        }
    });
}

/// A country with enough servers to distinguish a broken link from dead servers.
fn country(sites: u32) -> Space {
    Space::from_toml(&small_country(sites))
}

fn small_country(sites: u32) -> String {
    let world = include_str!("../worlds/a_small_country.toml");
    let world =
        world.replace("count = 40", &format!("count = {sites}")).replace("others = 20", "others = 60");
    world.replace("giants_share = 0.4", "giants_share = 0.2")
}

/// A country with one site of about this many pages.
fn one_site(pages: u32, silent_share: &str) -> Space {
    let world = include_str!("../worlds/a_small_country.toml");
    let site_shares =
        "one_page_share = 0.0\nbrochure_share = 1.0\ncms_share = 0.0\nlarge_share = 0.0\n[pages]";
    let world = world.replace("count = 40", "count = 1").replace("start_share = 0.6", "start_share = 1.0");
    let world = world.replace("[pages]", site_shares).replace("most_pages = 30", "most_pages = 300");
    let world = world.replace("_median = 8.0", &format!("_median = {pages}.0"));
    // The first occurrence is that of pages.
    Space::from_toml(&world.replacen("silent_share = 0.0", silent_share, 1))
}

fn agent_status(dir: &Path, name: &str) -> Option<AgentSeen> {
    let now = Snapshot::load(dir).ok().flatten()?;
    now.agents.into_iter().find(|agent| agent.name == name)
}

fn is_broken(dir: &Path, name: &str) -> bool {
    agent_status(dir, name).is_some_and(|agent| agent.link_broken_since.is_some())
}

#[track_caller]
fn assert_like_one_machine(space: &Space, dir: &Path, folder: &Path) {
    let alone_dir = folder.join("alone");
    survey_alone_with(space, &alone_dir, &FLAGS);
    let outcomes = |dir: &Path| {
        let rows = rows::<SiteRow>(dir).into_iter();
        rows.map(|row| (row.site, row.outcome, row.number, row.start_url)).collect::<BTreeSet<_>>()
    };
    let (found, expected) = (outcomes(dir), outcomes(&alone_dir));
    assert_eq!((&found - &expected, &expected - &found), Default::default());
    let failed = |dir: &Path| {
        let mut failed: Vec<_> =
            rows::<ExchangeRow>(dir).into_iter().filter(|row| row.failure.is_some()).collect();
        failed.sort_by(|one, other| one.url.cmp(&other.url));
        failed.into_iter().map(|row| (row.url, row.failure, row.status)).collect::<Vec<_>>()
    };
    assert_eq!(failed(dir), failed(&alone_dir));
    assert_same_tables(&timeless_tables(dir).without_agents(), &timeless_tables(&alone_dir));
}

#[test]
fn an_agent_that_reaches_nobody_makes_no_site_unreachable_whether_it_is_alone_or_not() {
    for mode in ["refuse", "drop"] {
        let Some(bus) = Bus::start("cluster_own_links") else { return };
        let (space, folder) = (country(90), tempfile::tempdir().unwrap());
        let Some(far) = FarNetwork::begin("cluster_own_links", &space, &bus) else { return };
        let dir = folder.path().join("survey");
        far.set_mode(mode);
        let mut survey = coordinator_with(&space, &bus, &dir, &FLAGS);
        let mut broken = far.agent("broken");
        assert!(until(|| is_broken(&dir, "broken")), "{mode}: the status names it");
        assert!(space.accesses().is_empty());
        let mut sound = agent(&bus, "sound");
        assert!(survey.wait().success(), "{mode}");
        assert!(broken.wait().success() && sound.wait().success());
        // The coordinator looks up the names that do not exist.
        let is_by_broken =
            |row: &ExchangeRow| row.agent.as_deref() == Some("broken") && row.total_ms.is_some();
        assert!(!rows(&dir).iter().any(is_by_broken), "{mode}");
        assert_like_one_machine(&space, &dir, folder.path());
    }
}

#[test]
fn an_agent_whose_link_breaks_at_work_ends_no_site_whether_it_is_alone_or_not() {
    for (mode, is_alone) in [("drop", false), ("refuse", true)] {
        let Some(bus) = Bus::start("cluster_own_links_at_work") else { return };
        let (space, folder) = (country(90), tempfile::tempdir().unwrap());
        let Some(far) = FarNetwork::begin("cluster_own_links_at_work", &space, &bus) else { return };
        let dir = folder.path().join("survey");
        let mut survey = coordinator_with(&space, &bus, &dir, &FLAGS);
        let mut breaking = far.agent("breaking");
        let mut sound = (!is_alone).then(|| agent(&bus, "sound"));
        assert!(until(|| agent_status(&dir, "breaking").is_some_and(|agent| agent.requests >= 40)), "{mode}");
        far.set_mode(mode);
        assert!(until(|| is_broken(&dir, "breaking")), "{mode}: the status names it");
        println!("{mode}, alone: {is_alone}");
        if is_alone {
            far.set_mode("open");
        }
        assert!(survey.wait().success(), "{mode}, alone: {is_alone}");
        assert!(breaking.wait().success() && sound.as_mut().is_none_or(|sound| sound.wait().success()));
        assert_like_one_machine(&space, &dir, folder.path());
    }
}

/// A survey with an agent whose link is about to be cut.
struct CutOff {
    bus: Bus,
    space: Space,
    folder: tempfile::TempDir,
    far: FarNetwork,
    dir: PathBuf,
    survey: Process,
    cut_off: Process,
}

impl CutOff {
    /// A survey in which that agent has sent some requests; none where no namespace can be created.
    fn begin(test: &str, space: Space, flags: &[&str]) -> Option<Self> {
        let (bus, folder) = (Bus::start(test)?, tempfile::tempdir().unwrap());
        let far = FarNetwork::begin(test, &space, &bus)?;
        let dir = folder.path().join("survey");
        let survey = coordinator_with(&space, &bus, &dir, flags);
        let cut_off = far.agent("cut-off");
        assert!(until(|| agent_status(&dir, "cut-off").is_some_and(|agent| agent.requests >= 5)));
        Some(Self { bus, space, folder, far, dir, survey, cut_off })
    }

    /// Another agent, which has joined.
    fn other(&self, name: &str) -> Process {
        let other = agent(&self.bus, name);
        assert!(until(|| agent_status(&self.dir, name).is_some()));
        other
    }

    /// Waits for the end. No outcome is wrong.
    fn end(mut self, mut other: Process) {
        assert!(self.survey.wait().success() && self.cut_off.wait().success() && other.wait().success());
        assert_like_one_machine(&self.space, &self.dir, self.folder.path());
    }

    fn lost(&self) -> u64 {
        Snapshot::load(&self.dir).ok().flatten().map_or(0, |now| now.unrecorded)
    }

    fn is_over(&self) -> bool {
        Snapshot::load(&self.dir).ok().flatten().is_some_and(|now| now.state != SurveyState::Running)
    }
}

/// No other request of that agent can tell whether its network or the server was the cause.
#[test]
fn what_an_agent_that_walks_one_site_alone_lost_in_a_moment_without_network_is_requested_again() {
    let space = one_site(280, "silent_share = 0.0");
    let flags = [FLAGS.as_slice(), &ONE_BY_ONE].concat();
    let Some(survey) = CutOff::begin("cluster_own_link_of_one_site", space, &flags) else { return };
    let sound = survey.other("sound");
    survey.far.set_mode("drop");
    // If its connection was closed meanwhile, the next one is attempted by another agent.
    let is_tried = || agent_status(&survey.dir, "sound").is_some_and(|agent| agent.requests > 0);
    assert!(until(|| survey.lost() > 0 || is_tried()));
    survey.far.set_mode("open");
    survey.end(sound);
}

/// As if a router forgot its connections: open connections break, and the next ones are established, so that
/// the link seems to work.
#[test]
fn what_broke_off_as_its_agent_lost_its_connections_for_a_moment_is_requested_again() {
    let space = Space::from_toml(&(small_country(6) + SLOW));
    let Some(survey) = CutOff::begin("cluster_own_link_forgets", space, &FLAGS) else { return };
    let sound = survey.other("sound");
    // Some of these moments fall between requests.
    while survey.lost() == 0 && !survey.is_over() {
        survey.far.set_mode("refuse");
        std::thread::sleep(Duration::from_millis(15));
        survey.far.set_mode("open");
        std::thread::sleep(Duration::from_millis(485));
    }
    assert!(survey.lost() > 0, "nothing broke off");
    survey.end(sound);
}

/// As if a router forgot some of its connections and dropped what belongs to them: what was in flight there
/// stays silent, and other requests show meanwhile that the link works.
#[test]
fn what_stayed_silent_as_its_agent_lost_some_connections_is_requested_again() {
    let space = Space::from_toml(&(small_country(16) + SLOW));
    let Some(survey) = CutOff::begin("cluster_own_link_drops", space, &FLAGS) else { return };
    let sound = survey.other("sound");
    for _ in 0..3 {
        survey.far.set_mode("forget");
        std::thread::sleep(Duration::from_millis(100));
        survey.far.set_mode("open");
        // A request has the time to be found silent, and to be sent again.
        std::thread::sleep(Duration::from_secs(5));
    }
    assert!(survey.lost() > 0, "nothing stayed silent");
    survey.end(sound);
}

/// The network of the only agent that is left refuses connections, and no other site is there to show it.
#[test]
fn what_one_agent_cannot_connect_to_waits_for_another_one_that_has_just_died() {
    let space = one_site(280, "silent_share = 0.0");
    let flags = [FLAGS.as_slice(), &ONE_BY_ONE].concat();
    let Some(survey) = CutOff::begin("cluster_own_link_of_the_last", space, &flags) else { return };
    let mut leaving = survey.other("leaves");
    leaving.signal("TERM");
    leaving.wait();
    assert!(until(|| agent_status(&survey.dir, "leaves").is_none()));
    survey.far.set_mode("refuse");
    // Several attempts at a page are over.
    std::thread::sleep(Duration::from_secs(3));
    let sound = survey.other("sound");
    assert!(until(|| agent_status(&survey.dir, "sound").is_some_and(|agent| agent.requests > 0)));
    survey.far.set_mode("open");
    survey.end(sound);
}

/// The agent receives nothing from any other server, and another agent could try: two requests are repeated.
#[test]
fn a_site_that_is_silent_for_everybody_is_not_asked_twice_for_each_of_its_pages() {
    let Some(bus) = Bus::start("cluster_silent_site") else { return };
    let (space, folder) = (one_site(60, "silent_share = 0.3"), tempfile::tempdir().unwrap());
    let dir = folder.path().join("survey");
    let mut survey = coordinator_with(&space, &bus, &dir, &FLAGS);
    let mut agents = ["one", "other"].map(|name| agent(&bus, name));
    assert!(survey.wait().success() && agents.iter_mut().all(|agent| agent.wait().success()));
    let rows = rows::<ExchangeRow>(&dir);
    let silent = rows.iter().filter(|row| row.failure.as_deref() == Some("first_byte_timeout")).count();
    let lost = Manifest::load(&dir).unwrap().unrecorded_exchanges;
    assert!(lost > 0 && silent > 4 && lost < silent as u64, "{lost} of {silent}");
    assert_like_one_machine(&space, &dir, folder.path());
}
