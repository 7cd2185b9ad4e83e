//! A world that is walked in process equals the world that is served, and is the same every time.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use ccsurvey::address::WebUrl;
use ccsurvey::exchange::Outcome;
use ccsurvey::records::{ExchangeRow, Geo, LevelRow, LinkRow, ServerRow, SiteRow};
use ccsurvey::settings::{Settings, Span};
use ccsurvey::survey::largest_exchange;

use crate::common::{Space, assert_same_rows, assert_same_tables, rows, timeless_tables};

/// The pauses of `Space::settings`, as flags.
const QUICK: [&str; 12] = [
    "--contact",
    "https://survey.example/contact",
    "--min-delay",
    "0",
    "--delay-factor",
    "0",
    "--max-delay",
    "20ms",
    "--rate",
    "none",
    "--harm",
    "none",
];

fn world(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds").join(format!("{name}.toml"))
}

pub(super) fn simulate(world: &Path, dir: &Path, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    command.arg("simulate").arg(world).arg(dir).args(flags).output().unwrap()
}

/// Simulates a world given as text; returns the folder of the survey, and its summary.
#[track_caller]
pub(super) fn summary_of(world: &str, folder: &Path, flags: &[&str]) -> (PathBuf, serde_json::Value) {
    let (file, survey) = (folder.join("world.toml"), folder.join("survey"));
    std::fs::write(&file, world).unwrap();
    let output = simulate(&file, &survey, &[flags, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (survey, serde_json::from_slice(&output.stdout).unwrap())
}

#[track_caller]
fn assert_simulates(world: &Path, dir: &Path, flags: &[&str]) {
    let output = simulate(world, dir, flags);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every row with its times, in a fixed order.
fn all_rows(dir: &Path) -> [Vec<String>; 5] {
    let sorted = |mut rows: Vec<String>| {
        rows.sort();
        rows
    };
    [
        sorted(rows::<SiteRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<LevelRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<LinkRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<ExchangeRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<ServerRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
    ]
}

/// Surveys a world over sockets and in process, and compares every table, sizes and hashes of pages included;
/// returns the number of pages.
fn assert_same_both_ways(name: &str, change: impl Fn(Settings) -> Settings, flags: &[&str]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let space = Space::serve(name);
    let served = space.survey(change(space.settings())).tables();
    let dir = folder.path().join("survey");
    assert_simulates(&world(name), &dir, &[QUICK.as_slice(), flags].concat());
    assert_same_tables(&timeless_tables(&dir), &served);
    served.exchanges.iter().filter(|row| row.body_hash.is_some()).count() as u64
}

#[test]
fn a_world_walked_in_process_has_the_tables_of_the_same_world_served() {
    let pages: u64 = [
        "a_site_with_one_page",
        "a_small_country",
        "calendars_never_end",
        "lists_go_on_for_pages",
        "redirects_add_no_depth",
        "relative_links_loop",
        "robots_keep_some_pages_back",
        "scripts_answer_one_query_each",
        "sessions_and_facets_multiply",
        "shared_hosting",
        "soft_404_hosts_answer_everything",
        "the_same_page_has_many_names",
    ]
    .into_iter()
    .map(|name| assert_same_both_ways(name, |settings| settings, &[]))
    .sum();
    assert!(pages >= 1000, "{pages}");
}

#[test]
fn failures_are_the_same_in_process_as_over_sockets() {
    let short = Span(Duration::from_secs(3));
    let change = |settings| Settings { dns_timeout: short, first_byte_timeout: short, ..settings };
    let flags = ["--dns-timeout", "3s", "--first-byte-timeout", "3s"];
    assert!(assert_same_both_ways("hosts_fail_in_every_way", change, &flags) > 0);
}

/// Over sockets it is a race whether a connection is back in the pool at the next request of a fast survey. A
/// further handshake costs bytes, as does the lack of the session that it would have left. Sizes are
/// therefore compared exchange by exchange as long as a host has had as many connections, and left out of the
/// sums.
#[test]
fn certificates_are_the_same_in_process_as_over_sockets() {
    assert_same_over_tls("sites_speak_tls");
}

#[test]
fn shut_doors_and_dead_links_are_the_same_in_process_as_over_sockets() {
    assert_same_over_tls("links_between_sites_die_and_doors_are_shut");
}

fn assert_same_over_tls(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("ca.pem");
    std::fs::write(&authority, ccsurvey::space::ca_certificate_pem()).unwrap();
    let space = Space::serve(name);
    let served = space.survey(Settings { ca: vec![authority.clone()], ..space.settings() });
    let dir = folder.path().join("survey");
    assert_simulates(&world(name), &dir, &QUICK);
    assert_same_tables(&timeless_tables(&dir).without_wire_bytes(), &served.tables().without_wire_bytes());
    let [found, expected] = [exchanges_in_order(rows(&dir)), exchanges_in_order(served.rows())];
    let mut uneven = HashSet::new();
    let comparable = found.iter().zip(&expected).filter(|(one, other)| {
        if one.connections != other.connections {
            uneven.insert(&one.host);
        }
        !uneven.contains(&one.host)
    });
    let sizes = |row: &ExchangeRow| (row.url.clone(), row.sent_bytes, row.received_bytes, row.body_bytes);
    let compared = comparable.map(|(one, other)| assert_eq!(sizes(one), sizes(other))).count();
    assert!(compared > found.len() / 4, "{compared} of {}", found.len());
}

fn exchanges_in_order(mut rows: Vec<ExchangeRow>) -> Vec<ExchangeRow> {
    rows.sort_by(|a, b| (&a.site, a.seed, a.number).cmp(&(&b.site, b.seed, b.number)));
    rows
}

#[test]
fn the_same_world_and_settings_make_the_same_tables_with_the_same_times() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    for dir in [&one, &other] {
        assert_simulates(&world("a_small_country"), dir, &["--sites", "7"]);
    }
    for (one, other) in all_rows(&one).iter().zip(&all_rows(&other)) {
        assert_same_rows(one, other, "rows");
    }
}

/// With more than one core, responses are generated and read before their requests.
#[test]
fn a_machine_of_one_core_makes_the_same_tables_with_the_same_times() {
    let folder = tempfile::tempdir().unwrap();
    let [all, one] = ["all", "one"].map(|name| folder.path().join(name));
    assert_simulates(&world("a_small_country"), &all, &[]);
    let mut on_one_core = Command::new("taskset");
    on_one_core.args(["--cpu-list", &first_core()]).arg(env!("CARGO_BIN_EXE_ccsurvey"));
    let output = on_one_core.arg("simulate").arg(world("a_small_country")).arg(&one).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (all, one) in all_rows(&all).iter().zip(&all_rows(&one)) {
        assert_same_rows(all, one, "rows");
    }
}

/// The first core that this process may run on.
fn first_core() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    cores.trim().split([',', '-']).next().unwrap().to_owned()
}

#[test]
fn a_simulation_keeps_the_pauses_of_a_real_survey() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("survey");
    assert_simulates(&world("shared_hosting"), &dir, &[]);
    let servers: Vec<ServerRow> = rows(&dir);
    assert_eq!(servers.len(), 2);
    for server in servers {
        assert!(server.smallest_gap_ms.is_some_and(|gap| gap >= 2000.0), "{server:?}");
        assert_eq!(server.most_parallel, 1);
    }
}

#[test]
fn no_request_is_sent_after_the_time_of_its_site() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("survey");
    // A request that was granted in the tenth minute waits for its pause until the twelfth.
    let flags = ["--feed-back", "off", "--min-delay", "4m", "--max-delay", "10m", "--max-time", "10m"];
    assert!(simulate(&world("shared_hosting"), &dir, &flags).status.success());
    let mut spans: HashMap<String, (i64, i64)> = HashMap::new();
    for row in rows::<ExchangeRow>(&dir).into_iter().filter(ExchangeRow::was_sent) {
        let started = row.started.0;
        let (first, last) = spans.entry(row.site).or_insert((i64::MAX, 0));
        (*first, *last) = ((*first).min(started), (*last).max(started));
    }
    let longest = spans.values().map(|(first, last)| last - first).max().unwrap();
    assert!((400_000_000..600_000_000).contains(&longest), "{longest} µs");
}

