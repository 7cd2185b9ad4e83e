use super::*;
use crate::settings::{Budget, LoadLimits};

/// The default limits, and a budget of each kind.
fn limits() -> PromisedLimits {
    let hour = Duration::from_secs(3600);
    let tree = Budget { requests: Some(10_000), bytes: Some(320 << 20), time: Some(hour), accounts: 1 };
    PromisedLimits { tree, rate: Some(1 << 20), ..PromisedLimits::default() }
}

fn broken(seen: &Observations, limits: &PromisedLimits) -> Vec<String> {
    let broken = verdicts(seen, limits).into_iter().filter(|it| it.judgement == Judgement::Broken);
    broken.map(|verdict| verdict.to_string()).collect()
}

fn worst(most: u64, who: &str) -> Peak {
    Peak { most, who: who.to_owned() }
}

#[test]
fn a_ledger_without_breaches_breaks_nothing() {
    let seen = Observations {
        at_server: worst(1, "41.90.0.1"),
        least_gap: Some(2_000_100),
        ..Observations::default()
    };
    assert_eq!(broken(&seen, &limits()), Vec::<String>::new());
}

#[test]
fn every_breach_in_the_ledger_is_told_with_its_evidence() {
    let seen = Observations {
        exchanges: 9,
        at_server: worst(2, "41.90.0.1"),
        in_site: worst(3, "a.ke"),
        in_neighbourhood: worst(5, "41.90.0.0/24"),
        least_gap: Some(1_500_000),
        least_gap_at: "41.90.0.1".into(),
        short_rests: ShortPauses {
            slow: Count { times: 2, first: "41.90.0.1 after 2s instead of 5s".into() },
            link: Count { times: 1, first: "41.90.0.1 after 2s instead of 9s".into() },
            trouble: Count { times: 1, first: "41.90.0.1 after 2s instead of 8s".into() },
            retry_after: Count { times: 1, first: "41.90.0.1 after 2s instead of 60s".into() },
            crawl_delay: Count { times: 1, first: "41.90.0.1 after 2s instead of 10s".into() },
            put_off: Count { times: 1, first: "41.90.0.1 after it was given up".into() },
            neighbourhood: Count { times: 1, first: "41.90.0.0/24 after 1s instead of 2s".into() },
            least: Count::default(),
        },
        server: [worst(101, "41.90.0.1"), worst(5, "41.90.0.1"), worst(0, "")],
        server_day: [worst(0, ""), worst(0, ""), worst(61_000_000, "41.90.0.2")],
        network: [worst(0, ""), worst(7, "41.90.0.0/24"), worst(0, "")],
        network_day: [worst(31, "41.90.0.0/24"), worst(0, ""), worst(0, "")],
        system: [worst(401, "AS36914"), worst(0, ""), worst(0, "")],
        system_day: [worst(0, ""), worst(0, ""), worst(3_601_000_000, "AS36914")],
        tree: [worst(10_001, "a.ke"), worst(10, "a.ke")],
        tree_time: worst(7_201_000_000, "a.ke"),
        above_rate: 77,
        special: Count { times: 1, first: "10.0.0.1".into() },
        opted_out: Count { times: 2, first: "41.90.0.1 for a.ke".into() },
        in_quiet_hours: Count { times: 1, first: "41.90.0.1 for a.ke".into() },
        order: OrderBreaches {
            before_robots: Count { times: 1, first: "http://a.ke/".into() },
            despite_robots: Count { times: 1, first: "http://b.ke/".into() },
            against_robots: Count { times: 1, first: "http://c.ke/".into() },
            twice: Count { times: 1, first: "http://d.ke/".into() },
        },
    };
    let load_limits = |requests, bytes, busy: Option<u64>| LoadLimits {
        requests,
        bytes,
        busy: busy.map(Duration::from_secs),
    };
    let limits = PromisedLimits {
        pace: Pace { per_neighbourhood: Some(4), ..Pace::default() },
        quiet_hours: "08:00-18:00".parse().ok(),
        server: SharedBudget {
            in_all: load_limits(Some(100), Some(5), None),
            per_day: load_limits(None, None, Some(60)),
        },
        network: SharedBudget {
            in_all: load_limits(None, Some(6), None),
            per_day: load_limits(Some(30), None, None),
        },
        system: SharedBudget {
            in_all: load_limits(Some(400), None, None),
            per_day: load_limits(None, None, Some(3600)),
        },
        ..limits()
    };
    let expected = [
        "one request at a time per server: at most 2 at once (41.90.0.1)",
        "one request at a time per site: at most 3 at once (a.ke)",
        "at most 4 requests at once per neighbourhood: at most 5 at once (41.90.0.0/24)",
        "a pause of at least 2 s at each server: the shortest was 1.5 s (41.90.0.1)",
        "after each response, a pause 5 times as long as the response took, up to 1 min: 2 times, first 41.90.0.1 after 2s instead of 5s",
        "other users wait at most 2 % longer for the responses of each server (estimated over the survey): once: 41.90.0.1 after 2s instead of 9s",
        "longer pauses for servers in trouble: once: 41.90.0.1 after 2s instead of 8s",
        "servers that stay in trouble get cool-downs, then no more requests: once: 41.90.0.1 after it was given up",
        "no request before the time that a server set with Retry-After: once: 41.90.0.1 after 2s instead of 60s",
        "the pause that robots.txt sets with Crawl-delay: once: 41.90.0.1 after 2s instead of 10s",
        "the pauses of a server apply to its whole neighbourhood: once: 41.90.0.0/24 after 1s instead of 2s",
        "at most 10,000 requests per site: at most 10,001 (a.ke)",
        "at most 1 h of time per site: at most 2 h 00 min (a.ke)",
        "at most 100 requests to a server: at most 101 (41.90.0.1)",
        "at most 1 min 00 s of the time of a server per day: at most 1 min 01 s (41.90.0.2)",
        "at most 6 B of traffic with a network (/24, /48): at most 7 B (41.90.0.0/24)",
        "at most 30 requests to a network (/24, /48) per day: at most 31 (41.90.0.0/24)",
        "at most 400 requests to an autonomous system: at most 401 (AS36914)",
        "at most 1 h 00 min of the time of an autonomous system per day: at most 1 h 00 min (AS36914)",
        "at most 1.0 MB/s over the whole survey: 77 B more than this rate and the saved-up bytes allow",
        "no request during 08:00-18:00, by the server's clock: once: 41.90.0.1 for a.ke",
        "no contact with special addresses: once: 10.0.0.1",
        "no contact with anyone who opted out: 2 times, first 41.90.0.1 for a.ke",
        "robots.txt is read before any page of its host: once: http://a.ke/",
        "no page of a host whose robots.txt could not be fetched: once: http://b.ke/",
        "no page that robots.txt forbids: once: http://c.ke/",
        "no page of a site tree is requested twice, except after status 429 or 503, a failed connection, refused TLS, \
         odd HTTP or a closed idle connection, and to check whether a server that refuses all other requests still \
         delivers it: once: http://d.ke/",
    ];
    assert_eq!(broken(&seen, &limits), expected);
}

