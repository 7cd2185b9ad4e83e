use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::doublings::Doublings;

/// The health of the sites at a server, apart from the health of the server.
///
/// Many sites share servers, and the trouble of one may be its own: a broken application, a dead origin
/// behind a shared front, a rate limit for one customer, a suspended account. While a server gives sound
/// responses for other sites, a site in trouble counts once against the server until some site gets a sound
/// response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::load) struct SiteTroubles<S> {
    /// Number of sound responses and troubles so far.
    answers: u32,
    /// The site of the last sound response, and the value of `answers` then.
    sound: Option<(S, u32)>,
    /// The value of `answers` at the last sound response for any other site.
    other_sound: Option<u32>,
    /// How often a site got a sound response after another site had one.
    sound_turns: u32,
    /// The same for troubles: number of sites in trouble before the next sound response for any site, summed.
    troubled_turns: u32,
    /// Sites in trouble and sites that recover, ordered by their last trouble.
    sites: Vec<SiteInTrouble<S>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SiteInTrouble<S> {
    site: S,
    /// Troubles in a row, without a sound response for this site in between.
    in_a_row: u8,
    /// Doublings of its own pauses.
    doublings: Doublings,
    /// It counts against the server: since its trouble no site got a sound response.
    is_counted: bool,
    cool_down: Option<SiteCoolDown>,
}

/// A site gets no requests at a server for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCoolDown {
    /// When the cool-down became known.
    pub known: SystemTime,
    /// When the site may get requests again; none: not in this survey.
    pub until: Option<SystemTime>,
}

/// The state of a site after a response.
#[derive(Clone, Copy)]
pub(in crate::load) struct SiteState {
    /// Troubles in a row, without a sound response in between.
    pub in_a_row: u8,
    pub doublings: Doublings,
    /// This is its first trouble since any site got a sound response.
    pub is_first: bool,
}

/// The most sites that are remembered, the latest ones: this bounds the memory that servers can make us use.
const MAX_SITES: usize = 256;
/// A server counts as serving other sites if one of its last 100 responses was sound and for another site.
/// That is more than the responses of as many sites in trouble as are suspicious, with a few requests each.
const RECENT: u32 = 100;
/// For a server without history, one site in seven is assumed to be dead …
const PRIOR_DEAD: f64 = 1.0 / 7.0;
/// … with the weight of this many observed sites.
const PRIOR_WEIGHT: f64 = 10.0;
/// Even if a larger share is dead, about 40 in a row are suspicious.
const MAX_DEAD: f64 = 0.8;
/// A hoster of ten thousand sites has fewer than one such row while it is well.
const RUN_PROBABILITY: f64 = 1e-4;

impl<S> Default for SiteTroubles<S> {
    fn default() -> Self {
        Self {
            answers: 0,
            sound: None,
            other_sound: None,
            sound_turns: 0,
            troubled_turns: 0,
            sites: Vec::new(),
        }
    }
}

impl<S: Clone + PartialEq> SiteTroubles<S> {
    /// Whether the server has recently given a sound response for another site than this one.
    pub(in crate::load) fn is_serving_others(&self, site: &S) -> bool {
        let last = match &self.sound {
            Some((sound, last)) if sound != site => Some(*last),
            _ => self.other_sound,
        };
        last.is_some_and(|last| self.answers.wrapping_sub(last) <= RECENT)
    }

    /// The site got a sound response; returns its state if its pauses are still doubled.
    pub(in crate::load) fn note_sound(&mut self, site: &S) -> Option<SiteState> {
        self.answers = self.answers.wrapping_add(1);
        match &mut self.sound {
            Some((sound, last)) if sound == site => *last = self.answers,
            sound => {
                self.other_sound = sound.replace((site.clone(), self.answers)).map(|(_, last)| last);
                self.sound_turns = self.sound_turns.saturating_add(1);
            }
        }
        self.troubled_turns = self.troubled_turns.saturating_add(self.counted_sites() as u32);
        for troubled in &mut self.sites {
            troubled.is_counted = false;
        }
        let index = self.index_of(site)?;
        let recovering = &mut self.sites[index];
        (recovering.in_a_row, recovering.cool_down) = (0, None);
        recovering.doublings.note_sound();
        if recovering.doublings.count() == 0 {
            self.sites.remove(index);
            return None;
        }
        Some(SiteState { in_a_row: 0, doublings: recovering.doublings, is_first: false })
    }

    /// The number of sites in trouble in a row that chance does not explain, given the share of dead sites at
    /// the server.
    pub(in crate::load) fn suspicious_run(&self) -> u8 {
        let dead = PRIOR_DEAD * PRIOR_WEIGHT + f64::from(self.troubled_turns);
        let known = PRIOR_WEIGHT + f64::from(self.troubled_turns) + f64::from(self.sound_turns);
        (RUN_PROBABILITY.ln() / (dead / known).min(MAX_DEAD).ln()).ceil() as u8
    }

    /// The site had trouble.
    pub(in crate::load) fn note_trouble(&mut self, site: &S) -> SiteState {
        self.answers = self.answers.wrapping_add(1);
        let mut troubled = match self.index_of(site) {
            Some(index) => self.sites.remove(index),
            None => SiteInTrouble {
                site: site.clone(),
                in_a_row: 0,
                doublings: Doublings::default(),
                is_counted: false,
                cool_down: None,
            },
        };
        if self.sites.len() >= MAX_SITES {
            let is_over = |troubled: &SiteInTrouble<S>| !troubled.is_counted;
            self.sites.remove(self.sites.iter().position(is_over).unwrap_or(0));
        }
        troubled.in_a_row = troubled.in_a_row.saturating_add(1);
        troubled.doublings.note_trouble();
        let is_first = !std::mem::replace(&mut troubled.is_counted, true);
        let state = SiteState { in_a_row: troubled.in_a_row, doublings: troubled.doublings, is_first };
        self.sites.push(troubled);
        state
    }

    /// Number of sites that were in trouble since any site got a sound response.
    pub(in crate::load) fn counted_sites(&self) -> usize {
        self.sites.iter().filter(|troubled| troubled.is_counted).count()
    }

    /// Sets the cool-down of a site that was in trouble.
    pub(in crate::load) fn cool_down(&mut self, site: &S, cool_down: SiteCoolDown) {
        if let Some(index) = self.index_of(site) {
            self.sites[index].cool_down = Some(cool_down);
        }
    }

    pub(in crate::load) fn cool_down_of(&self, site: &S) -> Option<SiteCoolDown> {
        self.sites[self.index_of(site)?].cool_down
    }

    /// Whether the cool-down of any site ends after this time.
    pub(in crate::load) fn has_cool_down_at(&self, time: SystemTime) -> bool {
        let mut cool_downs = self.sites.iter().filter_map(|troubled| troubled.cool_down?.until);
        cool_downs.any(|until| until > time)
    }

    fn index_of(&self, site: &S) -> Option<usize> {
        self.sites.iter().position(|troubled| troubled.site == *site)
    }
}
