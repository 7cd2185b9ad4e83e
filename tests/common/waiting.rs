//! Waits for other processes or threads.
#![allow(clippy::disallowed_methods)] // A deadline of the tests themselves.

use std::time::{Duration, Instant};

/// Time between two checks: short compared with the wait, long compared with the check.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Longer than any operation takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Checks a condition repeatedly, for some minutes at most; returns whether it became true. Between two
/// checks the core is free for other processes.
pub(crate) fn until(mut condition: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > TIMEOUT {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    true
}
