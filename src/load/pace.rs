use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How gently servers are asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Least pause at an address. 2 s: at the median page of 32 kB that is a fifth of a thin campus link
    /// of 768 kbit/s, were the page sent at once; slower servers get more by `factor`.
    pub min_delay: Duration,
    /// Pause as a multiple of the last exchange's duration: with 5 (Heritrix's default) a survey
    /// takes at most a sixth of a server's time, however slow the server.
    pub factor: f64,
    /// Most that `factor` and back-off ask for.
    pub max_delay: Duration,
    /// Exchanges at once at one address; each beyond the first multiplies the load on it.
    pub per_address: u32,
    /// Exchanges at once in one site.
    pub per_site: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            min_delay: Duration::from_secs(2),
            factor: 5.0,
            max_delay: Duration::from_secs(60),
            per_address: 1,
            per_site: 1,
        }
    }
}

/// The delay rule: the pause from the end of an exchange that took `last` to the start of the next at the
/// same address.
///
/// `troubles` doubles the pause that many times, up to `max_delay`: trouble is 429, 503, a reset, a
/// time-out or a growing response time, each adding one and each sound answer taking one away.
/// `asked` is what the server itself asks for (Crawl-delay, Retry-After); it is never cut.
///
/// ```
/// use std::time::Duration;
/// use ccsurvey::load::{Pace, delay_after};
/// let pace = Pace::default();
/// let seconds = Duration::from_secs;
/// assert_eq!(delay_after(&pace, Duration::from_millis(100), 0, None), seconds(2));
/// assert_eq!(delay_after(&pace, seconds(3), 0, None), seconds(15));
/// assert_eq!(delay_after(&pace, seconds(3), 1, None), seconds(30));
/// assert_eq!(delay_after(&pace, seconds(30), 4, None), seconds(60));
/// assert_eq!(delay_after(&pace, seconds(3), 0, Some(seconds(120))), seconds(120));
/// ```
#[must_use]
pub fn delay_after(pace: &Pace, last: Duration, troubles: u8, asked: Option<Duration>) -> Duration {
    let most = pace.max_delay.as_secs_f64();
    let slow = (last.as_secs_f64() * pace.factor).min(most);
    let calm = slow.max(pace.min_delay.as_secs_f64());
    let backed_off = if troubles == 0 { 0.0 } else { (calm * f64::from(troubles.min(30)).exp2()).min(most) };
    let own = Duration::try_from_secs_f64(calm.max(backed_off)).unwrap_or(pace.max_delay);
    own.max(asked.unwrap_or_default())
}
