use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::SystemTime;

use super::fact::HORIZON;
use crate::load::BURST_SECONDS;

/// The bytes of exchanges by when they began, against a ceiling: ten seconds of it, or the largest exchange, may be
/// saved up.
#[derive(Clone, Debug)]
pub(super) struct Ceiling {
    rate: f64,
    capacity: f64,
    /// Begun so lately that one which began earlier may still be told.
    begun: BinaryHeap<Reverse<(SystemTime, u64)>>,
    /// Bytes that the ceiling has not made good yet, as of this time.
    owed: f64,
    at: Option<SystemTime>,
    above: u64,
}

impl Ceiling {
    pub(super) fn new(rate: u64, largest: u64) -> Self {
        let rate = rate as f64;
        let capacity = (rate * BURST_SECONDS).max(largest as f64);
        Self { rate, capacity, begun: BinaryHeap::new(), owed: 0.0, at: None, above: 0 }
    }

    /// Takes in an exchange; gives the bytes above the ceiling and what may be saved up, at its worst so far.
    pub(super) fn add(&mut self, started: SystemTime, bytes: u64) -> u64 {
        self.begun.push(Reverse((started, bytes)));
        while let Some(Reverse((first, bytes))) = self.begun.peek().copied()
            && first + HORIZON < started
        {
            self.begun.pop();
            self.weigh(first, bytes);
        }
        self.above
    }

    fn weigh(&mut self, started: SystemTime, bytes: u64) {
        let passed = self.at.and_then(|at| started.duration_since(at).ok()).unwrap_or_default();
        self.owed = (self.owed - passed.as_secs_f64() * self.rate).max(0.0) + bytes as f64;
        self.at = self.at.max(Some(started));
        // A byte for rounding.
        self.above = self.above.max((self.owed - self.capacity - 1.0).max(0.0).ceil() as u64);
    }

    /// The same once nothing that began earlier is still to be told.
    pub(super) fn above_at_the_end(&self) -> u64 {
        let mut all = self.clone();
        while let Some(Reverse((started, bytes))) = all.begun.pop() {
            all.weigh(started, bytes);
        }
        all.above
    }
}
