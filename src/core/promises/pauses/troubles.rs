use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use crate::address::Site;
use crate::exchange::{Failure, Response};
use crate::settings::Pace;

/// The back-off that is due at a server in trouble, and for each site at it, as far as the responses leave no
/// doubt.
///
/// Each trouble doubles a pause, and four sound responses in a row take one doubling back. The fifth trouble
/// without a sound response in between starts a cool-down of five longest pauses. Each further one starts a
/// cool-down four times as long, and the ninth is the last. For a site only its own troubles count. For a
/// server all its troubles count, as long as no other site of it is known to have had a sound response. If
/// the server gives sound responses for other sites, the trouble may be that of its sites, and only they are
/// judged.
#[derive(Debug, Default)]
pub(in crate::promises) struct Troubles {
    server: TroubleRun,
    sound: SoundFor,
    /// Ordered by the last trouble, the latest at the end.
    sites: VecDeque<(Site, TroubleRun, DueSiteCoolDown)>,
    /// Sites in trouble since the last sound response.
    troubled_sites: Vec<Site>,
}

/// The sites that have had a sound response.
#[derive(Debug, Default, PartialEq)]
enum SoundFor {
    #[default]
    None,
    One(Site),
    /// Several sites, or unknown.
    Several,
}

/// A series of troubles and sound responses.
#[derive(Clone, Copy, Debug, Default)]
struct TroubleRun {
    troubles: u8,
    doublings: u8,
    sound: u8,
}

/// A site gets no requests at a server.
#[derive(Clone, Copy, Debug)]
pub(in crate::promises) struct DueSiteCoolDown {
    pub known: SystemTime,
    /// None: for the rest of the survey.
    pub until: Option<SystemTime>,
}

/// The back-off after a response.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::promises) struct DueBackoff {
    /// How often the pause is doubled.
    pub doublings: u8,
    /// The cool-down of the server.
    pub put_off: Option<Duration>,
    pub is_given_up: bool,
}

const MAX_DOUBLINGS: u8 = 8;
const SOUND_FOR_ONE: u8 = 4;
const PUT_OFF_TROUBLES: u8 = 5;
const GIVE_UP_TROUBLES: u8 = 9;
/// The first cool-down, in longest pauses.
const FIRST_PUT_OFF: u32 = 5;
/// Fewer sites in trouble do not prove that the whole server is dead.
const MIN_SITES_OF_DEAD_SERVER: usize = 5;
/// Half as many as the survey has to remember.
const MAX_SITES: usize = 128;

impl Troubles {
    /// The troubles of a server from an earlier run, of which no more is known.
    pub(in crate::promises) fn for_recorded_server() -> Self {
        Self { sound: SoundFor::Several, ..Self::default() }
    }

    /// Takes in a response for a site.
    pub(in crate::promises) fn take(&mut self, pace: &Pace, site: &Site, response: &Response) -> DueBackoff {
        let ended = response.ended();
        if is_trouble(response) {
            self.note_trouble(pace, site, ended)
        } else if is_sound(response) {
            self.note_sound(pace, site, ended);
            DueBackoff { doublings: self.server.doublings, ..DueBackoff::default() }
        } else {
            DueBackoff { doublings: self.server.doublings, ..DueBackoff::default() }
        }
    }

    fn note_trouble(&mut self, pace: &Pace, site: &Site, ended: SystemTime) -> DueBackoff {
        let mut run = self.remove_site(site).unwrap_or_default();
        run.note_trouble();
        self.insert_site(site, run, pace, ended);
        if !self.troubled_sites.contains(site) && self.troubled_sites.len() < MIN_SITES_OF_DEAD_SERVER {
            self.troubled_sites.push(site.clone());
        }
        let serves_others = match &self.sound {
            SoundFor::None => false,
            SoundFor::One(sound) => sound != site,
            SoundFor::Several => true,
        };
        if serves_others {
            return DueBackoff { doublings: self.server.doublings, ..DueBackoff::default() };
        }
        self.server.note_trouble();
        let is_dead = self.troubled_sites.len() >= MIN_SITES_OF_DEAD_SERVER;
        DueBackoff {
            doublings: self.server.doublings,
            put_off: self.server.put_off(pace),
            is_given_up: is_dead && self.server.troubles >= GIVE_UP_TROUBLES,
        }
    }

