use std::time::{Duration, SystemTime};

/// What is on record of a server whose exchanges the judge has not seen, or has forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerRecord {
    /// When the last exchange with it ended.
    pub last_end: Option<SystemTime>,
    /// It was not to be asked any more.
    pub is_given_up: bool,
    /// The best rate at which its answers came of late, in bytes per second.
    pub best_rate: Option<f64>,
    /// Exchanges at once.
    pub most_parallel: u32,
    /// From the end of one exchange to the start of the next.
    pub smallest_gap: Option<Duration>,
    /// Requests, bytes and microseconds.
    pub load: [u64; 3],
    /// The day (UTC, since 1970) of its last exchange.
    pub day: u64,
    /// The same on that day.
    pub load_on_day: [u64; 3],
}
