mod pauses;
mod seen;
mod verdicts;

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;
use crate::address::{Host, Site, WebUrl};
use crate::exchange::{Failure, Purpose, Response, Wire};
use crate::settings::{Pace, SharedBudget};

fn at(seconds: f64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs_f64(1_000_000.0 + seconds)
}

fn site(name: &str) -> Site {
    Site::new(Host::parse(name).unwrap())
}

fn server(number: u8) -> IpAddr {
    IpAddr::from([41, 90, 0, number])
}

fn response(started: f64, seconds: f64, bytes: u64) -> Response {
    let mut response = Response::not_sent(at(started), None, Failure::Reset, None);
    (response.failure, response.status) = (None, Some(200));
    response.timings.total = Duration::from_secs_f64(seconds);
    response.wire = Wire { sent: 0, received: bytes, connections: 1 };
    response
}

fn busy(started: f64, retry_after: Option<u64>) -> Response {
    let mut response = response(started, 0.1, 10);
    response.status = Some(503);
    response.head.retry_after = retry_after.map(Duration::from_secs);
    response
}

fn fact<'a>(site: &'a Site, address: IpAddr, response: &'a Response) -> Fact<'a> {
    let (purpose, objections) = (Purpose::Page, OwnerObjections::default());
    Fact { site, address, purpose, url: None, response, crawl_delay: None, objections }
}

fn judge() -> Judge {
    Judge::new(PromisedLimits::default(), Observations::default())
}

/// Notes an exchange of this site at this server.
fn note(judge: &mut Judge, name: &str, address: IpAddr, response: &Response) {
    judge.note(&fact(&site(name), address, response));
}

const FAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(41, 91, 0, 1));
