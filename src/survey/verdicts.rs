use crate::load::{Burden, Count, Seen, SharedBudget, ShortRests, Worst};
use crate::records::units::{bytes, milliseconds, thousands};
use crate::records::{Judgement, Verdict};
use crate::settings::Settings;

/// What the ledger says of each promise on load that it can judge, by what was seen from the answers alone.
pub(super) fn verdicts(seen: &Seen, settings: &Settings) -> Vec<Verdict> {
    let mut verdicts = at_once(seen, settings);
    verdicts.push(least_pause(seen, settings));
    verdicts.extend(rests(seen, settings));
    verdicts.extend(tree_budgets(seen, settings));
    verdicts.extend(shared_budgets(seen, settings));
    verdicts.push(rate(seen, settings));
    verdicts.push(quiet_hours(seen, settings));
    verdicts.extend(nobody_who_must_not_be(seen, settings));
    verdicts
}

fn at_once(seen: &Seen, settings: &Settings) -> Vec<Verdict> {
    let judge = |id: &str, what: &str, most: Option<u32>, worst: &Worst| {
        let promise = match most {
            Some(1) | None => format!("one request at a time in each {what}"),
            Some(most) => format!("at most {most} requests at once in each {what}"),
        };
        let evidence = format!("at most {} at once{}", worst.most, of(worst));
        judged(id, promise, most.map(u64::from), worst, evidence)
    };
    vec![
        judge("one_at_a_time_address", "server", Some(settings.per_address), &seen.at_server),
        judge("one_at_a_time_site", "site", Some(settings.per_site), &seen.in_site),
        judge(
            "one_at_a_time_neighbourhood",
            "neighbourhood",
            settings.per_neighbourhood,
            &seen.in_neighbourhood,
        ),
    ]
}

fn least_pause(seen: &Seen, settings: &Settings) -> Verdict {
    let least = settings.min_delay.0.as_micros() as u64;
    let promise = format!("at least {} of pause at each server", settings.min_delay);
    let Some(gap) = seen.least_gap else {
        return verdict("least_pause", promise, Judgement::Held, "no server was asked twice".to_owned());
    };
    let evidence = format!("the shortest was {} ({})", time(gap), seen.least_gap_at);
    // With several places at a server the pause is kept in each, and gaps between them may be shorter.
    let judgement = match settings.per_address {
        1 if gap < least => Judgement::Broken,
        1 => Judgement::Held,
        _ => Judgement::NotJudged,
    };
    verdict("least_pause", promise, judgement, evidence)
}

/// What servers are owed beside the least pause.
fn rests(seen: &Seen, settings: &Settings) -> [Verdict; 5] {
    let ShortRests { slow, link, trouble, retry_after, crawl_delay } = &seen.short_rests;
    // With several places at a server each of them rests, and exchanges of two follow each other sooner.
    let is_judged = settings.per_address == 1;
    let judge = |id: &str, promise: String, is_judged: bool, count: &Count| {
        let (judgement, evidence) = match count.times {
            _ if !is_judged => (Judgement::NotJudged, NO_LIMIT.to_owned()),
            0 => (Judgement::Held, format!("never shorter in {} exchanges", thousands(seen.exchanges))),
            times => (Judgement::Broken, format!("{} times, first {}", thousands(times), count.first)),
        };
        verdict(id, promise, judgement, evidence)
    };
    let (factor, most) = (settings.delay_factor, settings.max_delay);
    let share = settings.link_share.map_or("a share".to_owned(), |share| format!("{} %", share * 100.0));
    [
        judge(
            "delay_factor",
            format!("a pause of {factor} times the last exchange at each server, up to {most}"),
            is_judged && factor > 0.0,
            slow,
        ),
        judge(
            "link_share",
            format!("pauses that take at most {share} of the link of each server"),
            is_judged && settings.link_share.is_some(),
            link,
        ),
        judge("back_off", "longer pauses for servers in trouble".to_owned(), is_judged, trouble),
        judge(
            "retry_after",
            "no request before the time that a server named".to_owned(),
            is_judged,
            retry_after,
        ),
        judge("crawl_delay", "the pause that robots.txt asks for".to_owned(), is_judged, crawl_delay),
    ]
}

