//! The overview of a survey equals what other programs compute from its tables, and broken promises are found
//! broken.
//!
//! Needs what `tests/setup` installs: `overview.py` counts in `DuckDB` and polars.

use ccsurvey::analysis::Overview;
use ccsurvey::exchange::Class;
use ccsurvey::promises::Judgement;
use ccsurvey::records::{
    ExchangeRow, LevelRow, LinkRow, Manifest, OptOutRecord, SegmentRows, ServerRow, SiteRow, Tables,
    Timestamp, write_opt_outs, write_table,
};
use serde_json::{Value, json};

use crate::common::python::python;
use crate::surveys::three_countries;

/// Checks that every number of `expected` is at the same path in `found`; `tolerance` is the difference that
/// is allowed.
fn compare(location: &str, expected: &Value, found: &Value, tolerance: f64, compared: &mut usize) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (name, value) in expected {
                let found = found.get(name).unwrap_or(&Value::Null);
                compare(&format!("{location}.{name}"), value, found, tolerance, compared);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            assert_eq!(expected.len(), found.len(), "{location}: {expected:?} and {found:?}");
            for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{location}[{number}]"), expected, found, tolerance, compared);
            }
        }
        (Value::Number(one), Value::Number(other)) if one.is_f64() || other.is_f64() => {
            let [expected, found] = [one, other].map(|number| number.as_f64().unwrap());
            let error = (expected - found).abs();
            assert!(
                error <= tolerance * expected.abs().max(1e-6),
                "{location}: {found}, expected {expected}"
            );
            *compared += 1;
        }
        (expected, found) => {
            assert_eq!(found, expected, "{location}");
            *compared += 1;
        }
    }
}

#[test]
fn every_number_is_what_others_compute_from_the_tables() {
    let dir = three_countries();
    let found = serde_json::to_value(Overview::load(dir).unwrap()).unwrap();
    let mut expected: Value =
        serde_json::from_str(&python("report/overview.py", &[dir.to_str().unwrap()])).unwrap();
    let mut compared = 0;
    // Percentiles of times come from classes of equal ratio.
    let times = expected.as_object_mut().unwrap().remove("times").unwrap();
    compare("times", &times, &found["times"], 0.0101, &mut compared);
    compare("", &expected, &found, 1e-9, &mut compared);
    println!("{compared} numbers and names are the same");
    assert!(compared > 500, "{compared}");
    let broken = found["ledger"]["promises"].as_array().unwrap();
    assert!(broken.iter().all(|promise| promise["verdict"] != "broken"), "{broken:?}");
}

/// A request of `a.ke` for robots.txt or a page, this many milliseconds after the first.
fn exchange_at(number: u32, at_ms: i64, url: &str, address: &str) -> ExchangeRow {
    let is_robots = url.ends_with("/robots.txt");
    ExchangeRow {
        site: "a.ke".into(),
        url: url.into(),
        host: "a.ke".into(),
        address: Some(address.into()),
        depth: (!is_robots).then_some(0),
        purpose: if is_robots { "robots" } else { "page" }.into(),
        method: "GET".into(),
        started: Timestamp(1_000_000_000_000 + at_ms * 1000),
        status: Some(200),
        sent_bytes: 100,
        received_bytes: 900,
        total_ms: Some(100.0),
        number,
        ..ExchangeRow::default()
    }
}

const SERVER: &str = "41.90.0.1";

/// A robots.txt and two pages, with sound pauses between them.
fn polite_exchanges() -> Vec<ExchangeRow> {
    vec![
        exchange_at(0, 0, "http://a.ke/robots.txt", SERVER),
        exchange_at(1, 2_100, "http://a.ke/", SERVER),
        exchange_at(2, 4_200, "http://a.ke/b", SERVER),
    ]
}

fn settings() -> Value {
    json!({
        "cctld": ["ke"], "min-delay": "2s", "delay-factor": 5.0, "max-delay": "1m", "per-address": 1,
        "per-site": 1, "max-requests": "3", "max-bytes": "3000", "max-time": "10s", "rate": "1000",
        "max-body": "1000", "opt-out": "list.txt", "permit-special-addresses": false,
    })
}

/// The verdict on a promise and its evidence, for a survey with these exchanges.
fn verdict_with(id: &str, settings: Value, exchanges: Vec<ExchangeRow>) -> (Judgement, String) {
    verdict_of(id, settings, exchanges, &[])
}

