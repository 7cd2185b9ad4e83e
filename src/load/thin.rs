use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::exchange::{Answer, Purpose, hangs_up};

/// What is known of the link that a server hangs on: the best rate at which its answers ever came.
///
/// The best, not the mean: the other users of a link make an answer slow, and so does slow start, but nothing
/// makes it faster than the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerLink {
    /// Bytes per second.
    best: Option<f64>,
    /// The least time to a first byte, in seconds: no round trip is longer.
    round_trip: Option<f64>,
}

/// An exchange as a server's link sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Both ways.
    pub bytes: u64,
    pub first_byte: Option<Duration>,
    /// From the first byte of the answer to the last that was read.
    pub transfer: Duration,
    /// It was hung up on after the head of its answer.
    pub is_unread: bool,
}

/// Below four segments of Ethernet (1,460 bytes of TCP each) the time of an answer is noise.
const LEAST_BYTES: f64 = 4.0 * SEGMENT;
/// Request, head and the first segment have passed when the first byte is noted.
const SEGMENT: f64 = 1460.0;
/// What a server sends before it hears that nobody reads on: the first window of ten segments (RFC 6928) and the
/// second of twice as many, which the acknowledgements of the first let go.
const UNREAD_BYTES: f64 = 30.0 * SEGMENT;

impl Flow {
    #[must_use]
    pub fn of(purpose: Purpose, answer: &Answer) -> Self {
        let media_type = answer.head.content_type.as_deref().unwrap_or_default().as_bytes();
        Self {
            bytes: answer.wire.sent + answer.wire.received,
            first_byte: answer.timings.first_byte,
            transfer: answer.timings.transfer(),
            is_unread: answer.status.is_some_and(|status| hangs_up(purpose, status, media_type)),
        }
    }
}

impl ServerLink {
    /// The best rate so far; none where no answer was large enough to tell, or all came at once.
    #[must_use]
    pub fn bits_per_second(&self) -> Option<f64> {
        self.best.map(|rate| rate * 8.0).filter(|rate| rate.is_finite())
    }

    /// Takes in an exchange, and says how long it took the link.
    ///
    /// Before any rate is known that is all the time that the answer took to come. What came of an answer
    /// that was not read took the link for a round trip at most: then the server hears of it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ccsurvey::load::{Flow, ServerLink};
    /// let mut link = ServerLink::default();
    /// // 64 kB/s are 512 kbit/s.
    /// let quick = Flow { bytes: 65_460, transfer: Duration::from_secs(1), ..Flow::default() };
    /// assert_eq!(link.take(&quick).as_millis(), 1022);
    /// // The same came slowly, for others used the link: it is the same part of the link.
    /// assert_eq!(link.take(&Flow { transfer: Duration::from_secs(9), ..quick }).as_millis(), 1022);
    /// ```
    pub fn take(&mut self, flow: &Flow) -> Duration {
        let bytes = flow.bytes as f64;
        if bytes >= LEAST_BYTES {
            let rate = (bytes - SEGMENT) / flow.transfer.as_secs_f64();
            self.best = Some(self.best.map_or(rate, |best| best.max(rate)));
        }
        if let Some(time) = flow.first_byte {
            let time = time.as_secs_f64();
            self.round_trip = Some(self.round_trip.map_or(time, |least| least.min(time)));
        }
        let unread = if flow.is_unread { self.unread_seconds() } else { 0.0 };
        let seconds = self.best.map_or(flow.transfer.as_secs_f64(), |best| bytes / best) + unread;
        Duration::from_micros((seconds * 1e6).round() as u64)
    }

    fn unread_seconds(&self) -> f64 {
        let at_best = self.best.map_or(f64::INFINITY, |best| UNREAD_BYTES / best);
        at_best.min(self.round_trip.unwrap_or_default())
    }
}
