use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use super::recorded::RecordedExchange;
use crate::web::Server;

/// The bandwidth of a link without samples: as fast as those of other worlds.
const UNKNOWN_BITS_PER_SECOND: f64 = 1e9;
/// A body that fits into two Ethernet packets (1460 bytes each) tells nothing about the speed of the link.
const TWO_PACKETS: u64 = 2920;
/// The same holds for a transfer within the accuracy of a timer.
const SHORTEST_TRANSFER: Duration = Duration::from_millis(1);

/// The samples of the exchanges at each address: 8 bytes per exchange.
#[derive(Default)]
pub(super) struct RecordedServers {
    numbers: HashMap<IpAddr, u32>,
    server_samples: Vec<ServerSamples>,
}

struct ServerSamples {
    address: IpAddr,
    software: &'static str,
    round_trips_us: Vec<u32>,
    bits_per_second: Vec<f32>,
}

impl RecordedServers {
    /// The number of an address, assigned at first use.
    pub(crate) fn number_of(&mut self, address: IpAddr) -> u32 {
        let next = u32::try_from(self.server_samples.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(address).or_insert_with(|| {
            let (round_trips_us, bits_per_second) = (Vec::new(), Vec::new());
            self.server_samples.push(ServerSamples {
                address,
                software: "",
                round_trips_us,
                bits_per_second,
            });
            next
        })
    }

    /// Adds the samples of an exchange; the first software name of a server is kept.
    pub(crate) fn add_samples(
        &mut self,
        number: u32,
        exchange: &RecordedExchange<'_>,
        software: &'static str,
    ) {
        let server_samples = &mut self.server_samples[number as usize];
        if server_samples.software.is_empty() {
            server_samples.software = software;
        }
        server_samples.round_trips_us.extend(round_trip(exchange).map(microseconds));
        server_samples.bits_per_second.extend(bits_per_second(exchange));
    }

    /// The servers by number, with the medians of their samples.
    pub(crate) fn finish(self) -> Vec<Server> {
        let server = |server_samples: ServerSamples| Server {
            software: server_samples.software,
            round_trip: Duration::from_micros(
                median(server_samples.round_trips_us, Ord::cmp).unwrap_or(0).into(),
            ),
            bits_per_second: median(server_samples.bits_per_second, f32::total_cmp)
                .map_or(UNKNOWN_BITS_PER_SECOND, f64::from),
            ..Server::alone_at(server_samples.address)
        };
        self.server_samples.into_iter().map(server).collect()
    }
}

/// The time to connect is one round trip; with TLS, it is used only if recorded apart from the handshake.
fn round_trip(exchange: &RecordedExchange<'_>) -> Option<Duration> {
    let is_connect_separate = !exchange.is_encrypted || exchange.tls.is_some();
    exchange.connect.filter(|_| is_connect_separate)
}

/// The number of bytes divided by the time from the first to the last of them.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "an estimate")]
fn bits_per_second(exchange: &RecordedExchange<'_>) -> Option<f32> {
    let before = [exchange.connect, exchange.tls, exchange.first_byte].into_iter().flatten().sum();
    let transfer = exchange.total?.checked_sub(before)?;
    let is_significant = exchange.received_bytes > TWO_PACKETS && transfer >= SHORTEST_TRANSFER;
    is_significant.then(|| (exchange.received_bytes as f64 * 8.0 / transfer.as_secs_f64()) as f32)
}

/// Saturates above an hour, which no response takes.
pub(super) fn microseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}

fn median<T: Copy>(mut samples: Vec<T>, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> Option<T> {
    samples.sort_unstable_by(order);
    samples.get(samples.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_the_median_of_what_its_exchanges_took() {
        let mut servers = RecordedServers::default();
        let number = servers.number_of("41.0.0.1".parse().unwrap());
        for (connect, transfer) in [(30, 80), (200, 160), (40, 40)] {
            let exchange = RecordedExchange {
                received_bytes: 10_000,
                connect: Some(Duration::from_millis(connect)),
                first_byte: Some(Duration::from_millis(50)),
                total: Some(Duration::from_millis(connect + 50 + transfer)),
                ..RecordedExchange::default()
            };
            servers.add_samples(number, &exchange, "nginx");
        }
        assert_eq!(servers.number_of("41.0.0.1".parse().unwrap()), number);
        let server = servers.finish()[0];
        assert_eq!((server.round_trip, server.software), (Duration::from_millis(40), "nginx"));
        assert!((server.bits_per_second - 1e6).abs() < 1.0, "{}", server.bits_per_second);
    }

    #[test]
    fn small_answers_and_handshakes_that_are_not_told_apart_say_nothing() {
        let mut servers = RecordedServers::default();
        let number = servers.number_of("41.0.0.1".parse().unwrap());
        let exchange = RecordedExchange {
            is_encrypted: true,
            received_bytes: 1000,
            connect: Some(Duration::from_millis(90)),
            total: Some(Duration::from_millis(190)),
            ..RecordedExchange::default()
        };
        servers.add_samples(number, &exchange, "");
        let server = servers.finish()[0];
        assert_eq!(server.round_trip, Duration::ZERO);
        assert!((server.bits_per_second - UNKNOWN_BITS_PER_SECOND).abs() < 1.0);
    }
}