#[test]
fn a_server_bears_no_more_on_a_day_than_its_share_and_its_sites_go_on_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let [usual, spread] = ["usual", "spread"].map(|name| folder.path().join(name));
    assert_simulates(&world("a_small_country"), &usual, &["--max-time", "none"]);
    // So that no walk lasts longer than a day, after which robots.txt is requested again.
    let flags = ["--max-time", "none", "--max-server-requests-per-day", "60"];
    assert_simulates(&world("a_small_country"), &spread, &flags);
    let mut days: HashMap<(String, i64), u32> = HashMap::new();
    for row in rows::<ExchangeRow>(&spread).into_iter().filter(|row| row.total_ms.is_some()) {
        *days.entry((row.address.unwrap(), row.started.0 / 86_400_000_000)).or_default() += 1;
    }
    assert!(days.values().all(|requests| *requests <= 60), "{days:?}");
    assert!(days.values().filter(|requests| **requests == 60).count() > 3);
    assert_same_tables(&timeless_tables(&spread), &timeless_tables(&usual));
}

#[test]
fn sites_that_were_put_off_together_go_on_a_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    let others =
        ["missing", "junk", "some", "all", "crawl_delay", "silent"].map(|kind| format!("{kind}_share = 0.0"));
    let world = format!(
        "[sites]\ncount = 60\n[servers]\ngiants = 1\ngiants_share = 1.0\n[robots]\nunavailable_share = 1.0\n{}\n",
        others.join("\n")
    );
    std::fs::write(&file, world).unwrap();
    let dir = folder.path().join("survey");
    assert_simulates(&file, &dir, &["--sites", "2", "--feed-back", "off"]);
    let log = std::fs::read_to_string(dir.join("log.jsonl")).unwrap();
    let resume_times: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("\"put off\""))
        .filter_map(|line| line.split("until").nth(1))
        .collect();
    let max_at_once =
        resume_times.iter().map(|until| resume_times.iter().filter(|other| *other == until).count()).max();
    assert!(max_at_once > Some(2), "{max_at_once:?} sites wait for the same moment");
    assert!(rows::<SiteRow>(&dir).iter().all(|row| row.outcome != "interrupted"));
}

