//! The health of servers, and of sites at servers: when to send them fewer requests, let them cool down, or
//! give them up.

pub(super) mod delay;
pub(super) mod doublings;
pub(super) mod site_troubles;

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::delay_after;
use crate::address::Site;
use crate::exchange::{Failure, requests_pause};
use crate::settings::Pace;
use doublings::Doublings;
use site_troubles::{SiteCoolDown, SiteState, SiteTroubles};

/// The recent health of a server, and the back-off that follows from it.
///
/// Trouble is 429, 502, 503, 504, a reset, a refused connection, an unreachable server, a time-out, a body
/// that breaks off, or a first byte that takes far longer than usual for the second time in a row. Each
/// trouble doubles the pause; four sound responses in a row take one doubling back. The fifth trouble without
/// a sound response in between starts a cool-down. Each further one starts a cool-down four times as long. In
/// the end the survey gives the server up, if five sites or more had trouble. A response that is neither
/// trouble nor sound changes nothing.
///
/// Each site at the server follows the same rule. Many sites share a server, and some of them are dead. While
/// the server gives sound responses for other sites, a site counts once until some site gets a sound
/// response. The server then cools down when more such sites came in a row than chance explains.
///
/// `S` identifies a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Health<S = Site> {
    doublings: Doublings,
    /// Troubles in a row, without a sound response in between, that count against the server.
    in_a_row: u8,
    /// Running mean of the time to the first byte, in seconds.
    usual_first_byte: Option<f64>,
    /// The last first byte took far longer than usual: a single one may be that of a slow page. Stored apart
    /// ([`ServerState`](super::ServerState)), because earlier versions did not have it.
    #[serde(skip)]
    pub(super) was_slow: bool,
    /// Stored apart as well.
    #[serde(skip)]
    pub(super) sites: SiteTroubles<S>,
}

/// An observation of a server at the end of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a, S = Site> {
    /// The site of the request.
    pub site: &'a S,
    /// When the exchange ended.
    pub ended: SystemTime,
    /// What the exchange says about the server.
    pub symptom: Symptom,
    /// From the request to the first byte of the response; none if no byte arrived.
    pub first_byte: Option<Duration>,
}

/// What an exchange says about its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// It responds as usual.
    Sound,
    /// It may be overloaded.
    Trouble,
    /// Neither: it fails, but not because of its load, as far as is known.
    Unclear,
}

/// What a response changes beside the usual pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backoff {
    /// Nothing: the usual pause is enough.
    Usual,
    /// The server cools down for this long.
    PutOff(Duration),
    /// The server gets no more requests in this survey.
    GiveUp,
}

/// Nutch drops a host after five failures; this crawler lets it cool down first.
const TOO_MANY_TROUBLES: u8 = 5;
/// Number of cool-downs: 5 min, 20 min, 80 min and 5 h 20 min with the longest pause of 60 s. They fit in a
/// day, after which most disturbances are over or permanent.
const MAX_PUT_OFFS: u8 = 4;
/// Fewer sites do not prove that the whole server is dead: it repeats the longest cool-down, and its sites
/// are given up one by one. Where one site in seven is dead, five in a row come once in 17,000 times.
const MIN_SITES_OF_DEAD_SERVER: usize = 5;
/// The first cool-down, in longest pauses; each further one is four times the one before.
const FIRST_PUT_OFF: u32 = 5;
/// Doubled pauses are longer by up to this share.
const JITTER: f64 = 0.1;
/// RFC 6298 §2 smooths round-trip times by an eighth.
const SMOOTHING: f64 = 0.125;
/// Response times have grown when two in a row are this many times the usual …
const GROWN_FACTOR: f64 = 3.0;
/// … and longer by this many seconds: a smaller difference is network noise.
const GROWN_SECONDS: f64 = 1.0;

impl<S> Default for Health<S> {
    fn default() -> Self {
        Self {
            doublings: Doublings::default(),
            in_a_row: 0,
            usual_first_byte: None,
            was_slow: false,
            sites: SiteTroubles::default(),
        }
    }
}

impl<S: Clone + PartialEq> Health<S> {
    /// The pause, by the delay rule, after an exchange that took `took` and kept the server's link busy for
    /// `link`.
    ///
    /// Doubled pauses are longer by a tenth times `chance`, a number from 0 to 1, so that servers that fell
    /// into trouble together do not get their next requests together. The tenth is that of StormCrawler.
    #[must_use]
    pub fn pause_after(&self, pace: &Pace, took: Duration, link: Duration, chance: f64) -> Duration {
        doubled(pace, took, link, self.doublings, chance)
    }

    /// Notes an observation and returns the back-off of the server.
    pub fn note(&mut self, pace: &Pace, observation: &Observation<'_, S>, chance: f64) -> Backoff {
        let is_slower = observation.first_byte.is_some_and(|time| self.has_slowed_down(time.as_secs_f64()));
        let mut server_backoff = None;
        match observation.symptom {
            Symptom::Trouble => server_backoff = self.note_trouble(pace, observation, chance),
            Symptom::Unclear => {}
            Symptom::Sound => {
                self.in_a_row = 0;
                if let Some(site) = self.sites.note_sound(observation.site) {
                    self.sites
                        .cool_down(observation.site, site_cool_down(site, observation.ended, pace, chance));
                }
            }
        }
        if server_backoff.is_some() || is_slower {
            self.doublings.note_trouble();
        } else if observation.symptom == Symptom::Sound {
            self.doublings.note_sound();
        }
        server_backoff.unwrap_or(Backoff::Usual)
    }

