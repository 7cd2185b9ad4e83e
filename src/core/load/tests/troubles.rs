use super::*;

#[test]
fn troubles_double_the_pause_and_four_sound_answers_halve_it_again() {
    let mut load = load();
    let mut pauses = Vec::new();
    let mut now = at(0.0);
    for sound in [[false; 4], [true; 4], [true; 4], [true; 4]].concat() {
        let free = exchange(&mut load, now, |t| if sound { response(t, 0.1) } else { busy(t, None) });
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
fn a_server_in_trouble_is_put_off_for_minutes_and_hours_and_its_site_is_then_given_up() {
    let mut load = load();
    let (mut now, mut waits) = (at(0.0), Vec::new());
    while let PermitDecision::Granted(permit) = load.permit(now, server(1), &site("a.ke"), None) {
        load.settle(permit, Purpose::Page, &busy(now, None));
        let Some(free) = load.free_at(server(1)) else { break };
        waits.push(free.duration_since(now).unwrap().as_secs() / 60);
        now = free.max(now);
    }
    assert_eq!(waits.len(), 9, "{waits:?}");
    let put_off = [5, 20, 80, 320, 320].map(|minutes| minutes..=minutes + minutes / 10);
    for (wait, expected) in waits[4..].iter().zip(put_off) {
        assert!(expected.contains(wait), "{waits:?}");
    }
    assert!(matches!(load.permit(now, server(1), &site("a.ke"), None), PermitDecision::GivenUp));
    // One site does not prove the whole server dead: other sites get permits after one more cool-down.
    assert!(matches!(load.permit(now, server(1), &site("b.ke"), None), PermitDecision::Granted(_)));
}

/// Sends the requests one after another, as early as allowed: for each, the site and whether its response is
/// sound. Returns the minutes that each request had to wait; none where the site is given up.
fn minutes(load: &mut Load, now: &mut SystemTime, requests: &[(&str, bool)]) -> Vec<Option<u64>> {
    let mut waits = Vec::new();
    for (name, is_sound) in requests {
        let begun = *now;
        let permit = loop {
            match load.permit(*now, server(1), &site(name), None) {
                PermitDecision::Granted(permit) => break Some(permit),
                PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) => *now = time,
                decision => {
                    assert!(matches!(decision, PermitDecision::GivenUp), "{decision:?}");
                    break None;
                }
            }
        };
        waits.push(permit.is_some().then(|| now.duration_since(begun).unwrap().as_secs() / 60));
        if let Some(permit) = permit {
            let response = if *is_sound { response(*now, 0.1) } else { busy(*now, None) };
            load.settle(permit, Purpose::Page, &response);
            *now = response.ended();
        }
    }
    waits
}

#[test]
fn of_many_sites_at_a_server_one_that_is_in_trouble_is_put_off_and_given_up_alone() {
    let (mut load, mut now) = (load(), at(0.0));
    minutes(&mut load, &mut now, &[("sound.ke", true)]);
    // No other site sends requests, so no sound response comes in between.
    let waits = minutes(&mut load, &mut now, &[("dead.ke", false); 5]);
    assert!(waits.iter().all(|wait| *wait == Some(0)), "{waits:?}");
    let (stored, later) = (load.state_of(server(1)).unwrap().clone(), now);
    // Now it waits for five minutes, and other sites only for the pause of the server.
    assert_eq!(minutes(&mut load, &mut now, &[("sound.ke", true)]), [Some(0)]);
    let waits = minutes(&mut load, &mut now, &[("dead.ke", false); 5]);
    for (wait, least) in waits.iter().zip([4, 20, 80, 320]) {
        assert!((least..=least + least / 10 + 1).contains(&wait.unwrap()), "{waits:?}");
    }
    assert_eq!(waits[4], None, "{waits:?}");
    assert_eq!(minutes(&mut load, &mut now, &[("other.ke", true), ("dead.ke", false)]), [Some(0), None]);
    assert!(!load.state_of(server(1)).unwrap().is_given_up());
    // A crash of our process forgets none of this.
    let stored = postcard::to_stdvec(&stored).unwrap();
    let mut restored = self::load();
    restored.restore(server(1), postcard::from_bytes(&stored).unwrap());
    assert!(matches!(
        restored.permit(later, server(1), &site("dead.ke"), None),
        PermitDecision::CoolDownUntil(_)
    ));
}

#[test]
fn a_server_that_is_overloaded_in_bursts_is_asked_as_seldom_whoever_else_was_answered_once() {
    let pauses = |others: &[(&str, bool)]| {
        let (mut load, mut now) = (load(), at(0.0));
        minutes(&mut load, &mut now, others);
        // Only one site still sends requests.
        let begun = now;
        let burst = [&[("a.ke", false); 4][..], &[("a.ke", true); 4]].concat();
        minutes(&mut load, &mut now, &burst.repeat(30));
        now.duration_since(begun).unwrap().as_secs() / 240
    };
    let alone = pauses(&[]);
    assert!((50..=60).contains(&alone), "{alone}");
    let with_others = pauses(&[("b.ke", true), ("c.ke", true)]);
    assert!(with_others.abs_diff(alone) <= 2, "{with_others} for {alone}");
}

#[test]
fn a_dead_site_slows_its_server_once_in_a_row_and_itself_each_time() {
    let (mut load, mut now) = (load(), at(0.0));
    minutes(&mut load, &mut now, &[("sound.ke", true)]);
    let (mut site_waits, mut server_waits) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        minutes(&mut load, &mut now, &[("dead.ke", false)]);
        let wait_of = |load: &mut Load, name: &str, now| match load.permit(now, server(1), &site(name), None)
        {
            PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) => {
                time.duration_since(now).unwrap().as_secs()
            }
            decision => panic!("{decision:?}"),
        };
        site_waits.push(wait_of(&mut load, "dead.ke", now));
        server_waits.push(wait_of(&mut load, "sound.ke", now));
    }
    assert_eq!(server_waits, [4; 4]);
    let jitter = |plain: u64| plain..=plain + plain / 10;
    assert!(
        site_waits.iter().zip([4, 8, 16, 32]).all(|(wait, plain)| jitter(plain).contains(wait)),
        "{site_waits:?}"
    );
}

