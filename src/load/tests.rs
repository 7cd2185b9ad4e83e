use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;

use super::*;
use crate::address::{Host, Site};
use crate::exchange::{Answer, Failure, Purpose, Wire};

pub(super) const MIB: u64 = 1 << 20;

pub(super) fn at(seconds: f64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs_f64(1_000_000.0 + seconds)
}

pub(super) fn server(number: u8) -> IpAddr {
    IpAddr::from([41, 90, 0, number])
}

pub(super) fn site(name: &str) -> Site {
    Site::new(Host::parse(name).unwrap())
}

pub(super) fn answer(started: SystemTime, seconds: f64) -> Answer {
    let mut answer = Answer::not_asked(started, Some(server(1)), Failure::Reset, None);
    answer.failure = None;
    answer.status = Some(200);
    answer.timings.total = Duration::from_secs_f64(seconds);
    answer.timings.first_byte = Some(answer.timings.total);
    answer.wire = Wire { sent: 200, received: 10_000, connections: 1 };
    answer
}

fn busy(started: SystemTime, retry_after: Option<u64>) -> Answer {
    let mut answer = answer(started, 0.1);
    answer.status = Some(503);
    answer.head.retry_after = retry_after.map(Duration::from_secs);
    answer
}

pub(super) const MOST: Most = Most { bytes: MIB, ahead: 0, time: Duration::from_secs(60) };

fn load() -> Load {
    Load::new(Pace::default(), None, SharedBudget::default(), MOST)
}

fn load_of_links(share: f64) -> Load {
    Load::new(Pace { link_share: Some(share), ..Pace::default() }, None, SharedBudget::default(), MOST)
}

/// Begins an exchange at the server's earliest time and settles it.
fn exchange(load: &mut Load, now: SystemTime, make: impl Fn(SystemTime) -> Answer) -> SystemTime {
    let start = load.free_at(server(1)).map_or(now, |free| free.max(now));
    let Turn::Go(permit) = load.permit(start, server(1), &site("a.ke"), None) else {
        panic!("not free at {start:?}")
    };
    load.settle(permit, Purpose::Page, &make(start));
    load.free_at(server(1)).unwrap()
}

#[test]
fn an_address_is_left_alone_for_two_seconds_or_five_times_the_last_exchange() {
    assert_eq!(exchange(&mut load(), at(0.0), |t| answer(t, 0.1)), at(0.1 + 2.0));
    assert_eq!(exchange(&mut load(), at(0.0), |t| answer(t, 4.0)), at(4.0 + 20.0));
    assert_eq!(exchange(&mut load(), at(0.0), |t| answer(t, 40.0)), at(40.0 + 60.0));
}

#[test]
fn a_thin_link_is_left_alone_until_its_share_is_kept() {
    // 64 kB/s are 512 kbit/s; what comes later comes slowly, for others use the link.
    let mut load = load_of_links(0.005);
    let came = |start, bytes, seconds| {
        let mut answer = answer(start, 0.2 + seconds);
        answer.timings.first_byte = Some(Duration::from_millis(200));
        answer.wire = Wire { sent: 0, received: bytes, connections: 0 };
        answer.after_head = bytes;
        answer
    };
    let mut pauses = Vec::new();
    let mut now = at(0.0);
    for (bytes, seconds) in [(500, 0.03), (13_460, 0.1875), (13_460, 1.0), (134_600, 4.0)] {
        let free = exchange(&mut load, now, |start| came(start, bytes, seconds));
        let end = load.state_of(server(1)).unwrap().ledger.last_end().unwrap();
        pauses.push(free.duration_since(end).unwrap().as_secs_f64().round());
        now = free;
    }
    // 0.5 %: 6 s for what took 30 ms; then 210 ms of the link, whoever else was there; then 5 min at most.
    assert_eq!(pauses, [6.0, 42.0, 42.0, 300.0]);
    assert_eq!(load.state_of(server(1)).unwrap().link().bits_per_second(), Some(512_000.0));
}

/// What a server's answers of so many bytes after the head, in so many milliseconds, tell of its link.
fn link_after(came: &[(u64, u64, f64)]) -> (Option<f64>, Vec<u128>) {
    let mut link = ServerLink::default();
    let times = came.iter().map(|&(bytes, after_head, millis)| {
        let transfer = Duration::from_secs_f64(millis / 1000.0);
        link.take(&Flow { bytes, after_head, transfer, ..Flow::default() }).as_millis()
    });
    let times = times.collect();
    (link.bits_per_second(), times)
}