#[test]
fn a_short_pause_is_told_in_milliseconds() {
    let pace = Pace { min_delay: Duration::from_millis(310), ..Pace::default() };
    let limits = PromisedLimits { pace, ..limits() };
    for (gap, text) in [(5_000, "5.0 ms"), (300_500, "300.5 ms")] {
        let seen = Observations {
            least_gap: Some(gap),
            least_gap_at: "41.90.0.1".into(),
            ..Observations::default()
        };
        let expected =
            format!("a pause of at least 310 ms at each server: the shortest was {text} (41.90.0.1)");
        assert_eq!(broken(&seen, &limits), [expected]);
    }
}

#[test]
fn what_was_permitted_or_not_limited_is_not_judged() {
    let seen =
        Observations { special: Count { times: 4, first: "127.0.0.1".into() }, ..Observations::default() };
    let limits = PromisedLimits { permits_special_addresses: true, rate: None, ..limits() };
    let open = verdicts(&seen, &limits).into_iter().filter(|it| it.judgement == Judgement::NotJudged);
    let open: Vec<String> = open.map(|verdict| verdict.id).collect();
    let expected = [
        "one_at_a_time_neighbourhood",
        "least_pause_neighbourhood",
        "rate",
        "quiet_hours",
        "special_addresses",
    ];
    assert_eq!(open, expected);
}

#[test]
fn where_a_server_has_several_places_the_least_pause_is_judged_by_each() {
    let pace = Pace { per_address: 2, ..Pace::default() };
    let limits = PromisedLimits { pace, ..limits() };
    // Between two slots there may be no pause at all.
    let seen =
        Observations { at_server: worst(2, "41.90.0.1"), least_gap: Some(0), ..Observations::default() };
    assert_eq!(broken(&seen, &limits), Vec::<String>::new());
    let least = Count { times: 1, first: "41.90.0.1 after 1s instead of 2s".into() };
    let seen = Observations { short_rests: ShortPauses { least, ..ShortPauses::default() }, ..seen };
    assert_eq!(broken(&seen, &limits).len(), 1);
}

#[test]
fn a_survey_tells_what_is_broken_once_server_by_server_where_ledgers_do() {
    let seen = Observations {
        exchanges: 9,
        at_server: worst(2, "41.90.0.1"),
        least_gap: Some(1_500_000),
        special: Count { times: 1, first: "10.0.0.1".into() },
        ..Observations::default()
    };
    let text: Vec<String> = super::super::broken(&verdicts(&seen, &limits())).collect();
    assert_eq!(text, ["no contact with special addresses: once: 10.0.0.1"]);
    let breaches = |most_parallel, gap| {
        breaches_at(server(1), most_parallel, Some(Duration::from_millis(gap)), &limits())
    };
    assert_eq!(breaches(1, 2000), Vec::<String>::new());
    assert_eq!(breaches(1, 1500), ["41.90.0.1 got the next request after 1.5s, but the least pause is 2s"]);
    assert_eq!(breaches(2, 2000), ["41.90.0.1 had 2 requests at once"]);
}
