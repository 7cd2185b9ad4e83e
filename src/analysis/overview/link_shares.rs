use std::collections::HashMap;

use super::exchange::{Exchange, microseconds};
use super::schedule::Turn;

/// The best rate at which answers of each server ever came: no answer comes faster than the link of its server.
#[derive(Default)]
pub(super) struct LinkShares {
    rates: HashMap<u32, Rate>,
}

struct Rate {
    /// Bytes per second.
    best: f64,
    /// When the first exchange was over that told any, in microseconds: the survey could not know before.
    known: i64,
}

/// The server of whose link most was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Taken {
    /// Servers whose rate is known and that were asked again after that.
    pub servers: u64,
    /// As a share of the link, and of whose.
    pub most: f64,
    pub address: u32,
}

/// What an answer must have at least to tell a rate, and what of it was there with its first byte: segments of
/// Ethernet carry 1,460 bytes of TCP.
const LEAST_BYTES: f64 = 4.0 * SEGMENT;
const SEGMENT: f64 = 1460.0;

impl LinkShares {
    pub(super) fn add(&mut self, exchange: &Exchange<'_>) {
        let (Some(address), Some(total), Some(first_byte)) =
            (exchange.address, exchange.total_ms, exchange.first_byte_ms)
        else {
            return;
        };
        let bytes = exchange.bytes() as f64;
        if bytes < LEAST_BYTES {
            return;
        }
        let before =
            exchange.connect_ms.unwrap_or_default() + exchange.tls_ms.unwrap_or_default() + first_byte;
        let seconds = (total - before).max(0.0) / 1000.0;
        let (rate, known) =
            ((bytes - SEGMENT) / seconds, exchange.started.saturating_add(microseconds(total)));
        let of_server = self.rates.entry(address).or_insert(Rate { best: rate, known });
        of_server.best = of_server.best.max(rate);
        of_server.known = of_server.known.min(known);
    }

    /// What was taken of the links, by the exchanges of each address in order of time.
    ///
    /// The last exchange of a server is left out, as is its pause, which nobody sees the end of. An exchange takes no
    /// more of the link than `longest_ms`: so long that the longest pause is just long enough for it.
    pub(super) fn judge<'t>(
        &self,
        by_address: impl Iterator<Item = &'t [Turn]>,
        longest_ms: f64,
    ) -> Option<Taken> {
        let mut taken: Option<Taken> = None;
        for turns in by_address {
            let Some(rate) = turns.first().and_then(|turn| self.rates.get(&turn.address)) else { continue };
            let from = turns.partition_point(|turn| turn.ended() < rate.known);
            let [counted @ .., last] = &turns[from..] else { continue };
            let Some(first) = counted.first() else { continue };
            let link_ms = |turn: &Turn| (turn.bytes() as f64 / rate.best * 1000.0).min(longest_ms);
            let passed_ms = (last.started - first.started) as f64 / 1000.0;
            if passed_ms <= 0.0 {
                continue;
            }
            let share = counted.iter().map(link_ms).sum::<f64>() / passed_ms;
            let so_far = taken.get_or_insert_default();
            so_far.servers += 1;
            if share > so_far.most {
                (so_far.most, so_far.address) = (share, last.address);
            }
        }
        taken
    }
}