#[test]
fn a_handshake_does_not_make_a_thin_link_a_fast_one() {
    // A robots.txt over TLS: certificates of 5 kB, and a body that comes in the segment of its head.
    let robots = (6_000, 150, 0.05);
    assert_eq!(link_after(&[robots]), (None, vec![0]));
    // A page of 32 kB in half a second tells 488 kbit/s, whatever came before.
    let page = (32_500, 32_000, 500.0);
    let (rate, times) = link_after(&[robots, page, robots, page]);
    assert_eq!(rate.map(f64::round), Some(488_640.0));
    assert_eq!(times, [0, 532, 98, 532]);
}

#[test]
fn what_the_kernel_gives_at_once_does_not_make_a_thin_link_a_fast_one() {
    // The first segment was lost: two windows of data wait for it. Or we were busy for 300 ms.
    let at_once = (29_700, 29_200, 0.05);
    let page = (32_500, 32_000, 500.0);
    assert_eq!(link_after(&[at_once]).0, None);
    let (rate, times) = link_after(&[page, at_once, page]);
    assert_eq!(rate.map(f64::round), Some(488_640.0));
    assert_eq!(times, [532, 486, 532]);
}

#[test]
fn a_fast_server_is_not_taken_for_a_slow_one() {
    // A page that a program writes bit by bit; then a megabyte in 5 ms.
    let (rate, times) =
        link_after(&[(30_500, 30_000, 100.0), (1_000_500, 1_000_000, 5.0), (30_500, 30_000, 3.0)]);
    assert!(rate.is_some_and(|rate| rate > 8.0 * 47e6), "{rate:?}");
    assert_eq!(times, [106, 5, 0]);
    // Small pages that come in no time take as long as they took.
    assert_eq!(link_after(&[(30_500, 30_000, 3.0); 2]), (None, vec![3, 3]));
}

#[test]
fn an_answer_that_was_recorded_tells_what_its_body_has_at_least() {
    let mut recorded = answer(at(0.0), 1.0);
    recorded.timings.first_byte = Some(Duration::from_millis(500));
    recorded.body_bytes = 9_460;
    assert_eq!(Flow::of(Purpose::Page, &recorded).after_head, 9_460);
    recorded.head.content_encoding = Some("gzip".into());
    assert_eq!(Flow::of(Purpose::Page, &recorded).after_head, 0);
}

#[test]
fn what_is_not_read_of_a_file_takes_the_link_too() {
    let mut load = load_of_links(0.005);
    let file = |start| {
        let mut answer = answer(start, 0.2);
        answer.head.content_type = Some("application/pdf".into());
        answer.wire = Wire { sent: 200, received: 300, connections: 1 };
        answer
    };
    // A round trip of 200 ms at most: 40 s at 0.5 %.
    assert_eq!(exchange(&mut load, at(0.0), file), at(0.2 + 40.0));
}

#[test]
fn the_best_rate_of_a_link_outlasts_the_process() {
    let mut first = load();
    exchange(&mut first, at(0.0), |t| {
        let mut answer = answer(t, 1.0);
        answer.timings.first_byte = Some(Duration::from_millis(500));
        answer.after_head = 9_000;
        answer
    });
    let (_, state) = first.take_changed().remove(0);
    let stored = postcard::to_stdvec(&state).unwrap();
    let read: ServerState = postcard::from_bytes(&stored).unwrap();
    assert!(read.link().bits_per_second().is_some());
    assert_eq!(read.link(), state.link());
}

#[test]
fn sites_on_one_address_share_its_pace() {
    let mut load = load();
    let Turn::Go(permit) = load.permit(at(0.0), server(1), &site("a.ke"), None) else { panic!() };
    assert!(matches!(load.permit(at(0.0), server(1), &site("b.ke"), None), Turn::Busy));
    load.settle(permit, Purpose::Page, &answer(at(0.0), 0.5));
    let turn = load.permit(at(1.0), server(1), &site("b.ke"), None);
    assert!(matches!(turn, Turn::At(free) if free == at(0.5 + 2.5)));
}

#[test]
fn a_site_on_two_addresses_has_one_exchange_at_a_time() {
    let mut load = load();
    let Turn::Go(_permit) = load.permit(at(0.0), server(1), &site("a.ke"), None) else { panic!() };
    assert!(matches!(load.permit(at(0.0), server(2), &site("a.ke"), None), Turn::Busy));
    assert!(matches!(load.permit(at(0.0), server(2), &site("b.ke"), None), Turn::Go(_)));
}

#[test]
fn a_crawl_delay_lengthens_the_pause_for_its_site() {
    let mut load = load();
    exchange(&mut load, at(0.0), |t| answer(t, 1.0));
    let delay = Some(Duration::from_secs(30));
    let turn = load.permit(at(7.0), server(1), &site("a.ke"), delay);
    assert!(matches!(turn, Turn::At(free) if free == at(31.0)));
    assert!(matches!(load.permit(at(7.0), server(1), &site("b.ke"), None), Turn::Go(_)));
}