    fn note_sound(&mut self, pace: &Pace, site: &Site, ended: SystemTime) {
        self.server.note_sound();
        self.troubled_sites.clear();
        if let Some(mut run) = self.remove_site(site) {
            run.note_sound();
            if run.doublings > 0 {
                self.insert_site(site, run, pace, ended);
            }
        }
        match &self.sound {
            SoundFor::None => self.sound = SoundFor::One(site.clone()),
            SoundFor::One(sound) if sound != site => self.sound = SoundFor::Several,
            SoundFor::One(_) | SoundFor::Several => {}
        }
    }

    fn remove_site(&mut self, site: &Site) -> Option<TroubleRun> {
        let index = self.sites.iter().position(|(known, ..)| known == site)?;
        self.sites.remove(index).map(|(_, run, _)| run)
    }

    fn insert_site(&mut self, site: &Site, run: TroubleRun, pace: &Pace, ended: SystemTime) {
        if self.sites.len() >= MAX_SITES {
            self.sites.pop_front();
        }
        let wait = run.put_off(pace).unwrap_or_else(|| doubled(pace, pace.min_delay, run.doublings));
        let until = if run.troubles >= GIVE_UP_TROUBLES { None } else { ended.checked_add(wait) };
        self.sites.push_back((site.clone(), run, DueSiteCoolDown { known: ended, until }));
    }

    /// The cool-down of a site because of its own troubles.
    pub(in crate::promises) fn cool_down_of(&self, site: &Site) -> Option<DueSiteCoolDown> {
        self.sites.iter().find(|(known, ..)| known == site).map(|(.., cool_down)| *cool_down)
    }

    /// Whether the cool-down of any site ends after this time.
    pub(in crate::promises) fn has_site_cool_down_at(&self, time: SystemTime) -> bool {
        self.sites.iter().filter_map(|(.., cool_down)| cool_down.until).any(|until| until > time)
    }
}

impl TroubleRun {
    fn note_trouble(&mut self) {
        self.troubles = self.troubles.saturating_add(1);
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        self.sound = 0;
    }

    fn note_sound(&mut self) {
        (self.troubles, self.sound) = (0, self.sound + 1);
        if self.sound == SOUND_FOR_ONE {
            (self.doublings, self.sound) = (self.doublings.saturating_sub(1), 0);
        }
    }

    fn put_off(self, pace: &Pace) -> Option<Duration> {
        let times = self.troubles.checked_sub(PUT_OFF_TROUBLES)?.min(GIVE_UP_TROUBLES - 1 - PUT_OFF_TROUBLES);
        Some(pace.max_delay * FIRST_PUT_OFF * 4_u32.pow(u32::from(times)))
    }
}

/// A pause, doubled `times` times, up to the longest.
pub(in crate::promises) fn doubled(pace: &Pace, pause: Duration, times: u8) -> Duration {
    let max_pause = pace.max_delay.max(pause);
    pause
        .checked_mul(1 << u32::from(times.min(MAX_DOUBLINGS)))
        .map_or(max_pause, |longer| longer.min(max_pause))
}

/// The server may be overloaded: it says so, a server behind it does not respond, or the response is missing
/// or incomplete.
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

/// The server responds as usual, even if we could not read all of it.
fn is_sound(response: &Response) -> bool {
    let is_error = matches!(response.status, Some(500..=599));
    !is_error && matches!(response.failure, None | Some(Failure::BodyTooLarge | Failure::Unreadable))
}
