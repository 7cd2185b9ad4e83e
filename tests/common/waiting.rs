//! Waiting for what another process or thread does.
#![allow(clippy::disallowed_methods)] // A deadline of the tests themselves.

use std::time::{Duration, Instant};

/// Between two looks: short beside what is waited for, long beside the look.
pub(crate) const LOOK: Duration = Duration::from_millis(2);
/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Looks again and again until it is so, for some minutes at most; says whether it is. Between two looks the core is left
/// to what is waited for.
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
