use proptest::collection::vec;
use proptest::prelude::*;

use super::super::judge::Overlaps;
use super::*;
use crate::settings::LoadLimits;

fn judge_with_rate(rate: u64) -> Judge {
    Judge::new(PromisedLimits { rate: Some(rate), ..PromisedLimits::default() }, Observations::default())
}

#[test]
fn exchanges_one_after_the_other_are_one_at_a_time() {
    let mut judge = judge();
    for second in 0..3000 {
        note(&mut judge, "a.ke", server(1), &response(f64::from(second), 1.0, 10));
    }
    assert_eq!((judge.seen().in_site.most, judge.seen().in_neighbourhood.most), (1, 1));
}

#[test]
fn exchanges_of_a_site_and_of_a_neighbourhood_at_once_are_seen() {
    let mut judge = judge();
    note(&mut judge, "a.ke", server(1), &response(0.0, 2.0, 10));
    note(&mut judge, "a.ke", FAR, &response(1.0, 2.0, 10));
    note(&mut judge, "b.ke", server(2), &response(0.5, 4.0, 10));
    let Observations { in_site, in_neighbourhood, .. } = judge.seen();
    assert_eq!((in_site.most, in_site.who.as_str()), (2, "a.ke"));
    assert_eq!((in_neighbourhood.most, in_neighbourhood.who.as_str()), (2, "41.90.0.0/24"));
}

#[test]
fn a_rate_that_is_exceeded_is_seen_however_the_exchanges_end() {
    let seen = |bytes: u64| {
        let mut judge = judge_with_rate(1000);
        for second in 0..2000 {
            let lasts = if second % 2 == 0 { 5.0 } else { 0.5 };
            note(&mut judge, "a.ke", server(1), &response(f64::from(second), lasts, bytes));
        }
        assert_eq!(judge.seen().above_rate > 0, judge.final_observations().above_rate > 0);
        judge.seen().above_rate
    };
    assert_eq!(seen(1000), 0);
    // A tenth of eleven minutes, or of half of them.
    assert!(seen(1100) > 30_000, "{}", seen(1100));
}

#[test]
fn a_rate_that_is_exceeded_in_a_survey_of_minutes_is_seen_at_its_end() {
    let mut judge = judge_with_rate(1000);
    for second in 0..60 {
        note(&mut judge, "a.ke", server(1), &response(f64::from(second), 0.5, 2000));
    }
    assert_eq!(judge.seen().above_rate, 0, "what began earlier may still be told");
    // A second of the rate is saved up, and in 59.5 seconds and the slack of clocks 59,501 bytes may move.
    assert_eq!(judge.final_observations().above_rate, 60 * 2000 - 1000 - 59_501 - 1);
}

/// A response with separate end times for its head and its body.
fn timed_response(started: f64, headed: f64, ended: f64, body: u64) -> Response {
    let mut response = response(started, ended - started, body);
    response.timings.first_byte = Some(Duration::from_secs_f64(headed - started));
    response.after_head = body;
    response
}

#[test]
fn bytes_count_when_they_move_and_not_when_an_exchange_begins() {
    // 29 servers whose responses of 300 kB take up to half a minute, and end within a second or one after the
    // other.
    let above = |headed: fn(f64) -> f64, ended: fn(f64) -> f64| {
        let mut judge = judge_with_rate(1 << 20);
        for number in 0..29 {
            let number = f64::from(number);
            note(
                &mut judge,
                "a.ke",
                server(1),
                &timed_response(number, headed(number), ended(number), 300_000),
            );
        }
        judge.final_observations().above_rate
    };
    assert!(above(|_| 40.0, |_| 40.9) > 6_500_000, "begun one a second, moved within one");
    assert_eq!(above(|number| number + 0.1, |number| number + 0.2), 0);
    assert_eq!(above(|_| 30.0, |number| 31.0 + number), 0, "read slowly");
    assert_eq!(above(|number| 30.0 + number, |number| 30.1 + number), 0, "read one after the other");
    assert!(above(|number| 30.0 + number / 20.0, |number| 30.1 + number / 20.0) > 5_000_000);
}

#[test]
fn what_may_be_saved_up_is_a_second_or_the_largest_exchange() {
    for (largest, above) in [(0, 4000), (500, 4000), (3000, 2000)] {
        let mut judge = Judge::new(
            PromisedLimits { rate: Some(1000), largest, ..PromisedLimits::default() },
            Observations::default(),
        );
        note(&mut judge, "a.ke", server(1), &response(0.0, 0.0, 5000));
        // One millisecond of the rate is the slack of clocks.
        assert_eq!(judge.final_observations().above_rate, above - 1, "{largest}");
    }
}

