use super::super::pauses::DuePauses;
use super::*;

/// The short pauses seen in two exchanges; the second begins `gap` seconds after the first has ended.
fn seen(pace: &Pace, first: &Response, gap: f64, crawl_delay: Option<Duration>) -> Vec<&'static str> {
    let mut judge = Judge::new(
        PromisedLimits { pace: pace.clone(), ..PromisedLimits::default() },
        Observations::default(),
    );
    let mut second = response(0.0, 0.1, 10);
    second.started = first.ended() + Duration::from_secs_f64(gap);
    let site = site("a.ke");
    judge.note(&fact(&site, server(1), first));
    judge.note(&Fact { crawl_delay, ..fact(&site, server(1), &second) });
    let ShortPauses { slow, link, trouble, retry_after, crawl_delay, .. } = judge.seen().short_rests.clone();
    let all = [
        ("slow", slow),
        ("link", link),
        ("trouble", trouble),
        ("retry_after", retry_after),
        ("crawl_delay", crawl_delay),
    ];
    all.into_iter().filter(|(_, count)| count.times == 1).map(|(what, _)| what).collect()
}

#[test]
fn an_exchange_that_begins_before_the_server_has_had_its_rest_is_seen_with_the_reason() {
    let pace = Pace { harm: None, ..Pace::default() };
    let nothing: [&str; 0] = [];
    assert_eq!(seen(&pace, &response(0.0, 4.0, 10), 19.9, None), ["slow"]);
    assert_eq!(seen(&pace, &response(0.0, 4.0, 10), 20.0, None), nothing);
    assert_eq!(
        seen(&pace, &response(0.0, 0.1, 10), 0.5, None),
        nothing,
        "the least pause is judged elsewhere"
    );
    assert_eq!(seen(&pace, &busy(0.0, None), 3.9, None), ["trouble"]);
    assert_eq!(seen(&pace, &busy(0.0, Some(30)), 29.9, None), ["retry_after"]);
    assert_eq!(seen(&pace, &response(0.0, 0.1, 10), 9.9, Some(Duration::from_secs(10))), ["crawl_delay"]);
    let link_pace = Pace { harm: Some(0.01), factor: 0.0, ..Pace::default() };
    // While no rate is known, the whole transfer time counts for the link.
    let mut slow_response = response(0.0, 1.0, 10);
    slow_response.timings.first_byte = Some(Duration::from_millis(500));
    assert_eq!(seen(&link_pace, &slow_response, 49.9, None), ["link"]);
    assert_eq!(seen(&link_pace, &slow_response, 50.1, None), nothing);
}

/// RFC 9110 §10.2.3 does not limit `Retry-After` to certain statuses.
#[test]
fn a_request_before_the_time_that_an_answer_names_is_seen_whatever_its_status() {
    let pace = Pace { harm: None, ..Pace::default() };
    for status in [200, 202, 301, 307, 401, 403, 404, 413, 429, 500, 503] {
        let first = Response { status: Some(status), ..busy(0.0, Some(30)) };
        assert_eq!(seen(&pace, &first, 29.9, None), ["retry_after"], "{status}");
        assert_eq!(seen(&pace, &first, 30.0, None), [""; 0], "{status}");
    }
}

/// RFC 9110 §10.2.3: with 3xx, the least time before the redirected request.
#[test]
fn a_redirected_request_before_its_time_is_seen_on_another_server_too() {
    let pace = Pace { harm: None, ..Pace::default() };
    let (site, other) = (site("a.ke"), site("b.ke"));
    let seen = |target_site: &Site, url: &str, status: u16, gap: f64| {
        let mut judge = Judge::new(
            PromisedLimits { pace: pace.clone(), ..PromisedLimits::default() },
            Observations::default(),
        );
        let from = WebUrl::parse("http://a.ke/x/").unwrap();
        let mut redirect = Response { status: Some(status), ..busy(0.0, Some(30)) };
        redirect.head.location = Some("//www.a.ke/y".to_owned());
        judge.note(&Fact { url: Some(&from), ..fact(&site, server(1), &redirect) });
        let url = WebUrl::parse(url).unwrap();
        judge.note(&Fact { url: Some(&url), ..fact(target_site, server(2), &response(0.1 + gap, 0.1, 10)) });
        judge.seen().short_rests.retry_after.times
    };
    let target = "http://www.a.ke/y";
    assert_eq!([29.9, 30.0].map(|gap| seen(&site, target, 301, gap)), [1, 0]);
    assert_eq!(seen(&site, "http://www.a.ke/z", 301, 1.0), 0, "another request of the site");
    assert_eq!(seen(&other, target, 301, 1.0), 0, "another site's");
    assert_eq!(seen(&site, target, 404, 1.0), 0, "no redirect");
}

