//! Promises 1, 2 and 4, measured by the servers: their access log, not our counters.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, UNIX_EPOCH};

use ccsurvey::address::{Host, Site};
use ccsurvey::exchange::{Failure, Purpose, Response};
use ccsurvey::promises::{Fact, Judge, Judgement, Observations, OwnerObjections, PromisedLimits, Verdict};
use ccsurvey::settings::{DepthRule, Pace, Settings, Span};
use ccsurvey::space::{Access, Reaction, Web, World};

use crate::common::Space;

const MIN_DELAY: Duration = Duration::from_millis(15);
const FACTOR: f64 = 2.0;

/// The accesses that each server saw, in order of arrival.
fn by_address(log: &[Access]) -> BTreeMap<String, Vec<&Access>> {
    let mut servers: BTreeMap<String, Vec<&Access>> = BTreeMap::new();
    for access in log {
        let address = access.address.expect("only hosts of the world are asked").to_string();
        servers.entry(address).or_default().push(access);
    }
    servers.values_mut().for_each(|seen| seen.sort_by_key(|access| access.arrival_us));
    servers
}

fn crawl_delay(world: &World, host: &str) -> Option<f64> {
    let Reaction::Response(response) = world.respond(false, host, "/robots.txt") else { return None };
    let text = String::from_utf8_lossy(&response.body).to_lowercase();
    text.lines().find_map(|line| line.strip_prefix("crawl-delay:")?.trim().parse().ok())
}

/// The delay that the robots.txt of its host requires before an access.
fn requested_delay(world: &World, access: &Access) -> Option<Duration> {
    let delay = crawl_delay(world, &access.host).filter(|_| access.path != "/robots.txt");
    delay.map(Duration::from_secs_f64)
}

/// The verdicts of the judge of a running survey if it reads only the log of the servers.
fn judge_log(world: &World, log: &[Access], limits: PromisedLimits) -> Vec<Verdict> {
    let mut judge = Judge::new(limits, Observations::default());
    let mut in_order: Vec<&Access> = log.iter().collect();
    in_order.sort_by_key(|access| access.arrival_us);
    for access in in_order {
        let (site, address) = (Site::new(Host::parse(&access.host).unwrap()), access.address.unwrap());
        let began = UNIX_EPOCH + Duration::from_micros(access.arrival_us);
        // Without a response, the log does not tell which failure the survey recorded.
        let mut response = Response::not_sent(began, Some(address), Failure::BadHttp, None);
        response.failure = response.failure.filter(|_| access.status.is_none());
        response.status = access.status;
        response.timings.total = Duration::from_micros(access.end_us.saturating_sub(access.arrival_us));
        let (purpose, url, objections) = (Purpose::Page, None, OwnerObjections::default());
        let crawl_delay = requested_delay(world, access);
        judge.note(&Fact {
            site: &site,
            address,
            purpose,
            url,
            response: &response,
            crawl_delay,
            objections,
        });
    }
    judge.final_verdicts()
}

