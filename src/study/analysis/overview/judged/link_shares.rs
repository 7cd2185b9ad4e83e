use foldhash::HashMap;

use super::timeline::ServerExchange;
use crate::analysis::overview::exchange::ExchangeView;
use crate::load::{HALF_A_DAY, MOST_QUIET};

/// The best rate at which each server ever delivered a response: no response arrives faster than its server's
/// link.
///
/// The survey measures the rate from the bytes after the head of a response, which the tables do not record.
/// Here all bytes of an exchange count, so the rates are never below the rates that the survey saw, and no
/// promise is reported as broken by mistake. An exchange without a measurable rate
/// ([`ExchangeView::measures_link_rate`]) counts as nothing: until the survey knows a rate, it uses the time
/// of the transfer.
#[derive(Default)]
pub(in crate::analysis::overview) struct LinkShares {
    /// Bytes per second, by address.
    best: HashMap<u32, f64>,
}

/// The server whose link was used most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::analysis::overview) struct LargestLinkShare {
    /// Servers with a known rate that received a further request after the exchange that showed it.
    pub servers: u64,
    /// The share of the link that was used.
    pub largest_share: f64,
    pub address: u32,
    /// The share that corresponds to this at an even pace, at the least: in quiet hours the survey may use
    /// more of a link, and the tables do not record which hours were quiet.
    pub share_at_even_pace: f64,
}

/// Within a shorter time no hour can count as quiet. The first and the last hour need not be complete.
const NO_QUIET_MS: f64 = (HALF_A_DAY - 1) as f64 * 3_600_000.0;
/// Tables record times to the microsecond.
const ROUNDING_MS: f64 = 0.001;

impl LinkShares {
    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        let (Some(address), Some(ms)) = (exchange.address_number, exchange.transfer_ms()) else { return };
        if exchange.measures_link_rate() {
            let rate = exchange.bytes() as f64 / ms.max(ROUNDING_MS) * 1000.0;
            let best = self.best.entry(address).or_insert(rate);
            *best = best.max(rate);
        }
    }

    /// Computes the share of the links that was used. `by_address` holds the exchanges of each address in
    /// order of time.
    ///
    /// The last exchange of a server is left out, and its pause too, because the tables do not show where the
    /// pause ends. An exchange uses the link for at most `longest_ms`: the time for which the longest pause
    /// is just long enough.
    pub(in crate::analysis::overview) fn judge<'t>(
        &self,
        by_address: impl Iterator<Item = &'t [ServerExchange]>,
        longest_ms: f64,
    ) -> Option<LargestLinkShare> {
        let mut largest: Option<LargestLinkShare> = None;
        for server_exchanges in by_address {
            let Some(best) =
                server_exchanges.first().and_then(|server_exchange| self.best.get(&server_exchange.address))
            else {
                continue;
            };
            let from = server_exchanges
                .iter()
                .position(|server_exchange| server_exchange.measures_link_rate)
                .unwrap_or(server_exchanges.len());
            let [counted @ .., last] = &server_exchanges[from..] else { continue };
            let Some(first) = counted.first() else { continue };
            let link_ms = |server_exchange: &ServerExchange| {
                (server_exchange.bytes() as f64 / best * 1000.0).min(longest_ms)
            };
            let passed_ms = (last.started - first.started) as f64 / 1000.0;
            if passed_ms <= 0.0 {
                continue;
            }
            let measured = counted.iter().filter(|server_exchange| server_exchange.measures_link_rate);
            let share = measured.map(link_ms).sum::<f64>() / passed_ms;
            let result = largest.get_or_insert_default();
            result.servers += 1;
            let quiet = if passed_ms < NO_QUIET_MS { 1.0 } else { MOST_QUIET };
            if share / quiet > result.share_at_even_pace {
                (result.largest_share, result.address, result.share_at_even_pace) =
                    (share, last.address, share / quiet);
            }
        }
        largest
    }
}
