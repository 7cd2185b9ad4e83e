use std::time::Duration;

use crate::settings::Pace;

/// The delay rule: the pause from the end of an exchange whose response took `response_time`
/// ([`Timings::response_time`](crate::exchange::Timings::response_time)) to the start of the next at the same
/// address.
///
/// `link` is how long the exchange kept the server's link busy, as far as other users leave it free
/// ([`ServerLink`](crate::load::ServerLink)). Transfers share a link evenly (processor sharing). A client
/// that takes the share `s` of what is left to a newcomer lengthens the transfers of other users by `s`,
/// whatever their use of the link and the sizes of their transfers. So the pause is `link` divided by `harm`,
/// up to the longest pause. `troubles` doubles the pause that many times, up to `max_delay`;
/// [`Health`](crate::load::Health) defines trouble, and what takes a doubling back. `requested` is the pause
/// that the server requests (Crawl-delay, Retry-After); it is never cut.
///
/// ```
/// use std::time::Duration;
/// use ccsurvey_core::load::delay_after;
/// use ccsurvey_core::settings::Pace;
/// let pace = Pace::default();
/// let seconds = Duration::from_secs;
/// assert_eq!(delay_after(&pace, Duration::from_millis(100), Duration::ZERO, 0, None), seconds(2));
/// assert_eq!(delay_after(&pace, seconds(3), Duration::ZERO, 0, None), seconds(15));
/// assert_eq!(delay_after(&pace, seconds(3), Duration::ZERO, 1, None), seconds(30));
/// assert_eq!(delay_after(&pace, seconds(30), Duration::ZERO, 4, None), seconds(60));
/// assert_eq!(delay_after(&pace, seconds(3), Duration::ZERO, 0, Some(seconds(120))), seconds(120));
/// // Half a second of the link at a share of a hundredth.
/// let pace = Pace { harm: Some(0.01), ..pace };
/// assert_eq!(delay_after(&pace, seconds(3), Duration::from_millis(500), 0, None), seconds(50));
/// ```
#[must_use]
pub fn delay_after(
    pace: &Pace,
    response_time: Duration,
    link: Duration,
    troubles: u8,
    requested: Option<Duration>,
) -> Duration {
    let max_pause = pace.max_delay.as_secs_f64();
    let response_pause = (response_time.as_secs_f64() * pace.factor).min(max_pause);
    let harm = pace.harm.unwrap_or(f64::INFINITY);
    let link_pause = (link.as_secs_f64() / harm).min(pace.longest_pause().as_secs_f64());
    let usual_pause = response_pause.max(link_pause).max(pace.min_delay.as_secs_f64());
    let backed_off =
        if troubles == 0 { 0.0 } else { (usual_pause * f64::from(troubles.min(30)).exp2()).min(max_pause) };
    let own_pause = Duration::try_from_secs_f64(usual_pause.max(backed_off)).unwrap_or(pace.max_delay);
    own_pause.max(requested.unwrap_or_default())
}
