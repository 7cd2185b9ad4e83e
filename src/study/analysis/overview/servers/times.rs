use serde::Serialize;

use super::histogram::{Histogram, Percentiles};
use super::infrastructure::UNKNOWN;
use crate::analysis::Labels;
use crate::analysis::overview::exchange::ExchangeView;

/// The response times of servers: percentiles in milliseconds, exact to 1 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// DNS lookups of hosts that were not cached.
    pub dns: Percentiles,
    /// All exchanges that reached a server.
    pub all: Phases,
    /// By the country of the server, the country with the most exchanges first; one entry for the unknown.
    pub by_country: Vec<CountryTimes>,
}

/// The phases of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Phases {
    /// Opening a connection, of exchanges that opened one.
    pub connect: Percentiles,
    /// The TLS handshake, of exchanges that made one.
    pub tls: Percentiles,
    /// From the request to the first byte of the response.
    pub first_byte: Percentiles,
    /// Busy time of the server, of exchanges with a complete response.
    pub whole: Percentiles,
    /// Busy time of the server, of all exchanges.
    pub total: Percentiles,
}

/// The response times of the servers of one country.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CountryTimes {
    /// The ISO 3166-1 code, or [`UNKNOWN`].
    pub country: String,
    /// The phases, in milliseconds.
    pub phases: Phases,
}

#[derive(Default)]
pub(in crate::analysis::overview) struct TimesMaker {
    dns: Histogram,
    all: PhaseTimes,
    countries: Vec<PhaseTimes>,
}

#[derive(Clone, Default)]
struct PhaseTimes {
    connect: Histogram,
    tls: Histogram,
    first_byte: Histogram,
    whole: Histogram,
    total: Histogram,
}

impl TimesMaker {
    /// Adds an exchange. `country` is the label of the server's country.
    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>, country: Option<u32>) {
        if let Some(ms) = exchange.dns_ms {
            self.dns.add(ms);
        }
        if !exchange.reached_server() {
            return;
        }
        self.all.add(exchange);
        let country = country.map_or(0, |country| country as usize + 1);
        if self.countries.len() <= country {
            self.countries.resize(country + 1, PhaseTimes::default());
        }
        self.countries[country].add(exchange);
    }

    pub(in crate::analysis::overview) fn finish(self, labels: &Labels) -> Times {
        let named = (0u32..).zip(&self.countries).map(|(place, times)| CountryTimes {
            country: place.checked_sub(1).map_or(UNKNOWN, |label| labels.name(label)).to_owned(),
            phases: times.finish(),
        });
        let mut by_country: Vec<CountryTimes> =
            named.filter(|country| country.phases.total.count > 0).collect();
        by_country.sort_by(|a, b| {
            let is_unknown = |times: &CountryTimes| times.country == UNKNOWN;
            (is_unknown(a).cmp(&is_unknown(b)))
                .then(b.phases.total.count.cmp(&a.phases.total.count))
                .then_with(|| a.country.cmp(&b.country))
        });
        Times { dns: self.dns.finish(), all: self.all.finish(), by_country }
    }
}

impl PhaseTimes {
    fn add(&mut self, exchange: &ExchangeView<'_>) {
        for (histogram, ms) in [
            (&mut self.connect, exchange.connect_ms),
            (&mut self.tls, exchange.tls_ms),
            (&mut self.first_byte, exchange.first_byte_ms),
            (&mut self.whole, exchange.total_ms.filter(|_| exchange.failure.is_none())),
            (&mut self.total, exchange.total_ms),
        ] {
            if let Some(ms) = ms {
                histogram.add(ms);
            }
        }
    }

    fn finish(&self) -> Phases {
        Phases {
            connect: self.connect.finish(),
            tls: self.tls.finish(),
            first_byte: self.first_byte.finish(),
            whole: self.whole.finish(),
            total: self.total.finish(),
        }
    }
}
