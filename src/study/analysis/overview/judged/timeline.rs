use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::address::{Host, Site};
use crate::analysis::overview::exchange::{ExchangeView, microseconds};
use crate::analysis::overview::names::Names;
use crate::exchange::{Failure, Purpose, Response};
use crate::promises::{Fact, Judge, OwnerObjections};

/// The time, server, site and result of each exchange: 48 bytes each.
#[derive(Default)]
pub(in crate::analysis::overview) struct Timeline {
    list: Vec<ServerExchange>,
}

/// One exchange with a server. Times are in microseconds.
#[derive(Clone, Copy)]
pub(in crate::analysis::overview) struct ServerExchange {
    pub started: i64,
    /// Capped at `u32::MAX`, more than an hour: no exchange lasts as long.
    pub duration_us: u32,
    first_byte: Option<u32>,
    connect: Option<u32>,
    tls: u32,
    pub address: u32,
    site: u32,
    /// In both directions, capped at four gibibytes.
    bytes: u32,
    status: Option<u16>,
    failure: Option<Failure>,
    /// Whether the rate of the server's link can be measured from it.
    pub measures_link_rate: bool,
    had_opted_out: bool,
}

const MINUTE: i64 = 60_000_000;
/// The judge forgets finished exchanges each time it has seen this number of exchanges: rarely enough to cost
/// nothing, and often enough that its state stays in the cache.
const FORGET_INTERVAL: usize = 1 << 14;
/// Start times come from the wall clock, durations from a monotonic clock, and both are rounded.
const ROUNDING: i64 = 1_000;

/// The load on one address, computed from the times of its exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct AddressLoad {
    /// The number of requests, robots.txt included.
    pub requests: u64,
    /// Bytes in both directions.
    pub bytes: u64,
    /// Busy time in milliseconds.
    pub busy_ms: f64,
    /// The smallest gap from the end of one exchange to the start of the next; 0 if they overlap.
    pub smallest_gap_ms: Option<f64>,
    /// The highest number of exchanges at the same time.
    pub most_parallel: u32,
    /// The highest number of exchanges that began within 60 seconds.
    pub most_per_minute: u32,
}

impl Timeline {
    pub(in crate::analysis::overview) fn with_capacity(exchanges: u64) -> Self {
        // The recorded row count may be wrong; the Vec grows if it must.
        let expected = usize::try_from(exchanges).unwrap_or(0).min(1 << 26);
        Self { list: Vec::with_capacity(expected) }
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>, had_opted_out: bool) {
        let (Some(ms), Some(address)) = (exchange.total_ms, exchange.address_number) else { return };
        let micros = |ms: f64| u32::try_from(microseconds(ms).max(0)).unwrap_or(u32::MAX);
        self.list.push(ServerExchange {
            started: exchange.started,
            duration_us: micros(ms),
            first_byte: exchange.first_byte_ms.map(micros),
            connect: exchange.connect_ms.map(micros),
            tls: micros(exchange.tls_ms.unwrap_or_default()),
            address,
            site: exchange.site,
            bytes: u32::try_from(exchange.bytes()).unwrap_or(u32::MAX),
            status: exchange.status(),
            failure: exchange.failure.and_then(Failure::named),
            measures_link_rate: exchange.measures_link_rate(),
            had_opted_out,
        });
    }

    /// The exchanges grouped by address, each group in order of time.
    pub(in crate::analysis::overview) fn by_address(&mut self) -> impl Iterator<Item = &[ServerExchange]> {
        self.list.sort_unstable_by_key(|server_exchange| {
            u128::from(server_exchange.address) << 96
                | in_order(server_exchange.started) << 32
                | u128::from(server_exchange.duration_us)
        });
        self.list.chunk_by(|a, b| a.address == b.address)
    }

    pub(in crate::analysis::overview) fn by_time(&mut self) -> &[ServerExchange] {
        self.list.sort_unstable_by_key(|server_exchange| {
            in_order(server_exchange.started) << 32 | u128::from(server_exchange.address)
        });
        &self.list
    }

