use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;

use super::networks::Network;
use super::tests::{MIB, MOST, at, response, server, site};
use super::*;
use crate::address::Neighbourhood;
use crate::exchange::{Purpose, Response};
use crate::settings::{LoadLimits, Pace, SharedBudget};

fn requests(most: u64) -> LoadLimits {
    LoadLimits { requests: Some(most), ..LoadLimits::default() }
}

/// Addresses in 41/8 belong to one system; the system of other addresses is unknown.
fn system_of(address: IpAddr) -> Option<u32> {
    matches!(address, IpAddr::V4(v4) if v4.octets()[0] == 41).then_some(36914)
}

fn load(pace: Pace, neighbourhood: SharedBudget, system: SharedBudget) -> Load {
    let networks = Networks::new(neighbourhood, system, Box::new(system_of));
    Load::new(pace, None, SharedBudget::default(), MOST).with_networks(networks)
}

fn load_with(in_all: LoadLimits) -> Load {
    load(Pace::default(), SharedBudget { in_all, ..SharedBudget::default() }, SharedBudget::default())
}

fn day_of(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap().as_secs() / (24 * 3600)
}

/// Uses another site each time, so that only servers and networks limit the exchange.
fn go(load: &mut Load, now: SystemTime, address: IpAddr) -> Permit {
    let owner = site(&format!("{}.ke", address.to_string().replace('.', "-")));
    match load.permit(now, address, &owner, None) {
        PermitDecision::Granted(permit) => permit,
        decision => panic!("{decision:?}"),
    }
}

#[test]
fn a_network_bears_its_share_of_a_day_and_of_the_survey_whatever_servers_stand_there() {
    let budget = SharedBudget { per_day: requests(3), in_all: requests(5) };
    let mut load = load(Pace::default(), budget, SharedBudget::default());
    let (mut now, mut days, mut number) = (at(0.0), Vec::new(), 0);
    loop {
        number += 1;
        match load.permit(now, server(number), &site("a.ke"), None) {
            PermitDecision::Granted(permit) => {
                load.settle(permit, Purpose::Page, &response(now, 0.1));
                days.push(day_of(now));
            }
            PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) => now = time,
            PermitDecision::BudgetUsedUp => break,
            decision => panic!("{decision:?}"),
        }
    }
    assert_eq!(days, [11, 11, 11, 12, 12], "days since 1970");
    assert!(matches!(
        load.permit(now, [41, 90, 1, 1].into(), &site("a.ke"), None),
        PermitDecision::Granted(_)
    ));
}

#[test]
fn servers_at_work_at_once_do_not_exceed_the_share_of_their_network() {
    let mut load = load_with(requests(2));
    let first = go(&mut load, at(0.0), server(1));
    let second = go(&mut load, at(0.0), server(2));
    assert!(matches!(load.permit(at(1.0), server(3), &site("c.ke"), None), PermitDecision::Busy));
    load.settle(first, Purpose::Page, &response(at(0.0), 0.1));
    assert!(matches!(load.permit(at(1.0), server(3), &site("c.ke"), None), PermitDecision::Busy));
    load.abandon(second, at(1.0));
    let third = go(&mut load, at(1.0), server(3));
    load.settle(third, Purpose::Page, &response(at(1.0), 0.1));
    assert!(matches!(load.permit(at(2.0), server(4), &site("c.ke"), None), PermitDecision::BudgetUsedUp));
}

#[test]
fn nobody_waits_for_those_in_flight_where_nothing_is_left_anyway() {
    // An exchange may take 60 s.
    let mut load = load_with(LoadLimits { busy: Some(Duration::from_secs(130)), ..LoadLimits::default() });
    let first = go(&mut load, at(0.0), server(1));
    let second = go(&mut load, at(0.0), server(2));
    load.settle(first, Purpose::Page, &response(at(0.0), 20.0));
    assert!(
        matches!(load.permit(at(21.0), server(3), &site("c.ke"), None), PermitDecision::Busy),
        "20 + 60 + 60 s"
    );
    load.settle(second, Purpose::Page, &response(at(0.0), 40.0));
    let _third = go(&mut load, at(41.0), server(3));
    load.recall(server(4), &site("a.ke"), Purpose::Page, &response(at(41.0), 20.0));
    assert!(
        matches!(load.permit(at(62.0), server(5), &site("c.ke"), None), PermitDecision::BudgetUsedUp),
        "80 + 60 s"
    );
}

