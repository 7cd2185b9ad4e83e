//! Tests `load`, which gives permits, against the judge: two sets of rules, written independently.

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;

use super::storage::server_record;
use crate::address::{Host, Site};
use crate::exchange::{Failure, Purpose, Response, Wire};
use crate::load::{LargestExchange, Load, PermitDecision};
use crate::promises::{Fact, Judge, Observations, OwnerObjections, PromisedLimits, ShortPauses};
use crate::settings::{Pace, SharedBudget};

const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(41, 90, 0, 1));

fn site(name: &str) -> Site {
    Site::new(Host::parse(name).unwrap())
}

fn fact<'a>(site: &'a Site, response: &'a Response) -> Fact<'a> {
    let (purpose, objections) = (Purpose::Page, OwnerObjections::default());
    Fact { site, address: SERVER, purpose, url: None, response, crawl_delay: None, objections }
}

const MOST: LargestExchange = LargestExchange { bytes: 1 << 20, ahead: 0, time: Duration::from_secs(60) };

const HOUR: Duration = Duration::from_secs(3600);

/// A response of the test server.
#[derive(Clone, Debug)]
struct TestResponse {
    site: usize,
    status: Option<u16>,
    failure: Option<Failure>,
    first_byte: u64,
    transfer: u64,
    body: u64,
    retry_after: Option<u64>,
    crawl_delay: Option<u64>,
    /// Seconds before the next request, beyond the pause that is due.
    idle: u64,
    is_forgotten: bool,
}

impl TestResponse {
    fn response(&self, started: SystemTime) -> Response {
        let mut response = Response::not_sent(started, None, Failure::Reset, None);
        (response.status, response.failure) = (self.status, self.failure);
        let first_byte = Duration::from_millis(self.first_byte);
        response.timings.first_byte = Some(first_byte);
        response.timings.total = first_byte + Duration::from_millis(self.transfer);
        response.wire = Wire { sent: 300, received: self.body + 500, connections: 1 };
        response.after_head = self.body;
        response.body_bytes = self.body;
        response.head.content_type = Some("text/html".to_owned());
        response.head.retry_after = self.retry_after.map(Duration::from_secs);
        response
    }
}

fn any_response() -> impl Strategy<Value = TestResponse> {
    let outcome = prop_oneof![
        6 => Just((Some(200), None)),
        2 => prop::sample::select(vec![404, 500, 301, 403]).prop_map(|status| (Some(status), None)),
        3 => prop::sample::select(vec![429, 502, 503, 504]).prop_map(|status| (Some(status), None)),
        2 => prop::sample::select(vec![Failure::Reset, Failure::FirstByteTimeout, Failure::BadHttp])
            .prop_map(|failure| (None, Some(failure))),
        1 => Just((Some(200), Some(Failure::BodyTruncated))),
    ];
    let times =
        (1_u64..4000, prop_oneof![0_u64..40, 0_u64..30_000], prop_oneof![0_u64..3000, 0_u64..400_000]);
    let requested = (prop::option::weighted(0.1, 0_u64..900), prop::option::weighted(0.1, 0_u64..300));
    let idle = prop_oneof![4 => Just(0_u64), 1 => 0_u64..20_000];
    (0_usize..8, outcome, times, requested, idle, prop::bool::weighted(0.05)).prop_map(
        |(
            site,
            (status, failure),
            (first_byte, transfer, body),
            (retry_after, crawl_delay),
            idle,
            is_forgotten,
        )| {
            let site = if site < 4 { 0 } else { site };
            TestResponse {
                site,
                status,
                failure,
                first_byte,
                transfer,
                body,
                retry_after,
                crawl_delay,
                idle,
                is_forgotten,
            }
        },
    )
}

/// A survey that obeys `load`, and its judge.
struct WatchedSurvey {
    load: Load,
    judge: Judge,
    limits: PromisedLimits,
    now: SystemTime,
}

impl WatchedSurvey {
    fn new(pace: &Pace) -> Self {
        let limits = PromisedLimits { pace: pace.clone(), ..PromisedLimits::default() };
        let load = Load::new(pace.clone(), None, SharedBudget::default(), MOST);
        Self {
            load,
            judge: Judge::new(limits.clone(), Observations::default()),
            limits,
            now: UNIX_EPOCH + HOUR * 278,
        }
    }

