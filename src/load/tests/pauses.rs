use super::*;

#[test]
fn an_address_is_left_alone_for_two_seconds_or_five_times_the_last_exchange() {
    assert_eq!(exchange(&mut load(), at(0.0), |t| answer(t, 0.1)), at(0.1 + 2.0));
    assert_eq!(exchange(&mut load(), at(0.0), |t| answer(t, 4.0)), at(4.0 + 20.0));
    assert_eq!(exchange(&mut load(), at(0.0), |t| answer(t, 40.0)), at(40.0 + 60.0));
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
fn retry_after_is_obeyed_to_the_second_however_long() {
    assert_eq!(exchange(&mut load(), at(0.0), |t| busy(t, Some(7200))), at(0.1 + 7200.0));
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
fn a_server_has_one_pace_and_one_account_at_all_addresses_that_hold_its_own() {
    let mut load = load();
    let inside: [IpAddr; 3] =
        ["64:ff9b::41.90.0.1", "2002:295a:1::7", "::ffff:41.90.0.1"].map(|ip| ip.parse().unwrap());
    let Turn::Go(permit) = load.permit(at(0.0), inside[0], &site("a.ke"), None) else { panic!() };
    for address in [server(1), inside[1], inside[2]] {
        assert!(matches!(load.permit(at(0.0), address, &site("b.ke"), None), Turn::Busy), "{address}");
    }
    load.settle(permit, Purpose::Page, &answer(at(0.0), 0.5));
    for address in inside {
        let turn = load.permit(at(1.0), address, &site("b.ke"), None);
        assert!(matches!(turn, Turn::At(free) if free == at(0.5 + 2.5)), "{address}");
    }
    load.recall(inside[1], Purpose::Page, &answer(at(10.0), 0.5));
    assert_eq!(load.state_of(server(1)).unwrap().ledger.requests, 2);
    assert_eq!(load.take_changed().into_iter().map(|(address, _)| address).collect::<Vec<_>>(), [server(1)]);
}