#[test]
fn troubles_double_the_pause_and_four_sound_answers_halve_it_again() {
    let mut load = load();
    let mut pauses = Vec::new();
    let mut now = at(0.0);
    for sound in [[false; 4], [true; 4], [true; 4], [true; 4]].concat() {
        let free = exchange(&mut load, now, |t| if sound { answer(t, 0.1) } else { busy(t, None) });
        let end = load.state_of(server(1)).unwrap().ledger.last_end().unwrap();
        pauses.push(free.duration_since(end).unwrap().as_secs_f64());
        now = free;
    }
    let plain = [4.0, 8.0, 16.0, 32.0, 32.0, 32.0, 32.0, 16.0, 16.0, 16.0, 16.0, 8.0, 8.0, 8.0, 8.0, 4.0];
    for (pause, plain) in pauses.iter().zip(plain) {
        assert!((plain..=plain * 1.1).contains(pause), "{pauses:?}");
    }
    assert!(pauses.iter().zip(plain).any(|(pause, plain)| *pause > plain), "chance moves them: {pauses:?}");
}

#[test]
fn a_server_in_trouble_is_put_off_for_minutes_and_hours_and_then_given_up() {
    let mut load = load();
    let (mut now, mut waits) = (at(0.0), Vec::new());
    while let Turn::Go(permit) = load.permit(now, server(1), &site("a.ke"), None) {
        load.settle(permit, Purpose::Page, &busy(now, None));
        let Some(free) = load.free_at(server(1)) else { break };
        waits.push(free.duration_since(now).unwrap().as_secs() / 60);
        now = free.max(now);
    }
    assert_eq!(waits.len(), 9, "{waits:?}");
    let put_off = [5, 20, 80, 320].map(|minutes| minutes..=minutes + minutes / 10);
    for (wait, expected) in waits[4..8].iter().zip(put_off) {
        assert!(expected.contains(wait), "{waits:?}");
    }
    assert!(matches!(load.permit(now, server(1), &site("a.ke"), None), Turn::GivenUp));
    let other = at(1e9);
    assert!(matches!(load.permit(other, server(1), &site("b.ke"), None), Turn::GivenUp), "for every site");
    assert!(matches!(load.permit(other, server(2), &site("b.ke"), None), Turn::Go(_)));
}

#[test]
fn a_server_bears_its_share_of_a_day_and_of_the_survey_and_no_more() {
    let budget = SharedBudget {
        per_day: Burden { requests: Some(3), ..Burden::default() },
        in_all: Burden { requests: Some(5), ..Burden::default() },
    };
    let mut load = Load::new(Pace::default(), None, budget, MOST);
    let (mut now, mut starts) = (at(0.0), Vec::new());
    loop {
        match load.permit(now, server(1), &site("a.ke"), None) {
            Turn::Go(permit) => {
                load.settle(permit, Purpose::Page, &answer(now, 0.1));
                starts.push(now.duration_since(UNIX_EPOCH).unwrap().as_secs() / (24 * 3600));
            }
            Turn::At(time) => now = time,
            Turn::Spent => break,
            turn => panic!("{turn:?}"),
        }
    }
    assert_eq!(starts, [11, 11, 11, 12, 12], "days since 1970");
    assert!(matches!(load.permit(now, server(2), &site("b.ke"), None), Turn::Go(_)));
}

#[test]
fn one_sound_answer_ends_the_row_of_troubles() {
    let mut load = load();
    let mut now = at(0.0);
    for round in 0..40 {
        now = exchange(&mut load, now, |t| if round % 5 == 4 { answer(t, 0.1) } else { busy(t, None) });
    }
    assert!(!load.state_of(server(1)).unwrap().is_given_up());
}

/// An answer with this status, or with this failure too.
fn erring(started: SystemTime, status: Option<u16>, failure: Option<Failure>) -> Answer {
    Answer { status, failure, ..answer(started, 0.1) }
}

#[test]
fn a_server_that_breaks_off_every_answer_is_not_asked_at_the_usual_pace_for_ever() {
    for (status, failure) in [
        (Some(200), Some(Failure::BodyTruncated)),
        (None, Some(Failure::ConnectUnreachable)),
        (Some(502), None),
        (Some(504), None),
    ] {
        let (mut load, mut now) = (load(), at(0.0));
        let mut asked = 0;
        while let Turn::Go(permit) = load.permit(now, server(1), &site("a.ke"), None) {
            load.settle(permit, Purpose::Page, &erring(now, status, failure));
            asked += 1;
            assert!(asked <= 9, "{status:?} {failure:?}");
            now = load.free_at(server(1)).map_or(now, |free| free.max(now));
        }
        assert!(load.state_of(server(1)).unwrap().is_given_up(), "{status:?} {failure:?}");
    }
}

