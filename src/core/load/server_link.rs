use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::exchange::{Purpose, Response, skips_body};

/// The link of a server, as far as it is known: the best recent rate of the server's responses.
///
/// The best rate, not the mean: slow start and chance can make a response slow, but nothing makes it faster
/// than the bandwidth that other users leave. Recent, because other users leave more at night than at noon.
/// The rate is that of this hour of the clock and the one before, or of the last hours in which a response
/// showed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerLink {
    /// Bytes per second.
    pub(super) best: Option<f64>,
    /// The rates behind `best`. Stored apart ([`ServerState`](super::ServerState)), because earlier versions
    /// did not have it.
    #[serde(skip)]
    pub(super) recent: Option<Recent>,
    /// The least time to a first byte, in seconds: an upper bound on the round trip.
    pub(super) round_trip: Option<f64>,
}

/// The best rates of the last hours in which a response showed one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Recent {
    hour: u64,
    best: f64,
    /// Best rate of the hour before.
    before: Option<f64>,
    /// The mean over the hours before this one: over all so far, or over about a day.
    usual: f64,
    hours: u32,
}

impl Recent {
    /// Adds a rate, of this hour or a later one.
    fn and(earlier: Option<Self>, hour: u64, rate: f64) -> Self {
        match earlier {
            None => Self { hour, best: rate, before: None, usual: rate, hours: 0 },
            Some(it) if hour <= it.hour => Self { best: it.best.max(rate), ..it },
            Some(it) => {
                let hours = (it.hours + 1).min(HOURS_PER_DAY);
                let usual = it.usual + (it.best - it.usual) / f64::from(hours);
                let before = (hour == it.hour + 1).then_some(it.best);
                Self { hour, best: rate, before, usual, hours }
            }
        }
    }

    fn rate(&self) -> f64 {
        self.before.map_or(self.best, |before| before.max(self.best))
    }

    /// The factor by which more of the link may be taken now than usual: when other users leave more of it,
    /// fewer of them are there to wait. It is the square of the bandwidth that they leave, relative to the
    /// usual. Then their mean added delay stays the same as at an even pace
    /// (`reports/low-load/harm-rule.md`).
    fn quiet(&self) -> f64 {
        let max_quiet = if self.hours < HALF_A_DAY { 1.0 } else { MOST_QUIET };
        if self.hours == 0 {
            1.0
        } else {
            (self.rate() / self.usual).powi(2).clamp(1.0 / MOST_QUIET, max_quiet)
        }
    }
}

/// An exchange as seen from the server's link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// The hour of the clock in which it ended, counted from any midnight.
    pub hour: u64,
    /// Wire bytes in both directions.
    pub bytes: u64,
    /// The bytes that arrived after the response head. The handshake, the request and the head give no rate,
    /// because the time that they took is not in the transfer time.
    pub after_head: u64,
    /// From the request to the first byte of the response.
    pub first_byte: Option<Duration>,
    /// From the first byte of the response to the last byte that was read.
    pub transfer: Duration,
    /// The reader hung up after the response head.
    pub is_unread: bool,
}

const SECONDS_PER_HOUR: u64 = 3600;
const HOURS_PER_DAY: u32 = 24;
/// Hours that must be known before any hour can count as quiet.
pub const HALF_A_DAY: u32 = 12;
/// In the quietest hours a survey takes up to this many times as much of a link as usual. With 2.5 a survey
/// of `africa-2006` takes three days more, and its worst hour is the same (`reports/low-load/harm`).
pub const MOST_QUIET: f64 = 3.0;

/// Below four Ethernet segments (1,460 bytes of TCP each) the transfer time of a body is noise.
pub const LEAST_BYTES: f64 = 4.0 * SEGMENT;
/// The first segment carries the head and the start of the body. It has passed when the first byte is noted.
const SEGMENT: f64 = 1460.0;
/// The bytes that a server sends before it notices that the reader stopped: the first window of ten segments
/// (RFC 6928), and the second of twice as many, which the acknowledgements of the first release. The kernel
/// may also deliver as many at once, with the head, if the first segment was lost and had to be sent again.
pub const IN_FLIGHT: f64 = 30.0 * SEGMENT;
/// In seconds. A shorter transfer time says nothing about the link, but comes from our own machine, which was
/// busy or woke up late: links below 6 Mbit/s need longer for the first window.
pub const SHORTEST: f64 = 0.02;

