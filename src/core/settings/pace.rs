use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::declared::Settings;

/// The pace of requests to servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Least pause at an address. 2 s: at the median page of 32 kB that is a fifth of a thin campus link of
    /// 768 kbit/s, were the page sent at once; slower servers get longer pauses by `factor`.
    pub min_delay: Duration,
    /// Pause as a multiple of the time from the last request to the last byte of its response: with 5
    /// (Heritrix's default, which counts the handshakes too) a survey takes at most a sixth of a server's
    /// time, however slow the server.
    pub factor: f64,
    /// Longest pause that `factor` and back-off ask for.
    pub max_delay: Duration,
    /// By how much longer other users may wait for a server's responses, as a share; none: no limit
    /// (`reports/low-load/harm-rule.md`).
    pub harm: Option<f64>,
    /// Exchanges in flight at one address; each beyond the first multiplies the load on it.
    pub per_address: u32,
    /// Exchanges in flight in one neighbourhood (/24, /48), whose addresses then share the pauses too; none:
    /// no limit.
    pub per_neighbourhood: Option<u32>,
    /// Exchanges in flight in one site.
    pub per_site: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self::from(&Settings::default())
    }
}

impl From<&Settings> for Pace {
    fn from(settings: &Settings) -> Self {
        Self {
            min_delay: settings.min_delay.0,
            factor: settings.delay_factor,
            max_delay: settings.max_delay.0,
            harm: settings.harm,
            per_address: settings.per_address,
            per_neighbourhood: settings.per_neighbourhood,
            per_site: settings.per_site,
        }
    }
}

impl Pace {
    /// The longest pause for the sake of other users: an hour with the default `max_delay` of a minute. It is
    /// enough for a page of 500 kB behind a modem of 56 kbit/s.
    #[must_use]
    pub fn longest_pause(&self) -> Duration {
        self.max_delay.saturating_mul(60)
    }

    /// The longest time that a site keeps its slot while it waits for a server. During the pause after an
    /// exchange no other site could send the server a request either.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        self.longest_pause().max(LONGEST_WAIT)
    }
}

/// If a server cools down for longer than this (the pause after an exchange does not count), the site is put
/// off. No Crawl-delay that is obeyed is longer.
pub const LONGEST_WAIT: Duration = Duration::from_secs(300);
