//! How servers, and sites at servers, fare: when to ask them more seldom, to put them off, to give them up.

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

/// How healthy a server has been lately, and what backoff follows from it.
///
/// Trouble is 429, 502, 503, 504, a reset, a refused connection, no way to the server, a time-out, a body that breaks
/// off, or a first byte that takes far longer than the server's usual for the second time in a row. Each doubles the
/// pause; four sound answers in a row take one doubling back. The fifth trouble without a sound answer in between puts the
/// server off, each further one for four times as long; in the end it is given up for this survey, if five sites or more
/// had trouble. An answer that shows neither trouble nor soundness changes nothing.
///
/// Each site at the server fares by the same rule. Many sites share a server, and some of them are dead: while it answers
/// soundly for others, a site counts once until somebody gets a sound answer, and the server is put off when there were more
/// such sites in a row than chance brings.
///
/// Sites are told apart by `S`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Health<S = Site> {
    doublings: Doublings,
    /// Refusals and failures without a sound answer between them, as far as they count for the server.
    in_a_row: u8,
    /// Running mean of the time to the first byte, in seconds.
    usual_first_byte: Option<f64>,
    /// The last first byte took far longer than usual: one that does may be that of a slow page. Stored apart
    /// ([`ServerState`](super::ServerState)), for earlier versions did not have it.
    #[serde(skip)]
    pub(super) was_slow: bool,
    /// Stored apart as well.
    #[serde(skip)]
    pub(super) sites: SiteTroubles<S>,
}

/// What was seen of a server when an exchange ended.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a, S = Site> {
    /// For which was asked.
    pub site: &'a S,
    /// When it ended.
    pub ended: SystemTime,
    /// What it tells.
    pub symptom: Symptom,
    /// From the request to the first byte of the answer; none where none came.
    pub first_byte: Option<Duration>,
}

/// What an exchange tells of its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// It answers as usual.
    Sound,
    /// It may have too much to do.
    Trouble,
    /// Neither: it errs, but not because of its load, as far as we know.
    Unclear,
}

/// What follows from an answer beside the usual pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backoff {
    /// No more than the usual pause.
    Usual,
    /// The server is not asked for this long.
    PutOff(Duration),
    /// The server is not asked any more in this survey.
    GiveUp,
}