impl Flow {
    /// Measures the link from a response.
    #[must_use]
    pub fn from_response(purpose: Purpose, response: &Response) -> Self {
        let content_type = response.head.content_type.as_deref();
        let ended = response.ended().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            hour: Self::hour_at(ended),
            bytes: response.wire.sent + response.wire.received,
            after_head: after_head(response),
            first_byte: response.timings.first_byte,
            transfer: response.timings.transfer(),
            is_unread: response.status.is_some_and(|status| skips_body(purpose, status, content_type)),
        }
    }

    /// The hour of a time that is counted from any midnight.
    #[must_use]
    pub fn hour_at(time: Duration) -> u64 {
        time.as_secs() / SECONDS_PER_HOUR
    }

    /// The rate of the link in bytes per second, if the exchange shows one.
    ///
    /// A transfer that took no measurable time gives a lower bound, and only if it moved more bytes than can
    /// have been waiting at once.
    fn rate(&self) -> Option<f64> {
        let (bytes, seconds) = (self.after_head as f64, self.transfer.as_secs_f64());
        if self.is_instant() {
            Some((bytes - IN_FLIGHT) / SHORTEST)
        } else {
            (seconds >= SHORTEST && bytes >= LEAST_BYTES).then(|| (bytes - SEGMENT) / seconds)
        }
    }

    /// Whether enough bytes arrived in a short enough time that the link must be fast: twice the bytes that
    /// can have been waiting at once.
    fn is_instant(&self) -> bool {
        self.transfer.as_secs_f64() < SHORTEST && self.after_head as f64 >= 2.0 * IN_FLIGHT
    }
}

/// The least number of bytes after the head, for a response that was read back from a record.
fn after_head(response: &Response) -> u64 {
    let is_plain = response.head.content_encoding.is_none();
    if is_plain { response.after_head.max(response.body_bytes) } else { response.after_head }
}

impl ServerLink {
    /// The best recent rate; none if no response was large enough to measure, or if all arrived at once.
    #[must_use]
    pub fn bits_per_second(&self) -> Option<f64> {
        self.best.map(|rate| rate * 8.0)
    }

    /// Takes in an exchange and returns how long it kept the link busy. In hours in which other users leave
    /// more of the link than usual it returns a part of that time, in other hours a multiple.
    ///
    /// Before any rate is known, that is the whole transfer time of the response. It is at most the transfer
    /// time when many bytes arrived in no measurable time. The unread part of a response took the link for a
    /// round trip at most: then the server learns that the reader hung up.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ccsurvey_core::load::{Flow, ServerLink};
    /// let mut link = ServerLink::default();
    /// // 64 kB/s are 512 kbit/s.
    /// let transfer = Duration::from_secs(1);
    /// let quick = Flow { bytes: 65_960, after_head: 65_460, transfer, ..Flow::default() };
    /// assert_eq!(link.take(&quick).as_millis(), 1030);
    /// // The same page arrives slowly, because others use the link now: its share is the same.
    /// let slow = Flow { transfer: Duration::from_secs(9), ..quick };
    /// assert_eq!(link.take(&slow).as_millis(), 1030);
    /// // When they use it for hours, less is left: the page takes nine times as long, and delays more users.
    /// assert_eq!(link.take(&Flow { hour: 2, ..slow }).as_secs(), 9 * 3);
    /// ```
    pub fn take(&mut self, flow: &Flow) -> Duration {
        if let Some(rate) = flow.rate() {
            let recent = Recent::and(self.recent, flow.hour, rate);
            (self.best, self.recent) = (Some(recent.rate()), Some(recent));
        }
        if let Some(time) = flow.first_byte {
            let time = time.as_secs_f64();
            self.round_trip = Some(self.round_trip.map_or(time, |least| least.min(time)));
        }
        self.link_time(flow)
    }

    /// How long an exchange kept the link busy, after [`Self::take`] has taken it in.
    pub(super) fn link_time(&self, flow: &Flow) -> Duration {
        let unread_time = if flow.is_unread { self.unread_seconds() } else { 0.0 };
        let transfer = flow.transfer.as_secs_f64();
        let at_best = self.best.map_or(transfer, |best| flow.bytes as f64 / best);
        let quiet = self.recent.as_ref().map_or(1.0, Recent::quiet);
        let seconds = (if flow.is_instant() { at_best.min(transfer) } else { at_best } + unread_time) / quiet;
        Duration::from_micros((seconds * 1e6).round() as u64)
    }

    fn unread_seconds(&self) -> f64 {
        let at_best = self.best.map_or(f64::INFINITY, |best| IN_FLIGHT / best);
        at_best.min(self.round_trip.unwrap_or_default())
    }
}