#[test]
fn what_tells_that_a_server_may_have_too_much_to_do_doubles_its_pause() {
    let pace = Pace { harm: None, ..Pace::default() };
    let failures = [
        Failure::Reset,
        Failure::ConnectRefused,
        Failure::ConnectTimeout,
        Failure::ConnectUnreachable,
        Failure::TlsTimeout,
        Failure::FirstByteTimeout,
        Failure::BodyTruncated,
        Failure::IdleTimeout,
        Failure::TooSlow,
    ];
    let failed = |failure| (None, Some(failure));
    let troubles = [429, 502, 503, 504].map(|status| (Some(status), None));
    for (status, failure) in troubles.into_iter().chain(failures.map(failed)) {
        let mut first = response(0.0, 0.1, 10);
        (first.status, first.failure) = (status, failure);
        assert_eq!(seen(&pace, &first, 3.9, None), ["trouble"], "{status:?} {failure:?}");
        assert_eq!(seen(&pace, &first, 4.0, None), [""; 0], "{status:?} {failure:?}");
    }
    let mut sound = response(0.0, 0.1, 10);
    sound.status = Some(500);
    assert_eq!(seen(&pace, &sound, 2.0, None), [""; 0], "500 counts neither way");
}

#[test]
fn a_server_that_is_put_off_or_given_up_is_left_alone() {
    let pace = Pace { harm: None, ..Pace::default() };
    let mut judge = Judge::new(PromisedLimits { pace, ..PromisedLimits::default() }, Observations::default());
    // The longest pause is one minute, and the first cool-down five of them.
    for (number, started) in
        [0.0, 100.0, 200.0, 300.0, 400.0, 600.0, 7000.0, 40_000.0, 70_000.0].iter().enumerate()
    {
        note(&mut judge, "a.ke", server(1), &busy(*started, None));
        let expected = match number {
            0..=4 => "",
            _ => "41.90.0.1 after 199.900s instead of 300.000s",
        };
        assert_eq!(judge.seen().short_rests.put_off.first, expected, "{number}");
    }
    assert_eq!(judge.seen().short_rests.put_off.times, 1);
    note(&mut judge, "a.ke", server(1), &response(200_000.0, 0.1, 10));
    assert_eq!(judge.seen().short_rests.put_off.times, 2, "the ninth trouble was the last");
}

#[test]
fn a_site_that_is_put_off_or_given_up_alone_is_left_alone() {
    let pace = Pace { harm: None, ..Pace::default() };
    let mut judge = Judge::new(PromisedLimits { pace, ..PromisedLimits::default() }, Observations::default());
    note(&mut judge, "sound.ke", server(1), &response(0.0, 0.1, 10));
    for started in [100.0, 200.0, 300.0, 400.0, 500.0] {
        note(&mut judge, "a.ke", server(1), &busy(started, None));
    }
    // Other sites may send requests.
    note(&mut judge, "sound.ke", server(1), &response(600.0, 0.1, 10));
    assert_eq!(judge.seen().short_rests, ShortPauses::default());
    for started in [700.0, 7000.0, 40_000.0, 70_000.0] {
        note(&mut judge, "a.ke", server(1), &busy(started, None));
    }
    let breaches = &judge.seen().short_rests.put_off;
    assert_eq!(
        (breaches.times, breaches.first.as_str()),
        (1, "a.ke at 41.90.0.1 after 199.900s instead of 300.000s")
    );
    note(&mut judge, "sound.ke", server(1), &response(200_000.0, 0.1, 10));
    assert_eq!(judge.seen().short_rests.put_off.times, 1);
    note(&mut judge, "a.ke", server(1), &response(300_000.0, 0.1, 10));
    assert_eq!(judge.seen().short_rests.put_off.times, 2, "the ninth trouble was the last");
}