#[test]
fn what_tells_neither_trouble_nor_soundness_changes_nothing() {
    let unclear = [
        (Some(500), None),
        (Some(507), None),
        (None, Some(Failure::TlsHandshake)),
        (None, Some(Failure::BadHttp)),
        (None, Some(Failure::HeaderTooLarge)),
        (Some(200), Some(Failure::BodyEncoding)),
    ];
    let (mut load, mut now) = (load(), at(0.0));
    for _ in 0..2 {
        now = exchange(&mut load, now, |t| busy(t, None));
    }
    let begun = now;
    for (status, failure) in unclear {
        now = exchange(&mut load, now, |t| erring(t, status, failure));
    }
    // Two doublings are not taken back.
    let passed = now.duration_since(begun).unwrap().as_secs_f64();
    assert!((6.0 * 8.1..=6.0 * 8.9).contains(&passed), "{passed}");
    // And the row goes on: the third trouble since is the fifth.
    for _ in 0..3 {
        now = exchange(&mut load, now, |t| busy(t, None));
    }
    let end = load.state_of(server(1)).unwrap().ledger.last_end().unwrap();
    assert!(now.duration_since(end).unwrap() >= Duration::from_secs(300));
    // What was put off once is not put off anew by what tells nothing.
    let free = exchange(&mut load, now, |t| erring(t, Some(500), None));
    assert!(free.duration_since(now).unwrap() < Duration::from_secs(70));
}

#[test]
fn a_page_that_is_too_large_for_us_is_a_sound_answer() {
    assert_eq!(fare_of(Some(200), Some(Failure::BodyTooLarge)), Fare::Sound);
    assert_eq!(fare_of(Some(404), None), Fare::Sound);
}

#[test]
fn growing_response_times_are_trouble() {
    let mut load = load();
    let mut now = at(0.0);
    for _ in 0..5 {
        now = exchange(&mut load, now, |t| answer(t, 0.2));
    }
    let free = exchange(&mut load, now, |t| answer(t, 2.0));
    assert!((22.0..=24.0).contains(&free.duration_since(now).unwrap().as_secs_f64()));
}

#[test]
fn retry_after_is_obeyed_to_the_second_however_long() {
    assert_eq!(exchange(&mut load(), at(0.0), |t| busy(t, Some(7200))), at(0.1 + 7200.0));
}

#[test]
fn the_ledger_measures_gaps_and_overlaps_from_the_answers() {
    let mut load = load();
    load.recall(server(1), Purpose::Page, &answer(at(0.0), 1.0));
    load.recall(server(1), Purpose::Page, &answer(at(3.0), 1.0));
    let ledger = load.state_of(server(1)).unwrap().ledger.clone();
    assert_eq!((ledger.requests, ledger.received_bytes, ledger.busy), (2, 20_000, Duration::from_secs(2)));
    assert_eq!(ledger.smallest_gap, Some(Duration::from_secs(2)));
    assert_eq!(ledger.broken(&Pace::default()), []);
    load.recall(server(1), Purpose::Page, &answer(at(3.5), 1.0));
    let ledger = &load.state_of(server(1)).unwrap().ledger;
    assert_eq!(ledger.broken(&Pace::default()), [Promise::OneAtATime, Promise::LeastDelay]);
}

#[test]
fn a_survey_that_is_killed_and_resumed_again_and_again_keeps_its_rate() {
    let (rate, mut moved) = (MIB / 2, 0);
    for life in 0..20 {
        let mut load = Load::new(Pace::default(), Some(rate), SharedBudget::default(), MOST);
        let (begun, mut now) = (at(f64::from(life) * 3.0), at(f64::from(life) * 3.0));
        for number in 0..u8::MAX {
            let owner = site(&format!("s{number}.ke"));
            let mut turn = load.permit(now, server(number), &owner, None);
            if let Turn::Full(time) = turn {
                now = time;
                turn = load.permit(now, server(number), &owner, None);
            }
            let Turn::Go(permit) = turn else { panic!("{turn:?}") };
            if now.duration_since(begun).unwrap() >= Duration::from_secs(3) {
                load.abandon(permit, now);
                break;
            }
            let mut answer = answer(now, 0.1);
            answer.wire = Wire { sent: 0, received: MIB, connections: 1 };
            load.settle(permit, Purpose::Page, &answer);
            moved += MIB;
        }
    }
    assert!((1..=rate * 60).contains(&moved), "{moved} bytes in a minute at {rate} B/s");
}