#[test]
fn a_server_where_site_after_site_is_in_trouble_is_put_off_and_given_up() {
    let names: Vec<String> = (0..10).map(|number| format!("site{number}.ke")).collect();
    let (mut load, mut now) = (load(), at(0.0));
    minutes(&mut load, &mut now, &[("sound.ke", true)]);
    // Each site has three troubles, of which one counts.
    let requests: Vec<_> = names.iter().flat_map(|name| [(name.as_str(), false); 3]).collect();
    let waits = minutes(&mut load, &mut now, &requests);
    // The fifth site starts a cool-down of five minutes, the sixth one of twenty …
    let long = waits
        .iter()
        .enumerate()
        .filter_map(|(index, wait)| Some((index, (*wait)?)).filter(|(_, wait)| *wait > 1));
    let long: Vec<_> = long.collect();
    for ((index, wait), (expected, least)) in long.iter().zip([(13, 5), (16, 20), (19, 80), (22, 320)]) {
        assert!(*index == expected && (least..=least + least / 10).contains(wait), "{long:?}");
    }
    // … and the ninth is the last that gets a request.
    assert_eq!((long.len(), waits.iter().flatten().count()), (4, 25), "{waits:?}");
    assert!(load.state_of(server(1)).unwrap().is_given_up());
}

#[test]
fn where_many_sites_are_dead_a_long_row_of_them_is_chance() {
    let names: Vec<String> = (0..60).map(|number| format!("site{number}.ke")).collect();
    // Shares of dead sites, from seventy observed ones and the prior: 11, 19, 45 and 62 %.
    for (dead_of_ten, suspicious) in [(1, 5), (2, 6), (5, 12), (7, 20)] {
        let (mut load, mut now) = (load(), at(0.0));
        let requests: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(index, name)| (name.as_str(), index % 10 >= dead_of_ten))
            .collect();
        minutes(&mut load, &mut now, &requests);
        let new_names: Vec<String> = (0..60).map(|number| format!("late{number}.ke")).collect();
        let late_requests: Vec<_> = new_names.iter().map(|name| (name.as_str(), false)).collect();
        let waits = minutes(&mut load, &mut now, &late_requests);
        assert_eq!(
            waits.iter().position(|wait| *wait >= Some(5)),
            Some(suspicious),
            "{dead_of_ten}: {waits:?}"
        );
        assert_eq!(waits.iter().flatten().count(), suspicious + 4, "{dead_of_ten}: {waits:?}");
    }
}

#[test]
fn a_server_that_was_never_sound_is_given_up_when_five_sites_were_in_trouble() {
    let (mut load, mut now) = (load(), at(0.0));
    let (two, others) = ([("a.ke", false), ("b.ke", false)], ["c.ke", "d.ke", "e.ke", "f.ke"]);
    // The ninth trouble of a site is its last.
    let waits = minutes(&mut load, &mut now, &two.repeat(10));
    assert_eq!(waits.iter().map(Option::is_some).rposition(|is_put| is_put), Some(17), "{waits:?}");
    assert!(waits[8..18].iter().all(|wait| *wait >= Some(320)), "{waits:?}");
    assert!(!load.state_of(server(1)).unwrap().is_given_up());
    let waits = minutes(&mut load, &mut now, &others.map(|name| (name, false)));
    assert!(waits[..3].iter().all(|wait| wait.is_some_and(|minutes| minutes >= 320)), "{waits:?}");
    assert_eq!(waits[3], None);
    assert!(load.state_of(server(1)).unwrap().is_given_up());
}

