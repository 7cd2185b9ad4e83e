use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::analysis::curves::reading::counted;
use crate::analysis::{Kind, Reading};
use crate::settings::{Setting, Settings};

/// The network environment that a survey is planned for: what is there, how the survey would go about it, and
/// what it must keep within.
///
/// What is absent is as recorded, and a bound that is absent is none. It is written as a TOML file:
///
/// ```
/// use ccsurvey_study::analysis::Environment;
/// let text = "[servers]\nlink = \"512 kbit/s\"\nrtt = \"600ms\"\nshare = 0.05\n[survey]\ndays = 14\n";
/// let environment = Environment::parse(text).unwrap();
/// assert_eq!(environment.servers.link, Some(512_000.0));
/// let error = Environment::parse("[servers]\nlink = \"thin\"\n").err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "line 2: 'servers.link' is \"thin\", expected a link's capacity, for example \"512 kbit/s\" or \"4 Mbit/s\""
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Environment {
    /// What they may bear.
    pub servers: Servers,
    /// What the surveyor has to give.
    pub surveyor: Surveyor,
    /// How the next survey is to be made.
    pub survey: Plan,
}

/// The servers: each is taken to be like this.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Servers {
    /// Capacity of every server's link, in bits per second: none answers faster, and one that was measured to be
    /// slower stays so.
    #[serde(rename = "link_bits_per_second")]
    pub link: Option<f64>,
    /// From the surveyor to every server and back, in place of what was measured.
    #[serde(rename = "rtt_ms", serialize_with = "milliseconds")]
    pub rtt: Option<Duration>,
    /// The share of its link that a server's other users take: an exchange gets the rest at most.
    pub others: Option<f64>,
    /// Bound: the most of a server's link that the survey takes, over the time in which it is at the server.
    pub share: Option<f64>,
    /// Bound: requests that a server is asked.
    pub requests: Option<u64>,
    /// Bound: bytes that a server moves for the survey.
    pub bytes: Option<u64>,
}

/// The surveyor's own connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Surveyor {
    /// Capacity in bits per second.
    #[serde(rename = "link_bits_per_second")]
    pub link: Option<f64>,
    /// Bound: the most of it that the survey takes in its busiest hour; all of it where nothing is said.
    pub share: Option<f64>,
}

/// The survey that is planned.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// Bound: days that the survey may take.
    pub days: Option<f64>,
    /// Bound: the coverage wanted.
    pub coverage: Option<f64>,
    /// What coverage is counted in.
    pub of: Option<Kind>,
    /// None: as the survey counted.
    pub reading: Option<Reading>,
    /// That the depth covers what is wanted.
    pub confidence: Option<f64>,
    /// Keys of settings with their values, as they would stand behind a flag.
    #[serde(skip)]
    pub(super) said: Vec<(&'static str, String)>,
    /// The settings that decide how long a survey takes, once those of the survey are known.
    #[serde(flatten)]
    pace: Option<PlannedPace>,
}

impl Plan {
    /// The keys that are settings.
    pub(super) const SETTINGS: [&'static str; 6] =
        ["sites", "min-delay", "delay-factor", "harm", "max-delay", "rate"];

    /// The setting that a key of the plan is, whose bounds and words are those of the survey's.
    pub(super) fn setting(key: &str) -> Option<&'static Setting> {
        Setting::named(key).filter(|setting| Self::SETTINGS.contains(&setting.key))
    }

    /// The settings of a survey with what is planned otherwise; the plan then tells the others too.
    ///
    /// # Errors
    /// Says what is expected of a value that is none of its setting.
    pub fn settle(&mut self, mut settings: Settings) -> Result<Settings, String> {
        for (key, word) in &self.said {
            if let Some(setting) = Self::setting(key) {
                setting.parse_flag(&mut settings, std::slice::from_ref(word))?;
            }
        }
        self.pace = Some(PlannedPace::from_settings(&settings));
        Ok(settings)
    }

    /// What coverage is counted in.
    #[must_use]
    pub fn counted(&self) -> (Kind, Reading) {
        counted(self.of, self.reading)
    }
}

/// What the pauses and the parallelism of a survey follow from.
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

// The signature is serde's.
#[expect(clippy::ref_option, reason = "serde hands over the field itself")]
fn milliseconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(in_ms).serialize(serializer)
}

fn in_ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
