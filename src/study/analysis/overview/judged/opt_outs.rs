use std::net::IpAddr;
use std::path::Path;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use crate::address::{Host, OBEYED_WITHIN, OptOut};
use crate::analysis::AnalysisError;
use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::tables::{ByKey, key};
use crate::records::{OptOutRecord, Timestamp, read_opt_outs};

/// An opt-out, and the requests that were sent while it was in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OptedOut {
    /// A host name (with its subdomains), an address, a network, or an autonomous system.
    pub who: String,
    /// The date in the user's list.
    pub date: Option<String>,
    /// When the survey began to obey it.
    pub since: Timestamp,
    /// When the survey stopped obeying it; none means the end of the survey.
    pub until: Option<Timestamp>,
    /// Requests that began during that time.
    pub requests: u64,
}

const OBEYED_WITHIN_US: i64 = OBEYED_WITHIN.as_micros() as i64;

/// The opt-out list as the survey obeyed it, compared with each exchange as it is read.
#[derive(Default)]
pub(in crate::analysis::overview) struct OptOutWatch {
    entries: Vec<(OptOut, OptedOut)>,
    /// The entries that cover a host.
    hosts: ByKey<Vec<usize>>,
    addresses: ByKey<Vec<usize>>,
    systems: ByKey<u32>,
}

impl OptOutWatch {
    /// Reads `DIR/opt-out.csv`, if there is one.
    pub(in crate::analysis::overview) fn open(dir: &Path) -> Result<Self, AnalysisError> {
        let path = dir.join("opt-out.csv");
        let records = read_opt_outs(&path)
            .map_err(|error| AnalysisError::Columns { path, message: error.to_string() })?;
        Ok(Self { entries: records.into_iter().map(watched).collect(), ..Self::default() })
    }

    /// Reads the autonomous systems of the servers.
    pub(in crate::analysis::overview) fn add_servers(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        if !self.entries.iter().any(|(list, _)| list.names_systems()) {
            return Ok(());
        }
        let (addresses, systems) = (frame.column("address")?.str()?, frame.column("asn")?.u32()?);
        let known = addresses.iter().zip(systems.iter());
        self.systems.extend(known.filter_map(|(address, system)| Some((key(address?), system?))));
        Ok(())
    }

    /// Counts an exchange; returns whether the server or host had opted out. Agents have some time
    /// ([`OBEYED_WITHIN`]) to obey a new entry.
    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) -> bool {
        if self.entries.is_empty() || !exchange.reached_server() {
            return false;
        }
        let mut had_opted_out = false;
        let by_host = self.covering_host(exchange.host);
        let by_address = exchange.address.map(|address| self.covering_address(address)).unwrap_or_default();
        for (index, (_, entry)) in self.entries.iter_mut().enumerate() {
            let is_covered = by_host.contains(&index) || by_address.contains(&index);
            let is_in_force = exchange.started > entry.since.0
                && entry.until.is_none_or(|until| exchange.started < until.0);
            entry.requests += u64::from(is_covered && is_in_force);
            let since =
                entry.since.0.saturating_add(if exchange.agent.is_some() { OBEYED_WITHIN_US } else { 0 });
            had_opted_out |= is_covered && is_in_force && exchange.started > since;
        }
        had_opted_out
    }

    fn covering_host(&mut self, name: &str) -> Vec<usize> {
        let known = self.hosts.entry(key(name)).or_insert_with(|| {
            let host = Host::parse(name).ok();
            covering(&self.entries, |list| host.as_ref().is_some_and(|host| list.has_host(host)))
        });
        known.clone()
    }

    fn covering_address(&mut self, text: &str) -> Vec<usize> {
        let system = self.systems.get(&key(text)).copied();
        let known = self.addresses.entry(key(text)).or_insert_with(|| {
            let address: Option<IpAddr> = text.parse().ok();
            covering(&self.entries, |list| {
                address.is_some_and(|address| list.has_address(address))
                    || system.is_some_and(|system| list.has_system(system))
            })
        });
        known.clone()
    }

    pub(in crate::analysis::overview) fn entries(&self) -> Vec<OptedOut> {
        self.entries.iter().map(|(_, entry)| entry.clone()).collect()
    }
}

/// An entry that this version cannot parse covers nothing; this version never obeyed it.
fn watched(record: OptOutRecord) -> (OptOut, OptedOut) {
    let list = OptOut::parse(&record.entry).unwrap_or_default();
    let OptOutRecord { entry, date, since, until } = record;
    (list, OptedOut { who: entry, date, since, until, requests: 0 })
}

fn covering(entries: &[(OptOut, OptedOut)], covers: impl Fn(&OptOut) -> bool) -> Vec<usize> {
    let numbered = entries.iter().enumerate();
    numbered.filter(|(_, (list, _))| covers(list)).map(|(index, _)| index).collect()
}
