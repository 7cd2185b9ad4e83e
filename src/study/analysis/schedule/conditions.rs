use std::time::Duration;

use super::exchanges::{MeasuredServer, ScheduledExchange};

/// The circumstances under which a schedule is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Sites walked at once.
    pub sites: usize,
    /// The most that an exchange gets of its server's link, in bits per second; what was measured to be slower
    /// stays so. None: as recorded.
    pub bits_per_second: Option<f64>,
    /// From the surveyor to a server and back; none: as recorded.
    pub rtt: Option<Duration>,
    /// No exchange lasts longer.
    pub longest_exchange: Duration,
    /// A walk whose server is to be left alone for longer, and not only to rest from what it was asked, is put off, and
    /// others are walked in the meantime.
    pub longest_wait: Duration,
    /// No walk of a site tree begins an exchange when it is older.
    pub longest_walk: Option<Duration>,
}

/// How long an exchange takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExchangeTimes {
    /// Until the last byte.
    pub total: Duration,
    /// From the request to the first byte of the answer.
    pub first_byte: Option<Duration>,
    /// From there to the last one.
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

    /// The handshakes, the time to the first byte, and what was waited for in vain where none came.
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

/// Times in the tables that are none count as nothing.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default()
}
