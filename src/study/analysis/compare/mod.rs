//! What changed between two surveys: hosts and sites that are there, facts of those that respond in both, and
//! what each survey cost.
//!
//! Both tables of hosts are divided into parts by a hash of the site, and compared part by part, so that
//! memory is bounded by a part. A fact is compared only where both surveys know it: what a survey did not
//! request is not gone ([`Presence`]). The sampling unit of shares is the site, described by its host with
//! the most pages: hosts of one site are not independent.
//!
//! Surveys that were made in unlike ways are compared on what is comparable. [`Unlike`] lists the settings
//! that differ and what they affect.

mod facts;
mod sides;
mod unlike;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::AnalysisError;
use super::Estimate;
use super::intervals::proportion::{PairedCounts, proportion};
use crate::records::{ChangeRow, ChangedFact, HostRow, Presence};
pub use facts::meaning_of_value;
use facts::{PROPERTIES, changed, presence};
pub use sides::ComparedSurvey;
use sides::{HostsOfPart, main_host};
pub use unlike::Unlike;

/// Hosts of a survey in a part: about 200 MB for both.
const HOSTS_PER_PART: u64 = 100_000;

/// What changed between two surveys.
#[derive(Clone, Debug)]
pub struct SurveyComparison {
    /// The earlier survey.
    pub earlier: ComparedSurvey,
    /// The later survey.
    pub later: ComparedSurvey,
    /// The settings that differ.
    pub unlike: Vec<Unlike>,
    /// Sites by their presence in both surveys.
    pub sites: PresenceCounts,
    /// Hosts by their presence in both surveys.
    pub hosts: PresenceCounts,
    /// Shares of the sites that respond in both surveys, in the order of the page.
    pub shares: Vec<ComparedShare>,
    /// Facts that differ at hosts that respond in both surveys.
    pub facts: Vec<ComparedFact>,
    /// Pages of sites that respond in both surveys, before and after.
    pub pages: [u64; 2],
}

/// The number of things by their presence before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PresenceCounts {
    /// A row for each [`Presence`] before, with a column for each after, in the order of the list.
    pub counts: [[u64; 4]; 4],
}

/// A share of sites before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedShare {
    /// What the sites do or have.
    pub name: &'static str,
    /// The sites for which both surveys know it.
    pub sites: PairedCounts,
}

/// How often a fact differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedFact {
    /// The word of the fact.
    pub fact: &'static str,
    /// Sites whose main host has it in both surveys.
    pub sites: u64,
    /// Those of them for which it differs.
    pub changed: u64,
    /// The most frequent changes: value before, value after, sites.
    pub most_frequent: Vec<(String, String, u64)>,
}

impl PresenceCounts {
    fn add(&mut self, before: Presence, after: Presence) {
        self.counts[before as usize][after as usize] += 1;
    }

    /// The number of things with this presence before and after.
    #[must_use]
    pub fn of(&self, before: Presence, after: Presence) -> u64 {
        self.counts[before as usize][after as usize]
    }

    /// Those that respond before.
    #[must_use]
    pub fn before(&self) -> u64 {
        self.counts[Presence::Responds as usize].iter().sum()
    }

    /// Those that respond after.
    #[must_use]
    pub fn after(&self) -> u64 {
        self.counts.iter().map(|row| row[Presence::Responds as usize]).sum()
    }

    /// Those that respond after and before did not: no response came, or nobody knew them.
    #[must_use]
    pub fn born(&self) -> u64 {
        self.of(Presence::NoResponse, Presence::Responds) + self.of(Presence::NotSeen, Presence::Responds)
    }

    /// The share of those that respond after which did not respond before, among those of which that is known.
    #[must_use]
    pub fn born_share(&self) -> Estimate {
        proportion(self.born(), self.born() + self.of(Presence::Responds, Presence::Responds))
    }

    /// Those that responded before and were requested in vain after.
    #[must_use]
    pub fn died(&self) -> u64 {
        self.of(Presence::Responds, Presence::NoResponse)
    }

    /// The share of those that responded before and were requested after which did not respond.
    #[must_use]
    pub fn died_share(&self) -> Estimate {
        proportion(self.died(), self.died() + self.of(Presence::Responds, Presence::Responds))
    }

    /// Those that responded before and were not requested after: whether they still respond is not known.
    #[must_use]
    pub fn lost_sight(&self) -> u64 {
        self.of(Presence::Responds, Presence::NotRequested) + self.of(Presence::Responds, Presence::NotSeen)
    }
}

impl ComparedShare {
    /// Whether the change of the share is more than chance: its interval does not hold 0.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        let difference = self.sites.difference();
        difference.low > 0.0 || difference.high < 0.0
    }
}

impl ComparedFact {
    /// The share of the sites for which the fact differs.
    #[must_use]
    pub fn share(&self) -> Estimate {
        proportion(self.changed, self.sites)
    }
}

/// The number of changes that are listed for a fact.
const LISTED: usize = 10;

