#![expect(clippy::disallowed_methods, reason = "this is where the clock is read")]

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// The time, as a survey tells it: the system's when the program started, and from then on steady,
/// so that no pause at a server is cut short when somebody sets the clock.
#[must_use]
pub fn clock() -> SystemTime {
    static ORIGIN: OnceLock<(SystemTime, Instant)> = OnceLock::new();
    let (system, steady) = ORIGIN.get_or_init(|| (SystemTime::now(), Instant::now()));
    *system + steady.elapsed()
}

/// Waits until a time of [`clock`].
pub(super) async fn wait_until(time: SystemTime) {
    // Timers may fire up to a millisecond early against the steady clock; a pause must not be short.
    while let Ok(left) = time.duration_since(clock()) {
        tokio::time::sleep(left.max(Duration::from_micros(50))).await;
    }
}
