use std::time::{Duration, SystemTime};

/// Seconds of the rate that may be saved up.
pub const BURST_SECONDS: f64 = 10.0;

/// The survey-wide ceiling on bytes per second.
///
/// An exchange reserves the most it may move before it starts and gives back what it did not use, so in
/// any window of *T* seconds exchanges begin that move at most `capacity + rate × T` bytes, where the
/// capacity is ten seconds of the rate or one largest exchange.
///
/// It is empty at first, so that this holds although the process dies and is started again and again. The price is that
/// a survey begins when the most that an exchange may move is saved up: after two seconds at 1 MiB/s.
#[derive(Debug)]
pub struct Bucket {
    rate: f64,
    capacity: f64,
    level: f64,
    /// The level is as of this time.
    at: Option<SystemTime>,
}

impl Bucket {
    /// `rate` in bytes per second; one exchange moves `largest` bytes at most.
    #[must_use]
    pub fn new(rate: u64, largest: u64) -> Self {
        let rate = (rate as f64).max(1.0);
        let capacity = (rate * BURST_SECONDS).max(largest as f64);
        Self { rate, capacity, level: 0.0, at: None }
    }

    /// Takes `bytes`, or says when they will be there.
    ///
    /// # Errors
    /// The time to ask again, unless something is given back before.
    pub fn reserve(&mut self, now: SystemTime, bytes: u64) -> Result<(), SystemTime> {
        self.refill(now);
        let missing = bytes as f64 - self.level;
        if missing > 0.0 {
            // A millisecond more: rounding must not make the caller come too early, again and again.
            let wait =
                Duration::try_from_secs_f64(missing / self.rate + 0.001).unwrap_or(Duration::from_secs(3600));
            return Err(now + wait);
        }
        self.level -= bytes as f64;
        Ok(())
    }

    /// So many of the bytes taken were not needed.
    pub fn give_back(&mut self, bytes: u64) {
        self.level = (self.level + bytes as f64).min(self.capacity);
    }

    fn refill(&mut self, now: SystemTime) {
        let passed = self.at.and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
        self.level = (self.level + passed.as_secs_f64() * self.rate).min(self.capacity);
        self.at = Some(self.at.map_or(now, |at| at.max(now)));
    }
}