#[test]
fn an_autonomous_system_bears_its_share_over_all_its_networks() {
    let system = SharedBudget { in_all: requests(2), ..SharedBudget::default() };
    let mut load = load(Pace::default(), SharedBudget::default(), system);
    for address in [[41, 90, 0, 1], [41, 91, 0, 1]] {
        let permit = go(&mut load, at(0.0), address.into());
        load.settle(permit, Purpose::Page, &response(at(0.0), 0.1));
    }
    assert!(matches!(
        load.permit(at(9.0), [41, 92, 0, 1].into(), &site("c.ke"), None),
        PermitDecision::BudgetUsedUp
    ));
    // Its system is unknown.
    assert!(matches!(
        load.permit(at(9.0), [197, 0, 0, 1].into(), &site("c.ke"), None),
        PermitDecision::Granted(_)
    ));
    let system_amounts: Vec<_> =
        load.networks().amounts([41, 90, 0, 1].into()).map(|(who, [all, _])| (who, all[0])).collect();
    assert_eq!(system_amounts, [(Network::System(36914), 2)]);
}

#[test]
fn a_network_has_borne_after_a_crash_what_its_servers_had() {
    let mut first = load_with(requests(5));
    for number in 1..=3 {
        let permit = go(&mut first, at(f64::from(number)), server(number));
        first.settle(permit, Purpose::Page, &response(at(f64::from(number)), 0.1));
    }
    first.recall_in_flight(server(3), at(4.0), at(5.0));
    let mut second = load_with(requests(5));
    for (address, state) in first.take_changed() {
        second.recall_neighbour(address, &state);
        second.restore(address, state);
    }
    // The journal reports it again.
    second.recall_in_flight(server(3), at(4.0), at(100.0));
    second.recall(server(1), &site("a.ke"), Purpose::Page, &response(at(50.0), 0.1));
    assert!(matches!(second.permit(at(900.0), server(9), &site("c.ke"), None), PermitDecision::BudgetUsedUp));
}

/// What happens to a survey.
#[derive(Clone, Debug)]
enum SurveyEvent {
    Request {
        server: usize,
        bytes: u64,
        millis: u64,
    },
    Settle(usize),
    /// No response will be on record.
    Lose(usize),
    /// The states of the servers are stored.
    Store,
    Crash,
}

fn event() -> impl Strategy<Value = SurveyEvent> {
    let request = (0usize..6, 1u64..=MIB, 1u64..60_000);
    prop_oneof![
        8 => request.prop_map(|(server, bytes, millis)| SurveyEvent::Request { server, bytes, millis }),
        3 => any::<usize>().prop_map(SurveyEvent::Settle),
        1 => any::<usize>().prop_map(SurveyEvent::Lose),
        2 => Just(SurveyEvent::Store),
        1 => Just(SurveyEvent::Crash),
    ]
}

/// A survey with its stored states and its journal, and the load that its servers saw.
struct LoadSurvey {
    budgets: [SharedBudget; 2],
    load: Load,
    now: SystemTime,
    running: Vec<(IpAddr, Permit, Response)>,
    stored: BTreeMap<IpAddr, ServerState>,
    answered: Vec<(IpAddr, Response)>,
    unanswered: Vec<(IpAddr, SystemTime)>,
    seen: HashMap<(Network, Option<u64>), [u64; 3]>,
}

impl LoadSurvey {
    fn new(budgets: [SharedBudget; 2]) -> Self {
        Self {
            load: Self::fresh(budgets),
            budgets,
            now: at(0.0),
            running: Vec::new(),
            stored: BTreeMap::new(),
            answered: Vec::new(),
            unanswered: Vec::new(),
            seen: HashMap::new(),
        }
    }

    fn fresh([neighbourhood, system]: [SharedBudget; 2]) -> Load {
        load(Pace { per_site: 99, ..Pace::default() }, neighbourhood, system)
    }

    fn remember(&mut self, address: IpAddr) {
        if let Some(state) = self.stored.get(&address).filter(|_| !self.load.knows(address)) {
            self.load.restore(address, state.clone());
        }
    }

    /// Requests a permit, and waits as long as a time or the end of an exchange ends the wait.
    fn request(&mut self, address: IpAddr, bytes: u64, millis: u64) {
        loop {
            self.remember(address);
            match self.load.permit(self.now, address, &site("a.ke"), None) {
                PermitDecision::Granted(permit) => {
                    let mut response = response(self.now, millis as f64 / 1000.0);
                    response.wire.sent = 0;
                    response.wire.received = bytes.min(permit.byte_limit());
                    self.record(address, &response);
                    self.running.push((address, permit, response));
                    self.now += Duration::from_millis(1);
                    return;
                }
                PermitDecision::PauseUntil(time) | PermitDecision::CoolDownUntil(time) => self.now = time,
                PermitDecision::Busy => {
                    assert!(!self.running.is_empty(), "nobody would ever wake the one who waits");
                    self.settle(0);
                }
                _ => return,
            }
        }
    }

    fn record(&mut self, address: IpAddr, response: &Response) {
        let cost = [1, response.wire.received, response.timings.total.as_micros() as u64];
        for network in [Network::Neighbourhood(Neighbourhood::from_address(address)), Network::System(36914)]
        {
            for day in [None, Some(day_of(response.started))] {
                let sums = self.seen.entry((network, day)).or_default();
                sums.iter_mut().zip(cost).for_each(|(sum, cost)| *sum += cost);
            }
        }
    }

