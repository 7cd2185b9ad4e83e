//! The timing of a survey to a given depth, as recorded or under other conditions.
//!
//! A survey cut at depth *d* sends the same requests as a survey run to depth *d*, in the same order within
//! each site tree. So the recorded exchanges ([`Exchanges`], 24 bytes each) show *which* requests would be
//! sent. *When* they would be sent follows from playing the schedule of the survey ([`Schedule`]) event by
//! event: trees in the order of the survey, a number of them at the same time, one exchange at a time per
//! tree and per address, a pause after each, and a ceiling on the byte rate of all.
//!
//! The caller passes the rule for the pauses and for the ceiling ([`Pacing`]), so that the rule stays in one
//! place.
//!
//! **The duration of an exchange** ([`Conditions`]) is as recorded, or it is adapted to a given round-trip
//! time and link: the handshakes take as many round trips as recorded; the server works as long as recorded
//! (the time to the first byte minus the least round-trip time measured there); and the transfer takes as
//! long as recorded, or as long as the bytes need on the part of the link that other users leave, whichever
//! is longer. Exchanges that our own time-outs ended last as recorded.

mod conditions;
mod exchanges;
mod play;
mod requested_pauses;
mod rows;

use std::time::Duration;

use crate::exchange::Failure;

pub use conditions::Conditions;
pub use exchanges::{Exchanges, MeasuredServer};
pub use play::{Schedule, ServerLoad};

/// The rule for pauses and for the rate of the survey, with its state.
pub trait Pacing {
    /// Whether an exchange with this status and failure counts as trouble of the server.
    fn is_trouble(&self, status: Option<u16>, failure: Option<Failure>) -> bool;

    /// Whether an exchange with this status and failure says nothing about the state of the server.
    fn is_unclear(&self, status: Option<u16>, failure: Option<Failure>) -> bool;

    /// Whether the connection was closed after the head of a response to a request of this purpose.
    fn is_unread(&self, purpose: &str, status: Option<u16>, media_type: Option<&str>) -> bool;

    /// Whether a status requests a pause, whose length the server may then give (Retry-After).
    fn requests_pause(&self, status: Option<u16>) -> bool;

    /// The pause of a server after an exchange.
    fn pause_after(&mut self, server: usize, ended_exchange: &EndedExchange) -> ServerPause;

    /// Reserves the share of the survey's rate for an exchange before it begins. `now` is counted from the
    /// beginning of the survey.
    ///
    /// # Errors
    /// Not enough of the rate is free. The error is the time at which to try again, unless an exchange ends
    /// before.
    fn reserve(&mut self, now: Duration) -> Result<(), Duration>;

    /// Ends a reservation: the exchange has moved `moved` bytes.
    fn release(&mut self, now: Duration, moved: u64);
}

/// The pause of a server after an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerPause {
    /// The normal pause after the exchange.
    pub normal: Duration,
    /// The cool-down of the server after repeated trouble; zero without it. The pause lasts at least as long.
    pub cool_down: Duration,
    /// The cool-down of the site alone after repeated trouble of the site; zero without it.
    pub site_cool_down: Duration,
}

impl ServerPause {
    /// The time from the end of the exchange to the next one at the same server.
    #[must_use]
    pub fn total(self) -> Duration {
        self.normal.max(self.cool_down)
    }
}

/// A finished exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndedExchange {
    /// The tree that the exchange belongs to.
    pub tree: u32,
    /// The end of the exchange, counted from the beginning of the schedule.
    pub ended: Duration,
    /// The time from the first byte sent to the last byte received.
    pub duration: Duration,
    /// The time to the first byte; none without a response.
    pub first_byte: Option<Duration>,
    /// The time from the first byte of the response to the last.
    pub transfer: Duration,
    /// Bytes in both directions.
    pub bytes: u64,
    /// Whether the response or failure is one after which pauses grow.
    pub is_trouble: bool,
    /// Whether it says nothing about the state of the server.
    pub is_unclear: bool,
    /// Whether the connection was closed after the head of the response.
    pub is_unread: bool,
}

impl EndedExchange {
    /// How long the server worked on the request
    /// ([`Timings::response_time`](crate::exchange::Timings::response_time)).
    #[must_use]
    pub fn response_time(&self) -> Duration {
        self.first_byte.map_or(self.duration, |first_byte| (first_byte + self.transfer).min(self.duration))
    }
}
