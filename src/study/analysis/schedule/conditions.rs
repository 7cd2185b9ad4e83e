use std::time::Duration;

use super::exchanges::{MeasuredServer, ScheduledExchange};

/// The conditions under which a schedule is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Sites walked at the same time.
    pub sites: usize,
    /// The highest rate of an exchange, in bits per second. Exchanges that were slower keep their measured
    /// rate. None means as recorded.
    pub bits_per_second: Option<f64>,
    /// The round-trip time between the surveyor and a server; none means as recorded.
    pub rtt: Option<Duration>,
    /// The maximum duration of an exchange.
    pub longest_exchange: Duration,
    /// If a server's pause or cool-down lasts longer than this, and longer than the normal pause after its
    /// last exchange, the walk is put off and other trees are walked in the meantime.
    pub longest_wait: Duration,
    /// The maximum age of the walk of a site tree at the start of an exchange.
    pub longest_walk: Option<Duration>,
}

/// The durations of an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExchangeTimes {
    /// The whole exchange, to the last byte.
    pub total: Duration,
    /// From the request to the first byte of the response.
    pub first_byte: Option<Duration>,
    /// From the first byte of the response to the last.
    pub transfer: Duration,
}

impl Conditions {
    pub(super) fn times(
        &self,
        exchange: &ScheduledExchange,
        server: Option<&MeasuredServer>,
    ) -> ExchangeTimes {
        let measured = f64::from(exchange.first_byte);
        let first_byte = (measured >= 0.0).then_some(measured);
        let total = f64::from(exchange.total);
        let transfer = exchange.transfer();
        let (Some(server), true) = (server, self.rtt.is_some() || self.bits_per_second.is_some()) else {
            let (total, first_byte) = (seconds(total), first_byte.map(seconds));
            return ExchangeTimes { total, first_byte, transfer: seconds(transfer) };
        };
        let (handshake, first_byte, waited) = self.before_transfer(exchange, server, total, first_byte);
        let transfer = match self.bits_per_second {
            Some(rate) if first_byte.is_some() => transfer.max(f64::from(exchange.bytes) * 8.0 / rate),
            _ => transfer,
        };
        let total = handshake + first_byte.unwrap_or(waited) + transfer;
        let (total, transfer) = (seconds(total).min(self.longest_exchange), seconds(transfer));
        ExchangeTimes { total, first_byte: first_byte.map(seconds), transfer: transfer.min(total) }
    }

    /// The time of the handshakes, the time to the first byte, and the time waited if no byte came.
    fn before_transfer(
        &self,
        exchange: &ScheduledExchange,
        server: &MeasuredServer,
        total: f64,
        first_byte: Option<f64>,
    ) -> (f64, Option<f64>, f64) {
        let handshake = f64::from(exchange.handshake);
        let waited = (total - handshake).max(0.0);
        let (Some(rtt), Some(measured)) = (self.rtt, server.rtt()) else {
            return (handshake, first_byte, waited);
        };
        if exchange.timed_out() && first_byte.is_none() {
            return (handshake, None, waited);
        }
        let rtt = rtt.as_secs_f64();
        let moved = |time: f64| (time - measured).max(0.0) + rtt;
        let round_trips = if measured > 0.0 { handshake / measured } else { 0.0 };
        (round_trips * rtt, first_byte.map(moved), moved(waited))
    }
}

/// Converts seconds; invalid times in the tables count as zero.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default()
}