    /// The back-off of the server after a trouble; none if the trouble is that of the site alone.
    fn note_trouble(
        &mut self,
        pace: &Pace,
        observation: &Observation<'_, S>,
        chance: f64,
    ) -> Option<Backoff> {
        let serves_others = self.sites.is_serving_others(observation.site);
        let site = self.sites.note_trouble(observation.site);
        self.sites.cool_down(observation.site, site_cool_down(site, observation.ended, pace, chance));
        let mut trouble_limit = TOO_MANY_TROUBLES;
        if serves_others {
            if !site.is_first {
                return None;
            }
            trouble_limit = trouble_limit.max(self.sites.suspicious_run());
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let backoff = backoff_after(self.in_a_row, trouble_limit, pace, chance);
        let is_server_dead = self.sites.counted_sites() >= MIN_SITES_OF_DEAD_SERVER;
        Some(match backoff {
            Backoff::GiveUp if !is_server_dead => Backoff::PutOff(put_off(MAX_PUT_OFFS - 1, pace, chance)),
            backoff => backoff,
        })
    }

    /// Until when a site cools down at this server because of its own troubles.
    #[must_use]
    pub fn cool_down_of(&self, site: &S) -> Option<SiteCoolDown> {
        self.sites.cool_down_of(site)
    }

    /// Whether the cool-down of any site ends after this time.
    #[must_use]
    pub fn has_site_cool_down_at(&self, time: SystemTime) -> bool {
        self.sites.has_cool_down_at(time)
    }

    fn has_slowed_down(&mut self, first_byte: f64) -> bool {
        let usual = self.usual_first_byte.unwrap_or(first_byte);
        self.usual_first_byte = Some(usual + (first_byte - usual) * SMOOTHING);
        let is_slow = first_byte > usual * GROWN_FACTOR && first_byte > usual + GROWN_SECONDS;
        std::mem::replace(&mut self.was_slow, is_slow) && is_slow
    }
}

/// The back-off after `troubles` in a row, of which `trouble_limit` start the first cool-down.
fn backoff_after(troubles: u8, trouble_limit: u8, pace: &Pace, chance: f64) -> Backoff {
    match troubles.checked_sub(trouble_limit) {
        None => Backoff::Usual,
        Some(earlier) if earlier < MAX_PUT_OFFS => Backoff::PutOff(put_off(earlier, pace, chance)),
        Some(_) => Backoff::GiveUp,
    }
}

/// The cool-down of a site because of its own troubles: a doubled pause at least.
fn site_cool_down(site: SiteState, ended: SystemTime, pace: &Pace, chance: f64) -> SiteCoolDown {
    let wait = match backoff_after(site.in_a_row, TOO_MANY_TROUBLES, pace, chance) {
        Backoff::Usual => Some(doubled(pace, Duration::ZERO, Duration::ZERO, site.doublings, chance)),
        Backoff::PutOff(time) => Some(time),
        Backoff::GiveUp => None,
    };
    SiteCoolDown { known: ended, until: wait.and_then(|wait| ended.checked_add(wait)) }
}

/// The pause by the delay rule, doubled `doublings` times; a doubled pause gets jitter.
fn doubled(pace: &Pace, took: Duration, link: Duration, doublings: Doublings, chance: f64) -> Duration {
    let pause = delay_after(pace, took, link, doublings.count(), None);
    if doublings.count() == 0 { pause } else { with_jitter(pause, chance).min(pace.max_delay.max(pause)) }
}

/// The length of a cool-down after `earlier` earlier ones.
fn put_off(earlier: u8, pace: &Pace, chance: f64) -> Duration {
    with_jitter(pace.max_delay * FIRST_PUT_OFF * 4_u32.pow(u32::from(earlier)), chance)
}

fn with_jitter(pause: Duration, chance: f64) -> Duration {
    pause.mul_f64(1.0 + JITTER * chance)
}

/// What an exchange with this status and failure says about its server.
///
/// The reason why a body breaks off is unknown: a worker that died or was reset, or a length that was never
/// true. It counts as trouble, because a server whose every response breaks off loses little by fewer
/// requests: its robots.txt breaks off too, and forbids everything. A body that was too large for us, or that
/// could not be read, is not the server's fault.
#[must_use]
pub fn symptom_of(status: Option<u16>, failure: Option<Failure>) -> Symptom {
    let is_trouble = matches!(
        failure,
        Some(
            Failure::Reset
                | Failure::ConnectRefused
                | Failure::ConnectTimeout
                | Failure::ConnectUnreachable
                | Failure::TlsTimeout
                | Failure::FirstByteTimeout
                | Failure::BodyTruncated
                | Failure::IdleTimeout
                | Failure::TooSlow
        )
    );
    match (status, failure) {
        // RFC 9110 §15.6.3 and §15.6.5: the server behind this one gives invalid responses, or none in time.
        (Some(502 | 504), _) => Symptom::Trouble,
        _ if is_trouble || requests_pause(status) => Symptom::Trouble,
        (Some(500..=599), _) => Symptom::Unclear,
        (_, None | Some(Failure::BodyTooLarge | Failure::Unreadable)) => Symptom::Sound,
        (_, Some(_)) => Symptom::Unclear,
    }
}
