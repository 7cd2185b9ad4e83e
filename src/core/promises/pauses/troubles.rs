use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use crate::address::Site;
use crate::exchange::{Failure, Response};
use crate::settings::Pace;

/// What a server in trouble is owed, and each site at it, as far as the answers leave no doubt.
///
/// Each trouble doubles a pause, and four sound answers in a row take one doubling back; the fifth trouble without a sound answer
/// is followed by five of the longest pauses, each further one by four times as long, and the ninth is the last. Of a site these are its
/// own troubles. Those of a server are all its troubles, while no other site of it is known to have had a sound answer: of a server
/// that answers soundly for others the trouble may be that of its sites, and they alone are judged.
#[derive(Debug, Default)]
pub(in crate::promises) struct Troubles {
    server: TroubleRun,
    sound: SoundFor,
    /// The latest in trouble at the end.
    sites: VecDeque<(Site, TroubleRun, DueSiteCoolDown)>,
    /// Sites in trouble since the last sound answer.
    in_the_row: Vec<Site>,
}

/// Which sites have had a sound answer.
#[derive(Debug, Default, PartialEq)]
enum SoundFor {
    #[default]
    None,
    One(Site),
    /// Or nobody knows.
    Several,
}

/// Troubles and sound answers, one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct TroubleRun {
    troubles: u8,
    doublings: u8,
    sound: u8,
}

/// A site is left alone at a server.
#[derive(Clone, Copy, Debug)]
pub(in crate::promises) struct DueSiteCoolDown {
    pub known: SystemTime,
    /// None: for good.
    pub until: Option<SystemTime>,
}

/// What follows from an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::promises) struct DueBackoff {
    /// How often the pause is doubled.
    pub doublings: u8,
    /// For how long the server is put off.
    pub put_off: Option<Duration>,
    pub is_given_up: bool,
}

const MOST_DOUBLINGS: u8 = 8;
const SOUND_FOR_ONE: u8 = 4;
const TOO_MANY: u8 = 5;
const LAST: u8 = 9;
/// In longest pauses.
const FIRST_PUT_OFF: u32 = 5;
/// Fewer sites in trouble do not say that the server is dead for all.
const SITES_OF_THE_DEAD: usize = 5;
/// Half as many as the survey has to remember.
const MOST_SITES: usize = 128;

impl Troubles {
    /// Of a server that was met before, of which no more is known.
    pub(in crate::promises) fn of_old() -> Self {
        Self { sound: SoundFor::Several, ..Self::default() }
    }

    /// Takes in an answer for a site.
    pub(in crate::promises) fn take(&mut self, pace: &Pace, site: &Site, response: &Response) -> DueBackoff {
        let ended = response.ended();
        if is_trouble(response) {
            self.take_trouble(pace, site, ended)
        } else if is_sound(response) {
            self.take_sound(pace, site, ended);
            DueBackoff { doublings: self.server.doublings, ..DueBackoff::default() }
        } else {
            DueBackoff { doublings: self.server.doublings, ..DueBackoff::default() }
        }
    }

    fn take_trouble(&mut self, pace: &Pace, site: &Site, ended: SystemTime) -> DueBackoff {
        let mut row = self.take_out(site).unwrap_or_default();
        row.take_trouble();
        self.put_back(site, row, pace, ended);
        if !self.in_the_row.contains(site) && self.in_the_row.len() < SITES_OF_THE_DEAD {
            self.in_the_row.push(site.clone());
        }
        let serves_others = match &self.sound {
            SoundFor::None => false,
            SoundFor::One(sound) => sound != site,
            SoundFor::Several => true,
        };
        if serves_others {
            return DueBackoff { doublings: self.server.doublings, ..DueBackoff::default() };
        }
        self.server.take_trouble();
        let is_dead = self.in_the_row.len() >= SITES_OF_THE_DEAD;
        DueBackoff {
            doublings: self.server.doublings,
            put_off: self.server.put_off(pace),
            is_given_up: is_dead && self.server.troubles >= LAST,
        }
    }