fn tree_budgets(seen: &Seen, settings: &Settings) -> [Verdict; 2] {
    let max_bytes = settings.max_bytes.map(|size| size.0);
    [
        budget("request_budget", "requests for a site tree", settings.max_requests, &seen.tree[0], thousands),
        budget("byte_budget", "of traffic for a site tree", max_bytes, &seen.tree[1], bytes),
    ]
}

fn shared_budgets(seen: &Seen, settings: &Settings) -> Vec<Verdict> {
    let places = [
        ("server", "a server", SharedBudget::from(&settings.budgets.server), &seen.server, &seen.server_day),
        (
            "network",
            "a network (/24, /48)",
            SharedBudget::from(&settings.budgets.network),
            &seen.network,
            &seen.network_day,
        ),
        (
            "as",
            "an autonomous system",
            SharedBudget::from(&settings.budgets.system),
            &seen.system,
            &seen.system_day,
        ),
    ];
    let all = places.into_iter().flat_map(|(id, place, budget, in_all, on_day)| {
        let in_all = burden(&format!("{id}_{{}}"), &format!("{{}} {place}"), &budget.in_all, in_all);
        let per_day =
            burden(&format!("{id}_{{}}_per_day"), &format!("{{}} {place} on a day"), &budget.per_day, on_day);
        in_all.into_iter().chain(per_day)
    });
    all.filter(|verdict| verdict.judgement != Judgement::NotJudged).collect()
}

/// What a place bore; `{}` stands for what it bore of.
fn burden(id: &str, what: &str, most: &Burden, worst: &[Worst; 3]) -> [Verdict; 3] {
    let judge = |name: &str, words: &str, most: Option<u64>, worst: &Worst, written: fn(u64) -> String| {
        budget(&id.replace("{}", name), &what.replace("{}", words), most, worst, written)
    };
    let [requests, moved, busy] = worst;
    let most_busy = most.busy.map(|time| time.as_micros() as u64);
    [
        judge("requests", "requests to", most.requests, requests, thousands),
        judge("bytes", "of traffic with", most.bytes, moved, bytes),
        judge("busy", "of the time of", most_busy, busy, time),
    ]
}

fn rate(seen: &Seen, settings: &Settings) -> Verdict {
    let Some(rate) = settings.rate else {
        let promise = "no more bytes per second than the ceiling".to_owned();
        return verdict("rate", promise, Judgement::NotJudged, NO_LIMIT.to_owned());
    };
    let promise = format!("at most {}/s over the whole survey", bytes(rate.0));
    let judgement = if seen.above_rate > 0 { Judgement::Broken } else { Judgement::Held };
    let evidence = match seen.above_rate {
        0 => format!("never exceeded in {} exchanges", thousands(seen.exchanges)),
        above => format!("{} above it and what may be saved up", bytes(above)),
    };
    verdict("rate", promise, judgement, evidence)
}

fn quiet_hours(seen: &Seen, settings: &Settings) -> Verdict {
    let Some(hours) = settings.quiet_hours else {
        return verdict(
            "quiet_hours",
            "no request in quiet hours".into(),
            Judgement::NotJudged,
            NO_LIMIT.into(),
        );
    };
    no_contact(
        "quiet_hours",
        format!("no request in the hours {hours} of a server"),
        seen,
        &seen.in_quiet_hours,
    )
}

fn no_contact(id: &str, promise: String, seen: &Seen, count: &Count) -> Verdict {
    match count.times {
        0 => {
            verdict(id, promise, Judgement::Held, format!("none in {} exchanges", thousands(seen.exchanges)))
        }
        times => {
            let evidence = format!("{} times, first {}", thousands(times), count.first);
            verdict(id, promise, Judgement::Broken, evidence)
        }
    }
}

fn nobody_who_must_not_be(seen: &Seen, settings: &Settings) -> [Verdict; 2] {
    let special = "no contact with special addresses".to_owned();
    let special = match seen.special.times {
        times if settings.permit_special_addresses && times > 0 => {
            let evidence = format!("{} were permitted", thousands(times));
            verdict("special_addresses", special, Judgement::NotJudged, evidence)
        }
        _ => no_contact("special_addresses", special, seen, &seen.special),
    };
    let opt_out = "no contact with whom had opted out".to_owned();
    [special, no_contact("opt_out", opt_out, seen, &seen.opted_out)]
}

