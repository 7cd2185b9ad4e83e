use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::SystemTime;

use chrono::{DateTime, Offset, TimeZone, Utc};
use chrono_tz::Tz;

/// The clocks that a server may go by: one where its time zone is known, all of its country where only the
/// country is known. Zones are those of the IANA database, with their daylight saving time.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use ccsurvey_address::LocalClocks;
/// let seconds = [1_767_225_600, 1_782_864_000];
/// let [winter, summer] = seconds.map(|second| UNIX_EPOCH + Duration::from_secs(second));
/// let offsets = |domain, time| {
///     LocalClocks::from_country(domain).map(|clocks| clocks.utc_offset_minutes(time))
/// };
/// assert_eq!((offsets("de", winter), offsets("DE", summer)), (Some(vec![60]), Some(vec![120])));
/// assert_eq!(offsets("es", summer), Some(vec![60, 120]), "the Canary Islands, and all else");
/// assert_eq!(offsets("com", summer), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalClocks(Cow<'static, [Tz]>);

/// The zones of each country, from IANA; see `data/README.md`.
const ZONES: &str = include_str!("data/zone.tab");

/// Domains of countries and territories that have another code in ISO 3166-1, or that have been divided
/// since.
const OTHER_NAMES: [(&str, &str); 3] = [("UK", "GB"), ("AC", "SH"), ("SU", "RU")];

/// `eu` is the domain of a union of countries: one capital for each of their zones.
const UNION: [Tz; 3] = [Tz::Europe__Lisbon, Tz::Europe__Brussels, Tz::Europe__Athens];

/// Country domains in scripts other than Latin, by country, from the Public Suffix List in `data`.
#[rustfmt::skip]
const OTHER_SCRIPTS: [(&str, &str); 43] = [
    ("AE", "xn--mgbaam7a8h"),
    ("AM", "xn--y9a3aq"),
    ("BD", "xn--54b7fta0cc"),
    ("BG", "xn--90ae"),
    ("BH", "xn--mgbcpq6gpa1a"),
    ("BY", "xn--90ais"),
    ("CN", "xn--fiqs8s xn--fiqz9s"),
    ("DZ", "xn--lgbbat1ad8j"),
    ("EG", "xn--wgbh1c"),
    ("EU", "xn--e1a4c xn--qxa6a"),
    ("GE", "xn--node"),
    ("GR", "xn--qxam"),
    ("HK", "xn--j6w193g"),
    ("IL", "xn--4dbrk0ce"),
    ("IN", "xn--2scrj9c xn--3hcrj9c xn--45br5cyl xn--45brj9c xn--fpcrj9c3d xn--gecrj9c xn--h2breg3eve xn--h2brj9c xn--h2brj9c8c xn--mgbbh1a xn--mgbbh1a71e xn--mgbgu82a xn--rvc1e0am3e xn--s9brj9c xn--xkc2dl3a5ee0h"),
    ("IQ", "xn--mgbtx2b"),
    ("IR", "xn--mgba3a4f16a xn--mgba3a4fra"),
    ("JO", "xn--mgbayh7gpa"),
    ("KR", "xn--3e0b707e"),
    ("KZ", "xn--80ao21a"),
    ("LA", "xn--q7ce6a"),
    ("LK", "xn--fzc2c9e2c xn--xkc2al3hye2a"),
    ("MA", "xn--mgbc0a9azcg"),
    ("MK", "xn--d1alf"),
    ("MN", "xn--l1acc"),
    ("MO", "xn--mix082f xn--mix891f"),
    ("MR", "xn--mgbah1a3hjkrd"),
    ("MY", "xn--mgbx4cd0ab"),
    ("OM", "xn--mgb9awbf"),
    ("PK", "xn--mgbai9a5eva00b xn--mgbai9azgqp6j"),
    ("PS", "xn--ygbi2ammx"),
    ("QA", "xn--wgbl6a"),
    ("RS", "xn--90a3ac"),
    ("RU", "xn--p1ai"),
    ("SA", "xn--mgberp4a5d4a87g xn--mgberp4a5d4ar xn--mgbqly7c0a67fbc xn--mgbqly7cvafr"),
    ("SD", "xn--mgbpl2fh"),
    ("SG", "xn--clchc0ea0b2g2a9gcd xn--yfro4i67o"),
    ("SY", "xn--mgbtf8fl xn--ogbpf8fl"),
    ("TH", "xn--o3cw4h"),
    ("TN", "xn--pgbs0dh"),
    ("TW", "xn--kprw13d xn--kpry57d xn--nnx388a"),
    ("UA", "xn--j1amh"),
    ("YE", "xn--mgb2ddes"),
];

