use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::address::{digits, seconds_since_1970};

/// The moment of an HTTP date (RFC 9110 §5.6.7) in any of its three forms; none for other text and for years before
/// 1970.
///
/// The name of the day is not looked at. A year of two digits is not more than fifty years after `now`.
pub(super) fn http_date(text: &str, now: SystemTime) -> Option<SystemTime> {
    let words: Vec<&str> = text.trim().split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, clock) = match words[..] {
        // Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT
        [_, day, month, year, clock, "GMT"] => (day, month, year, clock),
        // Sun Nov  6 08:49:37 1994
        [_, month, day, clock, year] => (day, month, year, clock),
        _ => return None,
    };
    let full_year = match (year.len(), digits(year)?) {
        (2, year) => with_century(year, now),
        (4, year) => year,
        _ => return None,
    };
    let seconds = seconds_since_1970(full_year, month_of(month)?, day, clock)?;
    Some(UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn month_of(name: &str) -> Option<i64> {
    const NAMES: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    (1..).zip(NAMES).find(|(_, known)| *known == name).map(|(month, _)| month)
}

fn with_century(year: i64, now: SystemTime) -> i64 {
    /// Of a year of the Gregorian calendar, in the mean: 365.2425 days.
    const SECONDS: u64 = 31_556_952;
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let this_year = 1970 + i64::try_from(since / SECONDS).unwrap_or_default();
    let year = this_year - this_year.rem_euclid(100) + year;
    if year > this_year + 50 { year - 100 } else { year }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// 2026-11-15.
    const NOW: u64 = 1_794_700_800;

    #[test]
    fn the_three_forms_of_the_standard_are_the_same_moment() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(http_date(text, at(NOW)), Some(at(784_111_777)), "{text}");
        }
        assert_eq!(http_date("Thu, 29 Feb 2024 00:00:00 GMT", at(NOW)), Some(at(1_709_164_800)));
    }

    #[test]
    fn a_year_of_two_digits_is_not_far_ahead() {
        let year = |two: &str| http_date(&format!("Monday, 01-Jan-{two} 00:00:00 GMT"), at(NOW));
        let full = |four: &str| http_date(&format!("Mon, 01 Jan {four} 00:00:00 GMT"), at(NOW));
        for (two, four) in [("27", "2027"), ("76", "2076"), ("77", "1977"), ("99", "1999"), ("00", "2000")] {
            assert!(year(two).is_some() && year(two) == full(four), "{two}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "soon",
            "Sun, 06 Nov 1994 08:49:37",
            "x, 99 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Mon, 01 Jan 1900 00:00:00 GMT",
        ] {
            assert_eq!(http_date(text, at(NOW)), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(
            text in ".{0,60}|[A-Za-z]{3},? [0-9 :,-]{1,30}( GMT)?",
            now in any::<u32>(),
        ) {
            let _ = http_date(&text, at(now.into()));
        }
    }
}