#[test]
fn a_simulation_is_not_resumed_and_asks_no_name_server() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("survey");
    assert_simulates(&world("a_site_with_one_page"), &dir, &QUICK);
    let resume = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).arg("resume").arg(&dir).output().unwrap();
    assert_eq!(resume.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&resume.stderr),
        format!(
            "ccsurvey: error: {} is a simulation and cannot be resumed: run `ccsurvey simulate` again\n",
            dir.display()
        )
    );
    let other = folder.path().join("other");
    let refused = simulate(&world("a_site_with_one_page"), &other, &["--dns", "127.0.0.1:53"]);
    assert_eq!(refused.status.code(), Some(2));
    let messages = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(messages.contains("--dns cannot be used in a simulation, which sends nothing"), "{messages}");
    assert!(!other.exists());
}

#[test]
fn a_recorded_survey_is_simulated_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let [first, again, shallow] = ["first", "again", "shallow"].map(|name| folder.path().join(name));
    assert_simulates(&world("a_small_country"), &first, &[QUICK.as_slice(), &["--record-links"]].concat());
    assert_simulates(&first, &again, &QUICK);
    let (found, expected) = (timeless_tables(&again), timeless_tables(&first));
    assert_eq!(found.sites.len(), expected.sites.len());
    for (found, expected) in found.sites.iter().zip(&expected.sites) {
        let outside = |row: &SiteRow| {
            (row.site.clone(), row.requests, row.pages, row.external_urls, row.outcome.clone())
        };
        assert_eq!(outside(found), outside(expected));
    }
    // A recording contains the URLs of pages in canonical form.
    let links = |rows: &[LinkRow]| -> Vec<LinkRow> {
        let page = |row: &LinkRow| WebUrl::parse(&row.page).unwrap().canonical();
        rows.iter().map(|row| LinkRow { page: page(row), ..row.clone() }).collect()
    };
    assert_same_rows(&links(&found.links), &links(&expected.links), "links");
    assert_simulates(&first, &shallow, &[QUICK.as_slice(), &["--depth", "1"]].concat());
    let deepest = rows::<SiteRow>(&shallow).iter().filter_map(|row| row.deepest).max();
    assert_eq!(deepest, Some(1));
}