#[test]
fn requests_per_minute_are_those_of_the_busiest_minute() {
    let mut load = load();
    for number in 0..100 {
        load.recall(server(1), Purpose::Page, &answer(at(f64::from(number) * 3.0), 0.1));
    }
    let most = load.state_of(server(1)).unwrap().ledger.most_requests_per_minute;
    assert!((20..=21).contains(&most), "{most}");
}

#[test]
fn delays_outlast_the_process() {
    let mut first = load();
    exchange(&mut first, at(0.0), |t| busy(t, Some(200)));
    let (address, state) = first.take_changed().remove(0);
    let stored = postcard::to_stdvec(&state).unwrap();
    let mut second = load();
    second.restore(address, postcard::from_bytes(&stored).unwrap());
    assert_eq!(second.free_at(server(1)), first.free_at(server(1)));
    assert_eq!(second.state_of(address).unwrap().ledger, first.state_of(address).unwrap().ledger);
}

#[test]
fn an_exchange_that_was_in_flight_in_a_crash_is_waited_for() {
    let (mut load, mut again) = (load(), load());
    load.recall_in_flight(server(1), at(0.0), at(4.0));
    assert_eq!(load.free_at(server(1)), Some(at(4.0 + 60.0)), "nobody knows how long the server was at it");
    assert_eq!(load.state_of(server(1)).unwrap().ledger.requests, 0);
    again.restore(server(1), load.state_of(server(1)).unwrap().clone());
    // The journal tells of it whenever the survey is resumed.
    again.recall_in_flight(server(1), at(0.0), at(50.0));
    assert_eq!(again.free_at(server(1)), Some(at(4.0 + 60.0)));
}

#[test]
fn a_neighbourhood_rests_after_a_crash_as_its_servers_do() {
    let pace = Pace { per_neighbourhood: Some(1), ..Pace::default() };
    let fresh = || Load::new(pace.clone(), None, SharedBudget::default(), MOST);
    let mut first = fresh();
    let Turn::Go(permit) = first.permit(at(0.0), server(1), &site("a.ke"), None) else { panic!() };
    assert!(matches!(first.permit(at(0.0), server(2), &site("b.ke"), None), Turn::Busy));
    first.settle(permit, Purpose::Page, &answer(at(0.0), 4.0));
    assert!(
        matches!(first.permit(at(5.0), server(2), &site("b.ke"), None), Turn::At(free) if free == at(24.0))
    );
    let mut second = fresh();
    for (address, state) in first.take_changed() {
        second.recall_neighbour(address, &state);
    }
    assert!(
        matches!(second.permit(at(5.0), server(2), &site("b.ke"), None), Turn::At(free) if free == at(24.0))
    );
    second.recall_in_flight(server(3), at(30.0), at(32.0));
    assert!(
        matches!(second.permit(at(33.0), server(2), &site("b.ke"), None), Turn::At(free) if free == at(92.0))
    );
    assert!(matches!(second.permit(at(33.0), [41, 90, 1, 1].into(), &site("c.ke"), None), Turn::Go(_)));
}

#[test]
fn idle_servers_are_forgotten_once_their_state_was_taken() {
    let mut load = load();
    exchange(&mut load, at(0.0), |t| answer(t, 0.1));
    load.forget_idle(at(100.0));
    assert!(load.knows(server(1)));
    load.take_changed();
    load.forget_idle(at(1.0));
    assert!(load.knows(server(1)), "its delay is not over");
    load.forget_idle(at(100.0));
    assert!(!load.knows(server(1)));
}

#[test]
fn exchanges_whose_answers_a_crash_lost_count_into_the_budget_of_their_server_once() {
    let in_all = Burden { requests: Some(3), ..Burden::default() };
    let fresh = || Load::new(Pace::default(), None, SharedBudget { in_all, ..SharedBudget::default() }, MOST);
    let mut load = fresh();
    load.recall_in_flight(server(1), at(0.0), at(1.0));
    load.recall_in_flight(server(1), at(5.0), at(6.0));
    let state = load.state_of(server(1)).unwrap().clone();
    let mut again = fresh();
    again.restore(server(1), state);
    // The journal tells of them again whenever the survey is resumed.
    again.recall_in_flight(server(1), at(0.0), at(100.0));
    again.recall_in_flight(server(1), at(5.0), at(100.0));
    let Turn::Go(permit) = again.permit(at(400.0), server(1), &site("a.ke"), None) else { panic!() };
    again.lose(permit, at(400.0), at(401.0));
    assert!(matches!(again.permit(at(900.0), server(1), &site("a.ke"), None), Turn::Spent));
}

