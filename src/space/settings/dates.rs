//! Days of the calendar, for the date of a world and the age of what stands in it.

/// A day, as the number of days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(i64);

pub(in crate::space) const DAY_SECONDS: i64 = 86_400;

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Date {
    /// When the first servers dated their files, more or less.
    pub(in crate::space) const EARLIEST_CHANGE: Self = Self(9131);
    /// 2006-06-01.
    pub(in crate::space) const MIDDLE_OF_2006: Self = Self(13_300);

    /// Reads `2006-06-01`; from 1996, when there was a Web to survey, to 2099.
    pub(in crate::space) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let date = Self::of(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
        let is_day = date.to_string() == text && (1996..=2099).contains(&date.year());
        (is_day && parts.next().is_none()).then_some(date)
    }

    /// Days from civil (Howard Hinnant, "chrono-compatible low-level date algorithms"): years begin in
    /// March, so that the leap day is the last of a year.
    fn of(year: u16, month: u8, day: u8) -> Self {
        let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
        let year = if month <= 2 { year - 1 } else { year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Self(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }

    #[must_use]
    pub fn year(self) -> i64 {
        self.civil().0
    }

    /// Seconds since 1970 at which the day begins.
    pub(in crate::space) fn seconds(self) -> i64 {
        self.0 * DAY_SECONDS
    }

    fn civil(self) -> (i64, i64, i64) {
        let days = self.0 + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        (year + era * 400 + i64::from(month <= 2), month, day)
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A moment, in seconds since 1970, as an HTTP date (RFC 9110 §5.6.7).
pub(in crate::space) fn http_date(seconds: i64) -> String {
    let (days, of_day) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    let (year, month, day) = Date(days).civil();
    let name = |names: &[&'static str], number: i64| names[usize::try_from(number).unwrap_or(0)];
    let (weekday, month) = (name(&WEEKDAYS, days.rem_euclid(7)), name(&MONTHS, month - 1));
    let (hours, minutes, seconds) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hours:02}:{minutes:02}:{seconds:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_two_centuries_is_read_as_it_is_written() {
        for days in 9496..47_482 {
            assert_eq!(Date::parse(&Date(days).to_string()), Some(Date(days)), "{days}");
        }
        assert_eq!(Date(9131).to_string(), "1995-01-01");
        assert_eq!(Date::parse("2006-06-01"), Some(Date::MIDDLE_OF_2006));
        assert_eq!(Date::MIDDLE_OF_2006.year(), 2006);
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in
            ["", "2006", "2006-06", "2006-6-1", "2006-02-29", "2006-13-01", "2006-06-00", "1995-12-31"]
        {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        assert_eq!(Date::parse("2006-06-01-01"), None);
        assert_eq!(Date::parse("2100-01-01"), None);
    }

    #[test]
    fn moments_are_written_as_http_wants_them() {
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(http_date(951_868_799), "Tue, 29 Feb 2000 23:59:59 GMT");
    }
}