/// All servers are onshore: hundreds of servers in few networks.
fn crowded_world(folder: &Path) -> PathBuf {
    let file = folder.join("world.toml");
    let world = "[sites]\ncount = 120\nlarge_share = 0.0\ncms_share = 0.0\none_page_share = 0.5\nbrochure_share = 0.5\n\
                 most_pages = 10\n[servers]\ngiants = 0\nothers = 300\noffshore_share = 0.0\n";
    std::fs::write(&file, world).unwrap();
    file
}

/// The network of each sent request (the address without its last number), with its row.
fn requests_with_networks(dir: &Path) -> Vec<(String, ExchangeRow)> {
    let sent = rows::<ExchangeRow>(dir).into_iter().filter(|row| row.total_ms.is_some());
    sent.map(|row| (row.address.clone().unwrap().rsplit_once('.').unwrap().0.to_owned(), row)).collect()
}

#[test]
fn a_network_bears_no_more_on_a_day_than_its_share_and_its_sites_go_on_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let file = crowded_world(folder.path());
    let [usual, spread] = ["usual", "spread"].map(|name| folder.path().join(name));
    let flags = ["--feed-back", "off", "--max-time", "none", "--depth", "2"];
    assert_simulates(&file, &usual, &flags);
    assert_simulates(&file, &spread, &[&flags[..], &["--max-network-requests-per-day", "20"]].concat());
    let mut days: HashMap<(String, i64), u32> = HashMap::new();
    let mut servers: HashMap<(String, i64), HashSet<String>> = HashMap::new();
    for (network, row) in requests_with_networks(&spread) {
        let day = (network, row.started.0 / 86_400_000_000);
        *days.entry(day.clone()).or_default() += 1;
        servers.entry(day).or_default().insert(row.address.unwrap());
    }
    assert!(days.values().all(|requests| *requests <= 20), "{days:?}");
    let full: Vec<_> = days.iter().filter(|(_, requests)| **requests == 20).map(|(day, _)| day).collect();
    assert!(full.len() > 3, "{days:?}");
    assert!(full.iter().any(|day| servers[*day].len() > 1), "{servers:?}");
    assert_same_tables(&without_robots(timeless_tables(&spread)), &without_robots(timeless_tables(&usual)));
}

/// All requests but those for robots.txt, which is requested again every day.
fn without_robots(tables: crate::common::TimelessTables) -> crate::common::TimelessTables {
    let mut tables = tables.without_wire_bytes();
    tables.exchanges.retain(|row| row.purpose != "robots");
    tables.exchanges.iter_mut().for_each(|row| row.number = 0);
    for row in &mut tables.sites {
        row.requests -= row.robots_requests;
        row.robots_requests = 0;
    }
    tables
}

#[test]
fn an_autonomous_system_bears_its_share_and_then_its_sites_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = crowded_world(folder.path());
    let dir = folder.path().join("survey");
    let geo = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demo-geo.mmdb");
    let flags = ["--feed-back", "off", "--max-as-requests", "40", "--geo", geo.to_str().unwrap()];
    assert_simulates(&file, &dir, &flags);
    let geo_database = Geo::open(&[geo]).unwrap();
    let mut requests_by_system: HashMap<u32, Vec<String>> = HashMap::new();
    for (_, row) in requests_with_networks(&dir) {
        let address = row.address.unwrap();
        requests_by_system
            .entry(geo_database.lookup(address.parse().unwrap()).asn.unwrap())
            .or_default()
            .push(address);
    }
    assert!(requests_by_system.values().all(|requests| requests.len() <= 40), "{requests_by_system:?}");
    let servers = |requests: &[String]| requests.iter().collect::<HashSet<_>>().len();
    assert!(
        requests_by_system.values().any(|requests| requests.len() == 40 && servers(requests) > 3),
        "{requests_by_system:?}"
    );
    let spent =
        rows::<ExchangeRow>(&dir).into_iter().filter(|row| row.failure.as_deref() == Some("server_budget"));
    assert!(spent.map(|row| row.sent_bytes).eq(std::iter::repeat_n(0, ended_by_budget(&dir))));
    assert!(ended_by_budget(&dir) > 3);
    assert!(rows::<LevelRow>(&dir).iter().all(LevelRow::reconciles));
    let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
    assert!(manifest.contains("at most 40 requests to an autonomous system"), "{manifest}");
}

