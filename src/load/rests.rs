use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Count, Flow, Pace, ServerState, delay_after};
use crate::exchange::{Answer, Purpose};

/// What each server was owed after the exchange that was seen last, by the answers alone: whoever gave permits may have
/// heard otherwise.
#[derive(Debug, Default)]
pub(super) struct Rests(HashMap<IpAddr, Owed>);

/// Exchanges that began before a server had had its rest, by what it was owed for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShortRests {
    /// A multiple of the last exchange's duration.
    pub slow: Count,
    /// The time in which no more than its share of the server's link is taken.
    pub link: Count,
    /// The longer pauses of a server that is in trouble.
    pub trouble: Count,
    /// What the server asked for in an answer (Retry-After) …
    pub retry_after: Count,
    /// … and in its robots.txt.
    pub crawl_delay: Count,
}

impl ShortRests {
    /// The more of each that either saw.
    pub(super) fn or_more(self, other: &Self) -> Self {
        Self {
            slow: self.slow.or_more(&other.slow),
            link: self.link.or_more(&other.link),
            trouble: self.trouble.or_more(&other.trouble),
            retry_after: self.retry_after.or_more(&other.retry_after),
            crawl_delay: self.crawl_delay.or_more(&other.crawl_delay),
        }
    }
}

/// When a server may be asked again, for each of these reasons.
#[derive(Clone, Copy, Debug)]
struct Owed {
    ended: SystemTime,
    slow: SystemTime,
    link: SystemTime,
    trouble: SystemTime,
    retry_after: Option<SystemTime>,
}

impl Rests {
    /// An exchange was seen to begin; `crawl_delay` is what the robots.txt of its host asks for.
    pub(super) fn compare(
        &self,
        address: IpAddr,
        answer: &Answer,
        crawl_delay: Option<Duration>,
        short: &mut ShortRests,
    ) {
        let Some(owed) = self.0.get(&address) else { return };
        let started = answer.started;
        let Ok(after) = started.duration_since(owed.ended) else {
            // Two at once are judged as such.
            return;
        };
        let judge = |count: &mut Count, until: Option<SystemTime>| {
            if let Some(wanted) = until.filter(|until| started < *until) {
                let wanted = wanted.duration_since(owed.ended).unwrap_or_default();
                count.add(|| format!("{address} after {after:.3?} in place of {wanted:.3?}"));
            }
        };
        judge(&mut short.slow, Some(owed.slow));
        judge(&mut short.link, Some(owed.link));
        judge(&mut short.trouble, Some(owed.trouble));
        judge(&mut short.retry_after, owed.retry_after);
        judge(&mut short.crawl_delay, crawl_delay.and_then(|delay| owed.ended.checked_add(delay)));
    }

    /// It ended, and left the server in this state.
    pub(super) fn owe(
        &mut self,
        address: IpAddr,
        pace: &Pace,
        purpose: Purpose,
        answer: &Answer,
        state: &ServerState,
    ) {
        let (ended, took) = (answer.ended(), answer.timings.total);
        let link = state.link().time_of(&Flow::of(purpose, answer));
        let bare = Pace { min_delay: Duration::ZERO, ..pace.clone() };
        let slow = delay_after(&bare, took, Duration::ZERO, 0, None);
        let share = delay_after(&bare, Duration::ZERO, link, 0, None);
        let usual = delay_after(pace, took, link, 0, None);
        // The least of what chance may add to it.
        let trouble = Some(state.health().pause_after(pace, took, link, 0.0)).filter(|pause| *pause > usual);
        let asked = answer.head.retry_after.filter(|_| answer.asks_for_pause());
        let asked = asked.and_then(|pause| ended.checked_add(pause));
        let before = self.0.get(&address).and_then(|owed| owed.retry_after);
        let owed = Owed {
            ended,
            slow: ended + slow,
            link: ended + share,
            trouble: ended + trouble.unwrap_or_default(),
            retry_after: asked.max(before),
        };
        self.0.insert(address, owed);
    }

    /// Forgets the servers that were owed nothing any more at this time.
    pub(super) fn forget_before(&mut self, time: SystemTime) {
        self.0.retain(|_, owed| {
            let last = owed.slow.max(owed.link).max(owed.trouble).max(owed.ended + LONGEST_CRAWL_DELAY);
            owed.retry_after.map_or(last, |asked| asked.max(last)) > time
        });
    }
}

/// A Crawl-delay above this ends a site, so none that is longer has to be remembered.
const LONGEST_CRAWL_DELAY: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::exchange::Failure;

    #[test]
    fn what_a_server_is_owed_is_remembered_until_nothing_can_be_asked_too_soon() {
        let at = |seconds: f64| UNIX_EPOCH + Duration::from_secs_f64(1_000_000.0 + seconds);
        // An exchange of a second; the longest Crawl-delay is five minutes.
        for (retry_after, until) in [(None, 301.0), (Some(10), 301.0), (Some(400), 401.0)] {
            let mut answer = Answer::not_asked(at(0.0), None, Failure::Reset, None);
            (answer.failure, answer.status) = (None, Some(503));
            answer.timings.total = Duration::from_secs(1);
            answer.head.retry_after = retry_after.map(Duration::from_secs);
            let (mut rests, server) = (Rests::default(), [41, 90, 0, 1].into());
            rests.owe(server, &Pace::default(), Purpose::Page, &answer, &ServerState::default());
            rests.forget_before(at(until - 0.001));
            assert!(rests.0.contains_key(&server), "{retry_after:?}");
            rests.forget_before(at(until));
            assert!(rests.0.is_empty(), "{retry_after:?}");
        }
    }
}
