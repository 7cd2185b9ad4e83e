//! Calendar days, for the date of a world and the age of its pages.

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc};

/// A calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(NaiveDate);

pub(crate) const DAY_SECONDS: i64 = 86_400;

impl Date {
    /// Roughly when the first servers dated their files.
    pub(crate) const EARLIEST_CHANGE: Self = Self::first_of(1995, 1);
    pub(crate) const MIDDLE_OF_2006: Self = Self::first_of(2006, 6);

    const fn first_of(year: i32, month: u32) -> Self {
        match NaiveDate::from_ymd_opt(year, month, 1) {
            Some(day) => Self(day),
            None => Self(NaiveDate::MIN),
        }
    }

    /// Parses `2006-06-01`; years from 1996, when there was a Web to survey, to 2099.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let date = Self(text.parse().ok()?);
        (date.to_string() == text && (1996..=2099).contains(&date.year())).then_some(date)
    }

    #[must_use]
    /// The year of the Gregorian calendar.
    pub fn year(self) -> i64 {
        i64::from(self.0.year())
    }

    /// The start of the day in seconds since 1970.
    pub(crate) fn seconds(self) -> i64 {
        self.0.and_time(NaiveTime::MIN).and_utc().timestamp()
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A time in seconds since 1970, as an HTTP date (RFC 9110 §5.6.7).
pub(crate) fn http_date(seconds: i64) -> String {
    let moment = DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MAX_UTC);
    moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_two_centuries_is_read_as_it_is_written() {
        let days: Vec<NaiveDate> = Date::first_of(1996, 1).0.iter_days().take(37_986).collect();
        for day in &days {
            assert_eq!(Date::parse(&Date(*day).to_string()), Some(Date(*day)));
        }
        assert_eq!(days.last().map(ToString::to_string).as_deref(), Some("2099-12-31"));
        assert_eq!(Date::EARLIEST_CHANGE.to_string(), "1995-01-01");
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