/// The same with these opt-outs.
fn verdict_of(
    id: &str,
    settings: Value,
    exchanges: Vec<ExchangeRow>,
    opt_outs: &[OptOutRecord],
) -> (Judgement, String) {
    let folder = tempfile::tempdir().unwrap();
    let tables = Tables::open(folder.path()).unwrap();
    Manifest::new(settings, Timestamp(0)).save(folder.path()).unwrap();
    let mut sites: Vec<String> = exchanges.iter().map(|row| row.site.clone()).collect();
    sites.sort();
    sites.dedup();
    let sites = sites.into_iter().map(|site| SiteRow {
        site,
        cctld: Some("ke".into()),
        outcome: "complete".into(),
        ..SiteRow::default()
    });
    let rows = SegmentRows { exchanges, sites: sites.collect(), ..SegmentRows::default() };
    tables.write(0, &rows).unwrap();
    let server = ServerRow { address: SERVER.into(), asn: Some(64500), ..ServerRow::default() };
    write_table(folder.path(), &[server]).unwrap();
    write_opt_outs(&folder.path().join("opt-out.csv"), opt_outs).unwrap();
    let overview = Overview::load(folder.path()).unwrap();
    let verdict = overview.ledger.promises.into_iter().find(|verdict| verdict.id == id).expect(id);
    (verdict.judgement, verdict.evidence)
}

#[track_caller]
fn assert_broken(id: &str, exchanges: Vec<ExchangeRow>, evidence: &str) {
    let (verdict, found) = verdict_with(id, settings(), exchanges);
    assert_eq!(verdict, Judgement::Broken, "{id}: {found}");
    assert!(found.contains(evidence), "{id}: {found}");
}

#[test]
fn a_polite_survey_keeps_its_promises() {
    for id in [
        "one_at_a_time_address",
        "one_at_a_time_site",
        "least_pause",
        "request_budget",
        "byte_budget",
        "time_budget",
        "rate",
        "robots_first",
        "robots_unreachable",
        "special_addresses",
        "opt_out",
        "once",
        "recorded",
    ] {
        let (verdict, evidence) = verdict_with(id, settings(), polite_exchanges());
        assert_eq!(verdict, Judgement::Held, "{id}: {evidence}");
    }
}

#[test]
fn exchanges_that_overlap_are_found() {
    let mut exchanges = polite_exchanges();
    exchanges[2] = exchange_at(2, 2_150, "http://a.ke/b", SERVER);
    assert_broken("one_at_a_time_address", exchanges.clone(), "at most 2 at once (41.90.0.1)");
    // With another address, the site gets two requests at once.
    exchanges[2].address = Some("41.90.0.2".into());
    assert_broken("one_at_a_time_site", exchanges.clone(), "at most 2 at once (a.ke)");
    let (verdict, _) = verdict_with("one_at_a_time_address", settings(), exchanges);
    assert_eq!(verdict, Judgement::Held);
}

#[test]
fn a_pause_that_is_too_short_is_found() {
    let mut exchanges = polite_exchanges();
    exchanges[2] = exchange_at(2, 3_200, "http://a.ke/b", SERVER);
    assert_broken("least_pause", exchanges, "the shortest was 1.0 s (41.90.0.1)");
    // Two seconds are too short after an exchange of one second.
    let mut exchanges = polite_exchanges();
    exchanges[1].total_ms = Some(1_000.0);
    exchanges[2] = exchange_at(2, 5_200, "http://a.ke/b", SERVER);
    assert_broken("delay_factor", exchanges, "41.90.0.1 after 2.100s instead of 5.000s");
}

#[test]
fn a_millisecond_is_rounding() {
    let mut exchanges = polite_exchanges();
    exchanges[2] = exchange_at(2, 4_199, "http://a.ke/b", SERVER);
    assert_eq!(verdict_with("least_pause", settings(), exchanges).0, Judgement::Held);
}

#[test]
fn as_many_at_once_as_were_set_are_no_breach() {
    let mut exchanges = polite_exchanges();
    exchanges[2] = exchange_at(2, 2_150, "http://a.ke/b", SERVER);
    let mut two = settings();
    two["per-address"] = json!(2);
    for id in ["one_at_a_time_address", "least_pause"] {
        let (verdict, evidence) = verdict_with(id, two.clone(), exchanges.clone());
        assert_eq!(verdict, Judgement::Held, "{id}: {evidence}");
    }
    exchanges.push(exchange_at(3, 2_160, "http://a.ke/c", SERVER));
    assert_eq!(verdict_with("one_at_a_time_address", two, exchanges).0, Judgement::Broken);
}