#[test]
fn contacts_that_must_not_be_are_counted_and_outlast_the_process() {
    let mut judge = judge();
    let (site, both_objections) =
        (site("a.ke"), OwnerObjections { had_opted_out: true, in_quiet_hours: true });
    judge.note(&fact(&site, [10, 0, 0, 1].into(), &response(0.0, 1.0, 1)));
    judge.note(&Fact { objections: both_objections, ..fact(&site, server(1), &response(9.0, 1.0, 1)) });
    let reported = serde_json::to_string(judge.seen()).unwrap();
    let seen: Observations = serde_json::from_str(&reported).unwrap();
    let later = Judge::new(PromisedLimits::default(), seen);
    assert_eq!(later.seen().exchanges, 2);
    assert_eq!((later.seen().special.times, later.seen().opted_out.times), (1, 1));
    assert_eq!(later.seen().in_quiet_hours.times, 1);
    assert_eq!(later.seen().opted_out.first, "41.90.0.1 for a.ke");
}

#[test]
fn what_is_told_late_is_weighed_when_nothing_earlier_can_come() {
    for (next, is_weighed) in [(600.0, false), (600.5, false), (600.502, true), (900.0, true)] {
        let mut judge = judge_with_rate(1000);
        for (started, bytes) in [(0.0, 50_000), (next, 1)] {
            note(&mut judge, "a.ke", server(1), &response(started, 0.5, bytes));
        }
        let expected = if is_weighed { 50_000 - 1000 - 501 - 1 } else { 0 };
        assert_eq!(judge.seen().above_rate, expected, "{next}");
    }
}

#[test]
fn an_exchange_costs_the_rate_what_it_sent_and_what_it_received() {
    let mut judge = judge_with_rate(1000);
    let wire = Wire { sent: 30_000, received: 20_000, connections: 1 };
    let reported = Response { wire, ..response(0.0, 0.5, 0) };
    note(&mut judge, "a.ke", server(1), &reported);
    assert_eq!(judge.final_observations().above_rate, 50_000 - 1000 - 501 - 1);
}

proptest! {
    /// Bytes that a bucket lets through never exceed the rate, however they are reported.
    #[test]
    fn what_keeps_to_a_rate_is_never_above_it(
        moves in vec((1u64..5000, 0.0..4.0f64, 0.0..3.0f64, 0.0..3.0f64), 1..80),
        rate in 100u64..5000,
        is_known in any::<bool>(),
    ) {
        let mut judge = Judge::new(PromisedLimits { rate: Some(rate), largest: 3000, ..PromisedLimits::default() }, Observations::default());
        let capacity = (rate as f64).max(3000.0);
        let (mut now, mut level, mut reported) = (0.0, capacity, Vec::new());
        for (bytes, gap, before, after) in moves {
            let bytes = bytes.min(capacity as u64);
            let next = now + f64::max(gap, (bytes as f64 - level) / rate as f64);
            level = (level + (next - now) * rate as f64).min(capacity) - bytes as f64;
            now = next;
            // All bytes moved now, in an exchange that began earlier and ended later.
            let mut response = timed_response(now - before, now - before / 2.0, now + after, bytes);
            response.after_head = if is_known { bytes } else { 0 };
            reported.push(response);
        }
        reported.sort_by_key(Response::ended);
        for response in &reported {
            note(&mut judge, "a.ke", server(1), response);
        }
        prop_assert_eq!(judge.final_observations().above_rate, 0);
    }
}

#[test]
fn what_runs_when_old_exchanges_are_forgotten_is_still_known() {
    let pace = Pace { min_delay: Duration::ZERO, harm: None, ..Pace::default() };
    let mut judge = Judge::new(PromisedLimits { pace, ..PromisedLimits::default() }, Observations::default());
    note(&mut judge, "old.ke", FAR, &response(0.0, 0.5, 1));
    note(&mut judge, "a.ke", server(1), &response(1000.0, 10.0, 1));
    judge.forget_before(at(1010.0) - Judge::HORIZON);
    note(&mut judge, "a.ke", FAR, &response(1009.0, 2.0, 1));
    note(&mut judge, "b.ke", server(2), &response(1009.5, 2.0, 1));
    note(&mut judge, "c.ke", server(1), &response(1011.0, 1.0, 1));
    let Observations { in_site, in_neighbourhood, short_rests, .. } = judge.seen();
    assert_eq!((in_site.most, in_site.who.as_str()), (2, "a.ke"));
    assert_eq!((in_neighbourhood.most, short_rests.slow.times), (2, 1));
}