const NO_LIMIT: &str = "no limit was set";

fn budget(
    id: &str,
    what: &str,
    most: Option<u64>,
    worst: &Worst,
    written: impl Fn(u64) -> String,
) -> Verdict {
    let promise = match most {
        Some(most) => format!("at most {} {what}", written(most)),
        None => format!("a limit of {what}"),
    };
    let evidence = format!("at most {}{}", written(worst.most), of(worst));
    judged(id, promise, most, worst, evidence)
}

fn judged(id: &str, promise: String, most: Option<u64>, worst: &Worst, evidence: String) -> Verdict {
    match most {
        None => verdict(id, promise, Judgement::NotJudged, format!("{NO_LIMIT}; {evidence}")),
        Some(most) if worst.most > most => verdict(id, promise, Judgement::Broken, evidence),
        Some(_) => verdict(id, promise, Judgement::Held, evidence),
    }
}

fn of(worst: &Worst) -> String {
    if worst.who.is_empty() { String::new() } else { format!(" ({})", worst.who) }
}

fn time(micros: u64) -> String {
    milliseconds(micros as f64 / 1000.0)
}

fn verdict(id: &str, promise: String, judgement: Judgement, evidence: String) -> Verdict {
    Verdict { id: id.to_owned(), promise, judgement, evidence }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::{Allowance, Bearable, Budgets, Size, Span};

    fn broken(seen: &Seen, settings: &Settings) -> Vec<String> {
        let broken = verdicts(seen, settings).into_iter().filter(|it| it.judgement == Judgement::Broken);
        broken.map(|verdict| verdict.to_string()).collect()
    }

    fn worst(most: u64, who: &str) -> Worst {
        Worst { most, who: who.to_owned() }
    }

    #[test]
    fn a_ledger_without_breaches_breaks_nothing() {
        let seen = Seen { at_server: worst(1, "41.90.0.1"), least_gap: Some(2_000_100), ..Seen::default() };
        assert_eq!(broken(&seen, &Settings::default()), Vec::<String>::new());
    }

    #[test]
    fn every_breach_in_the_ledger_is_told_with_its_evidence() {
        let seen = Seen {
            exchanges: 9,
            at_server: worst(2, "41.90.0.1"),
            in_site: worst(3, "a.ke"),
            in_neighbourhood: worst(5, "41.90.0.0/24"),
            least_gap: Some(1_500_000),
            least_gap_at: "41.90.0.1".into(),
            short_rests: ShortRests {
                slow: Count { times: 2, first: "41.90.0.1 after 2s in place of 5s".into() },
                link: Count { times: 1, first: "41.90.0.1 after 2s in place of 9s".into() },
                trouble: Count { times: 1, first: "41.90.0.1 after 2s in place of 8s".into() },
                retry_after: Count { times: 1, first: "41.90.0.1 after 2s in place of 60s".into() },
                crawl_delay: Count { times: 1, first: "41.90.0.1 after 2s in place of 10s".into() },
            },
            server: [worst(101, "41.90.0.1"), worst(5, "41.90.0.1"), worst(0, "")],
            server_day: [worst(0, ""), worst(0, ""), worst(61_000_000, "41.90.0.2")],
            network: [worst(0, ""), worst(7, "41.90.0.0/24"), worst(0, "")],
            network_day: [worst(31, "41.90.0.0/24"), worst(0, ""), worst(0, "")],
            system: [worst(401, "AS36914"), worst(0, ""), worst(0, "")],
            system_day: [worst(0, ""), worst(0, ""), worst(3_601_000_000, "AS36914")],
            tree: [worst(10_001, "a.ke"), worst(10, "a.ke")],
            above_rate: 77,
            special: Count { times: 1, first: "10.0.0.1".into() },
            opted_out: Count { times: 2, first: "41.90.0.1 for a.ke".into() },
            in_quiet_hours: Count { times: 1, first: "41.90.0.1 for a.ke".into() },
        };
        let settings = Settings {
            per_neighbourhood: Some(4),
            quiet_hours: "08:00-18:00".parse().ok(),
            budgets: Budgets {
                server: Allowance {
                    in_all: Bearable { requests: Some(100), bytes: Some(Size(5)), busy: None },
                    per_day: Bearable { busy: Some(Span(Duration::from_secs(60))), ..Bearable::default() },
                },
                network: Allowance {
                    in_all: Bearable { bytes: Some(Size(6)), ..Bearable::default() },
                    per_day: Bearable { requests: Some(30), ..Bearable::default() },
                },
                system: Allowance {
                    in_all: Bearable { requests: Some(400), ..Bearable::default() },
                    per_day: Bearable { busy: Some(Span(Duration::from_secs(3600))), ..Bearable::default() },
                },
            },
            ..Settings::default()
        };
        let expected = [
            "one request at a time in each server: at most 2 at once (41.90.0.1)",
            "one request at a time in each site: at most 3 at once (a.ke)",
            "at most 4 requests at once in each neighbourhood: at most 5 at once (41.90.0.0/24)",
            "at least 2s of pause at each server: the shortest was 1.5 s (41.90.0.1)",
            "a pause of 5 times the last exchange at each server, up to 1m: 2 times, first 41.90.0.1 after 2s in place of 5s",
            "pauses that take at most 0.3 % of the link of each server: 1 times, first 41.90.0.1 after 2s in place of 9s",
            "longer pauses for servers in trouble: 1 times, first 41.90.0.1 after 2s in place of 8s",
            "no request before the time that a server named: 1 times, first 41.90.0.1 after 2s in place of 60s",
            "the pause that robots.txt asks for: 1 times, first 41.90.0.1 after 2s in place of 10s",
            "at most 10,000 requests for a site tree: at most 10,001 (a.ke)",
            "at most 100 requests to a server: at most 101 (41.90.0.1)",
            "at most 1 min 00 s of the time of a server on a day: at most 1 min 01 s (41.90.0.2)",
            "at most 6 B of traffic with a network (/24, /48): at most 7 B (41.90.0.0/24)",
            "at most 30 requests to a network (/24, /48) on a day: at most 31 (41.90.0.0/24)",
            "at most 400 requests to an autonomous system: at most 401 (AS36914)",
            "at most 1 h 00 min of the time of an autonomous system on a day: at most 1 h 00 min (AS36914)",
            "at most 1.0 MB/s over the whole survey: 77 B above it and what may be saved up",
            "no request in the hours 08:00-18:00 of a server: 1 times, first 41.90.0.1 for a.ke",
            "no contact with special addresses: 1 times, first 10.0.0.1",
            "no contact with whom had opted out: 2 times, first 41.90.0.1 for a.ke",
        ];
        assert_eq!(broken(&seen, &settings), expected);
    }

    #[test]
    fn a_short_pause_is_told_in_milliseconds() {
        let settings = Settings { min_delay: Span(Duration::from_millis(310)), ..Settings::default() };
        for (gap, told) in [(5_000, "5.0 ms"), (300_500, "300.5 ms")] {
            let seen = Seen { least_gap: Some(gap), least_gap_at: "41.90.0.1".into(), ..Seen::default() };
            let expected =
                format!("at least 310ms of pause at each server: the shortest was {told} (41.90.0.1)");
            assert_eq!(broken(&seen, &settings), [expected]);
        }
    }

    #[test]
    fn what_was_permitted_or_not_limited_is_not_judged() {
        let seen = Seen { special: Count { times: 4, first: "127.0.0.1".into() }, ..Seen::default() };
        let settings = Settings { permit_special_addresses: true, rate: None, ..Settings::default() };
        let open = verdicts(&seen, &settings).into_iter().filter(|it| it.judgement == Judgement::NotJudged);
        let open: Vec<String> = open.map(|verdict| verdict.id).collect();
        assert_eq!(open, ["one_at_a_time_neighbourhood", "rate", "quiet_hours", "special_addresses"]);
    }
}
