use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Hours of the day in which servers are not asked, by their own clocks; they may go over midnight.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use ccsurvey::settings::QuietHours;
/// let quiet: QuietHours = "08:00-18:00".parse().unwrap();
/// let hours = |hours: u64| UNIX_EPOCH + Duration::from_secs(hours * 3600);
/// // At six in London it is nine in Nairobi.
/// assert_eq!(quiet.over_at(hours(6), 180), Some(hours(15)));
/// assert_eq!(quiet.over_at(hours(6), 0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// Minutes after midnight.
    from: i64,
    to: i64,
}

const DAY: i64 = 24 * 60;
/// Those who were left alone are asked again spread over so long.
const WAKING: Duration = Duration::from_secs(15 * 60);

impl QuietHours {
    /// When they are over for one whose clock is so many minutes ahead of UTC; none outside of them.
    #[must_use]
    pub fn over_at(&self, now: SystemTime, offset_minutes: i32) -> Option<SystemTime> {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let minute = i64::try_from(since.as_secs() / 60).unwrap_or_default() + i64::from(offset_minutes);
        let passed = (minute - self.from).rem_euclid(DAY);
        let lasts = (self.to - self.from).rem_euclid(DAY);
        if passed >= lasts {
            return None;
        }
        // To the full minute: offsets have no seconds.
        let left = u64::try_from(lasts - passed).unwrap_or_default() * 60 - since.as_secs() % 60;
        Some(UNIX_EPOCH + Duration::from_secs(since.as_secs() + left))
    }

    /// When a server may be asked again that would be asked in them: within a quarter of an hour after their end,
    /// so that not all are asked at once.
    #[must_use]
    pub fn waking(&self, now: SystemTime, offset_minutes: i32, address: IpAddr) -> Option<SystemTime> {
        let chance = f64::from(crc32fast::hash(address.to_string().as_bytes())) / f64::from(u32::MAX);
        Some(self.over_at(now, offset_minutes)? + WAKING.mul_f64(chance))
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
            format!("'{text}' are no hours of the day (expected for example '08:00-18:00' or '22:00-06:00')")
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
        assert_eq!(quiet.over_at(at(7, 59, 59), 0), None);
        assert_eq!(quiet.over_at(at(8, 0, 0), 0), Some(at(18, 0, 0)));
        assert_eq!(quiet.over_at(at(17, 59, 59), 0), Some(at(18, 0, 0)));
        assert_eq!(quiet.over_at(at(18, 0, 0), 0), None);
    }

    #[test]
    fn quiet_hours_go_over_midnight_and_over_the_date_line() {
        let quiet: QuietHours = "22:30-06:00".parse().unwrap();
        assert_eq!(quiet.over_at(at(23, 0, 1), 0), Some(at(30, 0, 0)));
        assert_eq!(quiet.over_at(at(5, 0, 0), 0), Some(at(6, 0, 0)));
        assert_eq!(quiet.over_at(at(12, 0, 0), 0), None);
        // Noon in London: half past five in Nepal's evening, one in the morning in Tonga.
        assert_eq!(quiet.over_at(at(12, 0, 0), 345), None);
        assert_eq!(quiet.over_at(at(12, 0, 0), 780), Some(at(17, 0, 0)));
        assert_eq!(quiet.over_at(at(12, 0, 0), -660), Some(at(17, 0, 0)));
    }

    #[test]
    fn servers_wake_one_after_the_other() {
        let quiet: QuietHours = "08:00-18:00".parse().unwrap();
        let wakes = |number: u8| quiet.waking(at(9, 0, 0), 0, [41, 90, 0, number].into()).unwrap();
        let mut times: Vec<_> = (0..100).map(wakes).collect();
        assert!(times.iter().all(|time| (at(18, 0, 0)..=at(18, 15, 0)).contains(time)));
        times.sort();
        assert!(times[10] < at(18, 3, 0) && times[89] > at(18, 12, 0), "spread over the whole of it");
        times.dedup();
        assert!(times.len() > 95, "{}", times.len());
    }

    #[test]
    fn hours_are_read_as_they_are_written() {
        for text in ["08:00-18:00", "22:30-06:00", "18:00-24:00"] {
            assert_eq!(text.parse::<QuietHours>().unwrap().to_string(), text);
        }
        for text in
            ["", "8-18", "08:00", "25:00-26:00", "08:60-10:00", "24:30-06:00", "08:00-08:00", "00:00-24:00"]
        {
            let wrong = text.parse::<QuietHours>().unwrap_err();
            assert!(wrong.starts_with(&format!("'{text}' are no hours of the day")), "{wrong}");
        }
    }
}
