use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::address::LocalClocks;

/// Hours of the day in which servers get no requests, by their local clocks; they may span midnight.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use ccsurvey_core::settings::QuietHours;
/// let quiet: QuietHours = "08:00-18:00".parse().unwrap();
/// let hours = |hours: u64| UNIX_EPOCH + Duration::from_secs(hours * 3600);
/// // At six in London it is nine in Nairobi.
/// assert_eq!(quiet.ends_at(hours(6), 180), Some(hours(15)));
/// assert_eq!(quiet.ends_at(hours(6), 0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// Minutes after midnight.
    from: i64,
    to: i64,
}

const DAY: i64 = 24 * 60;
/// The longest search for an end. If it is always quiet by one clock or another, no request is sent for this
/// long, and then the search starts again.
const LONGEST: Duration = Duration::from_hours(48);
/// After the quiet hours the first requests to servers are spread over this time.
const WAKING: Duration = Duration::from_secs(15 * 60);

impl QuietHours {
    /// When the quiet hours end by a clock that is `offset_minutes` ahead of UTC; none outside of them.
    #[must_use]
    pub fn ends_at(&self, now: SystemTime, offset_minutes: i32) -> Option<SystemTime> {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let minute = i64::try_from(since.as_secs() / 60).unwrap_or_default() + i64::from(offset_minutes);
        let passed = (minute - self.from).rem_euclid(DAY);
        let length = (self.to - self.from).rem_euclid(DAY);
        if passed >= length {
            return None;
        }
        // Up to the full minute: offsets have no seconds.
        let remaining = u64::try_from(length - passed).unwrap_or_default() * 60 - since.as_secs() % 60;
        Some(UNIX_EPOCH + Duration::from_secs(since.as_secs() + remaining))
    }

    /// When the quiet hours end by all of these clocks; none outside of them. If the clocks change meanwhile,
    /// the result may be an hour late.
    #[must_use]
    pub fn ends_by(&self, now: SystemTime, clocks: &LocalClocks) -> Option<SystemTime> {
        let (mut end, mut time) = (None, now);
        while time <= now + LONGEST
            && let Some(next) = clocks
                .utc_offset_minutes(time)
                .into_iter()
                .filter_map(|offset| self.ends_at(time, offset))
                .max()
        {
            (end, time) = (Some(next), next);
        }
        end
    }

    /// When a server may get its next request, if it is quiet there now: within a quarter of an hour after
    /// the end of the quiet hours, so that not all servers get requests at once.
    #[must_use]
    pub fn wake_time(&self, now: SystemTime, clocks: &LocalClocks, address: IpAddr) -> Option<SystemTime> {
        let chance = f64::from(crc32fast::hash(address.to_string().as_bytes())) / f64::from(u32::MAX);
        Some(self.ends_by(now, clocks)? + WAKING.mul_f64(chance))
    }

    /// The first minute and the minute after the last, after midnight; the hours span midnight if the first
    /// is later.
    #[must_use]
    pub fn minutes(&self) -> [i64; 2] {
        [self.from, self.to]
    }
}

