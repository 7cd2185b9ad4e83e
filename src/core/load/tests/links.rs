use super::*;

#[test]
fn a_thin_link_is_left_alone_until_its_share_is_kept() {
    // 64 kB/s are 512 kbit/s. Later bytes arrive slowly, because other users use the link.
    let mut load = load_of_links(0.005);
    let timed_response = |start, bytes, seconds| {
        let mut response = response(start, 0.2 + seconds);
        response.timings.first_byte = Some(Duration::from_millis(200));
        response.wire = Wire { sent: 0, received: bytes, connections: 0 };
        response.after_head = bytes;
        response
    };
    let mut pauses = Vec::new();
    let mut now = at(0.0);
    for (bytes, seconds) in [(500, 0.03), (13_460, 0.1875), (13_460, 1.0), (134_600, 4.0), (1_346_000, 40.0)]
    {
        let free = exchange(&mut load, now, |start| timed_response(start, bytes, seconds));
        let end = load.state_of(server(1)).unwrap().ledger.last_end().unwrap();
        pauses.push(free.duration_since(end).unwrap().as_secs_f64().round());
        now = free;
    }
    // 0.5 %: 6 s for 30 ms; then 210 ms of the link, whatever other users did; then 2.1 s; an hour at most.
    assert_eq!(pauses, [6.0, 42.0, 42.0, 421.0, 3600.0]);
    assert_eq!(load.state_of(server(1)).unwrap().link().bits_per_second(), Some(512_000.0));
}

#[test]
fn a_handshake_does_not_make_a_thin_link_a_fast_one() {
    // A robots.txt over TLS: certificates of 5 kB, and a body in the same segment as its head.
    let robots = (6_000, 150, 0.05);
    assert_eq!(link_after(&[robots]), (None, vec![0]));
    // A page of 32 kB in half a second shows 488 kbit/s, whatever came before.
    let page = (32_500, 32_000, 500.0);
    let (rate, times) = link_after(&[robots, page, robots, page]);
    assert_eq!(rate.map(f64::round), Some(488_640.0));
    assert_eq!(times, [0, 532, 98, 532]);
}

#[test]
fn what_the_kernel_gives_at_once_does_not_make_a_thin_link_a_fast_one() {
    // The first segment was lost, so two windows of data wait for it. Or our machine was busy for 300 ms.
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
    // At least the bytes beyond 30 Ethernet segments, in 20 ms.
    assert_eq!(rate.map(f64::round), Some(8.0 * (1_000_000.0 - 43_800.0) / 0.02));
    assert_eq!(times, [106, 5, 0]);
    // A transfer of 20 ms shows a rate. In less time, fewer than 60 segments may have been waiting at once.
    assert_eq!(link_after(&[(100_500, 100_000, 20.0)]).0.map(f64::round), Some(8.0 * 98_540.0 / 0.02));
    assert_eq!(link_after(&[(60_500, 60_000, 5.0)]).0, None);
    // Less than four segments show no rate.
    assert_eq!(link_after(&[(6_300, 5_839, 50.0)]).0, None);
    assert!(link_after(&[(6_300, 5_840, 50.0)]).0.is_some());
    // Small pages that arrive in no measurable time keep the link busy for their transfer time.
    assert_eq!(link_after(&[(30_500, 30_000, 3.0); 2]), (None, vec![3, 3]));
}

#[test]
fn an_answer_that_was_recorded_tells_what_its_body_has_at_least() {
    let mut recorded = response(at(0.0), 1.0);
    recorded.timings.first_byte = Some(Duration::from_millis(500));
    recorded.body_bytes = 9_460;
    assert_eq!(Flow::from_response(Purpose::Page, &recorded).after_head, 9_460);
    recorded.head.content_encoding = Some("gzip".into());
    assert_eq!(Flow::from_response(Purpose::Page, &recorded).after_head, 0);
}

#[test]
fn what_is_not_read_of_a_file_takes_the_link_too() {
    let mut load = load_of_links(0.005);
    let file = |start| {
        let mut response = response(start, 0.2);
        response.head.content_type = Some("application/pdf".into());
        response.wire = Wire { sent: 200, received: 300, connections: 1 };
        response
    };
    // A round trip of 200 ms at most: 40 s at 0.5 %.
    assert_eq!(exchange(&mut load, at(0.0), file), at(0.2 + 40.0));
}

