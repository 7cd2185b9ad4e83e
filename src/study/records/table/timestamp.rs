use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// A moment in UTC, in microseconds since 1970: the resolution of the tables.
///
/// As text it is RFC 3339, always with `Z`: `2026-11-21T08:30:00.250000Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(pub i64);

/// Text that is not a time in the form that [`Timestamp`] writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a time (expected UTC such as '2026-11-21T08:30:00.250000Z')")]
pub struct TimestampError(pub String);

impl From<SystemTime> for Timestamp {
    /// Rounds down to whole microseconds; times beyond ±292,000 years are clamped.
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

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        let since = Duration::from_micros(time.0.unsigned_abs());
        if time.0 < 0 { UNIX_EPOCH - since } else { UNIX_EPOCH + since }
    }
}

impl Timestamp {
    /// The day, for readers: `2026-11-21`.
    #[must_use]
    pub fn day(self) -> String {
        self.in_calendar().format("%Y-%m-%d").to_string()
    }

    /// To the minute, for readers: `2026-11-21 08:30 UTC`.
    #[must_use]
    pub fn minute(self) -> String {
        self.in_calendar().format("%Y-%m-%d %H:%M UTC").to_string()
    }

    /// To the second, for readers: `2026-11-21 08:30:00 UTC`.
    #[must_use]
    pub fn second(self) -> String {
        self.in_calendar().format("%Y-%m-%d %H:%M:%S UTC").to_string()
    }

    /// A time beyond the calendar, which ends in the year 262142, becomes its last or first moment.
    fn in_calendar(self) -> DateTime<Utc> {
        let end = if self.0 < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
        DateTime::from_timestamp_micros(self.0).unwrap_or(end)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_calendar().to_rfc3339_opts(SecondsFormat::Micros, true))
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
    let is_utc = text.ends_with('Z') && text.contains('T');
    let moment = DateTime::parse_from_rfc3339(text).ok().filter(|_| is_utc)?;
    Some(moment.timestamp_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_of_the_system_is_the_same_after_a_table_has_held_it() {
        for micros in [-1_500_000, 0, 1_767_225_600_000_001] {
            assert_eq!(Timestamp::from(SystemTime::from(Timestamp(micros))), Timestamp(micros));
        }
    }
    use proptest::prelude::*;

    #[test]
    fn known_moments_are_written_as_rfc_3339() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp(951_782_400_250_000).to_string(), "2000-02-29T00:00:00.250000Z");
        assert_eq!(Timestamp(-1).to_string(), "1969-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp(4_107_542_399_000_000).to_string(), "2100-02-28T23:59:59.000000Z");
    }

    #[test]
    fn readers_are_told_the_day_the_minute_or_the_second() {
        let time: Timestamp = "2026-11-21T08:30:59.999999Z".parse().unwrap();
        assert_eq!(time.day(), "2026-11-21");
        assert_eq!(time.minute(), "2026-11-21 08:30 UTC");
        assert_eq!(time.second(), "2026-11-21 08:30:59 UTC");
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
            "1970-01-01t00:00:00Z",
            "1970-01-01T03:00:00+03:00",
            "1970-1-1T0:0:0Z",
        ] {
            let error = text.parse::<Timestamp>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("'{text}' is not a time")));
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
        fn any_moment_has_a_text(micros in any::<i64>()) {
            prop_assert!(Timestamp(micros).to_string().ends_with('Z'));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,40}") {
            let _ = text.parse::<Timestamp>();
        }
    }
}