impl FromStr for QuietHours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minute = |clock: &str| {
            let (hours, minutes) = clock.trim().split_once(':')?;
            let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
            (minutes < 60 && hours * 60 + minutes <= 24 * 60).then(|| i64::from(hours * 60 + minutes))
        };
        let hours = text.trim().split_once('-').and_then(|(from, to)| Some((minute(from)?, minute(to)?)));
        let (from, to) = hours.filter(|(from, to)| (from - to) % DAY != 0).ok_or_else(|| {
            format!("'{text}' is not a time range (expected for example '08:00-18:00' or '22:00-06:00')")
        })?;
        Ok(Self { from, to })
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = [self.from, self.to].map(|minute| format!("{:02}:{:02}", minute / 60, minute % 60));
        write!(f, "{from}-{to}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: u64, minutes: u64, seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(((30 * 24 + hours) * 60 + minutes) * 60 + seconds)
    }

    #[test]
    fn quiet_hours_begin_and_end_to_the_second() {
        let quiet: QuietHours = "08:00-18:00".parse().unwrap();
        assert_eq!(quiet.ends_at(at(7, 59, 59), 0), None);
        assert_eq!(quiet.ends_at(at(8, 0, 0), 0), Some(at(18, 0, 0)));
        assert_eq!(quiet.ends_at(at(17, 59, 59), 0), Some(at(18, 0, 0)));
        assert_eq!(quiet.ends_at(at(18, 0, 0), 0), None);
    }

    #[test]
    fn quiet_hours_go_over_midnight_and_over_the_date_line() {
        let quiet: QuietHours = "22:30-06:00".parse().unwrap();
        assert_eq!(quiet.ends_at(at(23, 0, 1), 0), Some(at(30, 0, 0)));
        assert_eq!(quiet.ends_at(at(5, 0, 0), 0), Some(at(6, 0, 0)));
        assert_eq!(quiet.ends_at(at(12, 0, 0), 0), None);
        // Noon in London: half past five in the evening in Nepal, one in the morning in Tonga.
        assert_eq!(quiet.ends_at(at(12, 0, 0), 345), None);
        assert_eq!(quiet.ends_at(at(12, 0, 0), 780), Some(at(17, 0, 0)));
        assert_eq!(quiet.ends_at(at(12, 0, 0), -660), Some(at(17, 0, 0)));
    }

    #[test]
    fn servers_wake_one_after_the_other() {
        let quiet: QuietHours = "08:00-18:00".parse().unwrap();
        let clocks = LocalClocks::utc();
        let wakes = |number: u8| quiet.wake_time(at(9, 0, 0), &clocks, [41, 90, 0, number].into()).unwrap();
        let mut times: Vec<_> = (0..100).map(wakes).collect();
        assert!(times.iter().all(|time| (at(18, 0, 0)..=at(18, 15, 0)).contains(time)));
        times.sort();
        assert!(times[10] < at(18, 3, 0) && times[89] > at(18, 12, 0), "spread over the whole of it");
        times.dedup();
        assert!(times.len() > 95, "{}", times.len());
    }

    /// An hour of 2026-07-15, in UTC.
    fn in_july(hour: f64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_784_073_600) + Duration::from_secs_f64(hour * 3600.0)
    }

    #[test]
    fn quiet_hours_are_those_of_summer_in_summer() {
        let quiet: QuietHours = "08:00-18:00".parse().unwrap();
        let berlin = LocalClocks::from_country("de").unwrap();
        for (hour, end) in
            [(5.9, None), (6.0, Some(16.0)), (6.5, Some(16.0)), (15.9, Some(16.0)), (16.0, None)]
        {
            assert_eq!(quiet.ends_by(in_july(hour), &berlin), end.map(in_july), "{hour}");
        }
    }

    #[test]
    fn an_hour_is_quiet_where_it_is_in_any_zone_of_a_country() {
        let quiet: QuietHours = "08:00-18:00".parse().unwrap();
        let states = LocalClocks::from_country("us").unwrap();
        // From eight in New York to six in the afternoon in Honolulu, the next day in UTC.
        for (hour, end) in
            [(11.9, None), (12.0, Some(28.0)), (20.0, Some(28.0)), (27.9, Some(28.0)), (28.0, None)]
        {
            assert_eq!(quiet.ends_by(in_july(hour), &states), end.map(in_july), "{hour}");
        }
        let california = LocalClocks::from_zone("America/Los_Angeles").unwrap();
        assert_eq!(quiet.ends_by(in_july(12.0), &california), None);
        // In Russia it is always between four and midnight by one clock or another.
        let nearly_always: QuietHours = "04:00-24:00".parse().unwrap();
        let russia = LocalClocks::from_country("ru").unwrap();
        assert!(nearly_always.ends_by(in_july(1.0), &russia).is_some_and(|end| end >= in_july(49.0)));
    }

    #[test]
    fn a_night_in_which_clocks_change_is_quiet_to_its_end() {
        let quiet: QuietHours = "22:00-06:00".parse().unwrap();
        let berlin = LocalClocks::from_country("de").unwrap();
        let utc = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        // 2026-10-25: one hour comes twice. From ten in the evening (20:00 UTC) to six in the morning (05:00
        // UTC).
        assert_eq!(quiet.ends_by(utc(1_792_872_000), &berlin), Some(utc(1_792_872_000 + 9 * 3600)));
        // 2026-03-29: one hour is skipped; the night ends at 04:00 UTC, and the result is at most an hour
        // later.
        let end = quiet.ends_by(utc(1_774_731_600), &berlin).unwrap();
        assert!((utc(1_774_731_600 + 7 * 3600)..=utc(1_774_731_600 + 8 * 3600)).contains(&end));
    }

    #[test]
    fn hours_are_read_as_they_are_written() {
        for text in ["08:00-18:00", "22:30-06:00", "18:00-24:00"] {
            assert_eq!(text.parse::<QuietHours>().unwrap().to_string(), text);
        }
        for text in
            ["", "8-18", "08:00", "25:00-26:00", "08:60-10:00", "24:30-06:00", "08:00-08:00", "00:00-24:00"]
        {
            let error = text.parse::<QuietHours>().unwrap_err();
            assert!(error.starts_with(&format!("'{text}' is not a time range")), "{error}");
        }
    }
}