#[test]
fn a_site_waits_longer_for_each_of_its_own_troubles() {
    let pace = Pace { harm: None, ..Pace::default() };
    let mut judge = Judge::new(PromisedLimits { pace, ..PromisedLimits::default() }, Observations::default());
    note(&mut judge, "sound.ke", server(1), &response(0.0, 0.1, 10));
    // The site's pause doubles after the first trouble, and is four times as long after the second; the
    // server itself is slowed once.
    for (started, site) in [(100.0, "a.ke"), (104.2, "a.ke"), (112.3, "a.ke"), (116.5, "b.ke")] {
        note(&mut judge, site, server(1), &busy(started, None));
    }
    let breaches = &judge.seen().short_rests;
    assert_eq!((breaches.trouble.times, breaches.put_off.times), (0, 0), "{breaches:?}");
    note(&mut judge, "a.ke", server(1), &busy(128.2, None));
    let breaches = &judge.seen().short_rests.trouble;
    assert_eq!(
        (breaches.times, breaches.first.as_str()),
        (1, "a.ke at 41.90.0.1 after 15.800s instead of 16.000s")
    );
}

#[test]
fn neighbours_share_their_pauses_where_they_share_their_places() {
    for (per_neighbourhood, times) in [(None, 0), (Some(1), 1), (Some(2), 0)] {
        let pace = Pace { harm: None, per_neighbourhood, ..Pace::default() };
        let mut judge =
            Judge::new(PromisedLimits { pace, ..PromisedLimits::default() }, Observations::default());
        note(&mut judge, "a.ke", server(1), &response(0.0, 1.0, 10));
        note(&mut judge, "b.ke", server(2), &response(5.9, 1.0, 10));
        note(&mut judge, "c.ke", FAR, &response(7.0, 1.0, 10));
        let breaches = &judge.seen().short_rests.neighbourhood;
        assert_eq!(breaches.times, times, "{per_neighbourhood:?}");
        if times > 0 {
            assert_eq!(breaches.first, "41.90.0.0/24 after 4.900s instead of 5.000s");
        }
    }
}

#[test]
fn each_of_several_places_at_a_server_rests() {
    let pace = Pace { per_address: 2, factor: 0.0, harm: None, ..Pace::default() };
    let seen = |started: &[f64]| {
        let mut judge = Judge::new(
            PromisedLimits { pace: pace.clone(), ..PromisedLimits::default() },
            Observations::default(),
        );
        started.iter().for_each(|started| note(&mut judge, "a.ke", server(1), &response(*started, 0.1, 10)));
        judge.seen().short_rests.least.times
    };
    assert_eq!(seen(&[0.0, 0.5, 2.1, 2.6]), 0);
    assert_eq!(seen(&[0.0, 0.5, 2.0, 2.6]), 1);
}

#[test]
fn what_a_server_is_owed_is_remembered_until_nothing_can_be_asked_too_soon() {
    // An exchange of one second; the longest Crawl-delay is five minutes.
    for (retry_after, until) in [(None, 301.0), (Some(10), 301.0), (Some(400), 401.0)] {
        let mut response = busy(0.0, retry_after);
        response.timings.total = Duration::from_secs(1);
        let (mut pauses, site) = (DuePauses::default(), site("a.ke"));
        pauses.add_due_pauses(&fact(&site, server(1), &response), &PromisedLimits::default());
        pauses.forget_before(at(until - 0.001));
        assert_eq!(pauses.len(), 1, "{retry_after:?}");
        pauses.forget_before(at(until));
        assert_eq!(pauses.len(), 0, "{retry_after:?}");
    }
}