    /// Reports all exchanges to the judge in the order in which they began.
    ///
    /// Skips rows of damaged tables without a valid address or site.
    pub(in crate::analysis::overview) fn feed(
        &mut self,
        judge: &mut Judge,
        addresses: &Names,
        sites: &Names,
    ) {
        let parties = Parties {
            addresses: addresses.iter().map(|name| name.parse().ok()).collect(),
            sites: sites.iter().map(|name| Some(Site::new(Host::parse(name).ok()?))).collect(),
        };
        for (index, server_exchange) in self.by_time().iter().enumerate() {
            if index % FORGET_INTERVAL == 0 {
                judge.forget_ended_by(moment(server_exchange.started));
            }
            let Some((address, site, response)) = parties.observed(server_exchange) else { continue };
            let objections =
                OwnerObjections { had_opted_out: server_exchange.had_opted_out, in_quiet_hours: false };
            let (purpose, url, response) = (PURPOSE, None, &response);
            judge.note(&Fact { site, address, purpose, url, response, crawl_delay: None, objections });
        }
    }
}

/// The purpose matters only for links, which are judged separately.
const PURPOSE: Purpose = Purpose::Page;

/// The server addresses and sites of exchanges, by their numbers.
struct Parties {
    addresses: Vec<Option<IpAddr>>,
    sites: Vec<Option<Site>>,
}

impl Parties {
    fn observed(&self, server_exchange: &ServerExchange) -> Option<(IpAddr, &Site, Response)> {
        let address = self.addresses.get(server_exchange.address as usize).copied().flatten()?;
        let site = self.sites.get(server_exchange.site as usize).and_then(Option::as_ref)?;
        Some((address, site, server_exchange.to_response(address)))
    }
}

impl ServerExchange {
    pub(in crate::analysis::overview) fn ended(&self) -> i64 {
        self.started.saturating_add(i64::from(self.duration_us))
    }

    pub(in crate::analysis::overview) fn bytes(&self) -> u64 {
        u64::from(self.bytes)
    }

    /// The response as the survey received it, as far as promises are judged by it.
    fn to_response(self, address: IpAddr) -> Response {
        let mut response = Response::not_sent(moment(self.started), Some(address), Failure::Reset, None);
        (response.status, response.failure) = (self.status, self.failure);
        response.timings.total = Duration::from_micros(self.duration_us.into());
        response.timings.connect = self.connect.map(|micros| Duration::from_micros(micros.into()));
        response.timings.tls = Some(Duration::from_micros(self.tls.into()));
        response.timings.first_byte = self.first_byte.map(|micros| Duration::from_micros(micros.into()));
        response.wire.received = self.bytes();
        response
    }
}

/// Maps a time to an unsigned number with the same order, so that a sort key is one number.
fn in_order(micros: i64) -> u128 {
    u128::from(micros.cast_unsigned() ^ 1 << 63)
}

/// Converts microseconds since 1970. Damaged tables may hold earlier times.
fn moment(micros: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// Sums up the exchanges of one address.
pub(in crate::analysis::overview) fn address_load(server_exchanges: &[ServerExchange]) -> AddressLoad {
    let mut load = AddressLoad::default();
    let (mut running, mut last_end, mut first_of_minute) = (Running::default(), None::<i64>, 0);
    for (position, server_exchange) in server_exchanges.iter().enumerate() {
        load.requests += 1;
        load.bytes += server_exchange.bytes();
        load.busy_ms += f64::from(server_exchange.duration_us) / 1000.0;
        if let Some(ended) = last_end {
            let gap = (server_exchange.started - ended).max(0) as f64 / 1000.0;
            load.smallest_gap_ms = Some(load.smallest_gap_ms.map_or(gap, |smallest| smallest.min(gap)));
        }
        last_end = last_end.max(Some(server_exchange.ended()));
        while server_exchanges[first_of_minute].started <= server_exchange.started - MINUTE {
            first_of_minute += 1;
        }
        let in_minute = position + 1 - first_of_minute;
        load.most_per_minute = load.most_per_minute.max(u32::try_from(in_minute).unwrap_or(u32::MAX));
        running.add(server_exchange.ended());
        let parallel = running.count_at(server_exchange.started).max(1);
        load.most_parallel = load.most_parallel.max(u32::try_from(parallel).unwrap_or(u32::MAX));
    }
    load
}

/// The ends of the exchanges in progress, the next one first.
#[derive(Default)]
struct Running(BinaryHeap<Reverse<i64>>);

impl Running {
    fn add(&mut self, end: i64) {
        self.0.push(Reverse(end));
    }

    /// The number of exchanges that have not ended at `now`. Calls must be in order of time.
    fn count_at(&mut self, now: i64) -> u64 {
        while self.0.peek().is_some_and(|end| end.0 <= now + ROUNDING) {
            self.0.pop();
        }
        self.0.len() as u64
    }
}
