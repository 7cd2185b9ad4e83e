use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::address::http_date;

/// No `Retry-After` is taken to mean more than this; the limit keeps time arithmetic from overflowing.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// Parses `Retry-After` (RFC 9110 §10.2.3): seconds, or a date. The date is by the server's clock, whose time
/// is in the field `Date`; without that field, the date is taken relative to `now`.
pub(super) fn retry_after(value: &str, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = value.parse().unwrap_or(u64::MAX);
        return Some(Duration::from_secs(seconds).min(LONGEST));
    }
    let system_time = moment(value, now)?;
    let response_time = date.and_then(|date| moment(date, now)).unwrap_or(now);
    Some(system_time.duration_since(response_time).unwrap_or(Duration::ZERO).min(LONGEST))
}

/// None for dates before 1970, which no server means.
fn moment(date: &str, now: SystemTime) -> Option<SystemTime> {
    let unix_seconds = |moment: SystemTime| moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = http_date(date, i64::try_from(unix_seconds(now)).ok()?)?;
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example date of RFC 9110.
    const EXAMPLE: u64 = 784_111_777;

    fn system_time(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_and_dates_in_every_form_are_read() {
        assert_eq!(retry_after(" 120 ", None, system_time(0)), Some(Duration::from_mins(2)));
        for date in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(
                retry_after(date, None, system_time(EXAMPLE - 90)),
                Some(Duration::from_secs(90)),
                "{date}"
            );
        }
    }

    #[test]
    fn a_date_is_by_the_clock_of_the_server() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        // Over an hour slow, or fast: our clock does not matter.
        for now in [system_time(EXAMPLE - 4000), system_time(EXAMPLE + 4000)] {
            let pause = retry_after(date, Some("Sunday, 06-Nov-94 08:48:37 GMT"), now);
            assert_eq!(pause, Some(Duration::from_secs(60)));
        }
        assert_eq!(retry_after(date, Some("now"), system_time(EXAMPLE - 5)), Some(Duration::from_secs(5)));
    }

    #[test]
    fn a_date_gone_by_means_now_and_an_absurd_time_a_year() {
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:37 GMT", None, system_time(EXAMPLE + 5)),
            Some(Duration::ZERO)
        );
        assert_eq!(retry_after(&"9".repeat(60), None, system_time(0)), Some(LONGEST));
    }

    #[test]
    fn what_is_neither_is_not_a_time() {
        for text in [
            "",
            "soon",
            "-5",
            "1.5",
            "Sun, 06 Nov 1994 08:49:37",
            "x, 99 Nov 1994 08:49:37 GMT",
            "Mon, 01 Jan 1900 00:00:00 GMT",
        ] {
            assert_eq!(retry_after(text, None, system_time(0)), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".{0,60}", date in prop::option::of(".{0,60}")) {
            let _ = retry_after(&text, date.as_deref(), system_time(EXAMPLE));
        }
    }
}
