mod rests;
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

fn answer(started: f64, seconds: f64, bytes: u64) -> Response {
    let mut answer = Response::not_sent(at(started), None, Failure::Reset, None);
    (answer.failure, answer.status) = (None, Some(200));
    answer.timings.total = Duration::from_secs_f64(seconds);
    answer.wire = Wire { sent: 0, received: bytes, connections: 1 };
    answer
}

fn busy(started: f64, retry_after: Option<u64>) -> Response {
    let mut answer = answer(started, 0.1, 10);
    answer.status = Some(503);
    answer.head.retry_after = retry_after.map(Duration::from_secs);
    answer
}

fn fact<'a>(site: &'a Site, address: IpAddr, answer: &'a Response) -> Fact<'a> {
    let (purpose, against) = (Purpose::Page, OwnerObjections::default());
    Fact { site, address, purpose, url: None, answer, crawl_delay: None, against }
}

fn judge() -> Judge {
    Judge::new(PromisedLimits::default(), Observations::default())
}

/// An exchange of this site at this server, seen.
fn note(judge: &mut Judge, name: &str, address: IpAddr, answer: &Response) {
    judge.note(&fact(&site(name), address, answer));
}

const FAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(41, 91, 0, 1));
