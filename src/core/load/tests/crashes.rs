use super::*;

#[test]
fn a_survey_that_is_killed_and_resumed_again_and_again_keeps_its_rate() {
    let (rate, mut moved) = (MIB / 2, 0);
    for life in 0..20 {
        let mut load = Load::new(Pace::default(), Some(rate), SharedBudget::default(), MOST);
        let (begun, mut now) = (at(f64::from(life) * 3.0), at(f64::from(life) * 3.0));
        for number in 0..u8::MAX {
            let owner = site(&format!("s{number}.ke"));
            let mut decision = load.permit(now, server(number), &owner, None);
            if let PermitDecision::RateUsedUpUntil(time) = decision {
                now = time;
                decision = load.permit(now, server(number), &owner, None);
            }
            let PermitDecision::Granted(mut permit) = decision else { panic!("{decision:?}") };
            while let Err(time) = load.reserve_up_to(now, &mut permit, MIB) {
                now = time;
            }
            if now.duration_since(begun).unwrap() >= Duration::from_secs(3) {
                load.abandon(permit, now);
                break;
            }
            let mut response = response(now, 0.1);
            response.wire = Wire { sent: 0, received: MIB, connections: 1 };
            load.settle(permit, Purpose::Page, &response);
            moved += MIB;
        }
    }
    assert!((1..=rate * 60).contains(&moved), "{moved} bytes in a minute at {rate} B/s");
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
    // The journal reports it again whenever the survey is resumed.
    again.recall_in_flight(server(1), at(0.0), at(50.0));
    assert_eq!(again.free_at(server(1)), Some(at(4.0 + 60.0)));
}

#[test]
fn an_exchange_that_a_crash_lost_shortens_no_rest_that_follows_another() {
    for per_neighbourhood in [None, Some(1)] {
        let pace = Pace { harm: Some(0.02), per_neighbourhood, ..Pace::default() };
        let mut load = Load::new(pace, None, SharedBudget::default(), MOST);
        // One page that took a thin link for four seconds, and one earlier request without a response.
        let mut slow = response(at(0.0), 4.0);
        slow.timings.first_byte = Some(Duration::ZERO);
        load.recall(server(1), &site("a.ke"), Purpose::Page, &slow);
        let pauses = load.free_at(server(1)).unwrap();
        assert!(
            pauses > at(4.0 + 60.0 + 100.0),
            "the pause for the link is longer than the longest other one"
        );
        load.recall_in_flight(server(1), at(-9.0), at(5.0));
        assert_eq!(load.free_at(server(1)), Some(pauses));
        let waits = match load.permit(at(100.0), server(2), &site("b.ke"), None) {
            PermitDecision::PauseUntil(free) => Some(free),
            _ => None,
        };
        assert_eq!(waits, per_neighbourhood.map(|_| pauses), "a neighbour");
    }
}

#[test]
fn a_neighbourhood_rests_after_a_crash_as_its_servers_do() {
    let pace = Pace { per_neighbourhood: Some(1), ..Pace::default() };
    let fresh = || Load::new(pace.clone(), None, SharedBudget::default(), MOST);
    let mut first = fresh();
    let PermitDecision::Granted(permit) = first.permit(at(0.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    assert!(matches!(first.permit(at(0.0), server(2), &site("b.ke"), None), PermitDecision::Busy));
    first.settle(permit, Purpose::Page, &response(at(0.0), 4.0));
    assert!(
        matches!(first.permit(at(5.0), server(2), &site("b.ke"), None), PermitDecision::PauseUntil(free) if free == at(24.0))
    );
    let mut second = fresh();
    for (address, state) in first.take_changed() {
        second.recall_neighbour(address, &state);
    }
    assert!(
        matches!(second.permit(at(5.0), server(2), &site("b.ke"), None), PermitDecision::PauseUntil(free) if free == at(24.0))
    );
    second.recall_in_flight(server(3), at(30.0), at(32.0));
    assert!(
        matches!(second.permit(at(33.0), server(2), &site("b.ke"), None), PermitDecision::PauseUntil(free) if free == at(92.0))
    );
    assert!(matches!(
        second.permit(at(33.0), [41, 90, 1, 1].into(), &site("c.ke"), None),
        PermitDecision::Granted(_)
    ));
}

#[test]
fn a_neighbourhood_rests_after_a_crash_as_long_as_the_server_that_rests_longest() {
    let pace = Pace { per_neighbourhood: Some(1), ..Pace::default() };
    let load = || Load::new(pace.clone(), None, SharedBudget::default(), MOST);
    let mut before = load();
    let ended = [(1, 0.0, 10.0), (2, 100.0, 1.0), (3, 40.0, 2.0)].map(|(number, begins, lasts)| {
        let mut single = Load::new(Pace::default(), None, SharedBudget::default(), MOST);
        let decision = single.permit(at(begins), server(number), &site("a.ke"), None);
        let PermitDecision::Granted(permit) = decision else { panic!() };
        single.settle(permit, Purpose::Page, &response(at(begins), lasts));
        (server(number), single.state_of(server(number)).unwrap().clone())
    });
    let PermitDecision::Granted(permit) = before.permit(at(100.0), server(2), &site("a.ke"), None) else {
        panic!()
    };
    before.settle(permit, Purpose::Page, &response(at(100.0), 1.0));
    let PermitDecision::PauseUntil(pauses) = before.permit(at(101.0), server(9), &site("b.ke"), None) else {
        panic!()
    };
    for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2]] {
        let mut after = load();
        for (address, state) in order.map(|number: usize| ended[number].clone()) {
            after.recall_neighbour(address, &state);
        }
        let PermitDecision::PauseUntil(time) = after.permit(at(101.0), server(9), &site("b.ke"), None) else {
            panic!()
        };
        assert_eq!(time, pauses, "{order:?}");
    }
}

