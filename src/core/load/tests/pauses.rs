use super::*;

#[test]
fn an_address_is_left_alone_for_two_seconds_or_five_times_the_last_exchange() {
    assert_eq!(exchange(&mut load(), at(0.0), |t| response(t, 0.1)), at(0.1 + 2.0));
    assert_eq!(exchange(&mut load(), at(0.0), |t| response(t, 4.0)), at(4.0 + 20.0));
    assert_eq!(exchange(&mut load(), at(0.0), |t| response(t, 40.0)), at(40.0 + 60.0));
}

#[test]
fn round_trips_in_which_a_connection_is_opened_are_not_the_server_s() {
    let opened = |t| {
        let mut response = response(t, 2.0);
        response.timings.connect = Some(Duration::from_millis(500));
        response.timings.tls = Some(Duration::from_millis(500));
        response.timings.first_byte = Some(Duration::from_secs(1));
        response
    };
    assert_eq!(exchange(&mut load(), at(0.0), opened), at(2.0 + 5.0));
    let failed = |t| {
        let mut response = opened(t);
        (response.timings.first_byte, response.failure) = (None, Some(Failure::TlsTimeout));
        response
    };
    assert!(exchange(&mut load(), at(0.0), failed) >= at(2.0 + 10.0), "nobody knows what it did meanwhile");
}

#[test]
fn a_server_that_rests_is_told_from_one_that_asked_to_be_left_alone() {
    let mut load = load_of_links(0.02);
    let slow = |t| {
        let mut response = response(t, 20.0);
        response.timings.first_byte = Some(Duration::from_secs(1));
        (response.after_head, response.wire.received) = (40_000, 40_500);
        response
    };
    // 40 kB behind 17 kbit/s: more than a quarter of an hour.
    let free = exchange(&mut load, at(0.0), slow);
    assert!(free > at(20.0 + 900.0), "{free:?}");
    let decision = load.permit(at(21.0), server(1), &site("a.ke"), None);
    assert!(matches!(decision, PermitDecision::PauseUntil(time) if time == free), "{decision:?}");

    let free = exchange(&mut load, free, |t| busy(t, Some(7200)));
    let decision = load.permit(at(1100.0), server(1), &site("a.ke"), None);
    assert!(matches!(decision, PermitDecision::CoolDownUntil(time) if time == free), "{decision:?}");
}

