use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

const MICROSECONDS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// A moment in UTC, in microseconds since 1970: the resolution of the tables.
///
/// As text it is RFC 3339, always with `Z`: `2026-11-21T08:30:00.250000Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(pub i64);

/// Text that is no moment of the form that [`Timestamp`] writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a time (expected UTC such as '2026-11-21T08:30:00.250000Z')")]
pub struct TimestampError(pub String);

impl From<SystemTime> for Timestamp {
    /// Cuts to whole microseconds, towards the past; moments beyond ±292,000 years are clamped.
    fn from(time: SystemTime) -> Self {
        let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(match time.duration_since(UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => {
                let part = i64::from(before.duration().subsec_nanos() % 1000 != 0);
                micros(before.duration()).saturating_add(part).saturating_neg()
            }
        })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(MICROSECONDS_PER_SECOND);
        let (year, month, day) = civil_date(seconds.div_euclid(SECONDS_PER_DAY));
        let second = seconds.rem_euclid(SECONDS_PER_DAY);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
            second / 3600,
            second / 60 % 60,
            second % 60,
            self.0.rem_euclid(MICROSECONDS_PER_SECOND)
        )
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map(Self).ok_or_else(|| TimestampError(text.to_owned()))
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = TimestampError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Microseconds since 1970 of `YYYY-MM-DDThh:mm:ss[.f…]Z`.
fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    let day_number = (1..=12).contains(&month).then(|| day_number(year, month, day))?;
    if civil_date(day_number) != (year, month, day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let micros: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let seconds = day_number * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    seconds.checked_mul(MICROSECONDS_PER_SECOND)?.checked_add(micros)
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let digits = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse::<i64>().ok()).flatten()
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last of its year; 719,468 days lie
/// between 0000-03-01 and 1970-01-01.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01: the inverse of [`day_number`].
fn civil_date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let month = (march_month + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * march_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments_are_written_as_rfc_3339() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp(951_782_400_250_000).to_string(), "2000-02-29T00:00:00.250000Z");
        assert_eq!(Timestamp(-1).to_string(), "1969-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp(4_107_542_399_000_000).to_string(), "2100-02-28T23:59:59.000000Z");
    }

    #[test]
    fn a_fraction_may_be_missing_or_shorter() {
        assert_eq!("1970-01-01T00:00:01Z".parse(), Ok(Timestamp(1_000_000)));
        assert_eq!("1970-01-01T00:00:01.5Z".parse(), Ok(Timestamp(1_500_000)));
    }

    #[test]
    fn other_text_is_refused_by_name() {
        for text in [
            "",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01 00:00:00Z",
            "1970-01-01T00:00:00.Z",
        ] {
            let wrong = text.parse::<Timestamp>().unwrap_err();
            assert!(wrong.to_string().starts_with(&format!("'{text}' is not a time")));
        }
    }

    #[test]
    fn a_moment_before_1970_is_cut_towards_the_past() {
        let time = UNIX_EPOCH - Duration::from_nanos(1_500);
        assert_eq!(Timestamp::from(time), Timestamp(-2));
    }

    proptest! {
        #[test]
        fn every_moment_of_the_calendar_comes_back_from_its_text(micros in 0i64..253_402_300_800_000_000) {
            let time = Timestamp(micros);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,40}") {
            let _ = text.parse::<Timestamp>();
        }
    }
}
