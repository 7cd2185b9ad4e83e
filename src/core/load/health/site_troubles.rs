use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::doublings::Doublings;

/// How the sites of a server fare, beside the server itself.
///
/// Many sites share servers, and what one of them has may be its own: a broken application, a dead origin behind a
/// shared front, a limit on the rate of one customer, an account that was suspended. While a server answers soundly for
/// others, a site in trouble counts once for it until somebody gets a sound answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::load) struct SiteTroubles<S> {
    /// Sound answers and troubles so far.
    answers: u32,
    /// The site that got the last sound answer, and which answer that was.
    sound: Option<(S, u32)>,
    /// Which was the last sound answer for another site than that.
    other_sound: Option<u32>,
    /// How often a site got a sound answer after another one had.
    sound_turns: u32,
    /// The same of troubles: how many sites had some until somebody got a sound answer, in all.
    troubled_turns: u32,
    /// Sites in trouble, and those that recover; the one that had the last trouble at the end.
    sites: Vec<SiteInTrouble<S>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SiteInTrouble<S> {
    site: S,
    /// Troubles without a sound answer for this site in between.
    in_a_row: u8,
    /// Of its own pauses.
    doublings: Doublings,
    /// It counts for the server: since then nobody got a sound answer.
    is_counted: bool,
    cool_down: Option<SiteCoolDown>,
}

/// A site is not asked for at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCoolDown {
    /// When that was known.
    pub known: SystemTime,
    /// When it may be asked for again; none: not in this survey.
    pub until: Option<SystemTime>,
}

/// What is known of a site after an answer.
#[derive(Clone, Copy)]
pub(in crate::load) struct SiteState {
    /// Its troubles without a sound answer in between.
    pub in_a_row: u8,
    pub doublings: Doublings,
    /// Its trouble is the first since anybody got a sound answer.
    pub is_first: bool,
}

/// So many are remembered, the latest: it bounds what servers can make us remember.
const MOST_SITES: usize = 256;
/// A server answers for others when one of its last answers was a sound one for another site: so many sites in trouble as
/// are suspicious, each with a few questions, are fewer.
const RECENT: u32 = 100;
/// Of a server of which nothing is known one site in seven is taken to be dead …
const USUAL_DEAD: f64 = 1.0 / 7.0;
/// … as if so many had been seen.
const USUAL_WEIGHT: f64 = 10.0;
/// Where still more are dead, some 40 in a row are suspicious all the same.
const MOST_DEAD: f64 = 0.8;
/// A hoster of ten thousand sites has fewer such rows than one, while it is well.
const CHANCE_OF_A_ROW: f64 = 1e-4;

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
    /// Whether the server has answered soundly for another site than this one of late.
    pub(in crate::load) fn serve_others(&self, site: &S) -> bool {
        let last = match &self.sound {
            Some((sound, last)) if sound != site => Some(*last),
            _ => self.other_sound,
        };
        last.is_some_and(|last| self.answers.wrapping_sub(last) <= RECENT)
    }

    /// The site got a sound answer; gives what it still has of its troubles.
    pub(in crate::load) fn note_sound(&mut self, site: &S) -> Option<SiteState> {
        self.answers = self.answers.wrapping_add(1);
        match &mut self.sound {
            Some((sound, last)) if sound == site => *last = self.answers,
            sound => {
                self.other_sound = sound.replace((site.clone(), self.answers)).map(|(_, last)| last);
                self.sound_turns = self.sound_turns.saturating_add(1);
            }
        }
        self.troubled_turns = self.troubled_turns.saturating_add(self.in_the_row() as u32);
        for troubled in &mut self.sites {
            troubled.is_counted = false;
        }
        let place = self.place_of(site)?;
        let recovering = &mut self.sites[place];
        (recovering.in_a_row, recovering.cool_down) = (0, None);
        recovering.doublings.note_sound();
        if recovering.doublings.count() == 0 {
            self.sites.remove(place);
            return None;
        }
        Some(SiteState { in_a_row: 0, doublings: recovering.doublings, is_first: false })
    }

    /// So many sites in trouble in a row are more than chance brings, with as many dead ones as the server has.
    pub(in crate::load) fn suspicious_row(&self) -> u8 {
        let dead = USUAL_DEAD * USUAL_WEIGHT + f64::from(self.troubled_turns);
        let known = USUAL_WEIGHT + f64::from(self.troubled_turns) + f64::from(self.sound_turns);
        (CHANCE_OF_A_ROW.ln() / (dead / known).min(MOST_DEAD).ln()).ceil() as u8
    }

    /// The site had trouble.
    pub(in crate::load) fn note_trouble(&mut self, site: &S) -> SiteState {
        self.answers = self.answers.wrapping_add(1);
        let mut troubled = match self.place_of(site) {
            Some(place) => self.sites.remove(place),
            None => SiteInTrouble {
                site: site.clone(),
                in_a_row: 0,
                doublings: Doublings::default(),
                is_counted: false,
                cool_down: None,
            },
        };
        if self.sites.len() >= MOST_SITES {
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

    /// Sites that were in trouble since anybody got a sound answer.
    pub(in crate::load) fn in_the_row(&self) -> usize {
        self.sites.iter().filter(|troubled| troubled.is_counted).count()
    }

    /// A site that was in trouble is not asked for.
    pub(in crate::load) fn cool_down(&mut self, site: &S, cool_down: SiteCoolDown) {
        if let Some(place) = self.place_of(site) {
            self.sites[place].cool_down = Some(cool_down);
        }
    }

    pub(in crate::load) fn cool_down_of(&self, site: &S) -> Option<SiteCoolDown> {
        self.sites[self.place_of(site)?].cool_down
    }

    /// Whether a site is put off until after this time.
    pub(in crate::load) fn has_cool_down_at(&self, time: SystemTime) -> bool {
        let mut cool_downs = self.sites.iter().filter_map(|troubled| troubled.cool_down?.until);
        cool_downs.any(|until| until > time)
    }

    fn place_of(&self, site: &S) -> Option<usize> {
        self.sites.iter().position(|troubled| troubled.site == *site)
    }
}
