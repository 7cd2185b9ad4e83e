//! When a survey to some depth would ask what it asked, under other circumstances too.
//!
//! A survey cut at depth *d* asks the same as a survey run to depth *d*, in the same order within each site
//! tree. So the recorded exchanges ([`Exchanges`], 24 bytes each) say *what* would be asked; *when* is found by
//! playing the survey's schedule ([`Schedule`]) event by event: trees in the order of the survey, a number of them
//! at once, one exchange at a time in a tree and at an address, a pause after each, a ceiling on the bytes of all.
//!
//! How long to pause and how the ceiling is kept is ruled elsewhere; whoever asks for a schedule brings the
//! rule along ([`Pacing`]), so that it stands in one place.
//!
//! **How long an exchange takes** ([`Conditions`]) is as recorded, or under a given round trip and link: the
//! handshakes last as many round trips as recorded, the server works as long as recorded (its first byte less
//! the least round trip that was measured there), and the bytes take as long as recorded, or as their number takes on the
//! part of the link that the other users leave, whichever is longer. What our own time-outs ended lasts as recorded.

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

/// How gently servers are asked: the rule of pauses and of the survey's rate, with the state it keeps.
pub trait Pacing {
    /// Whether an exchange with this status and failure counts as the server's trouble.
    fn is_trouble(&self, status: Option<u16>, failure: Option<Failure>) -> bool;

    /// Whether it tells nothing of how the server fares.
    fn is_unclear(&self, status: Option<u16>, failure: Option<Failure>) -> bool;

    /// Whether an answer to a question of this purpose was hung up on after its head.
    fn is_unread(&self, purpose: &str, status: Option<u16>, media_type: Option<&str>) -> bool;

    /// Whether a status asks for a pause, whose length a server may then tell (Retry-After).
    fn requests_pause(&self, status: Option<u16>) -> bool;

    /// For how long a server is left alone after an exchange.
    fn pause_after(&mut self, server: usize, settled: &EndedExchange) -> ServerPause;

    /// Reserves what an exchange takes of the survey's rate before it is read, or says when that will be there, unless
    /// an exchange ends before. `now` is counted from the beginning of the survey.
    ///
    /// # Errors
    /// The time at which to ask again.
    fn reserve(&mut self, now: Duration) -> Result<(), Duration>;

    /// An exchange that had reserved has moved so many bytes.
    fn give_back(&mut self, now: Duration, moved: u64);
}

/// For how long a server is left alone after an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerPause {
    /// Until the server has rested from it.
    pub rest: Duration,
    /// Because it was in trouble again and again: at least until then; zero where it was not.
    pub put_off: Duration,
    /// Because the site was: it alone is not asked for until then; zero where it was not.
    pub of_site: Duration,
}

impl ServerPause {
    /// From the end of the exchange to the next at the same server.
    #[must_use]
    pub fn total(self) -> Duration {
        self.rest.max(self.put_off)
    }
}

/// An exchange that has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndedExchange {
    /// The tree that it was for.
    pub tree: u32,
    /// When it ended, from the beginning of the schedule.
    pub ended: Duration,
    /// From the first byte sent to the last received.
    pub took: Duration,
    /// None: no answer came.
    pub first_byte: Option<Duration>,
    /// From the first byte of the answer to the last.
    pub transfer: Duration,
    /// Both ways.
    pub bytes: u64,
    /// An answer or failure after which pauses grow.
    pub is_trouble: bool,
    /// It tells nothing of how the server fares.
    pub is_unclear: bool,
    /// It was hung up on after the head of its answer.
    pub is_unread: bool,
}

impl EndedExchange {
    /// How long the server had the question ([`Timings::answering`](crate::exchange::Timings::response_time)).
    #[must_use]
    pub fn response_time(&self) -> Duration {
        self.first_byte.map_or(self.took, |first_byte| (first_byte + self.transfer).min(self.took))
    }
}
