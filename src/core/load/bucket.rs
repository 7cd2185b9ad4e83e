use std::time::{Duration, SystemTime};

use super::LargestExchange;
use crate::exchange::{LONGEST_PAUSE, RECEIVE_WINDOW};

/// Seconds of the rate that may be saved up, if that is more than one largest exchange.
const BURST_SECONDS: f64 = 1.0;

/// The survey-wide ceiling on bytes per second: in any *T* seconds no more than `capacity + rate × T` bytes
/// move.
///
/// A request reserves the bytes that its server may send before a reader takes any. The rest of a body is
/// read as tokens come in. Readers go first: while a reader waits, no request is sent. A reservation counts
/// as saved up, however long its server takes. So a hundred slow servers that respond at once bring no more
/// bytes than one.
///
/// Heads and handshakes arrive whole, and a piece of a body may be larger than the bytes taken for it. The
/// excess is a debt, repaid before any other bytes move; the capacity leaves room for it.
///
/// The bucket is empty at first, so the ceiling holds even if the process dies and restarts again and again.
#[derive(Debug)]
pub struct Bucket {
    rate: f64,
    capacity: f64,
    /// Bytes that a request reserves.
    reserve: u64,
    /// Level at the time `at`; below zero when more bytes arrived than there were tokens.
    level: f64,
    at: Option<SystemTime>,
    /// Bytes reserved by requests whose servers have sent none of them yet.
    reserved: u64,
    /// Bytes that the next reader waits for.
    wanted: f64,
}

/// The bytes that one exchange has taken.
#[must_use = "what is not given back is not there for others"]
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Bytes that may still arrive.
    reserved: u64,
    /// Bytes that have arrived.
    moved: u64,
}

impl Claim {
    pub(super) fn reserved(&self) -> u64 {
        self.reserved
    }
}

impl Bucket {
    /// `rate` is in bytes per second.
    #[must_use]
    pub fn new(rate: u64, largest: LargestExchange) -> Self {
        let rate = (rate as f64).max(1.0);
        let capacity = (rate * BURST_SECONDS).max(largest.bytes as f64) - largest.ahead as f64;
        // All bodies in flight can be read before any reader has paused for too long, even if each body is
        // the largest.
        let readable = capacity * largest.bytes as f64 / (rate * LONGEST_PAUSE.as_secs_f64());
        let reserve = readable.max(RECEIVE_WINDOW as f64).min(capacity).min(largest.bytes as f64) as u64;
        Self { rate, capacity, reserve, level: 0.0, at: None, reserved: 0, wanted: 0.0 }
    }

    /// Reserves the bytes for a new request.
    ///
    /// # Errors
    /// The time to ask again, unless an exchange ends before.
    pub fn begin(&mut self, now: SystemTime) -> Result<Claim, SystemTime> {
        self.refill(now);
        self.wait_for(now, self.reserve as f64 + self.wanted)?;
        self.level -= self.reserve as f64;
        self.reserved += self.reserve;
        Ok(Claim { reserved: self.reserve, moved: 0 })
    }

    /// Takes the bytes for a reader that is about to have moved `moved` bytes in total.
    ///
    /// # Errors
    /// The time to ask again, unless an exchange ends before. Until then this reader is next, before any
    /// other caller; [`Self::cancel_wait`] ends that.
    pub fn reserve_up_to(
        &mut self,
        now: SystemTime,
        claim: &mut Claim,
        moved: u64,
    ) -> Result<(), SystemTime> {
        self.refill(now);
        let reserved = moved.saturating_sub(claim.moved).min(claim.reserved);
        claim.reserved -= reserved;
        claim.moved += reserved;
        self.reserved -= reserved;
        let further = moved.saturating_sub(claim.moved);
        // A bucket that cannot become fuller counts as full enough; otherwise waiting readers would wait for
        // each other.
        self.wanted = (further as f64).min(self.unreserved()).max(0.0);
        self.wait_for(now, self.wanted)?;
        self.cancel_wait();
        self.level -= further as f64;
        claim.moved += further;
        Ok(())
    }

    /// The reader no longer waits.
    pub fn cancel_wait(&mut self) {
        self.wanted = 0.0;
    }

    /// An exchange has ended and has moved `moved` bytes; if none, the number is unknown and the claim counts
    /// as used up.
    pub fn end(&mut self, now: SystemTime, claim: &Claim, moved: Option<u64>) {
        self.refill(now);
        let taken = claim.reserved + claim.moved;
        self.reserved -= claim.reserved;
        // The next refill drops what exceeds the room.
        self.level += taken as f64 - moved.unwrap_or(taken) as f64;
    }

    /// The most that the level can be.
    fn unreserved(&self) -> f64 {
        self.capacity - self.reserved as f64
    }

    fn wait_for(&self, now: SystemTime, bytes: f64) -> Result<(), SystemTime> {
        let missing = bytes - self.level;
        if missing <= 0.0 {
            return Ok(());
        }
        // One millisecond more: rounding must not make the caller come too early, again and again.
        let wait =
            Duration::try_from_secs_f64(missing / self.rate + 0.001).unwrap_or(Duration::from_secs(3600));
        Err(self.at.map_or(now, |at| at.max(now)) + wait)
    }

    fn refill(&mut self, now: SystemTime) {
        let passed = self.at.and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
        self.level = (self.level + passed.as_secs_f64() * self.rate).min(self.unreserved());
        self.at = Some(self.at.map_or(now, |at| at.max(now)));
    }
}
