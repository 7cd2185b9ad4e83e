use super::*;

#[test]
fn a_server_bears_its_share_of_a_day_and_of_the_survey_and_no_more() {
    let budget = SharedBudget {
        per_day: LoadLimits { requests: Some(3), ..LoadLimits::default() },
        in_all: LoadLimits { requests: Some(5), ..LoadLimits::default() },
    };
    let mut load = Load::new(Pace::default(), None, budget, MOST);
    let (mut now, mut starts) = (at(0.0), Vec::new());
    loop {
        match load.permit(now, server(1), &site("a.ke"), None) {
            PermitDecision::Granted(permit) => {
                load.settle(permit, Purpose::Page, &response(now, 0.1));
                starts.push(now.duration_since(UNIX_EPOCH).unwrap().as_secs() / (24 * 3600));
            }
            PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) => now = time,
            PermitDecision::BudgetUsedUp => break,
            decision => panic!("{decision:?}"),
        }
    }
    assert_eq!(starts, [11, 11, 11, 12, 12], "days since 1970");
    assert!(matches!(load.permit(now, server(2), &site("b.ke"), None), PermitDecision::Granted(_)));
}

#[test]
fn the_ledger_measures_gaps_and_overlaps_from_the_answers() {
    let mut load = load();
    load.recall(server(1), &site("a.ke"), Purpose::Page, &response(at(0.0), 1.0));
    load.recall(server(1), &site("a.ke"), Purpose::Page, &response(at(3.0), 1.0));
    let ledger = load.state_of(server(1)).unwrap().ledger.clone();
    assert_eq!((ledger.requests, ledger.received_bytes, ledger.busy), (2, 20_000, Duration::from_secs(2)));
    assert_eq!(ledger.smallest_gap, Some(Duration::from_secs(2)));
    assert_eq!(ledger.most_parallel, 1);
    load.recall(server(1), &site("a.ke"), Purpose::Page, &response(at(3.5), 1.0));
    let ledger = &load.state_of(server(1)).unwrap().ledger;
    assert_eq!((ledger.most_parallel, ledger.smallest_gap), (2, Some(Duration::ZERO)));
}

#[test]
fn requests_per_minute_are_those_of_the_busiest_minute() {
    let mut load = load();
    for number in 0..100 {
        load.recall(server(1), &site("a.ke"), Purpose::Page, &response(at(f64::from(number) * 3.0), 0.1));
    }
    let most = load.state_of(server(1)).unwrap().ledger.most_requests_per_minute;
    assert!((20..=21).contains(&most), "{most}");
}

#[test]
fn a_budget_is_granted_to_the_last_request_and_byte_and_not_beyond() {
    let budget = Budget { requests: Some(2), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0);
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::UsedUp(SpentBudget::Requests));

    let budget = Budget { bytes: Some(MIB + 100_000), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0);
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Wait);
    site.book(Wire { sent: 0, received: MIB, connections: 1 });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: 100_000 });
    site.book(Wire { sent: 0, received: 99_000, connections: 0 });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::UsedUp(SpentBudget::Bytes));

    let budget = Budget { time: Some(Duration::from_secs(10)), ..Budget::default() };
    assert_eq!(
        SiteBudget::new(budget, at(0.0), 0).grant(at(10.0), MIB),
        BudgetDecision::UsedUp(SpentBudget::Time)
    );
}

#[test]
fn what_an_exchange_moves_beyond_its_limit_is_kept_in_reserve() {
    let ahead = 400_000;
    let budget = Budget { bytes: Some(8 * MIB), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), ahead);
    let mut spent = 0;
    while let BudgetDecision::Granted { byte_limit } = site.grant(at(0.0), 2 * MIB) {
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
    while let BudgetDecision::Granted { .. } = account.grant(at(0.0), 2 * MIB) {
        account.book(Wire { sent: 0, received, connections: 1 });
        spent += received;
    }
    assert!((1..=MIB).contains(&spent), "{spent}");

    let budget =
        SharedBudget { in_all: LoadLimits { bytes, ..LoadLimits::default() }, ..SharedBudget::default() };
    let most = LargestExchange { bytes: 2 * MIB, ahead, ..MOST };
    let mut load = Load::new(Pace::default(), None, budget, most);
    let (mut spent, mut now) = (0, at(0.0));
    while let PermitDecision::Granted(permit) = load.permit(now, server(1), &site("a.ke"), None) {
        let mut response = response(now, 0.1);
        response.wire = Wire { sent: 0, received, connections: 1 };
        spent += received;
        load.settle(permit, Purpose::Page, &response);
        now = load.free_at(server(1)).unwrap();
    }
    assert!((1..=MIB).contains(&spent), "{spent}");
}

