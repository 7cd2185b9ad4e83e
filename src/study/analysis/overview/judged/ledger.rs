use std::collections::HashMap;
use std::net::IpAddr;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use super::opt_outs::OptedOut;
use super::timeline::{AddressLoad, Timeline};
use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::names::Names;
use crate::analysis::overview::spread::Spread;
use crate::analysis::tables::columns;
use crate::analysis::{Labels, tables::group};
use crate::promises::Verdict;
use crate::records::{AddedDelay, ServerRow, Unchanged};

/// The load on servers, over all addresses that were contacted, including the addresses that never responded.
/// Computed from the times of the exchanges, not from the table of servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ledger {
    /// Requests per address.
    pub requests: Spread,
    /// Bytes per address, in both directions.
    pub bytes: Spread,
    /// Busy time per address, in milliseconds.
    pub busy_ms: Spread,
    /// The smallest gap between two exchanges at an address, over the addresses with at least two.
    pub smallest_gap_ms: Option<f64>,
    /// The highest number of exchanges at one address at the same time.
    pub most_parallel: u32,
    /// The highest number of exchanges at one address that began within 60 seconds.
    pub most_per_minute: u32,
    /// The addresses with the most busy time.
    pub most_burdened: Vec<ServerTotals>,
    /// The verdict on each promise.
    pub promises: Vec<Verdict>,
    /// The opt-outs, each with the number of requests sent despite it.
    pub opted_out: Vec<OptedOut>,
    /// The pages and files that were requested and exist.
    pub found: FoundFiles,
}

/// Pages and files that were requested and exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundFiles {
    /// All such pages and files.
    pub answers: u64,
    /// The pages and files that had not changed since an earlier survey.
    pub unchanged: Unchanged,
}

impl FoundFiles {
    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        if !exchange.is_page_request() || !exchange.is_success() {
            return;
        }
        self.answers += 1;
        if let Some(whole) = exchange.unchanged_bytes {
            self.unchanged.add(exchange.received_bytes, whole);
        }
    }
}

/// The load on one address.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ServerTotals {
    /// An IP address.
    pub address: String,
    /// The country of the server, if the database knows it.
    pub country: Option<String>,
    /// Its autonomous system, if the database knows it.
    pub network: Option<String>,
    /// The number of sites, from the table of servers; none for an address that never responded.
    pub sites: Option<u32>,
    /// The load, from the times of its exchanges.
    #[serde(flatten)]
    pub load: AddressLoad,
}

const NAMED: usize = 10;

/// Addresses, with what the table of servers records about them.
#[derive(Default)]
pub(in crate::analysis::overview) struct Addresses {
    pub names: Names,
    /// By address number, for the addresses in the table of servers.
    servers: Vec<ServerSums>,
    pub labels: Labels,
    /// How much longer other users of the servers waited. Known only in simulations.
    pub waits: AddedDelay,
}

#[derive(Clone, Copy)]
struct ServerSums {
    country: Option<u32>,
    network: Option<u32>,
    system: Option<u32>,
    sites: u32,
}

columns! {
    LedgerServerColumns {
        address: str, sites: u32, country: str, asn: u32, as_org: str, others_requests: u64,
        others_response_ms: f64, others_response_surveyed_ms: f64, others_worst_hour: f64,
    }
}

impl Addresses {
    pub(in crate::analysis::overview) fn add_servers(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let columns = LedgerServerColumns::from_frame(frame)?;
        for row in 0..frame.height() {
            let Some(address) = columns.address.get(row) else { continue };
            let network = columns.asn.get(row).map(|asn| group::network(asn, columns.as_org.get(row)));
            let number = self.names.number(address) as usize;
            let server = ServerSums {
                country: columns.country.get(row).map(|country| self.labels.number(country)),
                system: columns.asn.get(row),
                network: network.map(|network| self.labels.number(&network)),
                sites: columns.sites.get(row).unwrap_or_default(),
            };
            if let Some(response_alone) = columns.others_response_ms.get(row) {
                self.waits.add(&ServerRow {
                    address: address.to_owned(),
                    others_requests: columns.others_requests.get(row),
                    others_response_ms: Some(response_alone),
                    others_response_surveyed_ms: columns.others_response_surveyed_ms.get(row),
                    others_worst_hour: columns.others_worst_hour.get(row),
                    ..ServerRow::default()
                });
            }
            // An address has one row. No survey writes two; if there are two, the first counts.
            if number == self.servers.len() {
                self.servers.push(server);
            }
        }
        Ok(())
    }

    pub(in crate::analysis::overview) fn country(&self, address: Option<u32>) -> Option<u32> {
        self.servers.get(address? as usize)?.country
    }

    /// The autonomous system of each server.
    pub(in crate::analysis::overview) fn systems(&self) -> HashMap<IpAddr, u32> {
        let known = self.names.iter().zip(&self.servers);
        known.filter_map(|(name, server)| Some((name.parse().ok()?, server.system?))).collect()
    }

    fn totals(&self, number: u32, load: &AddressLoad) -> ServerTotals {
        let server = self.servers.get(number as usize);
        let label = |number: Option<u32>| number.map(|number| self.labels.name(number).to_owned());
        ServerTotals {
            address: self.names.name(number).to_owned(),
            country: label(server.and_then(|server| server.country)),
            network: label(server.and_then(|server| server.network)),
            sites: server.map(|server| server.sites),
            load: *load,
        }
    }
}

impl Ledger {
    /// Builds the ledger without the promises, which are judged later.
    pub(in crate::analysis::overview) fn from_timeline(
        timeline: &mut Timeline,
        addresses: &Addresses,
    ) -> Self {
        let all: Vec<(u32, AddressLoad)> = timeline
            .by_address()
            .map(|server_exchanges| {
                (server_exchanges[0].address, super::timeline::address_load(server_exchanges))
            })
            .collect();
        let each = |value: &dyn Fn(&AddressLoad) -> f64| {
            Spread::from_values(all.iter().map(|(_, load)| value(load)).collect())
        };
        let gaps = all.iter().filter_map(|(_, load)| load.smallest_gap_ms);
        Self {
            requests: each(&|load| load.requests as f64),
            bytes: each(&|load| load.bytes as f64),
            busy_ms: each(&|load| load.busy_ms),
            smallest_gap_ms: gaps.min_by(f64::total_cmp),
            most_parallel: all.iter().map(|(_, load)| load.most_parallel).max().unwrap_or_default(),
            most_per_minute: all.iter().map(|(_, load)| load.most_per_minute).max().unwrap_or_default(),
            most_burdened: most_burdened(&all, addresses),
            promises: Vec::new(),
            opted_out: Vec::new(),
            found: FoundFiles::default(),
        }
    }
}

fn most_burdened(all: &[(u32, AddressLoad)], addresses: &Addresses) -> Vec<ServerTotals> {
    let mut order: Vec<&(u32, AddressLoad)> = all.iter().collect();
    let name = |number: u32| addresses.names.name(number);
    order.sort_unstable_by(|a, b| {
        // A simulation without round-trip times has no busy time.
        let by_load = b.1.busy_ms.total_cmp(&a.1.busy_ms).then(b.1.requests.cmp(&a.1.requests));
        by_load.then_with(|| name(a.0).cmp(name(b.0)))
    });
    order.into_iter().take(NAMED).map(|(number, load)| addresses.totals(*number, load)).collect()
}