#[test]
fn no_longer_pause_after_trouble_is_found() {
    let mut exchanges = polite_exchanges();
    let too_soon = "once: 41.90.0.1 after 2.000s instead of 4.000s";
    for status in [429, 502, 503, 504] {
        exchanges[1].status = Some(status);
        assert_broken("back_off", exchanges.clone(), too_soon);
    }
    exchanges[1].status = Some(200);
    for failure in ["body_truncated", "connect_unreachable", "reset", "idle_timeout"] {
        exchanges[1].failure = Some(failure.into());
        assert_broken("back_off", exchanges.clone(), too_soon);
    }
}

#[test]
fn budgets_that_are_exceeded_are_found() {
    let mut exchanges = polite_exchanges();
    exchanges.push(exchange_at(3, 6_300, "http://a.ke/c", SERVER));
    assert_broken("request_budget", exchanges.clone(), "at most 4 (a.ke)");
    assert_broken("byte_budget", exchanges, "at most 4.0 kB (a.ke)");
    let mut exchanges = polite_exchanges();
    exchanges.push(exchange_at(3, 290_000, "http://a.ke/c", SERVER));
    exchanges.push(exchange_at(4, 310_000, "http://a.ke/d", SERVER));
    assert_eq!(
        verdict_with("time_budget", settings(), exchanges.clone()).0,
        Judgement::Held,
        "its turn was late"
    );
    exchanges.push(exchange_at(5, 2_000_000, "http://a.ke/e", SERVER));
    exchanges.push(exchange_at(6, 3_661_000, "http://a.ke/f", SERVER));
    assert_broken("time_budget", exchanges, "at most 1 h 01 min (a.ke)");
}

/// The settings with these additions.
fn settings_with(more: Value) -> Value {
    let mut settings = settings();
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    settings
}

#[test]
fn budgets_of_what_sites_share_are_judged_in_all_and_by_the_day() {
    let day = 24 * 3600 * 1000;
    let mut exchanges = polite_exchanges();
    exchanges.push(exchange_at(3, day, "http://a.ke/c", "41.90.0.2"));
    for (setting, id, bound, broken, evidence) in [
        ("max-server-requests", "server_requests", json!("3"), json!("2"), "at most 3 (41.90.0.1)"),
        (
            "max-server-bytes-per-day",
            "server_bytes_per_day",
            json!("3000"),
            json!("2999"),
            "at most 3.0 kB (41.90.0.1)",
        ),
        ("max-server-busy", "server_busy", json!("300ms"), json!("299ms"), "at most 300.0 ms (41.90.0.1)"),
        ("max-network-requests", "network_requests", json!(4), json!(3), "at most 4 (41.90.0.0/24)"),
        (
            "max-network-requests-per-day",
            "network_requests_per_day",
            json!(3),
            json!(2),
            "at most 3 (41.90.0.0/24)",
        ),
        ("max-as-requests", "as_requests", json!(3), json!(2), "at most 3 (AS64500)"),
    ] {
        let verdict =
            |most: Value| verdict_with(id, settings_with(json!({setting: most})), exchanges.clone());
        let (judged, found) = verdict(bound);
        assert!(judged == Judgement::Held && found.contains(evidence), "{setting}: {found}");
        assert_eq!(verdict(broken).0, Judgement::Broken, "{setting}");
    }
}

#[test]
fn addresses_of_a_neighbourhood_share_its_places_and_pauses_where_that_is_set() {
    let one_per_neighbourhood = settings_with(json!({"per-neighbourhood": "1", "per-site": 2}));
    let exchanges_with = |at_ms, address| {
        let mut exchanges = polite_exchanges();
        exchanges[2] = exchange_at(2, at_ms, "http://a.ke/b", address);
        exchanges
    };
    let at_once = "one_at_a_time_neighbourhood";
    assert_eq!(
        verdict_with(at_once, one_per_neighbourhood.clone(), exchanges_with(2_150, "41.90.0.2")).0,
        Judgement::Broken
    );
    assert_eq!(
        verdict_with(at_once, one_per_neighbourhood.clone(), exchanges_with(2_150, "41.91.0.2")).0,
        Judgement::Held
    );
    let pause = "least_pause_neighbourhood";
    assert_eq!(
        verdict_with(pause, one_per_neighbourhood.clone(), exchanges_with(3_200, "41.90.0.2")).0,
        Judgement::Broken
    );
    assert_eq!(
        verdict_with(pause, one_per_neighbourhood, exchanges_with(4_200, "41.90.0.2")).0,
        Judgement::Held
    );
}

