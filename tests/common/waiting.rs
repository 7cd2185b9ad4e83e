//! Waits for other processes or threads.
#![allow(clippy::disallowed_methods)] // A deadline of the tests themselves.

use std::time::{Duration, Instant};

/// Time between two checks: short compared with the wait, long compared with the check.
pub(crate) const LOOK: Duration = Duration::from_millis(2);
/// Longer than any operation takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Checks a condition repeatedly, for some minutes at most; returns whether it became true. Between two
/// checks the core is free for other processes.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}
