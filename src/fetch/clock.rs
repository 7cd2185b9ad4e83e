#![expect(clippy::disallowed_methods, reason = "this is where the clock is read")]

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// The time as a survey tells it: an origin, and from there on the steady time of the runtime.
///
/// So no pause at a server is cut short when somebody sets the system's clock; and on a runtime whose
/// time is virtual a survey of weeks is over as soon as its work is done.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: SystemTime,
    start: Instant,
}

impl Clock {
    /// The system's time, as it was when the program started.
    #[must_use]
    pub fn system() -> Self {
        static SYSTEM: OnceLock<Clock> = OnceLock::new();
        *SYSTEM.get_or_init(|| Self::beginning_at(SystemTime::now()))
    }

    /// A time of its own that begins at `origin` now.
    #[must_use]
    pub fn beginning_at(origin: SystemTime) -> Self {
        Self { origin, start: Instant::now() }
    }

    /// The time now.
    #[must_use]
    pub fn now(self) -> SystemTime {
        self.at(Instant::now())
    }

    /// The time at a moment. Of an exchange whose start is told so and whose duration is counted from the same moment,
    /// the end is told exactly, however long the process was held up meanwhile.
    #[must_use]
    pub fn at(self, moment: Instant) -> SystemTime {
        self.origin + moment.saturating_duration_since(self.start)
    }

    /// Waits until a time of this clock.
    pub async fn until(self, time: SystemTime) {
        // Timers may fire up to a millisecond early against the steady clock; a pause must not be short.
        while let Ok(left) = time.duration_since(self.now()) {
            tokio::time::sleep(left.max(Duration::from_micros(50))).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_moment_has_one_time_whenever_it_is_asked_for() {
        let clock = Clock::beginning_at(UNIX_EPOCH);
        let (before, second) = (Instant::now(), Duration::from_secs(1));
        tokio::time::advance(second).await;
        let begun = Instant::now();
        tokio::time::advance(second).await;
        assert_eq!([clock.at(before), clock.at(begun)], [UNIX_EPOCH, UNIX_EPOCH + second]);
        assert_eq!(clock.at(begun) + begun.elapsed(), clock.now());
    }
}