    /// Sends a request when that is permitted; returns whether it ever is.
    fn request(&mut self, test_response: &TestResponse) -> bool {
        let site = site(&format!("s{}.ke", test_response.site));
        let crawl_delay = test_response.crawl_delay.map(Duration::from_secs);
        let permit = loop {
            match self.load.permit(self.now, SERVER, &site, crawl_delay) {
                PermitDecision::Granted(permit) => break permit,
                PermitDecision::PauseUntil(free) | PermitDecision::CoolDownUntil(free) => self.now = free,
                PermitDecision::GivenUp => return false,
                turn => panic!("{turn:?}"),
            }
        };
        let response = test_response.response(self.now);
        self.add_server();
        self.load.settle(permit, Purpose::Page, &response);
        self.judge.note(&Fact { crawl_delay, ..fact(&site, &response) });
        self.now = response.ended() + Duration::from_secs(test_response.idle);
        true
    }

    fn add_server(&mut self) {
        if let Some(state) = self.load.state_of(SERVER) {
            self.judge.add_server(SERVER, &server_record(state));
        }
    }

    /// Replaces the judge by a new one.
    fn forget(&mut self) {
        self.judge = Judge::new(self.limits.clone(), self.judge.seen().clone());
    }
}

proptest! {
    /// A survey that keeps the rules of `load` breaks no promise, although the judge has its own rules.
    #[test]
    fn what_is_permitted_is_never_seen_as_too_soon(
        responses in prop::collection::vec(any_response(), 1..80),
        slots in 1_u32..4,
        harm in prop::option::of(0.003_f64..0.2),
        max_delay in 1_u64..90,
    ) {
        let max_delay = Duration::from_secs(max_delay);
        let pace = Pace { per_address: slots, per_neighbourhood: Some(slots), harm, max_delay, ..Pace::default() };
        let mut survey = WatchedSurvey::new(&pace);
        for test_response in &responses {
            if test_response.is_forgotten {
                survey.forget();
            }
            survey.request(test_response);
        }
        prop_assert_eq!(&survey.judge.seen().short_rests, &ShortPauses::default());
        let least = survey.judge.seen().least_gap;
        prop_assert!(slots > 1 || least.is_none_or(|gap| gap >= pace.min_delay.as_micros() as u64));
    }

    /// If the facts leave no room, the two rules agree: for a server with one site, within an hour, the judge
    /// sees any request that comes sooner than by the tenth that chance adds.
    #[test]
    fn who_comes_sooner_than_is_permitted_is_seen(
        responses in prop::collection::vec(any_response(), 1..12),
        harm in prop::option::of(0.02_f64..0.2),
    ) {
        let pace = Pace { harm, max_delay: Duration::from_secs(20), ..Pace::default() };
        let mut survey = WatchedSurvey::new(&pace);
        // An hour of the clock begins.
        let begun = UNIX_EPOCH + HOUR * 1000;
        survey.now = begun;
        for test_response in &responses {
            // All first bytes are equally late, and no idle time leads into another hour.
            let test_response = TestResponse { site: 0, first_byte: 100, idle: 0, crawl_delay: None, ..test_response.clone() };
            if !survey.request(&test_response) {
                return Ok(());
            }
        }
        // About another hour, `load` knows more than the facts prove.
        if harm.is_some() && survey.now >= begun + HOUR {
            return Ok(());
        }
        let ended = survey.now;
        let due = loop {
            match survey.load.permit(survey.now, SERVER, &site("s0.ke"), None) {
                PermitDecision::Granted(_) => break survey.now,
                PermitDecision::PauseUntil(free) | PermitDecision::CoolDownUntil(free) => survey.now = free,
                _ => return Ok(()),
            }
        };
        let pause = due.duration_since(ended).unwrap();
        let sooner = TestResponse { site: 0, ..responses[0].clone() }.response(ended + pause.mul_f64(0.9));
        survey.judge.note(&fact(&site("s0.ke"), &sooner));
        let seen = survey.judge.seen();
        let is_short = seen.least_gap.is_some_and(|gap| gap < pace.min_delay.as_micros() as u64);
        prop_assert!(is_short || seen.short_rests != ShortPauses::default(), "{pause:?}");
    }
}