impl LocalClocks {
    /// The clock of a zone, by the zone's name in the IANA database, such as `Europe/Berlin`.
    #[must_use]
    pub fn from_zone(name: &str) -> Option<Self> {
        Some(Self(Cow::Owned(vec![name.parse().ok()?])))
    }

    /// The clocks of a country, by its code in ISO 3166-1 (`KE`) or its domain (`ke`, `xn--p1ai`), in any
    /// case; `None` for any other text.
    #[must_use]
    pub fn from_country(country: &str) -> Option<Self> {
        static BY_COUNTRY: OnceLock<HashMap<&'static str, Vec<Tz>>> = OnceLock::new();
        let in_latin = OTHER_SCRIPTS
            .iter()
            .find(|(_, domains)| domains.split(' ').any(|domain| domain.eq_ignore_ascii_case(country)));
        let code = in_latin.map_or_else(|| country.to_ascii_uppercase(), |(code, _)| (*code).to_owned());
        let code =
            OTHER_NAMES.iter().find(|(name, _)| *name == code).map_or(code.as_str(), |(_, code)| *code);
        if code == "EU" {
            return Some(Self(Cow::Borrowed(&UNION)));
        }
        let zones = BY_COUNTRY.get_or_init(zones_by_country).get(code)?;
        Some(Self(Cow::Borrowed(zones)))
    }

    /// The clock for a server whose country is unknown.
    #[must_use]
    pub fn utc() -> Self {
        Self(Cow::Borrowed(&[Tz::UTC]))
    }

    /// The zones.
    #[must_use]
    pub fn zones(&self) -> &[Tz] {
        &self.0
    }

    /// How many minutes the clocks are ahead of UTC at a time; in ascending order, each number once.
    #[must_use]
    pub fn utc_offset_minutes(&self, time: SystemTime) -> Vec<i32> {
        let time = DateTime::<Utc>::from(time).naive_utc();
        let offset_minutes =
            |zone: &Tz| zone.offset_from_utc_datetime(&time).fix().local_minus_utc().div_euclid(60);
        let mut minutes: Vec<i32> = self.0.iter().map(offset_minutes).collect();
        minutes.sort_unstable();
        minutes.dedup();
        minutes
    }
}