/// Nutch drops a host after five failures; here it is left in peace for a while first.
const TOO_MANY_TROUBLES: u8 = 5;
/// Times that a server is put off: 5 min, 20 min, 80 min and 5 h 20 min with the longest pause of 60 s, within
/// the day after which most disturbances are over or will not be.
const MOST_PUT_OFFS: u8 = 4;
/// Fewer sites do not say that a server is dead for all: it is put off as long as ever, and its sites are given up one by
/// one. Where one site in seven is dead, five in a row come once in 17,000 times.
const LEAST_SITES_OF_THE_DEAD: usize = 5;
/// The first time, in longest pauses; each further time is four times the one before.
const FIRST_PUT_OFF: u32 = 5;
/// Doubled pauses are longer by up to this share.
const JITTER: f64 = 0.1;
/// RFC 6298 §2 smooths round-trip times by an eighth.
const SMOOTHING: f64 = 0.125;
/// Response times count as grown when two in a row are this many times the usual …
const GROWN_FACTOR: f64 = 3.0;
/// … and longer than it by so many seconds: below that it is noise of the network.
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
    /// The pause after an exchange that took `took`, and the server's link `link`, by the delay rule.
    ///
    /// Doubled pauses are longer by a tenth times `chance`, a number from 0 to 1, so that servers which
    /// fell into trouble together are not asked again together; a tenth, as in StormCrawler.
    #[must_use]
    pub fn pause_after(&self, pace: &Pace, took: Duration, link: Duration, chance: f64) -> Duration {
        doubled(pace, took, link, self.doublings, chance)
    }

    /// Takes in what was seen, and says what follows for the server.
    pub fn note(&mut self, pace: &Pace, seen: &Observation<'_, S>, chance: f64) -> Backoff {
        let grown = seen.first_byte.is_some_and(|time| self.has_slowed_down(time.as_secs_f64()));
        let mut of_server = None;
        match seen.symptom {
            Symptom::Trouble => of_server = self.note_trouble(pace, seen, chance),
            Symptom::Unclear => {}
            Symptom::Sound => {
                self.in_a_row = 0;
                if let Some(site) = self.sites.note_sound(seen.site) {
                    self.sites.cool_down(seen.site, site_cool_down(site, seen.ended, pace, chance));
                }
            }
        }
        if of_server.is_some() || grown {
            self.doublings.note_trouble();
        } else if seen.symptom == Symptom::Sound {
            self.doublings.note_sound();
        }
        of_server.unwrap_or(Backoff::Usual)
    }

    /// What follows for the server from a trouble; none where it is the site's alone.
    fn note_trouble(&mut self, pace: &Pace, seen: &Observation<'_, S>, chance: f64) -> Option<Backoff> {
        let serves_others = self.sites.serve_others(seen.site);
        let site = self.sites.note_trouble(seen.site);
        self.sites.cool_down(seen.site, site_cool_down(site, seen.ended, pace, chance));
        let mut too_many = TOO_MANY_TROUBLES;
        if serves_others {
            if !site.is_first {
                return None;
            }
            too_many = too_many.max(self.sites.suspicious_row());
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let backoff = backoff_after(self.in_a_row, too_many, pace, chance);
        let speak_for_all = self.sites.in_the_row() >= LEAST_SITES_OF_THE_DEAD;
        Some(match backoff {
            Backoff::GiveUp if !speak_for_all => Backoff::PutOff(put_off(MOST_PUT_OFFS - 1, pace, chance)),
            backoff => backoff,
        })
    }

    /// Until when a site is to be left alone at this server for its own troubles.
    #[must_use]
    pub fn cool_down_of(&self, site: &S) -> Option<SiteCoolDown> {
        self.sites.cool_down_of(site)
    }

    /// Whether any site is put off until after this time.
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

/// What follows from so many troubles in a row, where so many are too many.
fn backoff_after(troubles: u8, too_many: u8, pace: &Pace, chance: f64) -> Backoff {
    match troubles.checked_sub(too_many) {
        None => Backoff::Usual,
        Some(before) if before < MOST_PUT_OFFS => Backoff::PutOff(put_off(before, pace, chance)),
        Some(_) => Backoff::GiveUp,
    }
}

/// How long a site is left alone for its own troubles: for a doubled pause at least.
fn site_cool_down(site: SiteState, ended: SystemTime, pace: &Pace, chance: f64) -> SiteCoolDown {
    let wait = match backoff_after(site.in_a_row, TOO_MANY_TROUBLES, pace, chance) {
        Backoff::Usual => Some(doubled(pace, Duration::ZERO, Duration::ZERO, site.doublings, chance)),
        Backoff::PutOff(time) => Some(time),
        Backoff::GiveUp => None,
    };
    SiteCoolDown { known: ended, until: wait.and_then(|wait| ended.checked_add(wait)) }
}

/// The pause by the delay rule, doubled so often, and longer by chance then.
fn doubled(pace: &Pace, took: Duration, link: Duration, doublings: Doublings, chance: f64) -> Duration {
    let pause = delay_after(pace, took, link, doublings.count(), None);
    if doublings.count() == 0 { pause } else { with_jitter(pause, chance).min(pace.max_delay.max(pause)) }
}

/// How long what was put off so many times before is put off.
fn put_off(before: u8, pace: &Pace, chance: f64) -> Duration {
    with_jitter(pace.max_delay * FIRST_PUT_OFF * 4_u32.pow(u32::from(before)), chance)
}

fn with_jitter(pause: Duration, chance: f64) -> Duration {
    pause.mul_f64(1.0 + JITTER * chance)
}

/// What an exchange with this status and failure tells of its server.
///
/// Nobody knows why a body breaks off: a worker that died or was reset, or a length that was never true. It counts as
/// trouble, for a server whose every answer breaks off loses little by being asked seldom: its robots.txt breaks
/// off too, and forbids all. That a body was too large for us, or could not
/// be read, is no fault of the server's.
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
        // RFC 9110 §15.6.3 and §15.6.5: what stands behind the server answers wrongly, or not in time.
        (Some(502 | 504), _) => Symptom::Trouble,
        _ if is_trouble || requests_pause(status) => Symptom::Trouble,
        (Some(500..=599), _) => Symptom::Unclear,
        (_, None | Some(Failure::BodyTooLarge | Failure::Unreadable)) => Symptom::Sound,
        (_, Some(_)) => Symptom::Unclear,
    }
}
