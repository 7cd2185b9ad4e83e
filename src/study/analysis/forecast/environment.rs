use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::analysis::curves::reading::counted;
use crate::analysis::{Kind, Reading};

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
/// let wrong = Environment::parse("[servers]\nlink = \"thin\"\n").err().unwrap();
/// assert_eq!(
///     wrong.to_string(),
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
    /// Sites walked at once.
    pub sites: Option<usize>,
    /// Least pause between two exchanges at an address.
    #[serde(rename = "min_delay_ms", serialize_with = "milliseconds")]
    pub min_delay: Option<Duration>,
    /// Pause as a multiple of the time that the last answer took.
    pub delay_factor: Option<f64>,
    /// By how much longer others may wait for answers, as a share.
    pub harm: Option<Ceiling<f64>>,
    /// Most that a slow exchange or a back-off makes us pause.
    #[serde(rename = "max_delay_ms", serialize_with = "milliseconds")]
    pub max_delay: Option<Duration>,
    /// Bytes per second, both ways, of the whole survey.
    #[serde(rename = "rate_bytes_per_second")]
    pub rate: Option<Ceiling<u64>>,
}

impl Plan {
    /// What coverage is counted in.
    #[must_use]
    pub fn counted(&self) -> (Kind, Reading) {
        counted(self.of, self.reading)
    }
}

/// A ceiling, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Ceiling<T>(pub Option<T>);

// The signature is serde's.
#[expect(clippy::ref_option, reason = "serde hands over the field itself")]
fn milliseconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64() * 1000.0).serialize(serializer)
}
