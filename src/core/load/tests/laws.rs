use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

proptest! {
    /// Whatever the order of requests, an observer at the servers sees the promises kept.
    #[test]
    fn no_schedule_breaks_a_promise(
        requests in prop::collection::vec((0u8..4, 0usize..4, 1u32..8000, 0u8..6), 1..120),
        per_address in 1u32..3,
        per_site in 1u32..3,
        per_neighbourhood in prop::option::of(1u32..4),
        rate in prop::option::of(50_000u64..5_000_000),
    ) {
        // All servers are in one neighbourhood.
        let pace = Pace { per_address, per_site, per_neighbourhood, ..Pace::default() };
        let mut load = Load::new(pace.clone(), rate, SharedBudget::default(), MOST);
        let mut now = at(0.0);
        let mut running: Vec<(SystemTime, IpAddr, usize, Permit, Response)> = Vec::new();
        let mut ends: HashMap<IpAddr, Vec<(SystemTime, Duration)>> = HashMap::new();
        let mut moved: Vec<(SystemTime, u64)> = Vec::new();
        for (address, owner, millis, kind) in requests {
            let (address, name) = (server(address), site(["a.ke", "b.ke", "c.ke", "d.ke"][owner]));
            loop {
                running.sort_by_key(|(end, ..)| *end);
                match load.permit(now, address, &name, None) {
                    PermitDecision::Granted(permit) => {
                        let at_once = running.iter().filter(|run| run.1 == address).count() as u32;
                        prop_assert!(at_once < per_address);
                        prop_assert!((running.iter().filter(|run| run.2 == owner).count() as u32) < per_site);
                        let kept = ends.entry(address).or_default().iter()
                            .filter(|(end, delay)| *end + *delay > now).count() as u32;
                        prop_assert!(at_once + kept < per_address, "a pause was cut short");
                        let resting = ends.values().flatten().filter(|(end, delay)| *end + *delay > now).count();
                        let neighbours = (running.len() + resting) as u32;
                        prop_assert!(per_neighbourhood.is_none_or(|places| neighbours < places));
                        let mut response = response(now, f64::from(millis) / 1000.0);
                        response.address = Some(address);
                        if kind == 0 { response.status = Some(503); }
                        if kind == 1 { response.failure = Some(Failure::Reset); }
                        running.push((response.ended(), address, owner, permit, response));
                        moved.push((now, 10_200));
                        break;
                    }
                    PermitDecision::GivenUp | PermitDecision::BudgetUsedUp => break,
                    decision => {
                        let next_end = running.first().map(|run| run.0);
                        let target = match decision { PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) | PermitDecision::RateUsedUpUntil(time) => Some(time), _ => None };
                        prop_assert!(target.or(next_end).is_some(), "nobody would ever wake the one who waits");
                        let settle_first = next_end.is_some_and(|end| target.is_none_or(|time| end <= time));
                        if settle_first {
                            let (end, address, _, permit, response) = running.remove(0);
                            now = now.max(end);
                            let least = delay_after(&pace, response.timings.total, Duration::ZERO, 0, None);
                            ends.entry(address).or_default().push((end, least));
                            load.settle(permit, Purpose::Page, &response);
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
                    let most = (rate as f64).max(MIB as f64) + rate as f64 * window + 1.0;
                    prop_assert!(sum as f64 <= most, "{sum} bytes in {window} s at {rate} B/s");
                }
            }
        }
        if per_address == 1 {
            for number in 0..4 {
                let Some(ledger) = load.state_of(server(number)).map(|state| &state.ledger) else { continue };
                prop_assert!(ledger.most_parallel <= 1);
                prop_assert!(ledger.smallest_gap.is_none_or(|gap| gap >= pace.min_delay));
            }
        }
    }

    /// Whatever servers send, and however late, no more bytes move in any time than the rate and the saved-up
    /// bytes allow; and every exchange ends.
    #[test]
    fn a_rate_is_a_ceiling_on_what_servers_send(
        exchanges in prop::collection::vec((1u64..=MIB, 0u64..5_000), 1..60),
        rate in 50_000u64..5_000_000,
    ) {
        let (mut bucket, mut now) = (Bucket::new(rate, MOST), at(0.0));
        let mut waiting: VecDeque<(u64, u64)> = exchanges.into();
        let mut in_flight: Vec<(SystemTime, u64, Claim)> = Vec::new();
        let mut readers: VecDeque<(u64, u64, Claim)> = VecDeque::new();
        let mut sent: Vec<(SystemTime, u64)> = Vec::new();
        while !(waiting.is_empty() && in_flight.is_empty() && readers.is_empty()) {
            if let Some(place) = in_flight.iter().position(|(due, ..)| *due <= now) {
                let (_, size, claim) = in_flight.remove(place);
                let unrequested = size.min(RECEIVE_WINDOW);
                sent.push((now, unrequested));
                readers.push_back((size, unrequested, claim));
                continue;
            }
            let mut next: Vec<SystemTime> = in_flight.iter().map(|(due, ..)| *due).collect();
            if let Some((size, granted, mut claim)) = readers.pop_front() {
                let wanted = (granted + RECEIVE_WINDOW).min(size);
                match bucket.reserve_up_to(now, &mut claim, wanted) {
                    Ok(()) => {
                        sent.push((now, wanted - granted));
                        if wanted < size {
                            readers.push_back((size, wanted, claim));
                        } else {
                            bucket.end(now, &claim, Some(size));
                        }
                        continue;
                    }
                    Err(time) => {
                        next.push(time);
                        readers.push_front((size, granted, claim));
                    }
                }
            }
            if let Some((size, delay)) = waiting.front().copied() {
                match bucket.begin(now) {
                    Ok(claim) => {
                        waiting.pop_front();
                        in_flight.push((now + Duration::from_millis(delay), size, claim));
                        continue;
                    }
                    Err(time) => next.push(time),
                }
            }
            let next = next.into_iter().min().unwrap();
            prop_assert!(next > now);
            now = next;
        }
        for (index, (from, _)) in sent.iter().enumerate() {
            let mut sum = 0;
            for (until, bytes) in &sent[index..] {
                sum += bytes;
                let window = until.duration_since(*from).unwrap().as_secs_f64();
                let most = (rate as f64).max(MIB as f64) + rate as f64 * window + 1.0;
                prop_assert!(sum as f64 <= most, "{sum} bytes in {window} s at {rate} B/s");
            }
        }
    }

    /// Whatever the exchanges cost, no server's budget is exceeded, on any day or in total.
    #[test]
    fn no_server_bears_more_than_its_share(
        costs in prop::collection::vec((1u64..=MIB, 1u32..60_000), 1..80),
        per_address in 1u32..4,
        limits in prop::array::uniform2((1u64..30, 1u64..20 * MIB, 1u64..1200)),
    ) {
        let [per_day, in_all] = limits.map(|(requests, bytes, busy)| LoadLimits {
            requests: Some(requests),
            bytes: Some(bytes),
            busy: Some(Duration::from_secs(busy)),
        });
        let pace = Pace { per_address, per_site: 9, ..Pace::default() };
        let mut load = Load::new(pace, None, SharedBudget { per_day, in_all }, MOST);
        let mut days: HashMap<u64, (u64, u64, Duration)> = HashMap::new();
        let (mut now, mut costs) = (at(0.0), costs.into_iter().peekable());
        let mut running: Vec<(Permit, Response)> = Vec::new();
        while let Some((bytes, millis)) = costs.peek().copied() {
            match load.permit(now, server(1), &site("a.ke"), None) {
                PermitDecision::Granted(permit) => {
                    let mut response = response(now, f64::from(millis) / 1000.0);
                    response.wire = Wire { sent: 0, received: bytes.min(permit.byte_limit()), connections: 1 };
                    let day = now.duration_since(UNIX_EPOCH).unwrap().as_secs() / (24 * 3600);
                    for day in [day, u64::MAX] {
                        let sums = days.entry(day).or_default();
                        sums.0 += 1;
                        sums.1 += response.wire.received;
                        sums.2 += response.timings.total;
                    }
                    running.push((permit, response));
                    costs.next();
                }
                PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) if running.is_empty() || time <= running[0].1.ended() => {
                    now = now.max(time);
                }
                PermitDecision::PauseUntil(_) | PermitDecision::CoolDownUntil(_) | PermitDecision::Busy => {
                    prop_assert!(!running.is_empty(), "nobody would ever wake the one who waits");
                    let (permit, response) = running.remove(0);
                    now = now.max(response.ended());
                    load.settle(permit, Purpose::Page, &response);
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

    /// The list of exchanges does not depend on the number in flight.
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
                let grant = if flying.len() < parallel && next.is_some() { account.grant(at(0.0), MIB) } else { BudgetDecision::Wait };
                match grant {
                    BudgetDecision::Granted { byte_limit } => {
                        let size = (*next.unwrap()).min(byte_limit);
                        log.push((byte_limit, size));
                        flying.push_back(size);
                        next = sizes.next();
                    }
                    BudgetDecision::UsedUp(_) => break,
                    BudgetDecision::Wait => match flying.pop_front() {
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