#[test]
fn more_of_a_link_than_its_share_is_found() {
    let sparing = settings_with(json!({"harm": "0.003"}));
    // A second of transfer, and then a pause of 400 s or 200 s.
    let after = |seconds: i64, bytes| {
        let mut exchanges = polite_exchanges();
        let large = &mut exchanges[1];
        (large.received_bytes, large.first_byte_ms, large.total_ms) = (bytes, Some(100.0), Some(1_100.0));
        exchanges[2] = exchange_at(2, 2_100 + seconds * 1000, "http://a.ke/b", SERVER);
        verdict_with("harm", sparing.clone(), exchanges)
    };
    let (held, evidence) = after(400, 64_000);
    assert_eq!(
        (held, evidence.as_str()),
        (Judgement::Held, "estimate: at most 0.25 % (41.90.0.1), by the best rates of 1 server")
    );
    let (broken, evidence) = after(200, 64_000);
    assert!(broken == Judgement::Broken && evidence.contains("0.50 % (41.90.0.1)"), "{evidence}");
    // So few bytes tell no rate.
    assert_eq!(after(2, 4_000).0, Judgement::NotJudged);
    let lifted = settings_with(json!({"harm": "none"}));
    assert_eq!(verdict_with("harm", lifted, polite_exchanges()).0, Judgement::NotJudged);
}

#[test]
fn a_handshake_does_not_hide_that_more_of_a_link_than_its_share_was_taken() {
    let sparing = settings_with(json!({"harm": "0.003"}));
    let mut exchanges = polite_exchanges();
    // Certificates of 5 kB, and a body that came with its head.
    let robots = &mut exchanges[0];
    (robots.received_bytes, robots.first_byte_ms, robots.total_ms) = (6_000, Some(99.95), Some(100.0));
    let large = &mut exchanges[1];
    (large.received_bytes, large.first_byte_ms, large.total_ms) = (64_000, Some(100.0), Some(1_100.0));
    exchanges[2] = exchange_at(2, 202_100, "http://a.ke/b", SERVER);
    let (verdict, evidence) = verdict_with("harm", sparing, exchanges);
    assert!(verdict == Judgement::Broken && evidence.contains("0.50 % (41.90.0.1)"), "{evidence}");
}

#[test]
fn quiet_hours_are_judged_by_what_the_survey_saw_for_tables_have_no_clocks() {
    let quiet = settings_with(json!({"quiet-hours": "08:00-18:00"}));
    assert_eq!(verdict_with("quiet_hours", quiet, polite_exchanges()).0, Judgement::NotJudged);
}

#[test]
fn a_time_in_which_the_whole_survey_stood_still_is_nobodys() {
    let mut exchanges = polite_exchanges();
    exchanges[2] = exchange_at(2, 400_000, "http://a.ke/b", SERVER);
    assert_eq!(verdict_with("time_budget", settings(), exchanges).0, Judgement::Held);
}

#[test]
fn a_rate_that_is_exceeded_is_found() {
    let mut exchanges = polite_exchanges();
    exchanges[2].received_bytes = 3_000_000;
    assert_broken("rate", exchanges, "MB more than this rate and the saved-up bytes allow; ");
}

#[test]
fn an_address_in_a_special_range_is_found() {
    let mut exchanges = polite_exchanges();
    exchanges[2].address = Some("192.168.7.1".into());
    assert_broken("special_addresses", exchanges.clone(), "once: 192.168.7.1");
    let mut permitted = settings();
    permitted["permit-special-addresses"] = json!(true);
    assert_eq!(verdict_with("special_addresses", permitted, exchanges.clone()).0, Judgement::NotJudged);
    // A refused address never got a request.
    exchanges[2].total_ms = None;
    assert_eq!(verdict_with("special_addresses", settings(), exchanges).0, Judgement::Held);
}

