use super::*;

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
fn one_sound_answer_ends_the_row_of_troubles() {
    let mut load = load();
    let mut now = at(0.0);
    for round in 0..40 {
        now = exchange(&mut load, now, |t| if round % 5 == 4 { answer(t, 0.1) } else { busy(t, None) });
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
    assert_eq!(symptom_of(Some(200), Some(Failure::BodyTooLarge)), Symptom::Sound);
    assert_eq!(symptom_of(Some(404), None), Symptom::Sound);
}

#[test]
fn growing_response_times_are_trouble() {
    let mut load = load();
    let mut now = at(0.0);
    for _ in 0..5 {
        now = exchange(&mut load, now, |t| answer(t, 0.2));
    }
    let slow = exchange(&mut load, now, |t| answer(t, 2.0));
    assert_eq!(slow.duration_since(now).unwrap().as_secs_f64(), 2.0 + 10.0, "one slow page is no trouble");
    let free = exchange(&mut load, slow, |t| answer(t, 3.0));
    assert!((33.0..=36.0).contains(&free.duration_since(slow).unwrap().as_secs_f64()));
}

#[test]
fn response_times_have_grown_when_two_in_a_row_are_three_times_the_usual_and_a_second_longer() {
    // First bytes in seconds; the last one is judged.
    for (first_bytes, has_grown) in [
        (&[60.0][..], false),
        (&[1.0, 9.0], false),
        (&[1.0, 3.0, 9.0], false),
        (&[1.0, 9.0, 1.0, 9.0], false),
        // The usual follows by an eighth: from 1 s to 1.375 s, and from 0.25 s to 0.38 s.
        (&[1.0, 4.0, 4.12], false),
        (&[1.0, 4.0, 4.13], true),
        (&[0.25, 1.26, 1.37], false),
        (&[0.25, 1.26, 1.38], true),
    ] {
        let (pace, mut health) = (Pace::default(), Health::default());
        for seconds in first_bytes {
            health.note(&pace, Symptom::Sound, Some(Duration::from_secs_f64(*seconds)), 0.0);
        }
        let pause = health.pause_after(&pace, Duration::ZERO, Duration::ZERO, 0.0);
        assert_eq!(pause, pace.min_delay * if has_grown { 2 } else { 1 }, "{first_bytes:?}");
    }
}

#[test]
fn servers_that_fell_into_trouble_together_are_not_asked_again_together() {
    let pauses = (0..9).map(|millis| {
        let mut load = load();
        let free = exchange(&mut load, at(0.0), |t| Answer {
            status: Some(503),
            ..answer(t, 0.1 + f64::from(millis) / 1000.0)
        });
        free.duration_since(load.state_of(server(1)).unwrap().ledger.last_end().unwrap()).unwrap()
    });
    let pauses: std::collections::BTreeSet<_> = pauses.collect();
    assert_eq!(pauses.len(), 9, "{pauses:?}");
    let longest = Duration::from_millis(4400);
    assert!(pauses.iter().all(|pause| (Duration::from_secs(4)..=longest).contains(pause)), "{pauses:?}");
}