#[test]
fn exchanges_in_flight_at_one_server_that_are_lost_in_any_order_count() {
    let in_all = Burden { requests: Some(3), ..Burden::default() };
    let pace = Pace { per_address: 2, per_site: 2, ..Pace::default() };
    let mut load = Load::new(pace, None, SharedBudget { in_all, ..SharedBudget::default() }, MOST);
    let Turn::Go(first) = load.permit(at(0.0), server(1), &site("a.ke"), None) else { panic!() };
    let Turn::Go(second) = load.permit(at(1.0), server(1), &site("a.ke"), None) else { panic!() };
    load.lose(second, at(1.0), at(2.0));
    load.lose(first, at(0.0), at(3.0));
    let Turn::Go(third) = load.permit(at(400.0), server(1), &site("a.ke"), None) else { panic!() };
    load.settle(third, Purpose::Page, &answer(at(400.0), 1.0));
    assert!(matches!(load.permit(at(900.0), server(1), &site("a.ke"), None), Turn::Spent));
}

#[test]
fn exchanges_whose_answers_a_crash_lost_count_into_the_budget_of_their_site() {
    let budget = Budget { requests: Some(5), bytes: Some(20 * MIB), time: None };
    let mut site = SiteBudget::new(budget, at(0.0), 0).with_lost(3, MIB);
    assert_eq!(site.grant(at(0.0), MIB), Grant::Go { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), Grant::Go { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), Grant::Spent(Limit::Requests));
    let mut site = SiteBudget::new(Budget { requests: None, ..budget }, at(0.0), 0).with_lost(20, MIB);
    assert_eq!(site.grant(at(0.0), MIB), Grant::Spent(Limit::Bytes));
}

#[test]
fn a_budget_is_granted_to_the_last_request_and_byte_and_not_beyond() {
    let budget = Budget { requests: Some(2), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0);
    assert_eq!(site.grant(at(0.0), MIB), Grant::Go { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), Grant::Go { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), Grant::Spent(Limit::Requests));

    let budget = Budget { bytes: Some(MIB + 100_000), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0);
    assert_eq!(site.grant(at(0.0), MIB), Grant::Go { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), Grant::Wait);
    site.book(Wire { sent: 0, received: MIB, connections: 1 });
    assert_eq!(site.grant(at(0.0), MIB), Grant::Go { byte_limit: 100_000 });
    site.book(Wire { sent: 0, received: 99_000, connections: 0 });
    assert_eq!(site.grant(at(0.0), MIB), Grant::Spent(Limit::Bytes));

    let budget = Budget { time: Some(Duration::from_secs(10)), ..Budget::default() };
    assert_eq!(SiteBudget::new(budget, at(0.0), 0).grant(at(10.0), MIB), Grant::Spent(Limit::Time));
}

#[test]
fn what_an_exchange_moves_beyond_its_limit_is_kept_in_reserve() {
    let ahead = 400_000;
    let budget = Budget { bytes: Some(8 * MIB), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), ahead);
    let mut spent = 0;
    while let Grant::Go { byte_limit } = site.grant(at(0.0), 2 * MIB) {
        let received = (byte_limit + ahead).min(2 * MIB);
        site.book(Wire { sent: 0, received, connections: 0 });
        spent += received;
    }
    assert!(spent <= 8 * MIB && spent > 7 * MIB, "{spent}");
}

#[test]
fn large_heads_do_not_exceed_a_small_budget() {
    // No limit cuts a head.
    let (ahead, bytes, received) = (500_000, Some(MIB), 300_000);
    let site_budget = Budget { bytes, ..Budget::default() };
    let (mut account, mut spent) = (SiteBudget::new(site_budget, at(0.0), ahead), 0);
    while let Grant::Go { .. } = account.grant(at(0.0), 2 * MIB) {
        account.book(Wire { sent: 0, received, connections: 1 });
        spent += received;
    }
    assert!((1..=MIB).contains(&spent), "{spent}");

    let budget = SharedBudget { in_all: Burden { bytes, ..Burden::default() }, ..SharedBudget::default() };
    let most = Most { bytes: 2 * MIB, ahead, ..MOST };
    let mut load = Load::new(Pace::default(), None, budget, most);
    let (mut spent, mut now) = (0, at(0.0));
    while let Turn::Go(permit) = load.permit(now, server(1), &site("a.ke"), None) {
        let mut answer = answer(now, 0.1);
        answer.wire = Wire { sent: 0, received, connections: 1 };
        spent += received;
        load.settle(permit, Purpose::Page, &answer);
        now = load.free_at(server(1)).unwrap();
    }
    assert!((1..=MIB).contains(&spent), "{spent}");
}