#[test]
fn a_host_that_is_asked_after_it_opted_out_is_found() {
    let mut exchanges = polite_exchanges();
    (exchanges[1].total_ms, exchanges[1].failure) = (None, Some("opted_out".into()));
    assert_broken("opt_out", exchanges, "once: a.ke");
}

#[test]
fn requests_to_those_who_opted_out_are_counted_from_when_that_was_in_force() {
    let second = |second: i64| Timestamp(1_000_000_000_000 + second * 1_000_000);
    let opted_out = |entry: &str, since: i64, until: Option<i64>| {
        let (since, until) = (second(since), until.map(second));
        [OptOutRecord { entry: entry.to_owned(), date: None, since, until }]
    };
    let network = format!("{SERVER}/24");
    // Requests at 0 s, 2.1 s and 4.2 s.
    for entry in ["a.ke", network.as_str(), "AS64500"] {
        let verdict = |since, until| {
            verdict_of("opt_out", settings(), polite_exchanges(), &opted_out(entry, since, until))
        };
        let (judged, evidence) = verdict(1, None);
        assert_eq!(judged, Judgement::Broken, "{entry}: {evidence}");
        assert_eq!(evidence, "2 times, first 41.90.0.1 for a.ke");
        let held = (Judgement::Held, "no violation in 3 exchanges".to_owned());
        assert_eq!(verdict(5, None), held, "{entry}");
        assert_eq!(verdict(3, Some(4)), held, "{entry}: in force between two requests");
    }
    let other = verdict_of("opt_out", settings(), polite_exchanges(), &opted_out("b.ke", 0, None));
    assert_eq!(other.0, Judgement::Held);
}

#[test]
fn pages_before_robots_txt_and_despite_it_and_twice_are_found() {
    let mut exchanges = polite_exchanges();
    exchanges.remove(0);
    assert_broken("robots_first", exchanges, "2 times, first http://a.ke/");
    let mut exchanges = polite_exchanges();
    exchanges[0].status = Some(503);
    assert_broken("robots_unreachable", exchanges, "2 times, first http://a.ke/");
    let mut exchanges = polite_exchanges();
    exchanges[2].url = "http://a.ke/".into();
    assert_broken("once", exchanges, "once: http://a.ke/");
}

#[test]
fn what_was_not_set_or_not_told_is_not_shown() {
    let mut lifted = settings();
    for limit in ["max-requests", "max-bytes", "max-time", "rate"] {
        lifted[limit] = json!("none");
    }
    for id in ["request_budget", "byte_budget", "time_budget", "rate", "robots_rules", "memory"] {
        assert_eq!(verdict_with(id, lifted.clone(), polite_exchanges()).0, Judgement::NotJudged, "{id}");
    }
    assert_eq!(verdict_with("least_pause", json!({}), polite_exchanges()).0, Judgement::NotJudged);
}

#[test]
fn a_survey_without_trees_is_empty_and_damaged_rows_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let tables = Tables::open(folder.path()).unwrap();
    Manifest::new(settings(), Timestamp(0)).save(folder.path()).unwrap();
    tables.write(0, &SegmentRows::default()).unwrap();
    write_table::<ServerRow>(folder.path(), &[]).unwrap();
    let error = Overview::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains("is an empty survey"), "{error}");
    let exchange = ExchangeRow {
        site: "a.ke".into(),
        started: Timestamp(i64::MAX),
        total_ms: Some(f64::INFINITY),
        address: Some("nowhere".into()),
        ..ExchangeRow::default()
    };
    let early = ExchangeRow { started: Timestamp(i64::MIN), total_ms: Some(-1e300), ..exchange.clone() };
    let mut deep = LevelRow { site: "a.ke".into(), depth: u16::MAX, ..LevelRow::default() };
    deep.classes[Class::Fetched] = u64::MAX;
    let rows = SegmentRows {
        exchanges: vec![exchange, early],
        links: vec![LinkRow { site: "a.ke".into(), ..LinkRow::default() }],
        sites: vec![SiteRow {
            site: "a.ke".into(),
            generation: u32::MAX,
            pages: u64::MAX,
            ..SiteRow::default()
        }],
        levels: vec![deep.clone(), deep],
        ..SegmentRows::default()
    };
    tables.write(1, &rows).unwrap();
    let overview = Overview::load(folder.path()).unwrap();
    assert_eq!(overview.kept_back.rows_that_do_not_reconcile, 2);
}
