use std::time::{Duration, SystemTime};

/// The record of a server whose exchanges the judge has not seen, or has forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerRecord {
    /// When the last exchange with it ended.
    pub last_end: Option<SystemTime>,
    /// It was to get no more requests.
    pub is_given_up: bool,
    /// The best recent rate of its responses, in bytes per second.
    pub best_rate: Option<f64>,
    /// Most exchanges at once.
    pub most_parallel: u32,
    /// The shortest time from the end of one exchange to the start of the next.
    pub smallest_gap: Option<Duration>,
    /// Requests, bytes and microseconds in total.
    pub load: [u64; 3],
    /// The day (UTC, since 1970) of its last exchange.
    pub day: u64,
    /// Requests, bytes and microseconds on that day.
    pub load_on_day: [u64; 3],
}