#[test]
fn an_exchange_that_its_timeout_ends_a_little_late_is_within_the_budget() {
    let limit = Duration::from_millis(120_500);
    let in_all = Burden { busy: Some(limit), ..Burden::default() };
    let mut load = Load::new(Pace::default(), None, SharedBudget { in_all, ..SharedBudget::default() }, MOST);
    let (mut busy, mut now) = (Duration::ZERO, at(0.0));
    while let Turn::Go(permit) = load.permit(now, server(1), &site("a.ke"), None) {
        let answer = answer(now, 60.4);
        busy += answer.timings.total;
        load.settle(permit, Purpose::Page, &answer);
        now = load.free_at(server(1)).unwrap();
    }
    assert!(busy > Duration::ZERO && busy <= limit, "{busy:?}");
}

#[test]
fn what_is_on_record_counts_into_the_budget_of_its_site() {
    let budget = Budget { time: Some(Duration::from_secs(10)), requests: Some(2), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0);
    site.recall();
    site.book(Wire { sent: 0, received: 1, connections: 1 });
    assert_eq!(site.grant(at(9.0), MIB), Grant::Go { byte_limit: MIB });
    assert_eq!(site.grant(at(9.0), MIB), Grant::Spent(Limit::Requests));
    assert_eq!(site.grant(at(10.0), MIB), Grant::Spent(Limit::Time));
}

