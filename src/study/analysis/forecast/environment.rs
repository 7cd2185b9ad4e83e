use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::analysis::curves::reading::counted;
use crate::analysis::{Kind, Reading};
use crate::settings::{Setting, Settings};

/// The network environment that a survey is planned for: the links of the servers and of the surveyor, the
/// settings of the survey, and the bounds that it must keep.
///
/// A missing value is taken as recorded, and a missing bound does not apply. The environment is written as a
/// TOML file:
///
/// ```
/// use ccsurvey_study::analysis::Environment;
/// let text = "[servers]\nlink = \"512 kbit/s\"\nrtt = \"600ms\"\nshare = 0.05\n[survey]\ndays = 14\n";
/// let environment = Environment::parse(text).unwrap();
/// assert_eq!(environment.servers.link, Some(512_000.0));
/// let error = Environment::parse("[servers]\nlink = \"thin\"\n").err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "line 2: 'servers.link' is \"thin\", expected a link's capacity, for example \"512 kbit/s\" or \
///      \"4 Mbit/s\""
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Environment {
    /// The servers and the bounds on their load.
    pub servers: Servers,
    /// The connection of the surveyor.
    pub surveyor: Surveyor,
    /// The settings and bounds of the next survey.
    pub survey: Plan,
}

/// Properties and bounds that apply to every server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Servers {
    /// Capacity of every server's link, in bits per second. No server responds faster, and a server that was
    /// measured as slower keeps its measured rate.
    #[serde(rename = "link_bits_per_second")]
    pub link: Option<f64>,
    /// Round-trip time between the surveyor and every server, in place of the measured times.
    #[serde(rename = "rtt_ms", serialize_with = "milliseconds")]
    pub rtt: Option<Duration>,
    /// The share of its link that a server's other users take. An exchange gets at most the remainder.
    pub others: Option<f64>,
    /// Bound: the largest share of a server's link that the survey takes, over the time from the first
    /// request to the end of the last pause at the server.
    pub share: Option<f64>,
    /// Bound: requests per server.
    pub requests: Option<u64>,
    /// Bound: bytes that a server transfers for the survey.
    pub bytes: Option<u64>,
}

/// The surveyor's own connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Surveyor {
    /// Capacity of the link in bits per second.
    #[serde(rename = "link_bits_per_second")]
    pub link: Option<f64>,
    /// Bound: the largest share of the link that the survey takes in its busiest hour. Default: the whole
    /// link.
    pub share: Option<f64>,
}

/// The planned survey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// Bound: days that the survey may take.
    pub days: Option<f64>,
    /// Bound: the coverage that the survey must reach.
    pub coverage: Option<f64>,
    /// The kind in which coverage is counted.
    pub of: Option<Kind>,
    /// The reading of coverage; none means the default.
    pub reading: Option<Reading>,
    /// The probability that the recommended depth reaches the wanted coverage.
    pub confidence: Option<f64>,
    /// Keys of settings, with their values as they would follow a flag.
    #[serde(skip)]
    pub(super) given: Vec<(&'static str, String)>,
    /// The settings that determine how long a survey takes; set once the settings of the survey are known.
    #[serde(flatten)]
    pace: Option<PlannedPace>,
}

impl Plan {
    /// The keys of the plan that are settings of a survey.
    pub(super) const SETTINGS: [&'static str; 6] =
        ["sites", "min-delay", "delay-factor", "harm", "max-delay", "rate"];

    /// The setting with this key. Its bounds and its syntax are the same as in a survey.
    pub(super) fn setting(key: &str) -> Option<&'static Setting> {
        Setting::named(key).filter(|setting| Self::SETTINGS.contains(&setting.key))
    }

    /// Applies the planned values to the settings of a survey. Afterwards the plan reports all settings of
    /// the pace.
    ///
    /// # Errors
    /// A value is invalid for its setting; the message says what is expected.
    pub fn apply_to(&mut self, mut settings: Settings) -> Result<Settings, String> {
        for (key, word) in &self.given {
            if let Some(setting) = Self::setting(key) {
                setting.parse_flag(&mut settings, std::slice::from_ref(word))?;
            }
        }
        self.pace = Some(PlannedPace::from_settings(&settings));
        Ok(settings)
    }

    /// The kind and the reading in which coverage is counted.
    #[must_use]
    pub fn counted(&self) -> (Kind, Reading) {
        counted(self.of, self.reading)
    }
}

/// The settings that determine the pauses and the parallelism of a survey.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct PlannedPace {
    sites: usize,
    min_delay_ms: f64,
    delay_factor: f64,
    harm: Option<f64>,
    max_delay_ms: f64,
    rate_bytes_per_second: Option<u64>,
}

impl PlannedPace {
    fn from_settings(settings: &Settings) -> Self {
        Self {
            sites: settings.sites,
            min_delay_ms: in_ms(settings.min_delay.0),
            delay_factor: settings.delay_factor,
            harm: settings.harm,
            max_delay_ms: in_ms(settings.max_delay.0),
            rate_bytes_per_second: settings.rate.map(|rate| rate.0),
        }
    }
}

// serde prescribes the signature.
#[expect(clippy::ref_option, reason = "serde hands over the field itself")]
fn milliseconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(in_ms).serialize(serializer)
}

fn in_ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
