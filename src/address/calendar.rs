use chrono::{DateTime, Datelike, Month, NaiveDate};

const SECONDS_PER_DAY: i64 = 86_400;

/// The moment of an HTTP date (RFC 9110 §5.6.7) in any of its three forms, or `None` for other text. Moments
/// are in seconds since 1970.
///
/// The parser is as lenient as servers require: it ignores the name of the day and whether the month has that
/// day; months may be in any case, short or long; and `UTC` may replace `GMT`. A year of two digits is at
/// most fifty years after `now`.
///
/// ```
/// use ccsurvey_address::http_date;
/// let now = 1_794_700_800; // 2026-11-15
/// assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(784_111_777));
/// assert_eq!(http_date("Sunday, 06-Nov-94 08:49:37 GMT", now), Some(784_111_777));
/// assert_eq!(http_date("Sun Nov  6 08:49:37 1994", now), Some(784_111_777));
/// assert_eq!(http_date("yesterday", now), None);
/// ```
#[must_use]
pub fn http_date(text: &str, now: i64) -> Option<i64> {
    let words: Vec<&str> = text.trim().split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, clock) = match words[..] {
        // Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT
        [_, day, month, year, clock, "GMT" | "UTC"] => (day, month, year, clock),
        // Sun Nov  6 08:49:37 1994
        [_, month, day, clock, year] => (day, month, year, clock),
        _ => return None,
    };
    let full_year = match (year.len(), digits(year)?) {
        (2, year) => with_century(year, now)?,
        (4, year) => year,
        _ => return None,
    };
    let month: Month = month.parse().ok()?;
    let days = days_since_1970(full_year, month.number_from_month(), digits(day)?)?;
    Some(days * SECONDS_PER_DAY + second_of_day(clock)?)
}

/// Whether a text is a day such as `2026-11-02`. Whether the month has that day does not matter.
pub(super) fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let has_lengths = (year.len(), month.len(), day.len()) == (4, 2, 2);
    let number = |part| digits(part).filter(|number: &u32| *number > 0);
    let days = || days_since_1970(i32::try_from(number(year)?).ok()?, number(month)?, number(day)?);
    has_lengths && days().is_some()
}

