use std::time::{Duration, UNIX_EPOCH};

use crate::exchange::Response;

/// How long exchanges kept a server's link busy, at the least: by the best recent rate of bodies.
///
/// The promise on harm, judged from the responses alone (`reports/low-load/harm-rule.md`). Where responses
/// are ambiguous, the result favours the survey: the effect of a quiet hour counts at its upper bound, and
/// the unread part of a response does not count.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::promises) struct LinkUse {
    /// The best rate of earlier times, if nothing else is known of them, in bytes per second.
    before: Option<f64>,
    hours: Option<Hours>,
}

/// Rates in bytes per second, by the hour of the clock in which an exchange ended.
#[derive(Clone, Copy, Debug)]
struct Hours {
    hour: u64,
    best: f64,
    /// Best rate of the hour before, if a response showed one then.
    best_before: Option<f64>,
    /// The lowest of the best rates of earlier hours.
    least: f64,
    /// Number of hours before this one.
    earlier: u32,
}

const HOUR: u64 = 3600;
/// A TCP segment over Ethernet. The first segment carries the head and the start of the body. It has arrived
/// when the first byte is noted.
const SEGMENT: f64 = 1460.0;
/// The least number of segments after the head that show a rate.
const ENOUGH: f64 = 4.0;
/// Two windows, which may have arrived at once.
const AT_ONCE: f64 = 30.0;
/// In seconds. A shorter transfer shows a rate only if it moved twice the bytes that can arrive at once.
const SHORTEST: f64 = 0.02;
/// Hours that must be known before any hour can count as quiet.
const HALF_A_DAY: u32 = 12;
/// In a quiet hour up to this many times as much of the link may be taken.
const MOST_QUIET: f64 = 3.0;

impl LinkUse {
    /// A link whose responses had this rate, in bytes per second, before any observation.
    pub(in crate::promises) fn with_rate(rate: Option<f64>) -> Self {
        Self { before: rate, hours: None }
    }

    /// How long an exchange kept the link busy, at the least.
    pub(in crate::promises) fn take(&mut self, response: &Response) -> Duration {
        let (moved, transfer) =
            (response.wire.sent + response.wire.received, response.timings.transfer().as_secs_f64());
        let after_head = after_head(response) as f64;
        let is_instant = transfer < SHORTEST && after_head >= 2.0 * AT_ONCE * SEGMENT;
        let hour = response.ended().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / HOUR;
        if is_instant {
            self.note_rate(hour, (after_head - AT_ONCE * SEGMENT) / SHORTEST);
        } else if transfer >= SHORTEST && after_head >= ENOUGH * SEGMENT {
            self.note_rate(hour, (after_head - SEGMENT) / transfer);
        }
        let at_best = self.rate().map_or(transfer, |rate| moved as f64 / rate);
        let seconds = if is_instant { at_best.min(transfer) } else { at_best };
        whole_microseconds(seconds / self.max_quiet())
    }

    fn note_rate(&mut self, hour: u64, rate: f64) {
        self.hours = Some(match self.hours {
            None => {
                let best = self.before.map_or(rate, |before| before.max(rate));
                Hours { hour, best, best_before: None, least: best, earlier: 0 }
            }
            Some(it) if hour <= it.hour => Hours { best: it.best.max(rate), ..it },
            Some(it) => Hours {
                hour,
                best: rate,
                best_before: (hour == it.hour + 1).then_some(it.best),
                least: if it.earlier == 0 { it.best } else { it.least.min(it.best) },
                earlier: it.earlier.saturating_add(1),
            },
        });
    }

    fn rate(&self) -> Option<f64> {
        let recent_rate =
            self.hours.map(|hours| hours.best_before.map_or(hours.best, |before| before.max(hours.best)));
        recent_rate.or(self.before)
    }

    /// The factor by which more of the link than usual may be taken in this hour, at the most.
    fn max_quiet(&self) -> f64 {
        match (self.before, self.hours) {
            // The link may have been observed for days.
            (Some(_), _) => MOST_QUIET,
            (None, Some(hours)) if hours.earlier >= HALF_A_DAY => {
                let rate = self.rate().unwrap_or(hours.best);
                (rate / hours.least).powi(2).clamp(1.0, MOST_QUIET)
            }
            (None, _) => 1.0,
        }
    }
}

/// Bytes that arrived after the head. If a record does not have their number: the size of the body, if it was
/// not encoded.
fn after_head(response: &Response) -> u64 {
    match response.head.content_encoding {
        None => response.after_head.max(response.body_bytes),
        Some(_) => response.after_head,
    }
}

/// The pause after a link was busy for this time, so that at most this share of it is taken.
pub(in crate::promises) fn link_pause(link: Duration, harm: Option<f64>, longest: Duration) -> Duration {
    let Some(share) = harm else { return Duration::ZERO };
    let seconds = (link.as_secs_f64() / share).min(longest.as_secs_f64());
    whole_microseconds(seconds)
}

/// Rounds down to the precision of tables.
pub(in crate::promises) fn whole_microseconds(seconds: f64) -> Duration {
    Duration::from_micros((seconds * 1e6).floor() as u64)
}