#[test]
fn an_exchange_that_its_timeout_ends_a_little_late_is_within_the_budget() {
    let limit = Duration::from_millis(120_500);
    let in_all = LoadLimits { busy: Some(limit), ..LoadLimits::default() };
    let mut load = Load::new(Pace::default(), None, SharedBudget { in_all, ..SharedBudget::default() }, MOST);
    let (mut busy, mut now) = (Duration::ZERO, at(0.0));
    while let PermitDecision::Granted(permit) = load.permit(now, server(1), &site("a.ke"), None) {
        let response = response(now, 60.4);
        busy += response.timings.total;
        load.settle(permit, Purpose::Page, &response);
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
    assert_eq!(site.grant(at(9.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
    assert_eq!(site.grant(at(9.0), MIB), BudgetDecision::UsedUp(SpentBudget::Requests));
    assert_eq!(site.grant(at(10.0), MIB), BudgetDecision::UsedUp(SpentBudget::Time));
}

#[test]
fn what_is_left_of_a_budget_of_bytes_pays_for_a_request_from_eight_kibibytes_on() {
    let grant = |bytes: u64, ahead: u64, largest: u64| {
        SiteBudget::new(Budget { bytes: Some(bytes), ..Budget::default() }, at(0.0), ahead)
            .grant(at(0.0), largest)
    };
    assert_eq!(grant(8191, 0, MIB), BudgetDecision::UsedUp(SpentBudget::Bytes));
    assert_eq!(grant(8192, 0, MIB), BudgetDecision::Granted { byte_limit: 8192 });
    assert_eq!(grant(500, 0, 500), BudgetDecision::Granted { byte_limit: 500 }, "a whole exchange is small");
    assert_eq!(least_bytes(1000), 9192);
    assert_eq!(grant(9191, 1000, MIB), BudgetDecision::UsedUp(SpentBudget::Bytes));
    assert_eq!(grant(9192, 1000, MIB), BudgetDecision::Granted { byte_limit: 8192 });
}

#[test]
fn exchanges_that_were_lost_count_as_the_largest() {
    let budget = Budget { requests: Some(3), bytes: Some(4 * MIB), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0).with_lost(2, MIB);
    assert_eq!(site.grant(at(0.0), 4 * MIB), BudgetDecision::Granted { byte_limit: 2 * MIB });
    assert_eq!(site.grant(at(0.0), 4 * MIB), BudgetDecision::UsedUp(SpentBudget::Requests));
}

#[test]
fn a_second_exchange_is_begun_only_if_both_have_room_to_the_last_byte() {
    let granted_twice = |bytes: u64| {
        let mut site = SiteBudget::new(Budget { bytes: Some(bytes), ..Budget::default() }, at(0.0), 0);
        assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
        site.grant(at(0.0), MIB) != BudgetDecision::Wait
    };
    assert!(granted_twice(2 * MIB));
    assert!(!granted_twice(2 * MIB - 1));
}

#[test]
fn an_exchange_costs_what_it_sent_and_what_it_received() {
    let mut site = SiteBudget::new(Budget { bytes: Some(MIB), ..Budget::default() }, at(0.0), 0);
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
    site.book(Wire { sent: 300_000, received: 200_000, connections: 1 });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB - 500_000 });
}

fn largest(bytes: u64) -> LargestExchange {
    LargestExchange { bytes, ..MOST }
}

/// All claims that can begin at this time.
fn begun(bucket: &mut Bucket, now: SystemTime) -> Vec<Claim> {
    std::iter::from_fn(|| bucket.begin(now).ok()).collect()
}

#[test]
fn a_rate_saves_up_one_second_or_one_largest_exchange_with_all_that_is_reserved() {
    for (rate, most, claims) in [
        (MIB, largest(MIB / 2), 16),
        (MIB / 4, largest(MIB), 16),
        (MIB / 4, LargestExchange { ahead: MIB / 2, ..largest(MIB) }, 8),
        (4 * MIB, LargestExchange { ahead: MIB, ..largest(2 * MIB) }, 48),
    ] {
        let mut bucket = Bucket::new(rate, most);
        assert!(bucket.begin(at(0.0)).is_err(), "it is empty at first");
        let first = begun(&mut bucket, at(1000.0));
        assert_eq!(first.len(), claims, "{rate} {most:?}");
        // Slow servers do not make room for others.
        assert_eq!(begun(&mut bucket, at(2000.0)), []);
        first.iter().for_each(|claim| bucket.end(at(2000.0), claim, Some(RECEIVE_WINDOW)));
        let free = bucket.begin(at(2000.0)).unwrap_err().duration_since(at(2000.0)).unwrap().as_secs_f64();
        let expected = RECEIVE_WINDOW as f64 / rate as f64 + 0.001;
        assert!((free - expected).abs() < 1e-6, "{free} {expected}");
    }
}

#[test]
fn what_is_read_is_taken_first_and_what_was_not_needed_is_there_again() {
    let window = RECEIVE_WINDOW as f64 / MIB as f64;
    let mut bucket = Bucket::new(MIB, largest(MIB));
    assert!(bucket.begin(at(0.0)).is_err());
    let mut claim = bucket.begin(at(0.1)).unwrap();
    assert_eq!(bucket.reserve_up_to(at(0.1), &mut claim, RECEIVE_WINDOW), Ok(()), "that was reserved");
    let more = bucket.reserve_up_to(at(0.1), &mut claim, MIB / 2).unwrap_err();
    let wait = more.duration_since(at(0.1)).unwrap().as_secs_f64();
    assert!((wait - (0.5 - 0.1 + 0.001)).abs() < 1e-6, "{wait}");
    // While a reader waits, no request is sent, even if there are enough tokens for one.
    assert!(bucket.begin(at(0.3)).is_err());
    assert_eq!(bucket.reserve_up_to(more, &mut claim, MIB / 2), Ok(()));
    bucket.end(more, &claim, Some(MIB / 4));
    let claims = begun(&mut bucket, more);
    assert_eq!(claims.len(), 4, "a quarter of a second is there again");
    // The number of bytes that these moved is unknown.
    claims.iter().for_each(|claim| bucket.end(more, claim, None));
    assert!(bucket.begin(more).is_err());
    // A clock that goes back gives no token twice.
    assert!(bucket.begin(at(0.0)).is_err());
    assert!(bucket.begin(more + Duration::from_secs_f64(window)).is_ok());
}

#[test]
fn a_reader_that_gives_up_lets_others_begin() {
    let mut bucket = Bucket::new(MIB, largest(MIB));
    assert!(bucket.begin(at(0.0)).is_err());
    let mut claim = bucket.begin(at(0.2)).unwrap();
    assert!(bucket.reserve_up_to(at(0.2), &mut claim, MIB).is_err());
    assert!(bucket.begin(at(0.2)).is_err());
    bucket.cancel_wait();
    assert!(bucket.begin(at(0.2)).is_ok());
}

#[test]
fn bytes_that_nobody_has_counted_have_moved_as_far_as_the_rate_knows() {
    let end: [fn(&mut Load, Permit); 2] = [
        |load, permit| load.abandon(permit, at(10.1)),
        // The server may work on it for minutes: the rate does not refill because of that time.
        |load, permit| load.settle_lost(permit, at(10.0), at(316.0), at(10.1)),
    ];
    for end in end {
        // One largest exchange is saved up after ten seconds.
        let mut load = Load::new(Pace::default(), Some(MIB / 8), SharedBudget::default(), MOST);
        let permit = |load: &mut Load, number, seconds| {
            load.permit(at(seconds), server(number), &site(&format!("a{number}.ke")), None)
        };
        assert!(
            matches!(permit(&mut load, 1, 0.0), PermitDecision::RateUsedUpUntil(_)),
            "it is empty at first"
        );
        let PermitDecision::Granted(mut first) = permit(&mut load, 1, 10.0) else { panic!() };
        load.reserve_up_to(at(10.0), &mut first, MIB).unwrap();
        end(&mut load, first);
        let PermitDecision::RateUsedUpUntil(time) = permit(&mut load, 2, 10.1) else {
            panic!("what was lost is there again")
        };
        assert!(time > at(10.5) && time < at(30.0), "{time:?}");
    }
}

#[test]
fn at_a_low_rate_no_more_begins_than_can_be_read_in_time() {
    for rate in [500, 5000, 20_000, 100_000, MIB, 100 * MIB] {
        let mut bucket = Bucket::new(rate, largest(MIB));
        assert!(bucket.begin(at(0.0)).is_err());
        let claims = begun(&mut bucket, at(1e9)).len() as f64;
        let time = claims * MIB as f64 / rate as f64;
        assert!(claims == 1.0 || time <= LONGEST_PAUSE.as_secs_f64(), "{claims} at {rate} B/s: {time} s");
    }
}

#[test]
fn an_exchange_on_record_is_in_flight_until_it_is_booked() {
    let budget = Budget { bytes: Some(2 * MIB - 1), ..Budget::default() };
    let mut site = SiteBudget::new(budget, at(0.0), 0);
    site.recall();
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Wait);
    site.book(Wire { sent: 0, received: 0, connections: 1 });
    assert_eq!(site.grant(at(0.0), MIB), BudgetDecision::Granted { byte_limit: MIB });
}

#[test]
fn a_permit_says_how_many_bytes_the_budget_of_its_server_leaves() {
    let in_all = LoadLimits { bytes: Some(50_000), ..LoadLimits::default() };
    let mut load = Load::new(Pace::default(), None, SharedBudget { in_all, ..SharedBudget::default() }, MOST);
    let mut limits = Vec::new();
    for _ in 0..2 {
        exchange(&mut load, at(0.0), |t| response(t, 0.1));
        let free = load.free_at(server(1)).unwrap();
        let PermitDecision::Granted(permit) = load.permit(free, server(1), &site("a.ke"), None) else {
            panic!()
        };
        limits.push(permit.byte_limit());
        load.settle(permit, Purpose::Page, &response(free, 0.1));
    }
    // Each exchange moves 10,200 bytes.
    assert_eq!(limits, [39_800, 19_400]);
}

#[test]
fn what_an_exchange_did_not_move_is_there_for_the_next() {
    let mut load = Load::new(Pace::default(), Some(MIB), SharedBudget::default(), MOST);
    let request = |load: &mut Load, now, number| load.permit(now, server(number), &site("a.ke"), None);
    let PermitDecision::RateUsedUpUntil(now) = request(&mut load, at(0.0), 1) else {
        panic!("it is empty at first")
    };
    let PermitDecision::Granted(permit) = request(&mut load, now, 1) else { panic!("{now:?}") };
    let mut response = response(now, 0.1);
    response.wire = Wire { sent: 200_000, received: 300_000, connections: 1 };
    load.settle(permit, Purpose::Page, &response);
    let PermitDecision::RateUsedUpUntil(next) = request(&mut load, now, 2) else {
        panic!("half a megabyte is missing")
    };
    let wait = next.duration_since(now).unwrap().as_secs_f64();
    assert!((0.47..0.48).contains(&wait), "{wait}");
}

#[test]
fn a_day_that_has_no_room_for_an_exchange_is_not_waited_for() {
    for (seconds, is_enough) in [(60, false), (61, true)] {
        let limits = LoadLimits { busy: Some(Duration::from_secs(seconds)), ..LoadLimits::default() };
        assert_eq!(least_busy(MOST.time) == Duration::from_secs(seconds), is_enough);
        let per_day = SharedBudget { per_day: limits, ..SharedBudget::default() };
        let in_all = SharedBudget { in_all: limits, ..SharedBudget::default() };
        for budget in [per_day, in_all] {
            let mut load = Load::new(Pace::default(), None, budget, MOST);
            let decision = load.permit(at(0.0), server(1), &site("a.ke"), None);
            let is_expected = if is_enough {
                matches!(decision, PermitDecision::Granted(_))
            } else {
                matches!(decision, PermitDecision::BudgetUsedUp)
            };
            assert!(is_expected, "{budget:?} {decision:?}");
        }
    }
}

#[test]
fn the_ledger_counts_what_a_server_was_asked_and_sent() {
    let mut load = load();
    for (number, status) in [(0.0, Some(200)), (9.0, Some(404)), (18.0, None)] {
        let exchanged = Response {
            wire: Wire { sent: 300, received: 1000, connections: 2 },
            ..failed_response(at(number), status, None)
        };
        load.recall(server(1), &site("a.ke"), Purpose::Page, &exchanged);
    }
    let Ledger { requests, answers, sent_bytes, received_bytes, connections, .. } =
        load.state_of(server(1)).unwrap().ledger;
    assert_eq!((requests, answers, sent_bytes, received_bytes, connections), (3, 2, 900, 3000, 6));
}

#[test]
fn requests_of_a_minute_are_counted_to_the_second() {
    for (starts, most) in [
        (vec![0.9, 60.8], 2),
        (vec![0.0, 61.0], 1),
        (vec![0.5; 1000], 1000),
        (vec![0.0, 50.0, 61.0, 62.0], 3),
    ] {
        let mut load = load();
        for start in starts {
            load.recall(server(1), &site("a.ke"), Purpose::Page, &response(at(start), 0.1));
        }
        let state = load.state_of(server(1)).unwrap();
        assert_eq!(state.ledger.most_requests_per_minute, most);
        let stored = postcard::to_stdvec(state).unwrap().len();
        assert!(stored < 200, "what is stored grows with seconds, not with requests: {stored} bytes");
    }
}

#[test]
fn a_tree_goes_on_with_the_account_of_the_trees_before_it() {
    let hour = Duration::from_secs(3600);
    let budget = Budget { requests: Some(5), bytes: Some(3 * MIB), time: Some(hour), accounts: 1 };
    let mut first = SiteBudget::new(budget, at(0.0), 0);
    for _ in 0..2 {
        assert!(matches!(first.grant(at(0.0), MIB), BudgetDecision::Granted { .. }));
        first.book(Wire { sent: 1000, received: 0, connections: 1 });
    }
    let spent = first.spent(0, at(600.0));
    let first_spent = Spent { account: 0, requests: 2, bytes: 2000, time: Duration::from_secs(600) };
    assert_eq!(spent, first_spent);
    // The second tree begins days later, and one of its responses is lost.
    let day = 86_400.0;
    let begun = || SiteBudget::new(budget, at(day), 0).after(spent);
    let mut second = begun().with_lost(1, MIB);
    assert_eq!(second.deadline(), Some(at(day + 3000.0)));
    assert_eq!(begun().grant(at(day + 3000.0), MIB), BudgetDecision::UsedUp(SpentBudget::Time));
    for _ in 0..2 {
        assert_eq!(second.grant(at(day), MIB), BudgetDecision::Granted { byte_limit: MIB });
        second.book(Wire { sent: 0, received: 10, connections: 0 });
    }
    assert_eq!(second.grant(at(day), MIB), BudgetDecision::UsedUp(SpentBudget::Requests));
    let total_spent = Spent { account: 0, requests: 5, bytes: 2020 + MIB, time: Duration::from_secs(660) };
    assert_eq!(second.spent(0, at(day + 60.0)), total_spent);
}

#[test]
fn each_start_url_that_a_site_may_have_brings_an_account_and_trees_beyond_share_the_last() {
    let accounts = |accounts| {
        let budget = Budget { accounts, ..Budget::default() };
        (0..4).map(move |seed| budget.account_of(seed)).collect::<Vec<_>>()
    };
    assert_eq!([accounts(0), accounts(1), accounts(3)], [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 2, 2]]);
}