fn ended_by_budget(dir: &Path) -> usize {
    rows::<SiteRow>(dir).iter().filter(|row| row.outcome == "request_budget").count()
}

#[test]
fn neighbours_are_asked_one_at_a_time_with_the_pauses_of_one_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = crowded_world(folder.path());
    let dir = folder.path().join("survey");
    assert_simulates(&file, &dir, &["--feed-back", "off", "--per-neighbourhood", "1", "--depth", "2"]);
    let mut neighbourhoods: HashMap<String, Vec<ExchangeRow>> = HashMap::new();
    for (network, row) in requests_with_networks(&dir) {
        neighbourhoods.entry(network).or_default().push(row);
    }
    let mut shared = 0;
    for rows in neighbourhoods.values_mut() {
        rows.sort_by_key(|row| row.started.0);
        for pair in rows.windows(2) {
            let ended = pair[0].started.0 as f64 / 1000.0 + pair[0].total_ms.unwrap();
            let gap = pair[1].started.0 as f64 / 1000.0 - ended;
            assert!(gap >= 1999.0, "{gap} ms: {:?} {:?}", pair[0], pair[1]);
            shared += usize::from(pair[0].address != pair[1].address);
        }
    }
    assert!(shared > 5, "{shared}: neighbours take turns");
    let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
    assert!(
        manifest.contains("at most 1 at once") && !manifest.contains("\"verdict\": \"broken\""),
        "{manifest}"
    );
}

#[test]
fn nobody_is_asked_in_the_quiet_hours_of_his_clock_and_all_go_on_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let [usual, quiet] = ["usual", "quiet"].map(|name| folder.path().join(name));
    // The clock starts at three in the morning in Kenya; the survey takes some days.
    let slow = ["--min-delay", "5m", "--max-delay", "5m", "--max-time", "none"];
    assert_simulates(&world("a_small_country"), &usual, &slow);
    assert_simulates(
        &world("a_small_country"),
        &quiet,
        &[&slow[..], &["--quiet-hours", "08:00-18:30"]].concat(),
    );
    let mut minutes: Vec<i64> = rows::<ExchangeRow>(&quiet)
        .iter()
        .filter(|row| row.total_ms.is_some())
        .map(|row| (row.started.0 / 60_000_000 + 3 * 60) % (24 * 60))
        .collect();
    minutes.sort_unstable();
    let in_quiet = minutes.iter().filter(|minute| (8 * 60..18 * 60 + 30).contains(*minute)).count();
    assert_eq!(in_quiet, 0);
    let before = minutes.iter().filter(|minute| **minute < 8 * 60).count();
    let after = minutes.len() - before;
    assert!(before > 100 && after > 100, "{before} before, {after} after");
    assert!(minutes.iter().filter(|minute| **minute == 18 * 60 + 30).count() < after / 10);
    assert_same_tables(&timeless_tables(&quiet), &timeless_tables(&usual));
}

/// Minutes after midnight, in UTC, at which servers of these country domains got requests on 1 July 2026 and
/// later, with quiet hours from eight to six in the evening.
fn minutes_in_july(domain: &str) -> Vec<i64> {
    let folder = tempfile::tempdir().unwrap();
    let world = std::fs::read_to_string(world("a_small_country")).unwrap();
    let world = world.replace("[\"ke\"]", &format!("[\"{domain}\"]"));
    let world = world.replace("[\"ke\", \"co.ke\", \"ac.ke\"]", &format!("[\"{domain}\"]"));
    let world = format!("date = \"2026-07-01\"\n{world}");
    let slow =
        ["--min-delay", "5m", "--max-delay", "5m", "--max-time", "none", "--quiet-hours", "08:00-18:00"];
    let (dir, summary) = summary_of(&world, folder.path(), &slow);
    assert_eq!(summary["broken_promises"].as_array().map(Vec::len), Some(0), "{summary}");
    let exchanges = rows::<ExchangeRow>(&dir);
    let sent = exchanges.iter().filter(|row| row.total_ms.is_some());
    let minutes: Vec<i64> = sent.map(|row| row.started.0 / 60_000_000 % (24 * 60)).collect();
    assert!(minutes.len() > 300, "{}", minutes.len());
    minutes
}