    fn take_sound(&mut self, pace: &Pace, site: &Site, ended: SystemTime) {
        self.server.take_sound();
        self.in_the_row.clear();
        if let Some(mut row) = self.take_out(site) {
            row.take_sound();
            if row.doublings > 0 {
                self.put_back(site, row, pace, ended);
            }
        }
        match &self.sound {
            SoundFor::None => self.sound = SoundFor::One(site.clone()),
            SoundFor::One(sound) if sound != site => self.sound = SoundFor::Several,
            SoundFor::One(_) | SoundFor::Several => {}
        }
    }

    fn take_out(&mut self, site: &Site) -> Option<TroubleRun> {
        let place = self.sites.iter().position(|(known, ..)| known == site)?;
        self.sites.remove(place).map(|(_, row, _)| row)
    }

    fn put_back(&mut self, site: &Site, row: TroubleRun, pace: &Pace, ended: SystemTime) {
        if self.sites.len() >= MOST_SITES {
            self.sites.pop_front();
        }
        let wait = row.put_off(pace).unwrap_or_else(|| doubled(pace, pace.min_delay, row.doublings));
        let until = if row.troubles >= LAST { None } else { ended.checked_add(wait) };
        self.sites.push_back((site.clone(), row, DueSiteCoolDown { known: ended, until }));
    }

    /// How a site is left alone for its own troubles.
    pub(in crate::promises) fn cool_down_of(&self, site: &Site) -> Option<DueSiteCoolDown> {
        self.sites.iter().find(|(known, ..)| known == site).map(|(.., cool_down)| *cool_down)
    }

    /// Whether a site is left alone until after this time.
    pub(in crate::promises) fn has_site_cool_down_at(&self, time: SystemTime) -> bool {
        self.sites.iter().filter_map(|(.., cool_down)| cool_down.until).any(|until| until > time)
    }
}

impl TroubleRun {
    fn take_trouble(&mut self) {
        self.troubles = self.troubles.saturating_add(1);
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.sound = 0;
    }

    fn take_sound(&mut self) {
        (self.troubles, self.sound) = (0, self.sound + 1);
        if self.sound == SOUND_FOR_ONE {
            (self.doublings, self.sound) = (self.doublings.saturating_sub(1), 0);
        }
    }

    fn put_off(self, pace: &Pace) -> Option<Duration> {
        let times = self.troubles.checked_sub(TOO_MANY)?.min(LAST - 1 - TOO_MANY);
        Some(pace.max_delay * FIRST_PUT_OFF * 4_u32.pow(u32::from(times)))
    }
}

/// A pause, doubled so often, up to the longest.
pub(in crate::promises) fn doubled(pace: &Pace, pause: Duration, times: u8) -> Duration {
    let most = pace.max_delay.max(pause);
    pause.checked_mul(1 << u32::from(times.min(MOST_DOUBLINGS))).map_or(most, |longer| longer.min(most))
}

/// It may have too much to do: it says so, something behind it does not answer, or nothing comes, or not all.
fn is_trouble(response: &Response) -> bool {
    let is_broken = matches!(
        response.failure,
        Some(
            Failure::Reset
                | Failure::ConnectRefused
                | Failure::ConnectTimeout
                | Failure::ConnectUnreachable
                | Failure::TlsTimeout
                | Failure::FirstByteTimeout
                | Failure::IdleTimeout
                | Failure::TooSlow
                | Failure::BodyTruncated
        )
    );
    is_broken || matches!(response.status, Some(429 | 502 | 503 | 504))
}

/// It answers as usual, whatever we could not read of it.
fn is_sound(response: &Response) -> bool {
    let is_error = matches!(response.status, Some(500..=599));
    !is_error && matches!(response.failure, None | Some(Failure::BodyTooLarge | Failure::Unreadable))
}