impl SurveyComparison {
    /// Compares two surveys, and passes the rows of the table of changes to `take`, some at a time.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub fn between(
        sides: [&ComparedSurvey; 2],
        mut take: impl FnMut(&[ChangeRow]),
    ) -> Result<Self, AnalysisError> {
        let hosts = sides.iter().map(|side| side.hosts).max().unwrap_or_default();
        let parts = hosts.div_ceil(HOSTS_PER_PART).max(1);
        let mut tally = Tally::default();
        for part in 0..parts {
            let [before, after] = sides.map(|side| HostsOfPart::read(&side.dir, part, parts));
            let mut rows = Vec::new();
            tally.add_part(&before?, &after?, |row, (fact, before, after)| {
                let [earlier, later] = sides.map(|side| side.name.clone());
                let (host, site) = (row.host.clone(), row.site.clone());
                let (pages, fact) = (row.pages, fact.to_string());
                rows.push(ChangeRow { earlier, later, host, site, pages, fact, before, after });
            });
            take(&rows);
        }
        let unlike = Unlike::between(sides);
        let [earlier, later] = sides.map(ComparedSurvey::clone);
        Ok(tally.finish(earlier, later, unlike))
    }
}

/// Counts over the parts.
#[derive(Default)]
struct Tally {
    sites: PresenceCounts,
    hosts: PresenceCounts,
    shares: Vec<PairedCounts>,
    compared: BTreeMap<ChangedFact, u64>,
    changes: BTreeMap<ChangedFact, HashMap<(String, String), u64>>,
    pages: [u64; 2],
}

impl Tally {
    fn add_part(
        &mut self,
        before: &HostsOfPart,
        after: &HostsOfPart,
        mut change: impl FnMut(&HostRow, (ChangedFact, String, String)),
    ) {
        self.shares.resize(PROPERTIES.len(), PairedCounts::default());
        let mut sites: Vec<&str> =
            before.sites.keys().chain(after.sites.keys()).map(String::as_str).collect();
        sites.sort_unstable();
        sites.dedup();
        for site in sites {
            let [old, new] = [before, after].map(|side| side.sites.get(site).map_or(&[][..], Vec::as_slice));
            for (old, new) in pairs(old, new) {
                let [was, is] = [presence(old), presence(new)];
                self.hosts.add(was, is);
                let Some(host) = new.or(old) else { continue };
                if was != is {
                    change(host, (ChangedFact::Presence, was.to_string(), is.to_string()));
                }
                if let Some((old, new)) = old.zip(new)
                    && (was, is) == (Presence::Responds, Presence::Responds)
                {
                    changed(old, new).for_each(|changed| change(host, changed));
                }
            }
            self.add_site(old, new);
        }
    }

    fn add_site(&mut self, old: &[HostRow], new: &[HostRow]) {
        let of_site = |hosts: &[HostRow]| {
            hosts.iter().map(|host| presence(Some(host))).min().unwrap_or(Presence::NotSeen)
        };
        let [was, is] = [of_site(old), of_site(new)];
        self.sites.add(was, is);
        let Some((before, after)) = main_host(old).zip(main_host(new)) else { return };
        for (pages, hosts) in self.pages.iter_mut().zip([old, new]) {
            *pages += hosts.iter().map(|host| host.pages).sum::<u64>();
        }
        for (property, counts) in PROPERTIES.iter().zip(&mut self.shares) {
            if let Some((had, has)) = (property.of)(before).zip((property.of)(after)) {
                counts.add(had, has);
            }
        }
        for fact in ChangedFact::ALL {
            let values = facts::value(*fact, before).zip(facts::value(*fact, after));
            let Some((before, after)) = values else { continue };
            *self.compared.entry(*fact).or_default() += 1;
            if before != after {
                *self.changes.entry(*fact).or_default().entry((before, after)).or_default() += 1;
            }
        }
    }

    fn finish(
        mut self,
        earlier: ComparedSurvey,
        later: ComparedSurvey,
        unlike: Vec<Unlike>,
    ) -> SurveyComparison {
        let fact = |fact: &ChangedFact| {
            let sites = self.compared.get(fact).copied().filter(|sites| *sites > 0)?;
            let mut changes: Vec<(String, String, u64)> = self
                .changes
                .remove(fact)
                .unwrap_or_default()
                .into_iter()
                .map(|((before, after), sites)| (before, after, sites))
                .collect();
            let changed = changes.iter().map(|change| change.2).sum();
            changes.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| (&a.0, &a.1).cmp(&(&b.0, &b.1))));
            changes.truncate(LISTED);
            Some(ComparedFact { fact: fact.as_str(), sites, changed, most_frequent: changes })
        };
        let facts = ChangedFact::ALL.iter().filter_map(fact).collect();
        let shares = PROPERTIES.iter().zip(&self.shares);
        let shares = shares.map(|(property, sites)| ComparedShare { name: property.name, sites: *sites });
        SurveyComparison {
            earlier,
            later,
            unlike,
            shares: shares.filter(|share| share.sites.count() > 0).collect(),
            facts,
            sites: self.sites,
            hosts: self.hosts,
            pages: self.pages,
        }
    }
}

/// Hosts of a site with the same name, in the order of names. Both lists are sorted.
fn pairs<'h>(
    mut old: &'h [HostRow],
    mut new: &'h [HostRow],
) -> impl Iterator<Item = (Option<&'h HostRow>, Option<&'h HostRow>)> {
    std::iter::from_fn(move || {
        let (first_old, first_new) = (old.first(), new.first());
        let order = match (first_old, first_new) {
            (None, None) => return None,
            (Some(old), Some(new)) => old.host.cmp(&new.host),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
        };
        if order.is_le() {
            old = &old[1..];
        }
        if order.is_ge() {
            new = &new[1..];
        }
        Some((first_old.filter(|_| order.is_le()), first_new.filter(|_| order.is_ge())))
    })
}

#[cfg(test)]
mod tests;