#[test]
fn exchanges_that_ended_before_a_time_are_forgotten() {
    let mut overlaps = Overlaps::default();
    assert_eq!(overlaps.add("a", (at(0.0), at(1.0))), 1);
    overlaps.forget_before(at(0.999));
    assert_eq!(overlaps.len(), 1);
    overlaps.forget_before(at(1.0));
    assert_eq!(overlaps.len(), 0);
}

proptest! {
    #[test]
    fn of_exchanges_at_once_as_many_are_told_as_run_at_the_worst_moment(
        spans in vec((0..40_u8, 0..20_u8), 1..30)
    ) {
        let spans = spans.into_iter().map(|(from, length)| (f64::from(from), f64::from(from + length)));
        let (mut overlaps, mut before) = (Overlaps::default(), Vec::new());
        for (from, to) in spans {
            before.push((from, to));
            let runs = |moment: f64| before.iter().filter(|(from, to)| (*from..*to).contains(&moment)).count();
            // All exchanges begin and end at a whole second.
            let seconds = (from as u8..to as u8).map(f64::from);
            let worst = seconds.map(runs).max().unwrap_or(1);
            prop_assert_eq!(overlaps.add("a", (at(from), at(to))), worst as u64);
        }
    }
}

#[test]
fn exchanges_of_no_time_at_one_moment_do_not_run_at_once() {
    let mut overlaps = Overlaps::default();
    for _ in 0..3 {
        assert_eq!(overlaps.add("a", (at(5.0), at(5.0))), 1);
    }
    assert_eq!(overlaps.add("a", (at(1.0), at(9.0))), 1);
}

#[test]
fn the_shortest_gap_is_known_with_its_server() {
    let mut judge = judge();
    for (number, gap) in [(1, 5), (2, 3), (3, 3), (4, 4)] {
        let server_record =
            ServerRecord { smallest_gap: Some(Duration::from_secs(gap)), ..ServerRecord::default() };
        judge.remember(server(number), &server_record);
    }
    let Observations { least_gap, least_gap_at, .. } = judge.seen();
    assert_eq!((*least_gap, least_gap_at.as_str()), (Some(3_000_000), "41.90.0.2"));
}

/// Observations that are all about `who`, each with this amount.
fn seen_at(who: &str, amount: u64) -> Observations {
    let count = || Count { times: amount, first: who.to_owned() };
    let worst = || Peak { most: amount, who: who.to_owned() };
    let three = || [worst(), worst(), worst()];
    Observations {
        exchanges: amount,
        at_server: worst(),
        in_site: worst(),
        in_neighbourhood: worst(),
        least_gap: Some(1000 - amount),
        least_gap_at: who.to_owned(),
        short_rests: ShortPauses {
            least: count(),
            slow: count(),
            link: count(),
            trouble: count(),
            retry_after: count(),
            crawl_delay: count(),
            put_off: count(),
            neighbourhood: count(),
        },
        server: three(),
        server_day: three(),
        network: three(),
        network_day: three(),
        system: three(),
        system_day: three(),
        tree: [worst(), worst()],
        tree_time: worst(),
        above_rate: amount,
        special: count(),
        opted_out: count(),
        in_quiet_hours: count(),
        order: OrderBreaches {
            before_robots: count(),
            despite_robots: count(),
            against_robots: count(),
            twice: count(),
        },
    }
}

#[test]
fn the_worst_of_two_is_the_worse_of_each_thing_and_counts_are_kept() {
    let (mild, bad) = (seen_at("mild", 3), seen_at("bad", 7));
    let Observations { exchanges, special, opted_out, in_quiet_hours, order, .. } = mild.clone();
    let expected = Observations { exchanges, special, opted_out, in_quiet_hours, order, ..bad.clone() };
    assert_eq!(mild.clone().max(&bad), expected);
    assert_eq!(bad.clone().max(&mild), bad);
    assert_eq!(bad.clone().max(&seen_at("another", 7)), bad, "of equals the first is named");
    assert_eq!(bad.clone().max(&Observations::default()), bad);
    let mut judge = Judge::new(PromisedLimits::default(), mild);
    judge.restore(bad.clone());
    assert_eq!(judge.seen(), &bad);
}

#[test]
fn counts_of_different_exchanges_add_up_and_name_the_first() {
    let mut all = Observations::default();
    all.add_counts(&seen_at("first", 3));
    all.add_counts(&seen_at("second", 4));
    let count = Count { times: 7, first: "first".to_owned() };
    assert_eq!(
        (all.special, all.opted_out, all.in_quiet_hours),
        (count.clone(), count.clone(), count.clone())
    );
    assert_eq!((all.order.before_robots, all.order.twice), (count.clone(), count));
    assert_eq!((all.exchanges, all.above_rate, all.at_server), (7, 0, Peak::default()));
}

