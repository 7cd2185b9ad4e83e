use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::exchange::{Purpose, Response, hangs_up};

/// What is known of the link that a server hangs on: the best rate at which its answers came of late.
///
/// The best, not the mean: slow start and the moment make an answer slow, but nothing makes it faster than what the other
/// users leave of the link. Of late, for they leave more at night than at noon: the rate is that of this hour of the
/// clock and the one before, or of the last hours in which an answer told one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerLink {
    /// Bytes per second.
    pub(super) best: Option<f64>,
    /// How that comes about. Stored apart ([`ServerState`](super::ServerState)), for earlier versions did not have it.
    #[serde(skip)]
    pub(super) recent: Option<Recent>,
    /// The least time to a first byte, in seconds: no round trip is longer.
    pub(super) round_trip: Option<f64>,
}

/// The best rates of the last hours in which an answer told one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Recent {
    hour: u64,
    best: f64,
    /// Of the hour before.
    before: Option<f64>,
    /// The mean over the hours before this one: of all so far, or of about a day of them.
    usual: f64,
    hours: u32,
}

impl Recent {
    /// One more rate, of this hour or a later one.
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

    /// How much more of the link may be taken now than usually: when the others leave more of it, fewer of them are
    /// there to wait. The square of what they leave: then the mean over their waits stays what it is at an even pace
    /// (`reports/low-load/harm-rule.md`).
    fn quiet(&self) -> f64 {
        let most = if self.hours < HALF_A_DAY { 1.0 } else { MOST_QUIET };
        if self.hours == 0 { 1.0 } else { (self.rate() / self.usual).powi(2).clamp(1.0 / MOST_QUIET, most) }
    }
}

/// An exchange as a server's link sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// The hour of the clock in which it ended, counted from any midnight.
    pub hour: u64,
    /// Both ways.
    pub bytes: u64,
    /// Of these, what came after the head of the answer; handshake, request and head tell no rate, for the time
    /// they took is not in the transfer.
    pub after_head: u64,
    /// From the request to the first byte of the answer.
    pub first_byte: Option<Duration>,
    /// From the first byte of the answer to the last that was read.
    pub transfer: Duration,
    /// It was hung up on after the head of its answer.
    pub is_unread: bool,
}

const SECONDS_PER_HOUR: u64 = 3600;
const HOURS_PER_DAY: u32 = 24;
/// Before so many hours are known nothing passes for quiet.
pub const HALF_A_DAY: u32 = 12;
/// In the quietest hours so many times as much of a link is taken as usually. With 2.5 a survey of `africa-2006` takes three
/// days more, and its worst hour is the same (`reports/low-load/harm`).
pub const MOST_QUIET: f64 = 3.0;

/// Below four segments of Ethernet (1,460 bytes of TCP each) the time of a body is noise.
pub const LEAST_BYTES: f64 = 4.0 * SEGMENT;
/// The segment with the head, and what it has of the body, has passed when the first byte is noted.
const SEGMENT: f64 = 1460.0;
/// What a server sends before it hears anything: the first window of ten segments (RFC 6928) and the second of twice
/// as many, which the acknowledgements of the first let go. So much is on its way when nobody reads on; and so much the
/// kernel may have to give at once, with the head, if the first segment was lost and had to be sent again.
pub const IN_FLIGHT: f64 = 30.0 * SEGMENT;
/// Seconds below which the time of a transfer is that of our machine, which was busy elsewhere or woke up late, and
/// not the link's: links below 6 Mbit/s need longer for the first window.
pub const SHORTEST: f64 = 0.02;

impl Flow {
    /// What an answer shows of the link.
    #[must_use]
    pub fn from_answer(purpose: Purpose, response: &Response) -> Self {
        let content_type = response.head.content_type.as_deref();
        let ended = response.ended().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            hour: Self::hour_at(ended),
            bytes: response.wire.sent + response.wire.received,
            after_head: after_head(response),
            first_byte: response.timings.first_byte,
            transfer: response.timings.transfer(),
            is_unread: response.status.is_some_and(|status| hangs_up(purpose, status, content_type)),
        }
    }

    /// The hour of a time that is counted from any midnight.
    #[must_use]
    pub fn hour_at(time: Duration) -> u64 {
        time.as_secs() / SECONDS_PER_HOUR
    }

    /// A rate that the link has, in bytes per second, if the exchange tells one.
    ///
    /// What came in no time tells a lower bound, and only if it was more than can have been there at once.
    fn rate(&self) -> Option<f64> {
        let (bytes, seconds) = (self.after_head as f64, self.transfer.as_secs_f64());
        if self.came_in_no_time() {
            Some((bytes - IN_FLIGHT) / SHORTEST)
        } else {
            (seconds >= SHORTEST && bytes >= LEAST_BYTES).then(|| (bytes - SEGMENT) / seconds)
        }
    }

    /// Whether so much came in so short a time that the link must be a fast one: as much again as can have been there
    /// at once.
    fn came_in_no_time(&self) -> bool {
        self.transfer.as_secs_f64() < SHORTEST && self.after_head as f64 >= 2.0 * IN_FLIGHT
    }
}

/// Of an answer that was read back from a record, what it has at least.
fn after_head(response: &Response) -> u64 {
    let is_plain = response.head.content_encoding.is_none();
    if is_plain { response.after_head.max(response.body_bytes) } else { response.after_head }
}

impl ServerLink {
    /// The best rate of late; none where no answer was large enough to tell, or all came at once.
    #[must_use]
    pub fn bits_per_second(&self) -> Option<f64> {
        self.best.map(|rate| rate * 8.0)
    }

    /// Takes in an exchange, and says for how long it kept the link busy: in hours in which others leave more of the link than
    /// usually a part of that, in others a multiple.
    ///
    /// Before any rate is known that is all the time that the answer took to come, as it is where much came in no
    /// time. What came of an answer that was not read took the link for a round trip at most: then the server hears
    /// of it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ccsurvey_core::load::{Flow, ServerLink};
    /// let mut link = ServerLink::default();
    /// // 64 kB/s are 512 kbit/s.
    /// let transfer = Duration::from_secs(1);
    /// let quick = Flow { bytes: 65_960, after_head: 65_460, transfer, ..Flow::default() };
    /// assert_eq!(link.take(&quick).as_millis(), 1030);
    /// // The same came slowly, for others used the link just then: it is the same part of what they leave of it.
    /// let slow = Flow { transfer: Duration::from_secs(9), ..quick };
    /// assert_eq!(link.take(&slow).as_millis(), 1030);
    /// // When they use it for hours, less is left: it takes nine times as long, and is felt by more of them.
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
        self.time_of(flow)
    }

    /// How long an exchange that was taken in took the link.
    pub(super) fn time_of(&self, flow: &Flow) -> Duration {
        let unread = if flow.is_unread { self.unread_seconds() } else { 0.0 };
        let transfer = flow.transfer.as_secs_f64();
        let at_best = self.best.map_or(transfer, |best| flow.bytes as f64 / best);
        let quiet = self.recent.as_ref().map_or(1.0, Recent::quiet);
        let seconds = (if flow.came_in_no_time() { at_best.min(transfer) } else { at_best } + unread) / quiet;
        Duration::from_micros((seconds * 1e6).round() as u64)
    }

    fn unread_seconds(&self) -> f64 {
        let at_best = self.best.map_or(f64::INFINITY, |best| IN_FLIGHT / best);
        at_best.min(self.round_trip.unwrap_or_default())
    }
}
