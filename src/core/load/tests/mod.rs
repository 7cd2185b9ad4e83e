mod budgets;
mod crashes;
mod laws;
mod links;
mod pauses;
mod troubles;

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;
use crate::address::{Host, Site};
use crate::exchange::{Failure, LONGEST_PAUSE, Purpose, RECEIVE_WINDOW, Response, Wire};
use crate::settings::{Budget, LoadLimits, Pace, SharedBudget};

pub(super) const MIB: u64 = 1 << 20;

pub(super) fn at(seconds: f64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs_f64(1_000_000.0 + seconds)
}

pub(super) fn server(number: u8) -> IpAddr {
    IpAddr::from([41, 90, 0, number])
}

pub(super) fn site(name: &str) -> Site {
    Site::new(Host::parse(name).unwrap())
}

pub(super) fn response(started: SystemTime, seconds: f64) -> Response {
    let mut response = Response::not_sent(started, Some(server(1)), Failure::Reset, None);
    response.failure = None;
    response.status = Some(200);
    response.timings.total = Duration::from_secs_f64(seconds);
    response.timings.first_byte = Some(response.timings.total);
    response.wire = Wire { sent: 200, received: 10_000, connections: 1 };
    response
}

fn busy(started: SystemTime, retry_after: Option<u64>) -> Response {
    let mut response = response(started, 0.1);
    response.status = Some(503);
    response.head.retry_after = retry_after.map(Duration::from_secs);
    response
}

pub(super) const MOST: LargestExchange =
    LargestExchange { bytes: MIB, ahead: 0, time: Duration::from_secs(60) };

fn load() -> Load {
    Load::new(Pace::default(), None, SharedBudget::default(), MOST)
}

fn load_of_links(share: f64) -> Load {
    Load::new(Pace { harm: Some(share), ..Pace::default() }, None, SharedBudget::default(), MOST)
}

/// Begins an exchange at the server's earliest time and settles it.
fn exchange(load: &mut Load, now: SystemTime, make: impl Fn(SystemTime) -> Response) -> SystemTime {
    let start = load.free_at(server(1)).map_or(now, |free| free.max(now));
    let PermitDecision::Granted(permit) = load.permit(start, server(1), &site("a.ke"), None) else {
        panic!("not free at {start:?}")
    };
    load.settle(permit, Purpose::Page, &make(start));
    load.free_at(server(1)).unwrap()
}

/// The rate of a link and its busy times (ms) after responses of (bytes, bytes after the head, milliseconds).
fn link_after(exchanges: &[(u64, u64, f64)]) -> (Option<f64>, Vec<u128>) {
    let mut link = ServerLink::default();
    let times = exchanges.iter().map(|&(bytes, after_head, millis)| {
        let transfer = Duration::from_secs_f64(millis / 1000.0);
        link.take(&Flow { bytes, after_head, transfer, ..Flow::default() }).as_millis()
    });
    let times = times.collect();
    (link.bits_per_second(), times)
}

/// A response with this status and this failure.
fn failed_response(started: SystemTime, status: Option<u16>, failure: Option<Failure>) -> Response {
    Response { status, failure, ..response(started, 0.1) }
}