proptest! {
    /// Whatever the order of requests, an observer at the servers sees the promises kept.
    #[test]
    fn no_schedule_breaks_a_promise(
        asks in prop::collection::vec((0u8..4, 0usize..4, 1u32..8000, 0u8..6), 1..120),
        per_address in 1u32..3,
        per_site in 1u32..3,
        per_neighbourhood in prop::option::of(1u32..4),
        rate in prop::option::of(50_000u64..5_000_000),
    ) {
        // All servers stand in one neighbourhood.
        let pace = Pace { per_address, per_site, per_neighbourhood, ..Pace::default() };
        let mut load = Load::new(pace.clone(), rate, SharedBudget::default(), MOST);
        let mut now = at(0.0);
        let mut running: Vec<(SystemTime, IpAddr, usize, Permit, Answer)> = Vec::new();
        let mut ends: HashMap<IpAddr, Vec<(SystemTime, Duration)>> = HashMap::new();
        let mut moved: Vec<(SystemTime, u64)> = Vec::new();
        for (address, owner, millis, kind) in asks {
            let (address, name) = (server(address), site(["a.ke", "b.ke", "c.ke", "d.ke"][owner]));
            loop {
                running.sort_by_key(|(end, ..)| *end);
                match load.permit(now, address, &name, None) {
                    Turn::Go(permit) => {
                        let at_once = running.iter().filter(|run| run.1 == address).count() as u32;
                        prop_assert!(at_once < per_address);
                        prop_assert!((running.iter().filter(|run| run.2 == owner).count() as u32) < per_site);
                        let kept = ends.entry(address).or_default().iter()
                            .filter(|(end, delay)| *end + *delay > now).count() as u32;
                        prop_assert!(at_once + kept < per_address, "a pause was cut short");
                        let resting = ends.values().flatten().filter(|(end, delay)| *end + *delay > now).count();
                        let beside = (running.len() + resting) as u32;
                        prop_assert!(per_neighbourhood.is_none_or(|places| beside < places));
                        let mut answer = answer(now, f64::from(millis) / 1000.0);
                        answer.address = Some(address);
                        if kind == 0 { answer.status = Some(503); }
                        if kind == 1 { answer.failure = Some(Failure::Reset); }
                        running.push((answer.ended(), address, owner, permit, answer));
                        moved.push((now, 10_200));
                        break;
                    }
                    Turn::GivenUp | Turn::Spent => break,
                    turn => {
                        let next_end = running.first().map(|run| run.0);
                        let target = match turn { Turn::At(time) | Turn::Full(time) => Some(time), _ => None };
                        prop_assert!(target.or(next_end).is_some(), "nobody would ever wake the one who waits");
                        let settle_first = next_end.is_some_and(|end| target.is_none_or(|time| end <= time));
                        if settle_first {
                            let (end, address, _, permit, answer) = running.remove(0);
                            now = now.max(end);
                            let least = delay_after(&pace, answer.timings.total, Duration::ZERO, 0, None);
                            ends.entry(address).or_default().push((end, least));
                            load.settle(permit, Purpose::Page, &answer);
                        } else if let Some(time) = target {
                            prop_assert!(time > now);
                            now = time;
                        }
                    }
                }
            }
        }
        if let Some(rate) = rate {
            for (index, (from, _)) in moved.iter().enumerate() {
                let mut sum = 0;
                for (until, bytes) in &moved[index..] {
                    sum += bytes;
                    let window = until.duration_since(*from).unwrap().as_secs_f64();
                    let most = (rate as f64 * 10.0).max(MIB as f64) + rate as f64 * window + 1.0;
                    prop_assert!(sum as f64 <= most, "{sum} bytes in {window} s at {rate} B/s");
                }
            }
        }
        if per_address == 1 {
            for number in 0..4 {
                let broken = load.state_of(server(number)).map(|state| state.ledger.broken(&pace));
                prop_assert!(broken.is_none_or(|broken| broken.is_empty()));
            }
        }
    }

    /// Whatever exchanges come to, no server's budget is exceeded, on any day and in all.
    #[test]
    fn no_server_bears_more_than_its_share(
        costs in prop::collection::vec((1u64..=MIB, 1u32..60_000), 1..80),
        per_address in 1u32..4,
        limits in prop::array::uniform2((1u64..30, 1u64..20 * MIB, 1u64..1200)),
    ) {
        let [per_day, in_all] = limits.map(|(requests, bytes, busy)| Burden {
            requests: Some(requests),
            bytes: Some(bytes),
            busy: Some(Duration::from_secs(busy)),
        });
        let pace = Pace { per_address, per_site: 9, ..Pace::default() };
        let mut load = Load::new(pace, None, SharedBudget { per_day, in_all }, MOST);
        let mut days: HashMap<u64, (u64, u64, Duration)> = HashMap::new();
        let (mut now, mut costs) = (at(0.0), costs.into_iter().peekable());
        let mut running: Vec<(Permit, Answer)> = Vec::new();
        while let Some((bytes, millis)) = costs.peek().copied() {
            match load.permit(now, server(1), &site("a.ke"), None) {
                Turn::Go(permit) => {
                    let mut answer = answer(now, f64::from(millis) / 1000.0);
                    answer.wire = Wire { sent: 0, received: bytes.min(permit.byte_limit()), connections: 1 };
                    let day = now.duration_since(UNIX_EPOCH).unwrap().as_secs() / (24 * 3600);
                    for day in [day, u64::MAX] {
                        let sums = days.entry(day).or_default();
                        sums.0 += 1;
                        sums.1 += answer.wire.received;
                        sums.2 += answer.timings.total;
                    }
                    running.push((permit, answer));
                    costs.next();
                }
                Turn::At(time) if running.is_empty() || time <= running[0].1.ended() => now = now.max(time),
                Turn::At(_) | Turn::Busy => {
                    prop_assert!(!running.is_empty(), "nobody would ever wake the one who waits");
                    let (permit, answer) = running.remove(0);
                    now = now.max(answer.ended());
                    load.settle(permit, Purpose::Page, &answer);
                }
                _ => break,
            }
        }
        for (day, (requests, bytes, busy)) in days {
            let limit = if day == u64::MAX { in_all } else { per_day };
            prop_assert!(requests <= limit.requests.unwrap() && bytes <= limit.bytes.unwrap());
            prop_assert!(busy <= limit.busy.unwrap());
        }
    }

    /// What is asked for does not depend on how many are in flight.
    #[test]
    fn a_byte_budget_ends_at_the_same_exchange_with_any_parallelism(
        sizes in prop::collection::vec(1_000u64..MIB, 1..40),
        budget in MIB..20 * MIB,
        parallel in 1usize..5,
    ) {
        let run = |parallel: usize| {
            let mut account = SiteBudget::new(Budget { bytes: Some(budget), ..Budget::default() }, at(0.0), 0);
            let mut flying = std::collections::VecDeque::new();
            let (mut log, mut spent) = (Vec::new(), 0);
            let mut sizes = sizes.iter();
            let mut next = sizes.next();
            loop {
                let grant = if flying.len() < parallel && next.is_some() { account.grant(at(0.0), MIB) } else { Grant::Wait };
                match grant {
                    Grant::Go { byte_limit } => {
                        let size = (*next.unwrap()).min(byte_limit);
                        log.push((byte_limit, size));
                        flying.push_back(size);
                        next = sizes.next();
                    }
                    Grant::Spent(_) => break,
                    Grant::Wait => match flying.pop_front() {
                        Some(size) => {
                            spent += size;
                            account.book(Wire { sent: 0, received: size, connections: 0 });
                        }
                        None => break,
                    },
                }
            }
            spent += flying.iter().sum::<u64>();
            (log, spent)
        };
        let (log, spent) = run(parallel);
        prop_assert!(spent <= budget);
        prop_assert_eq!(log, run(1).0);
    }
}