fn zones_by_country() -> HashMap<&'static str, Vec<Tz>> {
    let mut zones: HashMap<&'static str, Vec<Tz>> = HashMap::new();
    for line in ZONES.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        if let (Some(country), Some(zone)) =
            (columns.next(), columns.nth(1).and_then(|name| name.parse().ok()))
        {
            zones.entry(country).or_default().push(zone);
        }
    }
    zones
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn at(time: &str) -> SystemTime {
        UNIX_EPOCH
            + Duration::from_secs(u64::try_from(time.parse::<DateTime<Utc>>().unwrap().timestamp()).unwrap())
    }

    fn offset_minutes(country: &str, time: &str) -> Vec<i32> {
        LocalClocks::from_country(country).unwrap().utc_offset_minutes(at(time))
    }

    #[test]
    fn clocks_go_forward_and_back_to_the_second() {
        for (country, time, minutes) in [
            ("de", "2026-03-29T00:59:59Z", 60),
            ("de", "2026-03-29T01:00:00Z", 120),
            ("de", "2026-10-25T00:59:59Z", 120),
            ("de", "2026-10-25T01:00:00Z", 60),
            ("uk", "2026-07-01T00:00:00Z", 60),
            ("ie", "2026-07-01T00:00:00Z", 60),
            ("ke", "2026-07-01T00:00:00Z", 180),
            ("nz", "2026-01-01T00:00:00Z", 825),
            ("ir", "2026-07-01T00:00:00Z", 210),
            ("np", "2026-07-01T00:00:00Z", 345),
            ("eg", "2026-07-01T00:00:00Z", 180),
            ("il", "2026-07-01T00:00:00Z", 180),
            ("ma", "2026-07-01T00:00:00Z", 60),
        ] {
            assert_eq!(offset_minutes(country, time).last(), Some(&minutes), "{country} {time}");
        }
    }

    #[test]
    fn a_country_of_several_zones_has_the_clocks_of_all() {
        assert_eq!(offset_minutes("us", "2026-01-15T12:00:00Z"), [-600, -540, -480, -420, -360, -300]);
        assert_eq!(offset_minutes("us", "2026-07-15T12:00:00Z"), [-600, -540, -480, -420, -360, -300, -240]);
        assert_eq!(
            offset_minutes("RU", "2026-07-15T12:00:00Z"),
            [120, 180, 240, 300, 360, 420, 480, 540, 600, 660, 720]
        );
        assert_eq!(
            offset_minutes("su", "2026-07-15T12:00:00Z"),
            offset_minutes("xn--p1ai", "2026-07-15T12:00:00Z")
        );
        assert_eq!(offset_minutes("au", "2026-01-15T12:00:00Z"), [480, 525, 570, 600, 630, 660]);
        assert_eq!(offset_minutes("cl", "2026-01-15T12:00:00Z"), [-300, -180]);
        assert_eq!(offset_minutes("eu", "2026-07-15T12:00:00Z"), [60, 120, 180]);
    }

    #[test]
    fn a_zone_that_is_known_is_the_only_one() {
        let zone = |name| {
            LocalClocks::from_zone(name).map(|clocks| clocks.utc_offset_minutes(at("2026-07-15T12:00:00Z")))
        };
        assert_eq!(zone("America/Los_Angeles"), Some(vec![-420]));
        assert_eq!(zone("Asia/Calcutta"), Some(vec![330]), "a former name");
        assert_eq!((zone(""), zone("Mars/Olympus")), (None, None));
    }

    #[test]
    fn what_is_no_country_has_no_clock() {
        for other in ["", " ", "com", "k", "KE TZ", "xn--", "xn--p1acf"] {
            assert_eq!(LocalClocks::from_country(other), None, "{other}");
        }
        assert_eq!(LocalClocks::utc().utc_offset_minutes(at("2026-07-15T12:00:00Z")), [0]);
    }

    #[test]
    fn every_zone_of_every_country_is_one_that_is_known() {
        let lines: Vec<&str> = ZONES.lines().filter(|line| !line.starts_with('#')).collect();
        let by_country = zones_by_country();
        assert_eq!(by_country.values().map(Vec::len).sum::<usize>(), lines.len());
        assert!(lines.len() > 400 && by_country.len() > 240, "{} zones", lines.len());
    }

    #[test]
    fn domains_in_other_scripts_are_those_of_the_public_suffix_list() {
        let mut listed: Vec<(&str, &str)> = Vec::new();
        for line in include_str!("../../data/public_suffix_list.dat").lines() {
            let Some((domain, country)) = line.strip_prefix("// ").and_then(|line| line.rsplit_once(": "))
            else {
                continue;
            };
            let is_country = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_uppercase());
            if domain.starts_with("xn--") && is_country {
                listed.push((country, domain.split(' ').next().unwrap()));
            }
        }
        let mut known: Vec<(&str, &str)> = OTHER_SCRIPTS
            .iter()
            .flat_map(|(code, all)| all.split(' ').map(|domain| (*code, domain)))
            .collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, listed);
        assert!(known.iter().all(|(_, domain)| LocalClocks::from_country(domain).is_some()));
    }
}
