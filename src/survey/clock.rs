#![expect(clippy::disallowed_methods, reason = "this is where the clock is read")]

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// The time as a survey tells it: an origin, and from there on the steady time of the runtime.
///
/// So no pause at a server is cut short when somebody sets the system's clock; and on a runtime whose
/// time is virtual a survey of weeks is over as soon as its work is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    origin: SystemTime,
    start: Instant,
}

impl Clock {
    /// The system's time, as it was when the program started.
    pub(super) fn system() -> Self {
        static SYSTEM: OnceLock<Clock> = OnceLock::new();
        *SYSTEM.get_or_init(|| Self { origin: SystemTime::now(), start: Instant::now() })
    }

    /// A time of its own that begins at `origin` now.
    pub(super) fn beginning_at(origin: SystemTime) -> Self {
        Self { origin, start: Instant::now() }
    }

    pub(super) fn now(self) -> SystemTime {
        self.origin + self.start.elapsed()
    }

    /// Waits until a time of this clock.
    pub(super) async fn until(self, time: SystemTime) {
        // Timers may fire up to a millisecond early against the steady clock; a pause must not be short.
        while let Ok(left) = time.duration_since(self.now()) {
            tokio::time::sleep(left.max(Duration::from_micros(50))).await;
        }
    }
}

/// The time as surveys of real servers tell it.
#[must_use]
pub fn clock() -> SystemTime {
    Clock::system().now()
}