fn requests(most: u64) -> SharedBudget {
    let in_all = LoadLimits { requests: Some(most), ..LoadLimits::default() };
    SharedBudget { in_all, ..SharedBudget::default() }
}

#[test]
fn what_servers_and_their_networks_bore_is_seen_with_their_names() {
    let limits = PromisedLimits { network: requests(9), system: requests(9), ..PromisedLimits::default() };
    let mut judge = Judge::new(limits, Observations::default()).with_systems(Box::new(|_| Some(36914)));
    for (number, started) in [(1, 0.0), (2, 1.0), (1, 2.1)] {
        note(&mut judge, "a.ke", server(number), &response(started, 0.1, 10_200));
    }
    judge.note_tree(&site("a.ke"), [3, 30_600], Duration::from_secs(2), &OrderBreaches::default());
    let worst = |most, who: &str| Peak { most, who: who.to_owned() };
    let peaks_of = |times: u64, who| [times, times * 10_200, times * 100_000].map(|most| worst(most, who));
    let seen = judge.seen();
    assert_eq!(seen.at_server, worst(1, "41.90.0.1"));
    assert_eq!((&seen.server, &seen.server_day), (&peaks_of(2, "41.90.0.1"), &peaks_of(2, "41.90.0.1")));
    let network_peaks = peaks_of(3, "41.90.0.0/24");
    assert_eq!((&seen.network, &seen.network_day), (&network_peaks, &network_peaks));
    assert_eq!((&seen.system, &seen.system_day), (&peaks_of(3, "AS36914"), &peaks_of(3, "AS36914")));
    assert_eq!(seen.tree, [worst(3, "a.ke"), worst(30_600, "a.ke")]);
    assert_eq!(seen.tree_time, worst(2_000_000, "a.ke"));
    assert_eq!((seen.least_gap, seen.least_gap_at.as_str()), (Some(2_000_000), "41.90.0.1"));
}

#[test]
fn what_is_on_record_of_servers_counts_before_what_is_seen_of_them() {
    let limits = PromisedLimits { network: requests(9), ..PromisedLimits::default() };
    let mut judge = Judge::new(limits, Observations::default());
    let day = at(0.0).duration_since(UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let server_record = |requests, last_end, today| {
        let observed_load = [requests, requests * 100, requests * 1000];
        let load_on_day = [today, today * 100, today * 1000];
        ServerRecord {
            last_end: Some(last_end),
            load: observed_load,
            day,
            load_on_day,
            most_parallel: 1,
            ..ServerRecord::default()
        }
    };
    let (one, two) = (server_record(5, at(0.0), 4), server_record(7, at(0.0), 2));
    judge.remember(server(1), &one);
    judge.remember(server(2), &two);
    judge.add_server(server(1), &one);
    note(&mut judge, "a.ke", server(1), &response(1.5, 0.1, 10));
    let most = |worst: &[Peak; 3]| worst.each_ref().map(|worst| worst.most);
    let seen = judge.seen();
    assert_eq!(most(&seen.server), [7, 700, 100_000 + 5000]);
    assert_eq!(most(&seen.server_day), [5, 410, 100_000 + 4000]);
    assert_eq!(most(&seen.network), [13, 1210, 100_000 + 12_000]);
    assert_eq!(most(&seen.network_day), [7, 610, 100_000 + 6000]);
    assert_eq!(seen.least_gap, Some(1_500_000), "since the last exchange on record");
    // The server was forgotten and is added again: it does not count twice.
    judge.add_server(server(1), &server_record(50, at(2.0), 50));
    note(&mut judge, "a.ke", server(1), &response(9.0, 0.1, 10));
    assert_eq!(judge.seen().server[0].most, 7);
}

#[test]
fn an_exchange_counts_for_the_day_on_which_it_began() {
    let mut judge = judge();
    // `at(0)` is 13 hours, 46 minutes and 40 seconds past midnight.
    let midnight = 86_400.0 - 49_600.0;
    let ends_late = response(midnight - 1.0, 10.0, 100);
    for response in [response(midnight - 20.0, 1.0, 100), response(midnight + 2.0, 1.0, 100), ends_late] {
        note(&mut judge, "a.ke", server(1), &response);
    }
    assert_eq!(judge.seen().server[0].most, 3);
    assert_eq!(judge.seen().server_day[0].most, 2);
}