#[test]
fn sites_on_one_address_share_its_pace() {
    let mut load = load();
    let PermitDecision::Granted(permit) = load.permit(at(0.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    assert!(matches!(load.permit(at(0.0), server(1), &site("b.ke"), None), PermitDecision::Busy));
    load.settle(permit, Purpose::Page, &response(at(0.0), 0.5));
    let decision = load.permit(at(1.0), server(1), &site("b.ke"), None);
    assert!(matches!(decision, PermitDecision::PauseUntil(free) if free == at(0.5 + 2.5)));
}

#[test]
fn a_site_on_two_addresses_has_one_exchange_at_a_time() {
    let mut load = load();
    let PermitDecision::Granted(_permit) = load.permit(at(0.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    assert!(matches!(load.permit(at(0.0), server(2), &site("a.ke"), None), PermitDecision::Busy));
    assert!(matches!(load.permit(at(0.0), server(2), &site("b.ke"), None), PermitDecision::Granted(_)));
}

#[test]
fn a_crawl_delay_lengthens_the_pause_for_its_site() {
    let mut load = load();
    exchange(&mut load, at(0.0), |t| response(t, 1.0));
    let delay = Some(Duration::from_secs(30));
    let decision = load.permit(at(7.0), server(1), &site("a.ke"), delay);
    assert!(matches!(decision, PermitDecision::PauseUntil(free) if free == at(31.0)));
    assert!(matches!(load.permit(at(7.0), server(1), &site("b.ke"), None), PermitDecision::Granted(_)));
}

#[test]
fn retry_after_is_obeyed_to_the_second_however_long() {
    assert_eq!(exchange(&mut load(), at(0.0), |t| busy(t, Some(7200))), at(0.1 + 7200.0));
}

/// RFC 9110 §10.2.3 does not limit `Retry-After` to certain statuses.
#[test]
fn retry_after_is_obeyed_at_every_status_and_is_trouble_at_none_that_is_not() {
    for status in [200, 202, 301, 307, 401, 403, 404, 413, 429, 500, 503] {
        let named = |t, pause| Response { status: Some(status), ..busy(t, Some(pause)) };
        assert_eq!(exchange(&mut load(), at(0.0), |t| named(t, 7200)), at(0.1 + 7200.0), "{status}");
        // A Retry-After of 0 leaves the usual pause, which trouble doubles.
        let free = exchange(&mut load(), at(0.0), |t| named(t, 0));
        assert_eq!(free > at(0.1 + 2.0), [429, 503].contains(&status), "{status}");
    }
}

#[test]
fn idle_servers_are_forgotten_once_their_state_was_taken() {
    let mut load = load();
    exchange(&mut load, at(0.0), |t| response(t, 0.1));
    load.forget_idle(at(100.0));
    assert!(load.knows(server(1)));
    load.take_changed();
    load.forget_idle(at(1.0));
    assert!(load.knows(server(1)), "its delay is not over");
    load.forget_idle(at(100.0));
    assert!(!load.knows(server(1)));
}

#[test]
fn a_server_has_one_pace_and_one_account_at_all_addresses_that_hold_its_own() {
    let mut load = load();
    let inside: [IpAddr; 3] =
        ["64:ff9b::41.90.0.1", "2002:295a:1::7", "::ffff:41.90.0.1"].map(|ip| ip.parse().unwrap());
    let PermitDecision::Granted(permit) = load.permit(at(0.0), inside[0], &site("a.ke"), None) else {
        panic!()
    };
    for address in [server(1), inside[1], inside[2]] {
        assert!(
            matches!(load.permit(at(0.0), address, &site("b.ke"), None), PermitDecision::Busy),
            "{address}"
        );
    }
    load.settle(permit, Purpose::Page, &response(at(0.0), 0.5));
    for address in inside {
        let decision = load.permit(at(1.0), address, &site("b.ke"), None);
        assert!(matches!(decision, PermitDecision::PauseUntil(free) if free == at(0.5 + 2.5)), "{address}");
    }
    load.recall(inside[1], &site("a.ke"), Purpose::Page, &response(at(10.0), 0.5));
    assert_eq!(load.state_of(server(1)).unwrap().ledger.requests, 2);
    assert_eq!(load.take_changed().into_iter().map(|(address, _)| address).collect::<Vec<_>>(), [server(1)]);
}

#[test]
fn the_longest_pause_that_a_rule_asks_for_is_kept() {
    let pace = Pace { harm: Some(0.01), ..Pace::default() };
    let pause = |took: f64, link: f64, troubles: u8, requested: Option<u64>| {
        let (took, link) = (Duration::from_secs_f64(took), Duration::from_secs_f64(link));
        delay_after(&pace, took, link, troubles, requested.map(Duration::from_secs)).as_secs_f64()
    };
    // The least pause, five times the exchange, a hundred times the link's time; at most 60 s, and an hour
    // for the link.
    assert_eq!(pause(0.1, 0.0, 0, None), 2.0);
    assert_eq!(pause(1.0, 0.0, 0, None), 5.0);
    assert_eq!(pause(13.0, 0.0, 0, None), 60.0);
    assert_eq!(pause(1.0, 0.5, 0, None), 50.0);
    assert_eq!(pause(1.0, 2.5, 0, None), 250.0);
    assert_eq!(pause(1.0, 40.0, 0, None), 3600.0);
    // Each trouble doubles the pause up to 60 s, and never shortens it.
    assert_eq!(pause(0.1, 0.0, 1, None), 4.0);
    assert_eq!(pause(0.1, 0.0, 3, None), 16.0);
    assert_eq!(pause(1.0, 0.0, 5, None), 60.0);
    assert_eq!(pause(1.0, 2.5, 5, None), 250.0);
    // A pause that the server requests is kept to the second, and shortens no other pause.
    assert_eq!(pause(1.0, 0.0, 0, Some(7200)), 7200.0);
    assert_eq!(pause(1.0, 0.0, 0, Some(1)), 5.0);
}

#[test]
fn the_usual_pace_is_the_one_that_is_promised() {
    let pace = Pace::default();
    assert_eq!((pace.min_delay, pace.max_delay), (Duration::from_secs(2), Duration::from_secs(60)));
    assert_eq!((pace.factor, pace.harm), (5.0, Some(0.02)));
    assert_eq!((pace.per_address, pace.per_neighbourhood, pace.per_site), (1, None, 1));
}

#[test]
fn each_of_two_places_at_an_address_rests_after_its_own_exchange() {
    let pace = Pace { per_address: 2, per_site: 2, ..Pace::default() };
    let mut load = Load::new(pace, None, SharedBudget::default(), MOST);
    let request = |load: &mut Load, now: f64| load.permit(at(now), server(1), &site("a.ke"), None);
    let PermitDecision::Granted(first) = request(&mut load, 0.0) else { panic!() };
    load.settle(first, Purpose::Page, &response(at(0.0), 1.0));
    // The second slot has not been used yet.
    let PermitDecision::Granted(second) = request(&mut load, 1.0) else { panic!() };
    assert!(
        matches!(request(&mut load, 1.0), PermitDecision::PauseUntil(free) if free == at(6.0)),
        "the first place rests"
    );
    load.settle(second, Purpose::Page, &response(at(1.0), 2.0));
    let PermitDecision::Granted(_third) = request(&mut load, 6.0) else { panic!() };
    assert!(
        matches!(request(&mut load, 6.0), PermitDecision::PauseUntil(free) if free == at(13.0)),
        "the second place rests"
    );
}

#[test]
fn a_server_that_asked_for_a_pause_is_remembered_until_it_is_over() {
    let mut load = load();
    exchange(&mut load, at(0.0), |t| busy(t, Some(7200)));
    load.take_changed();
    load.forget_idle(at(7000.0));
    assert!(load.knows(server(1)));
    load.forget_idle(at(7300.0));
    assert!(!load.knows(server(1)));
}

#[test]
fn a_neighbourhood_that_rests_is_not_forgotten_with_its_servers() {
    let pace = Pace { per_neighbourhood: Some(1), ..Pace::default() };
    let mut load = Load::new(pace, None, SharedBudget::default(), MOST);
    exchange(&mut load, at(0.0), |t| response(t, 4.0));
    load.take_changed();
    load.forget_idle(at(5.0));
    let decision = load.permit(at(5.0), server(2), &site("b.ke"), None);
    assert!(matches!(decision, PermitDecision::PauseUntil(free) if free == at(24.0)), "{decision:?}");
}