#[test]
fn a_site_that_has_a_server_for_itself_is_given_up_after_nine_troubles() {
    let (mut load, mut now) = (load(), at(0.0));
    let requests = [&[("a.ke", true)][..], &[("a.ke", false); 10]].concat();
    assert_eq!(minutes(&mut load, &mut now, &requests).iter().flatten().count(), 10);
}

#[test]
fn one_sound_answer_ends_the_row_of_troubles() {
    let mut load = load();
    let mut now = at(0.0);
    for round in 0..40 {
        now = exchange(&mut load, now, |t| if round % 5 == 4 { response(t, 0.1) } else { busy(t, None) });
    }
    assert!(!load.state_of(server(1)).unwrap().is_given_up());
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
        let mut request_count = 0;
        while let PermitDecision::Granted(permit) = load.permit(now, server(1), &site("a.ke"), None) {
            load.settle(permit, Purpose::Page, &failed_response(now, status, failure));
            request_count += 1;
            assert!(request_count <= 9, "{status:?} {failure:?}");
            now = load.free_at(server(1)).map_or(now, |free| free.max(now));
        }
        assert_eq!(request_count, 9, "{status:?} {failure:?}");
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
        now = exchange(&mut load, now, |t| failed_response(t, status, failure));
    }
    // Two doublings are not taken back.
    let passed = now.duration_since(begun).unwrap().as_secs_f64();
    assert!((6.0 * 8.1..=6.0 * 8.9).contains(&passed), "{passed}");
    // The row goes on: the third trouble since then is the fifth.
    for _ in 0..3 {
        now = exchange(&mut load, now, |t| busy(t, None));
    }
    let end = load.state_of(server(1)).unwrap().ledger.last_end().unwrap();
    assert!(now.duration_since(end).unwrap() >= Duration::from_secs(300));
    // An unclear response does not start the cool-down again.
    let free = exchange(&mut load, now, |t| failed_response(t, Some(500), None));
    assert!(free.duration_since(now).unwrap() < Duration::from_secs(70));
}

#[test]
fn a_page_that_is_too_large_for_us_is_a_sound_answer() {
    assert_eq!(symptom_of(Some(200), Some(Failure::BodyTooLarge)), Symptom::Sound);
    assert_eq!(symptom_of(Some(404), None), Symptom::Sound);
}

#[test]
fn growing_response_times_are_trouble() {
    let mut load = load();
    let mut now = at(0.0);
    for _ in 0..5 {
        now = exchange(&mut load, now, |t| response(t, 0.2));
    }
    let slow = exchange(&mut load, now, |t| response(t, 2.0));
    assert_eq!(slow.duration_since(now).unwrap().as_secs_f64(), 2.0 + 10.0, "one slow page is no trouble");
    let free = exchange(&mut load, slow, |t| response(t, 3.0));
    assert!((33.0..=36.0).contains(&free.duration_since(slow).unwrap().as_secs_f64()));
}

#[test]
fn response_times_have_grown_when_two_in_a_row_are_three_times_the_usual_and_a_second_longer() {
    // Times to the first byte in seconds; the last one is judged.
    for (first_bytes, has_grown) in [
        (&[60.0][..], false),
        (&[1.0, 9.0], false),
        (&[1.0, 3.0, 9.0], false),
        (&[1.0, 9.0, 1.0, 9.0], false),
        // The usual time follows by an eighth: from 1 s to 1.375 s, and from 0.25 s to 0.38 s.
        (&[1.0, 4.0, 4.12], false),
        (&[1.0, 4.0, 4.13], true),
        (&[0.25, 1.26, 1.37], false),
        (&[0.25, 1.26, 1.38], true),
    ] {
        let (pace, mut health) = (Pace::default(), Health::default());
        for seconds in first_bytes {
            let first_byte = Some(Duration::from_secs_f64(*seconds));
            let seen = Observation { site: &1, ended: at(0.0), symptom: Symptom::Sound, first_byte };
            health.note(&pace, &seen, 0.0);
        }
        let pause = health.pause_after(&pace, Duration::ZERO, Duration::ZERO, 0.0);
        assert_eq!(pause, pace.min_delay * if has_grown { 2 } else { 1 }, "{first_bytes:?}");
    }
}

#[test]
fn servers_that_fell_into_trouble_together_are_not_asked_again_together() {
    let pauses = (0..9).map(|millis| {
        let mut load = load();
        let free = exchange(&mut load, at(0.0), |t| Response {
            status: Some(503),
            ..response(t, 0.1 + f64::from(millis) / 1000.0)
        });
        free.duration_since(load.state_of(server(1)).unwrap().ledger.last_end().unwrap()).unwrap()
    });
    let pauses: std::collections::BTreeSet<_> = pauses.collect();
    assert_eq!(pauses.len(), 9, "{pauses:?}");
    let longest = Duration::from_millis(4400);
    assert!(pauses.iter().all(|pause| (Duration::from_secs(4)..=longest).contains(pause)), "{pauses:?}");
}