#[test]
fn a_server_that_had_more_places_before_has_as_many_as_now() {
    let pace = |per_address| Pace { per_address, per_site: 9, ..Pace::default() };
    let mut load = Load::new(pace(2), None, SharedBudget::default(), MOST);
    let turns = [0.0, 0.5].map(|second| load.permit(at(second), server(1), &site("a.ke"), None));
    for decision in turns {
        let PermitDecision::Granted(permit) = decision else { panic!() };
        load.settle(permit, Purpose::Page, &response(at(0.5), 1.0));
    }
    let mut again = Load::new(pace(1), None, SharedBudget::default(), MOST);
    again.restore(server(1), load.state_of(server(1)).unwrap().clone());
    let PermitDecision::Granted(permit) = again.permit(at(100.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    again.settle(permit, Purpose::Page, &response(at(100.0), 1.0));
    let next = again.permit(at(101.1), server(1), &site("a.ke"), None);
    assert!(matches!(next, PermitDecision::PauseUntil(time) if time > at(103.0)), "{next:?}");
}

#[test]
fn exchanges_whose_answers_a_crash_lost_count_into_the_budget_of_their_server_once() {
    let in_all = LoadLimits { requests: Some(3), ..LoadLimits::default() };
    let fresh = || Load::new(Pace::default(), None, SharedBudget { in_all, ..SharedBudget::default() }, MOST);
    let mut load = fresh();
    load.recall_in_flight(server(1), at(0.0), at(1.0));
    load.recall_in_flight(server(1), at(5.0), at(6.0));
    let state = load.state_of(server(1)).unwrap().clone();
    let mut again = fresh();
    again.restore(server(1), state);
    // The journal reports them again whenever the survey is resumed.
    again.recall_in_flight(server(1), at(0.0), at(100.0));
    again.recall_in_flight(server(1), at(5.0), at(100.0));
    let PermitDecision::Granted(permit) = again.permit(at(400.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    again.settle_lost(permit, at(400.0), at(401.0), at(401.0));
    assert!(matches!(again.permit(at(900.0), server(1), &site("a.ke"), None), PermitDecision::BudgetUsedUp));
}

#[test]
fn exchanges_in_flight_at_one_server_that_are_lost_in_any_order_count() {
    let in_all = LoadLimits { requests: Some(3), ..LoadLimits::default() };
    let pace = Pace { per_address: 2, per_site: 2, ..Pace::default() };
    let mut load = Load::new(pace, None, SharedBudget { in_all, ..SharedBudget::default() }, MOST);
    let PermitDecision::Granted(first) = load.permit(at(0.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    let PermitDecision::Granted(second) = load.permit(at(1.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    load.settle_lost(second, at(1.0), at(2.0), at(2.0));
    load.settle_lost(first, at(0.0), at(3.0), at(3.0));
    let PermitDecision::Granted(third) = load.permit(at(400.0), server(1), &site("a.ke"), None) else {
        panic!()
    };
    load.settle(third, Purpose::Page, &response(at(400.0), 1.0));
    assert!(matches!(load.permit(at(900.0), server(1), &site("a.ke"), None), PermitDecision::BudgetUsedUp));
}

#[test]
fn exchanges_whose_answers_a_crash_lost_count_into_the_budget_of_their_site() {
    let budget = Budget { requests: Some(5), bytes: Some(20 * MIB), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0).with_lost(3, MIB);
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::UsedUp(SpentBudget::Requests));
    let mut site = SiteBudget::new(Budget { requests: None, ..budget }, at(0.0), 0).with_lost(20, MIB);
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::UsedUp(SpentBudget::Bytes));
}