/// A number of at most four digits, as dates contain them.
fn digits<N: std::str::FromStr>(text: &str) -> Option<N> {
    let is_number = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn with_century(year: i32, now: i64) -> Option<i32> {
    let this_year = DateTime::from_timestamp(now, 0)?.year();
    let year = this_year - this_year.rem_euclid(100) + year;
    Some(if year > this_year + 50 { year - 100 } else { year })
}

/// The 31st of a short month counts as the first day or so of the next one.
fn days_since_1970(year: i32, month: u32, day: u32) -> Option<i64> {
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    (1..=31).contains(&day).then(|| i64::from(first.to_epoch_days()) + i64::from(day) - 1)
}

fn second_of_day(clock: &str) -> Option<i64> {
    let parts: Vec<i64> = clock.split(':').map(digits).collect::<Option<_>>()?;
    // A leap second has the number 60.
    match parts[..] {
        [hour @ 0..24, minute @ 0..60, second @ 0..=60] => Some(hour * 3600 + minute * 60 + second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2026-11-15.
    const NOW: i64 = 1_794_700_800;

    #[test]
    fn the_three_forms_of_the_standard_are_the_same_moment() {
        for (moment, forms) in [
            (
                784_111_777,
                [
                    "Sun, 06 Nov 1994 08:49:37 GMT",
                    "Sunday, 06-Nov-94 08:49:37 GMT",
                    "Sun Nov  6 08:49:37 1994",
                ],
            ),
            (
                1_709_164_799,
                [
                    "Wed, 28 Feb 2024 23:59:59 GMT",
                    "Wednesday, 28-Feb-24 23:59:59 GMT",
                    "Wed Feb 28 23:59:59 2024",
                ],
            ),
        ] {
            assert_eq!(forms.map(|text| http_date(text, NOW)), [Some(moment); 3], "{forms:?}");
        }
    }

    #[test]
    fn what_servers_write_beside_the_standard_is_read() {
        for text in [
            " Sun, 06 Nov 1994 08:49:37 GMT ",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 6 Nov 1994 8:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT",
            "Sun 06 Nov 94 08:49:37 GMT",
            "sun, 06 nov 1994 08:49:37 UTC",
            "SUN NOV 06 08:49:37 1994",
            "Sunday, 06 November 1994 08:49:37 GMT",
        ] {
            assert_eq!(http_date(text, NOW), Some(784_111_777), "{text}");
        }
        // 31 February is 3 March, and a leap second the first of the next minute.
        let [february, march] =
            ["Feb 31 00:00:00", "Mar 03 00:00:00"].map(|day| http_date(&format!("Fri {day} 2023"), NOW));
        assert_eq!((february, february), (march, Some(1_677_801_600)));
        assert_eq!(http_date("Sat, 31 Dec 2016 23:59:60 GMT", NOW), Some(1_483_228_800));
    }

    #[test]
    fn days_are_counted_through_leap_years_and_centuries() {
        for (date, seconds) in [
            ("01 Jan 1600 00:00:00", -11_676_096_000),
            ("28 Feb 1900 00:00:00", -2_203_977_600),
            ("01 Mar 1900 00:00:00", -2_203_891_200),
            ("31 Dec 1969 23:59:59", -1),
            ("01 Jan 1970 00:00:00", 0),
            ("29 Feb 2000 12:34:56", 951_827_696),
            ("01 Mar 2000 00:00:00", 951_868_800),
            ("19 Jan 2038 03:14:08", 2_147_483_648),
            ("01 Mar 2100 01:02:03", 4_107_546_123),
        ] {
            assert_eq!(http_date(&format!("Xxx, {date} GMT"), NOW), Some(seconds), "{date}");
        }
    }

    #[test]
    fn a_year_of_two_digits_is_not_far_ahead() {
        let year = |two: &str| http_date(&format!("Monday, 01-Jan-{two} 00:00:00 GMT"), NOW);
        let full = |four: &str| http_date(&format!("Mon, 01 Jan {four} 00:00:00 GMT"), NOW);
        for (two, four) in [("27", "2027"), ("76", "2076"), ("77", "1977"), ("99", "1999"), ("00", "2000")] {
            assert!(year(two).is_some() && year(two) == full(four), "{two}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "0",
            "soon",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 EST",
            "Sun, 06 Nov 199 08:49:37 GMT",
            "Sun, 06 Nov 19940 08:49:37 GMT",
        ] {
            assert_eq!(http_date(text, NOW), None, "{text}");
        }
        for clock in ["", "12", "12:00", "24:00:00", "12:60:00", "12:00:61", "12:00:00:00", "a:00:00"] {
            assert_eq!(http_date(&format!("Sun, 06 Nov 1994 {clock} GMT"), NOW), None, "{clock}");
        }
        for day in ["", "0", "32", "+6", "six", "\u{661}"] {
            assert_eq!(http_date(&format!("Sun, {day} Nov 1994 08:49:37 GMT"), NOW), None, "{day}");
        }
    }

    #[test]
    fn a_day_has_all_its_digits() {
        assert!(["2026-11-02", "2026-02-31", "0001-01-01"].into_iter().all(is_day));
        for text in
            ["", "2026-11", "2026-11-2", "26-11-02", "2026-13-01", "2026-00-01", "2026-11-32", "2026-11-00"]
        {
            assert!(!is_day(text), "{text}");
        }
        for text in ["0000-11-02", "2026-11-02-", "2026-11-+2", "2026/11/02", "yesterday"] {
            assert!(!is_day(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(
            text in ".{0,60}|[A-Za-z]{3},? [0-9 :,-]{1,30}( GMT)?",
            now in any::<i64>(),
        ) {
            let _ = (http_date(&text, now), is_day(&text));
        }
    }
}
