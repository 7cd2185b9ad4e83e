use std::time::Duration;

/// What a server may send before anybody reads: the first receive window of usual systems. Linux gives a socket 131,072
/// bytes (`tcp_rmem`) and tells the server of half of that.
pub const RECEIVE_WINDOW: u64 = 64 * 1024;

/// The longest that an exchange pauses in all because the rate of the survey is used up. With the usual time-out of an
/// exchange it is over within five minutes; Web servers wait a minute or more for each next acknowledgement.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(240);
