/// A number of four digits at most, as dates have them.
///
/// ```
/// use ccsurvey::address::digits;
/// assert_eq!((digits("08"), digits("1994"), digits("+8"), digits("19940")), (Some(8), Some(1994), None, None));
/// ```
#[must_use]
pub fn digits(text: &str) -> Option<i64> {
    let is_number = text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Seconds since 1970 of a day of the Gregorian calendar and a time of it (UTC), as HTTP dates write both (RFC 9110
/// §5.6.7); none when there is no such hour or day. Whether the month has that day does not matter.
///
/// ```
/// use ccsurvey::address::seconds_since_1970;
/// assert_eq!(seconds_since_1970(1994, 11, "06", "08:49:37"), Some(784_111_777));
/// assert_eq!(seconds_since_1970(1994, 11, "06", "24:49:37"), None);
/// ```
#[must_use]
pub fn seconds_since_1970(year: i64, month: i64, day: &str, clock: &str) -> Option<i64> {
    let day = digits(day).filter(|day| (1..=31).contains(day))?;
    Some(days_since_1970(year, month, day) * 86_400 + second_of_day(clock)?)
}

fn second_of_day(clock: &str) -> Option<i64> {
    let parts: Vec<i64> = clock.split(':').map(digits).collect::<Option<_>>()?;
    // A leap second is the sixtieth.
    match parts[..] {
        [hour @ 0..24, minute @ 0..60, second @ 0..=60] => Some(hour * 3600 + minute * 60 + second),
        _ => None,
    }
}

/// With years counted from March, so that the leap day is the last of a year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_through_leap_years_and_centuries() {
        for (year, month, day, clock, seconds) in [
            (1600, 1, "01", "00:00:00", -11_676_096_000),
            (1900, 2, "28", "00:00:00", -2_203_977_600),
            (1900, 3, "01", "00:00:00", -2_203_891_200),
            (1969, 12, "31", "23:59:59", -1),
            (1970, 1, "01", "00:00:00", 0),
            (1970, 1, "1", "0:0:60", 60),
            (1994, 11, "06", "08:49:37", 784_111_777),
            (2000, 2, "29", "12:34:56", 951_827_696),
            (2000, 3, "01", "00:00:00", 951_868_800),
            (2023, 2, "01", "00:00:00", 1_675_209_600),
            (2024, 12, "31", "23:59:59", 1_735_689_599),
            (2038, 1, "19", "03:14:08", 2_147_483_648),
            (2100, 3, "01", "01:02:03", 4_107_546_123),
        ] {
            assert_eq!(
                seconds_since_1970(year, month, day, clock),
                Some(seconds),
                "{year}-{month}-{day} {clock}"
            );
        }
    }

    #[test]
    fn an_hour_or_a_day_that_does_not_exist_is_none() {
        for clock in
            ["", "12", "12:00", "24:00:00", "12:60:00", "12:00:61", "12:00:00:00", "a:00:00", "-1:00:00"]
        {
            assert_eq!(seconds_since_1970(1994, 11, "06", clock), None, "{clock}");
        }
        for day in ["", "0", "32", "+6", "six"] {
            assert_eq!(seconds_since_1970(1994, 11, day, "08:49:37"), None, "{day}");
        }
    }

    #[test]
    fn a_number_has_one_to_four_digits_and_nothing_else() {
        let numbers = ["0", "08", "1994", "", "19940", "+8", "-8", "1 ", "1.0", "x", "\u{661}"].map(digits);
        assert_eq!(numbers[..3], [Some(0), Some(8), Some(1994)]);
        assert_eq!(numbers[3..], [None; 8]);
    }
}
