use std::fmt;
use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use foldhash::HashMap;

use super::seen::raise_each;
use super::{Observations, PromisedLimits, ServerRecord};
use crate::address::Neighbourhood;
use crate::exchange::Response;

/// Maps an address to its autonomous system, if that is known.
pub type SystemOf = Box<dyn Fn(IpAddr) -> Option<u32> + Send + Sync>;

/// The load on servers and networks, summed over the observed exchanges.
#[derive(Default)]
pub(super) struct ObservedLoad {
    servers: HashMap<IpAddr, Sums>,
    /// Only neighbourhoods with a budget.
    neighbourhoods: HashMap<Neighbourhood, Sums>,
    systems: HashMap<u32, Sums>,
    system_of: Option<SystemOf>,
}

/// Requests, bytes and microseconds.
type Amounts = [u64; 3];

/// The load on one server or network.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    in_all: Amounts,
    /// Days (UTC) since 1970 and the load on them, the later day first: exchanges are reported as they end,
    /// and count for the day on which they began.
    days: [(u64, Amounts); 2],
}

const DAY: u64 = 24 * 3600;

impl ObservedLoad {
    /// Sets the function that maps addresses to autonomous systems.
    pub(super) fn with_systems(&mut self, system_of: SystemOf) {
        self.system_of = Some(system_of);
    }

    /// Adds the recorded load of a server that is not known here.
    pub(super) fn add_server(&mut self, server: IpAddr, record: &ServerRecord) {
        self.servers.entry(server).or_insert_with(|| Sums::from_record(record));
    }

    /// Adds the recorded load of a server to its networks.
    pub(super) fn join(
        &mut self,
        server: IpAddr,
        record: &ServerRecord,
        limits: &PromisedLimits,
        seen: &mut Observations,
    ) {
        let sums = Sums::from_record(record);
        sums.record_peaks(&mut seen.server, &mut seen.server_day, sums.days[0].0, || server.to_string());
        self.for_networks(server, limits, seen, |load| {
            load.join(&sums);
            sums.days[0].0
        });
    }

    /// Adds an exchange.
    pub(super) fn add(
        &mut self,
        server: IpAddr,
        response: &Response,
        limits: &PromisedLimits,
        seen: &mut Observations,
    ) {
        let moved = response.wire.sent + response.wire.received;
        let amounts = [1, moved, response.timings.total.as_micros() as u64];
        let day = day_of(response.started);
        let sums = self.servers.entry(server).or_default();
        sums.add(day, amounts);
        sums.record_peaks(&mut seen.server, &mut seen.server_day, day, || server.to_string());
        self.for_networks(server, limits, seen, |load| {
            load.add(day, amounts);
            day
        });
    }

    fn for_networks(
        &mut self,
        server: IpAddr,
        limits: &PromisedLimits,
        seen: &mut Observations,
        change: impl Fn(&mut Sums) -> u64,
    ) {
        if !limits.network.is_unbounded() {
            let neighbourhood = Neighbourhood::from_address(server);
            let sums = self.neighbourhoods.entry(neighbourhood).or_default();
            let day = change(sums);
            sums.record_peaks(&mut seen.network, &mut seen.network_day, day, || neighbourhood.to_string());
        }
        let system_of = self.system_of.as_ref().filter(|_| !limits.system.is_unbounded());
        if let Some(system) = system_of.and_then(|system_of| system_of(server)) {
            let sums = self.systems.entry(system).or_default();
            let day = change(sums);
            sums.record_peaks(&mut seen.system, &mut seen.system_day, day, || format!("AS{system}"));
        }
    }

    /// Forgets servers that are not to be kept; they can be added again.
    pub(super) fn retain_servers(&mut self, is_kept: impl Fn(IpAddr) -> bool) {
        self.servers.retain(|server, _| is_kept(*server));
    }

    pub(super) fn len(&self) -> usize {
        self.servers.len()
    }
}

impl Sums {
    fn from_record(record: &ServerRecord) -> Self {
        Self { in_all: record.load, days: [(record.day, record.load_on_day), (0, Amounts::default())] }
    }

    fn add(&mut self, day: u64, amounts: Amounts) {
        add(&mut self.in_all, amounts);
        if day > self.days[0].0 {
            self.days = [(day, Amounts::default()), self.days[0]];
        }
        if let Some((_, load)) = self.days.iter_mut().find(|(load_day, _)| *load_day == day) {
            add(load, amounts);
        }
    }

    /// Adds the load of a server to that of its network.
    fn join(&mut self, other: &Self) {
        let (day, amounts) = other.days[0];
        let in_all = self.in_all;
        self.add(day, amounts);
        self.in_all = in_all;
        add(&mut self.in_all, other.in_all);
    }

    fn record_peaks(
        &self,
        in_all: &mut [super::Peak; 3],
        on_day: &mut [super::Peak; 3],
        day: u64,
        describe: impl Fn() -> String,
    ) {
        raise_each(in_all, self.in_all, &describe);
        if let Some((_, load)) = self.days.iter().find(|(load_day, _)| *load_day == day) {
            raise_each(on_day, *load, &describe);
        }
    }
}

impl fmt::Debug for ObservedLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { servers, neighbourhoods, systems, .. } = self;
        f.debug_struct("ObservedLoad")
            .field("servers", servers)
            .field("neighbourhoods", neighbourhoods)
            .field("systems", systems)
            .finish_non_exhaustive()
    }
}

fn add(sums: &mut Amounts, amounts: Amounts) {
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum = sum.saturating_add(amount);
    }
}

fn day_of(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY
}