#[test]
fn servers_see_one_request_at_a_time_with_pauses_and_a_contact_and_robots_first() {
    let space = Space::from_toml(include_str!("../../data/demo.toml"));
    let settings = Settings {
        sites: 32,
        depth: DepthRule::Levels(2),
        min_delay: Span(MIN_DELAY),
        delay_factor: FACTOR,
        max_delay: Span(Duration::from_secs(1)),
        ..space.settings()
    };
    let surveyed = space.survey(settings);
    assert_eq!(surveyed.ending.broken_promises, Vec::<String>::new());
    let log = space.accesses();
    assert!(log.len() > 1000, "{} requests", log.len());

    let hosts = |seen: &[&Access]| seen.iter().map(|access| &access.host).collect::<HashSet<_>>().len();
    let shared = by_address(&log).values().filter(|seen| hosts(seen) > 1).count();
    let slowed = log.iter().filter(|access| requested_delay(&space.world, access).is_some()).count();
    let pace = Pace {
        min_delay: MIN_DELAY,
        factor: FACTOR,
        max_delay: Duration::from_secs(1),
        harm: None,
        ..Pace::default()
    };
    let limits = PromisedLimits { pace, permits_special_addresses: true, ..PromisedLimits::default() };
    let verdicts = judge_log(&space.world, &log, limits);
    let broken = verdicts.iter().filter(|verdict| verdict.judgement == Judgement::Broken);
    assert_eq!(broken.map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    assert!(shared > 3, "the world has servers with several hosts");
    assert!(slowed > 10, "the world has hosts that ask for a pause");

    let mut first: HashMap<&str, &Access> = HashMap::new();
    // A TLS handshake that failed has neither method nor head.
    let mut in_order: Vec<&Access> = log.iter().filter(|access| !access.method.is_empty()).collect();
    in_order.sort_by_key(|access| access.arrival_us);
    for access in in_order {
        first.entry(&access.host).or_insert(access);
        assert!(access.user_agent.starts_with("ccsurvey/"), "{}", access.user_agent);
        assert!(access.user_agent.contains("https://survey.example/contact"), "{}", access.user_agent);
    }
    for (host, access) in first {
        assert_eq!(access.path, "/robots.txt", "{host}");
    }
}

#[test]
fn the_ledger_says_what_the_servers_saw() {
    let space = Space::serve("a_small_country");
    let surveyed = space.survey(space.settings());
    let rows = crate::common::servers(&surveyed.dir());
    let log = space.await_accesses(rows.iter().map(|row| row.requests as usize).sum());
    let seen = by_address(&log);
    for row in rows {
        let accesses = &seen[&row.address];
        let answered: Vec<_> = accesses.iter().collect();
        assert_eq!(row.requests, answered.len() as u64, "{}", row.address);
        let sent: u64 = answered.iter().map(|access| access.received_bytes).sum();
        let received: u64 = answered.iter().map(|access| access.sent_bytes).sum();
        // The survey estimates the bytes that it sent in a failed handshake; the log does not contain them.
        if accesses.iter().all(|access| !access.method.is_empty()) {
            assert_eq!(row.sent_bytes, sent, "{}", row.address);
        } else {
            assert!(row.sent_bytes > sent, "{}", row.address);
        }
        // Only the server sees bytes that were in flight when we hung up after the head of a file that is not
        // a page; the framing of chunks is estimated.
        assert!(row.received_bytes <= received + received / 50, "{} {received}", row.received_bytes);
        let hosts: HashSet<_> = accesses.iter().map(|access| &access.host).collect();
        assert_eq!(row.hosts as usize, hosts.len(), "{}", row.address);
    }
}

#[test]
fn thin_links_are_taken_for_no_more_than_their_share() {
    const SHARE: f64 = 0.25;
    let space = Space::serve("servers_hang_on_thin_links");
    let settings = Settings {
        harm: Some(SHARE),
        max_delay: Span(Duration::from_secs(2)),
        depth: DepthRule::Levels(2),
        ..space.settings()
    };
    let surveyed = space.survey(settings);
    let rows = crate::common::servers(&surveyed.dir());
    let log = space.await_accesses(rows.iter().map(|row| row.requests as usize).sum());
    let mut judged = 0;
    for (address, seen) in by_address(&log) {
        let link = space.world.server(&seen[0].host).unwrap().bits_per_second;
        let (first, last) = (seen[0], seen[seen.len() - 1]);
        let bytes: u64 = seen[..seen.len() - 1].iter().map(|access| access.sent_bytes).sum();
        let share = bytes as f64 * 8.0 / link / ((last.arrival_us - first.arrival_us) as f64 / 1e6);
        assert!(share <= SHARE, "{address}: {share} of its link in {} requests", seen.len());
        assert!(
            rows.iter()
                .filter(|row| row.address == address)
                .all(|row| { row.best_bits_per_second.is_some_and(|best| best > 0.0 && best <= link * 1.1) })
        );
        judged += usize::from(seen.len() > 10);
    }
    assert_eq!(judged, 2, "both servers are asked often enough to tell");
}
