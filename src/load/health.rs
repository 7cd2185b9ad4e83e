use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Pace;
use crate::exchange::{Answer, Failure};

/// How a server has fared of late, and what care follows from it.
///
/// Trouble is 429, 503, a reset, a refused connection, a time-out, or a first byte that takes far longer than
/// the server's usual. Each doubles the pause; four sound answers in a row take one doubling back, for
/// a server that recovers is helped by nobody who hurries. Without a sound answer between them the
/// fifth trouble puts the server off, each further one for four times as long, and in the end it is
/// given up for this survey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Health {
    doublings: u8,
    /// Sound answers since the last trouble, or since a doubling was taken back.
    sound: u8,
    /// Refusals and failures without a sound answer between them.
    in_a_row: u8,
    /// Running mean of the time to the first byte, in seconds.
    usual_first_byte: Option<f64>,
}

/// What follows from an answer beside the usual pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Care {
    Usual,
    /// The server is left alone for so long.
    PutOff(Duration),
    /// The server is not asked any more in this survey.
    GiveUp,
}

/// More doublings of 2 s than this exceed the cap of 60 s anyway.
const MOST_DOUBLINGS: u8 = 8;
/// Sound answers in a row that take one doubling back.
const SOUND_FOR_ONE: u8 = 4;
/// Nutch drops a host after five failures; here it is left in peace for a while first.
const TROUBLES_UNTIL_PUT_OFF: u8 = 5;
/// Times that a server is put off: 5 min, 20 min, 80 min and 5 h 20 min with the longest pause of 60 s, within
/// the day after which most disturbances are over or will not be.
const MOST_PUT_OFFS: u8 = 4;
/// The first time, in longest pauses; each further time is four times the one before.
const FIRST_PUT_OFF: u32 = 5;
/// RFC 6298 §2 smooths round-trip times by an eighth.
const SMOOTHING: f64 = 0.125;
/// A response time counts as grown when it is this many times the usual …
const GROWN_FACTOR: f64 = 3.0;
/// … and longer than it by so many seconds: below that it is noise of the network.
const GROWN_SECONDS: f64 = 1.0;

impl Health {
    /// How often the pause is doubled now.
    pub(super) fn doublings(&self) -> u8 {
        self.doublings
    }

    /// Takes an answer in, and says what follows.
    pub(super) fn note(&mut self, pace: &Pace, answer: &Answer) -> Care {
        let refused = answer.asks_for_pause() || answer.failure.is_some_and(is_trouble);
        let grown = self.has_grown(answer);
        if refused || grown {
            self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
            self.sound = 0;
        } else {
            self.sound += 1;
            if self.sound >= SOUND_FOR_ONE {
                self.sound = 0;
                self.doublings = self.doublings.saturating_sub(1);
            }
        }
        self.in_a_row = if refused { self.in_a_row.saturating_add(1) } else { 0 };
        self.care(pace)
    }

    fn care(&self, pace: &Pace) -> Care {
        match self.in_a_row.checked_sub(TROUBLES_UNTIL_PUT_OFF) {
            None => Care::Usual,
            Some(before) if before < MOST_PUT_OFFS => {
                Care::PutOff(pace.max_delay * FIRST_PUT_OFF * 4_u32.pow(u32::from(before)))
            }
            Some(_) => Care::GiveUp,
        }
    }

    fn has_grown(&mut self, answer: &Answer) -> bool {
        let Some(time) = answer.timings.first_byte.map(|time| time.as_secs_f64()) else { return false };
        let usual = self.usual_first_byte.unwrap_or(time);
        self.usual_first_byte = Some(usual + (time - usual) * SMOOTHING);
        time > usual * GROWN_FACTOR && time > usual + GROWN_SECONDS
    }
}

/// Failures that may mean that the server has too much to do.
fn is_trouble(failure: Failure) -> bool {
    matches!(
        failure,
        Failure::Reset
            | Failure::ConnectRefused
            | Failure::ConnectTimeout
            | Failure::TlsTimeout
            | Failure::FirstByteTimeout
            | Failure::IdleTimeout
            | Failure::TooSlow
    )
}