#[test]
fn what_is_known_of_a_server_outlasts_the_process() {
    let mut first = load();
    let timed_response = |t, seconds: f64| {
        let mut response = response(t, seconds);
        response.timings.first_byte = Some(Duration::from_secs_f64(seconds - 0.5));
        response.after_head = 9_000;
        response
    };
    let free = exchange(&mut first, at(0.0), |t| timed_response(t, 1.0));
    exchange(&mut first, free, |t| timed_response(t, 9.0));
    let (_, state) = first.take_changed().remove(0);
    let stored = postcard::to_stdvec(&state).unwrap();
    let read: ServerState = postcard::from_bytes(&stored).unwrap();
    assert!(read.link().bits_per_second().is_some());
    assert_eq!(read, state);
    // States of earlier versions end before the sites, or before the byte in front of them.
    let sites = postcard::to_stdvec(&state.health().sites).unwrap().len();
    for (ends_before, lacks) in [(sites, 6), (sites + 1, 7)] {
        let earlier = [&stored[..stored.len() - ends_before], &ServerState::LATER[..lacks]].concat();
        let (read, left): (ServerState, _) = postcard::take_from_bytes(&earlier).unwrap();
        assert_eq!((&read.ledger, left), (&state.ledger, &[][..]));
        assert_eq!(read.link().bits_per_second(), state.link().bits_per_second());
    }
}

#[test]
fn what_is_not_read_takes_a_link_that_is_known_no_longer_than_what_can_be_on_its_way() {
    let (first_byte, transfer) = (Some(Duration::from_secs(2)), Duration::from_secs(1));
    let mut link = ServerLink::default();
    // 64 kB/s.
    link.take(&Flow { bytes: 65_960, after_head: 65_460, first_byte, transfer, ..Flow::default() });
    // 30 Ethernet segments take 684 ms, the head 10 ms.
    let file = Flow { bytes: 640, first_byte, is_unread: true, ..Flow::default() };
    assert_eq!(link.take(&file).as_millis(), 694);
}

/// How long a page of 33 kB, in this hour of the clock and with this transfer time, kept the link busy.
fn busy(link: &mut ServerLink, hour: u64, seconds: f64) -> f64 {
    let transfer = Duration::from_secs_f64(seconds);
    let page = Flow { hour, bytes: 33_460, after_head: 33_460, transfer, ..Flow::default() };
    (link.take(&page).as_secs_f64() * 100.0).round() / 100.0
}

#[test]
fn a_link_is_judged_by_what_others_leave_of_it_in_these_hours() {
    let mut link = ServerLink::default();
    // One response of the hour arrived faster, and counts for the next hour too.
    let times = [(12, 4.0), (12, 2.0), (12, 4.0), (13, 4.0)].map(|(hour, took)| busy(&mut link, hour, took));
    assert_eq!(times, [4.18, 2.09, 2.09, 2.09]);
    // Later it no longer counts: twice as long. Also, two thirds of the usual rate are left, so less of it is
    // taken.
    assert_eq!(busy(&mut link, 15, 4.0), 9.41);
    // A response that shows no rate counts by the last known rate.
    let unmeasured = Flow { hour: 16, bytes: 3346, transfer: Duration::from_secs(9), ..Flow::default() };
    assert_eq!(link.take(&unmeasured).as_millis(), 941);
}

#[test]
fn more_is_taken_of_a_link_in_hours_in_which_others_leave_more_of_it() {
    let mut link = ServerLink::default();
    let mut day = |hours: std::ops::Range<u64>, seconds| -> Vec<f64> {
        hours.map(|hour| busy(&mut link, hour, seconds)).collect()
    };
    // As fast as ever: the time that it took. In the first half day no hour counts as quiet.
    assert_eq!((day(8..19, 1.0), day(19..20, 0.8)), (vec![1.05; 11], vec![0.84]));
    // Then a page that is a quarter faster than usual counts for more than a quarter less; that slowly
    // becomes usual.
    let night = day(20..32, 0.8);
    assert_eq!((night[0], night[11]), (0.56, 0.68));
    assert!(night.is_sorted());
    // Never more than three times as much, however quiet it is.
    assert_eq!(day(32..33, 0.2), [0.07]);
}
