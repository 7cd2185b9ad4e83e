use std::time::SystemTime;

use chrono::{DateTime, TimeZone, Timelike, Utc};
use chrono_tz::Tz;

use crate::address::LocalClocks;
use crate::settings::QuietHours;

/// The location of a server, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerLocation {
    /// Its time zone, from a database of addresses.
    pub time_zone: Option<String>,
    /// Its country, from a database of addresses.
    pub country: Option<String>,
    /// The last label of its site's name.
    pub domain: String,
}

/// Whether a time is in the quiet hours of a server: by local time in its time zone, if that is known, and
/// otherwise by local time anywhere in its country. The time that the survey waits for has no influence on
/// it.
#[must_use]
pub fn is_quiet(quiet: &QuietHours, time: SystemTime, server: &ServerLocation) -> bool {
    let time = DateTime::<Utc>::from(time).naive_utc();
    let [from, to] = quiet.minutes();
    let is_within = |zone: &Tz| {
        let clock = zone.from_utc_datetime(&time);
        let minute = i64::from(clock.hour() * 60 + clock.minute());
        if from < to { (from..to).contains(&minute) } else { minute >= from || minute < to }
    };
    zones(server).iter().any(is_within)
}

fn zones(server: &ServerLocation) -> Vec<Tz> {
    if let Some(zone) = server.time_zone.as_deref().and_then(|name| name.parse().ok()) {
        return vec![zone];
    }
    let mut countries = server.country.as_deref().into_iter().chain([server.domain.as_str()]);
    let clocks = countries.find_map(LocalClocks::from_country);
    clocks.map_or_else(|| vec![Tz::UTC], |clocks| clocks.zones().to_vec())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use proptest::prelude::*;

    use super::*;

    fn at(time: &str) -> SystemTime {
        let seconds = time.parse::<DateTime<Utc>>().unwrap().timestamp();
        UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap())
    }

    fn location(time_zone: Option<&str>, country: Option<&str>, domain: &str) -> ServerLocation {
        let [time_zone, country] = [time_zone, country].map(|text| text.map(str::to_owned));
        ServerLocation { time_zone, country, domain: domain.to_owned() }
    }

    #[test]
    fn clocks_on_walls_count() {
        let day = "08:00-18:00".parse().unwrap();
        for (time, server, is_in) in [
            // Half past eight in the morning in Berlin in summer, and half past six in the evening.
            ("2026-07-01T06:30:00Z", location(None, None, "de"), true),
            ("2026-07-01T16:30:00Z", location(None, None, "de"), false),
            ("2026-01-01T06:30:00Z", location(None, None, "de"), false),
            ("2026-01-01T16:30:00Z", location(None, None, "de"), true),
            ("2026-07-01T06:30:00Z", location(None, Some("DE"), "ke"), true),
            ("2026-07-01T06:30:00Z", location(None, None, "com"), false),
            ("2026-07-01T06:30:00Z", location(Some("Nowhere/Town"), Some("DE"), "ke"), true),
            // Eight in the evening in New York, two in the afternoon in Honolulu.
            ("2026-07-02T00:00:00Z", location(None, Some("US"), "com"), true),
            ("2026-07-02T00:00:00Z", location(Some("America/New_York"), Some("US"), "com"), false),
            ("2026-07-02T00:00:00Z", location(Some("Pacific/Honolulu"), Some("US"), "com"), true),
        ] {
            assert_eq!(is_quiet(&day, at(time), &server), is_in, "{time} {server:?}");
        }
        let night = "22:30-06:00".parse().unwrap();
        for (time, is_in) in [("20:29", false), ("20:30", true), ("03:59", true), ("04:00", false)] {
            let time = at(&format!("2026-07-01T{time}:00Z"));
            assert_eq!(is_quiet(&night, time, &location(None, None, "de")), is_in);
        }
    }

    proptest! {
        /// The rule that surveys wait by, an independent implementation, has the same result.
        #[test]
        fn who_waits_and_who_judges_agree(
            second in 1_700_000_000u64..2_100_000_000,
            country in prop::sample::select(vec!["de", "us", "ru", "ke", "au", "br", "ie", "np", "cl", "nz", "eu", "ma", "aq", "com"]),
            [from, to] in prop::array::uniform2(0u32..24 * 60),
        ) {
            prop_assume!(from != to);
            let written = format!("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60);
            let quiet: QuietHours = written.parse().unwrap();
            let time = UNIX_EPOCH + Duration::from_secs(second);
            let clocks = LocalClocks::from_country(country).unwrap_or_else(LocalClocks::utc);
            let over = quiet.ends_by(time, &clocks);
            prop_assert_eq!(over.is_some(), is_quiet(&quiet, time, &location(None, None, country)));
            if let Some(over) = over.filter(|over| *over <= time + Duration::from_secs(48 * 3600)) {
                prop_assert!(!is_quiet(&quiet, over, &location(None, None, country)));
            }
        }
    }
}
