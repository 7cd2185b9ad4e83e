use std::time::Duration;

/// The bytes that a server may send before the receiver reads any: the first receive window of common
/// systems. Linux gives a socket 131,072 bytes (`tcp_rmem`) and announces half of that to the server.
pub const RECEIVE_WINDOW: u64 = 64 * 1024;

/// The longest total pause of an exchange because the rate of the survey is used up. With the default
/// time-out of an exchange it ends within five minutes; Web servers wait a minute or more for each next
/// acknowledgement.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(240);
