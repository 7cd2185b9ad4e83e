use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// How the sites of a server fare, beside the server itself.
///
/// Many sites share servers, and what one of them has may be its own: a broken application, a dead origin behind a
/// shared front, a limit on the rate of one customer, an account that was suspended. Once a server has answered soundly
/// for another site, each site in trouble counts once for it; its further troubles are those of the site, which is put
/// off and given up alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SiteTroubles<S> {
    /// The site that got the last sound answer.
    sound: Option<S>,
    /// Sites that got some: how often it was another one than the last.
    sound_sites: u32,
    /// Sites that were in trouble until somebody got a sound answer.
    troubled_sites: u32,
    /// The sites in trouble, the one that had some last at the end.
    sites: Vec<SiteInTrouble<S>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SiteInTrouble<S> {
    site: S,
    /// Troubles without a sound answer for this site in between.
    in_a_row: u8,
    /// It counts for the server: since then nobody got a sound answer.
    is_counted: bool,
    hold: Option<SiteHold>,
}

/// A site is not asked for at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteHold {
    /// When its trouble was seen.
    pub known: SystemTime,
    /// When it may be asked for again; none: not in this survey.
    pub until: Option<SystemTime>,
}

/// So many are remembered, the latest: a server where more are in trouble in a row is in trouble itself.
const MOST_SITES: usize = 64;
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
        Self { sound: None, sound_sites: 0, troubled_sites: 0, sites: Vec::new() }
    }
}

impl<S: Clone + PartialEq> SiteTroubles<S> {
    /// Whether the server has answered soundly for another site than this one.
    pub(super) fn serve_others(&self, site: &S) -> bool {
        self.sound_sites > 1 || self.sound.as_ref().is_some_and(|sound| sound != site)
    }

    /// The site got a sound answer.
    pub(super) fn note_sound(&mut self, site: &S) {
        if self.sound.as_ref() != Some(site) {
            self.sound = Some(site.clone());
            self.sound_sites = self.sound_sites.saturating_add(1);
        }
        self.troubled_sites = self.troubled_sites.saturating_add(self.in_the_row() as u32);
        self.sites.retain(|troubled| troubled.site != *site);
        for troubled in &mut self.sites {
            troubled.is_counted = false;
        }
    }

    /// So many sites in trouble in a row are more than chance brings, with as many dead ones as the server has.
    pub(super) fn suspicious_row(&self) -> u8 {
        let dead = USUAL_DEAD * USUAL_WEIGHT + f64::from(self.troubled_sites);
        let known = USUAL_WEIGHT + f64::from(self.troubled_sites) + f64::from(self.sound_sites);
        (CHANCE_OF_A_ROW.ln() / (dead / known).min(MOST_DEAD).ln()).ceil() as u8
    }

    /// The site had trouble once more: whether it is its first since anybody got a sound answer, and how many there were
    /// since it got one itself.
    pub(super) fn note_trouble(&mut self, site: &S) -> (bool, u8) {
        let place = self.sites.iter().position(|troubled| troubled.site == *site);
        let mut troubled = match place {
            Some(place) => self.sites.remove(place),
            None => SiteInTrouble { site: site.clone(), in_a_row: 0, is_counted: false, hold: None },
        };
        troubled.in_a_row = troubled.in_a_row.saturating_add(1);
        let is_first = !std::mem::replace(&mut troubled.is_counted, true);
        if self.sites.len() >= MOST_SITES {
            self.sites.remove(0);
        }
        let in_a_row = troubled.in_a_row;
        self.sites.push(troubled);
        (is_first, in_a_row)
    }

    /// Sites that were in trouble since anybody got a sound answer.
    pub(super) fn in_the_row(&self) -> usize {
        self.sites.iter().filter(|troubled| troubled.is_counted).count()
    }

    /// A site that was in trouble is not asked for.
    pub(super) fn hold(&mut self, site: &S, hold: Option<SiteHold>) {
        if let Some(troubled) = self.sites.iter_mut().find(|troubled| troubled.site == *site) {
            troubled.hold = hold;
        }
    }

    pub(super) fn hold_of(&self, site: &S) -> Option<SiteHold> {
        self.sites.iter().find(|troubled| troubled.site == *site)?.hold
    }

    /// Whether a site is put off until after this time.
    pub(super) fn holds_one_at(&self, time: SystemTime) -> bool {
        let mut holds = self.sites.iter().filter_map(|troubled| troubled.hold?.until);
        holds.any(|until| until > time)
    }
}