    fn settle(&mut self, index: usize) {
        let (address, permit, response) = self.running.remove(index);
        self.now = self.now.max(response.ended());
        self.load.settle(permit, Purpose::Page, &response);
        self.answered.push((address, response));
    }

    fn crash(&mut self) {
        let in_flight = self.running.drain(..).map(|(address, _, response)| (address, response.started));
        self.unanswered.extend(in_flight);
        self.load = Self::fresh(self.budgets);
        for (address, state) in &self.stored {
            self.load.recall_neighbour(*address, state);
        }
        self.answered.sort_by_key(|(_, response)| response.ended());
        for (address, response) in self.answered.clone() {
            let stored = self.stored.get(&address).and_then(|state| state.ledger.last_end());
            if stored.is_none_or(|end| response.ended() > end) {
                self.remember(address);
                self.load.recall(address, &site("a.ke"), Purpose::Page, &response);
            }
        }
        self.unanswered.sort_by_key(|(_, requested_at)| *requested_at);
        for (address, requested_at) in self.unanswered.clone() {
            self.remember(address);
            self.load.recall_in_flight(address, requested_at, self.now);
        }
    }

    fn apply(&mut self, event: &SurveyEvent) {
        match *event {
            SurveyEvent::Request { server, bytes, millis } => {
                self.request([41, 90, (server / 3) as u8, (server % 3) as u8].into(), bytes, millis);
            }
            SurveyEvent::Settle(index) if !self.running.is_empty() => self.settle(index % self.running.len()),
            SurveyEvent::Lose(index) if !self.running.is_empty() => {
                let (address, permit, response) = self.running.remove(index % self.running.len());
                self.unanswered.push((address, response.started));
                self.load.settle_lost(permit, response.started, self.now, self.now);
            }
            SurveyEvent::Settle(_) | SurveyEvent::Lose(_) => {}
            SurveyEvent::Store => {
                let written = self.load.take_changed().into_iter().map(|(address, state)| {
                    let bytes = postcard::to_stdvec(&state).unwrap();
                    (address, postcard::from_bytes(&bytes).unwrap())
                });
                self.stored.extend(written);
                self.load.forget_idle(self.now);
            }
            SurveyEvent::Crash => self.crash(),
        }
    }
}

proptest! {
    /// Whatever the order of permits, responses, losses and crashes, no network's budget is exceeded, on any
    /// day or in total.
    #[test]
    fn no_network_bears_more_than_its_share(
        events in prop::collection::vec(event(), 1..120),
        limits in prop::array::uniform4((1u64..30, 1u64..20 * MIB, 60u64..1200)),
    ) {
        let limits_of_parts = limits.map(|(requests, bytes, busy)| LoadLimits {
            requests: Some(requests),
            bytes: Some(bytes),
            busy: Some(Duration::from_secs(busy)),
        });
        let [a, b, c, d] = limits_of_parts;
        let budgets = [SharedBudget { per_day: a, in_all: b }, SharedBudget { per_day: c, in_all: d }];
        let mut survey = LoadSurvey::new(budgets);
        for event in &events {
            survey.apply(event);
        }
        for ((network, day), [requests, bytes, busy]) in survey.seen {
            let budget = budgets[usize::from(matches!(network, Network::System(_)))];
            let limit = if day.is_some() { budget.per_day } else { budget.in_all };
            prop_assert!(requests <= limit.requests.unwrap(), "{requests} requests to {network:?} on {day:?}");
            prop_assert!(bytes <= limit.bytes.unwrap(), "{bytes} bytes with {network:?} on {day:?}");
            prop_assert!(Duration::from_micros(busy) <= limit.busy.unwrap(), "{busy} µs of {network:?} on {day:?}");
        }
    }
}

#[test]
fn a_network_has_borne_on_a_day_what_its_servers_had_on_it_in_any_order() {
    // The day turns at 36,800 s.
    let [before, today] = [at(0.0), at(40_000.0)];
    let mut first = load_with(requests(9));
    for (number, start) in [(3, before), (1, today), (2, today)] {
        first.recall(server(number), &site("a.ke"), Purpose::Page, &response(start, 0.1));
    }
    assert_eq!(day_of(before) + 1, day_of(today));
    for order in [[1, 2, 3], [3, 1, 2], [1, 3, 2]] {
        let per_day = SharedBudget { per_day: requests(4), ..SharedBudget::default() };
        let mut second = load(Pace::default(), per_day, SharedBudget::default());
        for number in order {
            second.recall_neighbour(server(number), first.state_of(server(number)).unwrap());
        }
        let now = at(50_000.0);
        let _running = [4, 5].map(|number| go(&mut second, now, server(number)));
        let decision = second.permit(now, server(6), &site("c.ke"), None);
        assert!(
            matches!(
                decision,
                PermitDecision::Busy | PermitDecision::PauseUntil(_) | PermitDecision::CoolDownUntil(_)
            ),
            "{order:?}: two of four were used: {decision:?}"
        );
    }
}
