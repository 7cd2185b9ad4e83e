use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// No `Retry-After` means more than this; it keeps time arithmetic from overflowing.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or a date relative to `now`.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = value.parse().unwrap_or(u64::MAX);
        return Some(Duration::from_secs(seconds).min(LONGEST));
    }
    let at = imf_fixdate(value)?;
    Some(at.duration_since(now).unwrap_or(Duration::ZERO).min(LONGEST))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); the name of the day is not looked at.
fn imf_fixdate(value: &str) -> Option<SystemTime> {
    let (_, date) = value.split_once(", ")?;
    let mut words = date.split_ascii_whitespace();
    let day: i64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = month(words.next()?)?;
    let year: i64 = words.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut clock = words.next()?.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let sound = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
    if !sound || words.next()? != "GMT" {
        return None;
    }
    let seconds = days_from_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn month(name: &str) -> Option<i64> {
    const NAMES: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let index = NAMES.iter().position(|known| *known == name)?;
    i64::try_from(index + 1).ok()
}

/// Days from 1970-01-01 in the Gregorian calendar, with years counted from March so that the
/// leap day is the last of a year.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    // 719_468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example date of RFC 9110.
    const EXAMPLE: u64 = 784_111_777;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_and_dates_are_read() {
        assert_eq!(retry_after(" 120 ", at(0)), Some(Duration::from_mins(2)));
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(retry_after(date, at(EXAMPLE - 90)), Some(Duration::from_secs(90)));
        assert_eq!(
            retry_after("Thu, 29 Feb 2024 00:00:00 GMT", at(1_709_164_790)),
            Some(Duration::from_secs(10))
        );
    }

    #[test]
    fn a_date_gone_by_means_now_and_an_absurd_time_a_year() {
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", at(EXAMPLE + 5)), Some(Duration::ZERO));
        assert_eq!(retry_after(&"9".repeat(60), at(0)), Some(LONGEST));
    }

    #[test]
    fn what_is_neither_is_not_a_time() {
        for text in ["", "soon", "-5", "1.5", "Sun, 06 Nov 1994 08:49:37", "x, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(retry_after(text, at(0)), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".{0,60}") {
            let _ = retry_after(&text, at(EXAMPLE));
        }
    }
}