#[test]
fn quiet_hours_are_those_of_the_clocks_on_walls_in_summer_and_in_every_zone() {
    for (domain, from, to) in [
        ("de", 6 * 60, 16 * 60),
        ("uk", 7 * 60, 17 * 60),
        // The Canary Islands are an hour behind.
        ("es", 6 * 60, 17 * 60),
        // From New York's eight to Honolulu's six in the evening: until four in the morning.
        ("us", 12 * 60, 28 * 60),
    ] {
        let is_quiet = |minute: &i64| (from..to).contains(minute) || (from..to).contains(&(minute + 24 * 60));
        let minutes = minutes_in_july(domain);
        let (quiet, awake): (Vec<i64>, Vec<i64>) = minutes.iter().partition(|minute| is_quiet(minute));
        assert_eq!(quiet, Vec::<i64>::new(), "{domain}");
        let end = to % (24 * 60);
        assert!(
            awake.iter().any(|minute| (end..end + 60).contains(minute)),
            "{domain}: asked when they are over"
        );
    }
}

/// Large pages of many servers, whose responses start late.
const LARGE_PAGES: &str = r#"
profile = "cctld-2026"
seed = 31337

[sites]
count = 80

[pages]
bytes_median = 150000
most_bytes = 1000000
"#;

#[test]
fn no_more_moves_in_any_time_than_the_rate_and_what_may_be_saved_up() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "--depth",
        "1",
        "--sites",
        "80",
        "--feed-back",
        "off",
        "--harm",
        "none",
        "--max-requests",
        "10",
        "--rate",
        "100kB",
    ];
    let (dir, summary) = summary_of(LARGE_PAGES, folder.path(), &flags);
    let rate = 100_000.0;
    let saved_up = largest_exchange(&Settings::default()).bytes as f64;
    // Bytes moved between two moments, which are in seconds.
    let exchanges = rows::<ExchangeRow>(&dir);
    let mut moved: Vec<(f64, f64, f64)> = exchanges
        .iter()
        .filter_map(|row| {
            let started = row.started.0 as f64 / 1e6;
            let bytes = (row.sent_bytes + row.received_bytes) as f64;
            Some((started, started + row.total_ms? / 1e3, bytes))
        })
        .collect();
    moved.sort_by(|one, other| one.1.total_cmp(&other.1));
    let all: f64 = moved.iter().map(|(_, _, bytes)| bytes).sum();
    let took =
        moved.last().unwrap().1 - moved.iter().map(|(started, ..)| *started).fold(f64::INFINITY, f64::min);
    assert!(
        all > 100.0 * rate && all / took > rate / 5.0,
        "{all} bytes in {took} s: the rate was hardly needed"
    );
    for (from, ..) in &moved {
        let within = moved.iter().filter(|(started, ..)| started >= from);
        within.fold(0.0, |sum, (_, ended, bytes)| {
            let sum = sum + bytes;
            let allowed = saved_up + rate * (ended - from + 0.002);
            assert!(sum <= allowed, "{sum} bytes in {} s", ended - from);
            sum
        });
    }
    let failed = exchanges.iter().filter(|row| row.failure.as_deref() == Some("too_slow")).count();
    assert_eq!(failed, 0, "a pause of our own is no failure");
    assert_eq!(summary["broken_promises"].as_array().map(Vec::len).unwrap_or_default(), 0);
}

#[test]
fn a_site_without_a_limit_of_time_waits_for_its_turn_however_long_that_is() {
    let folder = tempfile::tempdir().unwrap();
    let world = "profile = \"africa-2006\"\nseed = 5\n\n[sites]\ncount = 60\n";
    // A byte a second: the last site has its turn after months.
    let flags =
        ["--rate", "1", "--max-time", "none", "--max-requests", "4", "--sites", "64", "--feed-back", "off"];
    let (dir, _) = summary_of(world, folder.path(), &[&flags[..], &["--harm", "none"]].concat());
    let sites = rows::<SiteRow>(&dir);
    let finished = |row: &SiteRow| row.finished.0 - row.started.0;
    assert!(sites.iter().map(finished).max() > Some(30 * 24 * 3_600_000_000), "{sites:?}");
    assert!(sites.iter().all(|row| row.outcome != Outcome::TimeBudget.as_str()));
}
