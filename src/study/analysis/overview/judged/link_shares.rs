use foldhash::HashMap;

use super::timeline::ServerExchange;
use crate::analysis::overview::exchange::ExchangeView;
use crate::load::{HALF_A_DAY, MOST_QUIET};

/// The best rate at which answers of each server ever came: no answer comes faster than the link of its server.
///
/// The survey knows what came after the head of an answer, and goes by that; tables do not tell. Here all bytes of an
/// exchange count, so that rates are never below those that the survey saw, and nobody is accused wrongly; what tells
/// no rate ([`ExchangeView::tells_rate`]) counts as nothing, for before it knows a rate the survey goes by the time of the transfer.
#[derive(Default)]
pub(in crate::analysis::overview) struct LinkShares {
    /// Bytes per second.
    best: HashMap<u32, f64>,
}

/// The server of whose link most was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::analysis::overview) struct LargestLinkShare {
    /// Servers whose rate is known and that were asked again after an exchange that told one.
    pub servers: u64,
    /// As a share of the link, and of whose.
    pub most: f64,
    pub address: u32,
    /// What was taken at the least, had no hour been quiet: then more is taken, and tables do not tell when.
    pub at_an_even_pace: f64,
}

/// In less time no hour can have passed for quiet: the first and the last need not be whole.
const NO_QUIET_MS: f64 = (HALF_A_DAY - 1) as f64 * 3_600_000.0;
/// Tables tell times to the microsecond.
const ROUNDING_MS: f64 = 0.001;

impl LinkShares {
    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        let (Some(address), Some(ms)) = (exchange.address, exchange.transfer_ms()) else { return };
        if exchange.tells_rate() {
            let rate = exchange.bytes() as f64 / ms.max(ROUNDING_MS) * 1000.0;
            let best = self.best.entry(address).or_insert(rate);
            *best = best.max(rate);
        }
    }

    /// What was taken of the links, by the exchanges of each address in order of time.
    ///
    /// The last exchange of a server is left out, as is its pause, which nobody sees the end of. An exchange takes no
    /// more of the link than `longest_ms`: so long that the longest pause is just long enough for it.
    pub(in crate::analysis::overview) fn judge<'t>(
        &self,
        by_address: impl Iterator<Item = &'t [ServerExchange]>,
        longest_ms: f64,
    ) -> Option<LargestLinkShare> {
        let mut taken: Option<LargestLinkShare> = None;
        for turns in by_address {
            let Some(best) = turns.first().and_then(|turn| self.best.get(&turn.address)) else { continue };
            let from = turns.iter().position(|turn| turn.tells_rate).unwrap_or(turns.len());
            let [counted @ .., last] = &turns[from..] else { continue };
            let Some(first) = counted.first() else { continue };
            let link_ms = |turn: &ServerExchange| (turn.bytes() as f64 / best * 1000.0).min(longest_ms);
            let passed_ms = (last.started - first.started) as f64 / 1000.0;
            if passed_ms <= 0.0 {
                continue;
            }
            let telling = counted.iter().filter(|turn| turn.tells_rate);
            let share = telling.map(link_ms).sum::<f64>() / passed_ms;
            let so_far = taken.get_or_insert_default();
            so_far.servers += 1;
            let quiet = if passed_ms < NO_QUIET_MS { 1.0 } else { MOST_QUIET };
            if share / quiet > so_far.at_an_even_pace {
                (so_far.most, so_far.address, so_far.at_an_even_pace) = (share, last.address, share / quiet);
            }
        }
        taken
    }
}
