use redb::{ReadableTable, Table, TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::entry::{MAX_TREES, Spread, StartCandidate};
use super::layout::{decode, encode};
use crate::address::Site;

pub(super) const GATES: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("gates");
/// Finished trees that brought no page and are not merged yet, with the URLs that they requested.
pub(super) const CLOSED: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("closed");

/// The number of spares kept for a site that may still open: together with the tree that decides it, as many
/// as the site may have trees.
const MAX_SPARES: usize = MAX_TREES as usize - 1;

/// Whether a site is open, as far as its trees are merged. This decides whether it gets a further tree.
///
/// All of this state changes only when a URL is offered or a tree is merged, and both happen in the order of
/// trees. So the further trees of a site do not depend on when walks end.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SiteGate {
    /// The number of trees of the site that are not merged.
    unmerged: u32,
    /// A tree brought a page, or ended in a way that no other URL of the site would change.
    is_open: bool,
    spares: Vec<SpareStart>,
    /// Page keys of the URLs that its merged trees requested.
    requested_urls: Vec<u64>,
}

impl SiteGate {
    /// Whether no tree has opened the site, and none that may open it is under way.
    pub(super) fn is_closed(&self) -> bool {
        !self.is_open && self.unmerged == 0
    }
}

/// A URL that is offered if the trees before it do not open its site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpareStart {
    pub candidate: StartCandidate,
    pub parent: Option<Site>,
    pub generation: u32,
}

/// The gates of all sites, inside one transaction; empty where sites get no later trees.
pub(super) struct SiteGates<'txn> {
    gates: Table<'txn, &'static str, &'static [u8]>,
    closed: Table<'txn, u64, &'static [u8]>,
    spread: Spread,
}

impl<'txn> SiteGates<'txn> {
    pub(super) fn open(txn: &'txn WriteTransaction, spread: Spread) -> Result<Self, redb::Error> {
        Ok(Self { gates: txn.open_table(GATES)?, closed: txn.open_table(CLOSED)?, spread })
    }

    /// Records that a tree of the site was queued.
    pub(super) fn add_tree(&mut self, site: &Site) -> Result<(), redb::Error> {
        if self.spread.later_trees {
            let mut gate = self.gate(site)?;
            gate.unmerged += 1;
            self.put(site, &gate)?;
        }
        Ok(())
    }

    /// Whether a URL makes one more tree of its site, which has `trees` trees: it does where the site is
    /// closed. Where that is not known yet, the URL becomes a spare.
    pub(super) fn admits(
        &mut self,
        site: &Site,
        spare: &SpareStart,
        trees: usize,
    ) -> Result<bool, redb::Error> {
        if !self.spread.later_trees || trees >= MAX_TREES as usize {
            return Ok(false);
        }
        let mut gate = self.gate(site)?;
        let key = spare.candidate.url.page_key();
        if gate.is_open || gate.requested_urls.contains(&key.0) {
            return Ok(false);
        }
        let is_listed = || gate.spares.iter().any(|other| other.candidate.url.page_key() == key);
        if !gate.is_closed() && gate.spares.len() < MAX_SPARES && !is_listed() {
            gate.spares.push(spare.clone());
            self.put(site, &gate)?;
        }
        Ok(gate.is_closed())
    }

    /// Records that a tree is finished and, if it brought no page, the URLs that the trees of its site
    /// requested.
    pub(super) fn note_finished(&mut self, order: u64, closed: Option<&[u64]>) -> Result<(), redb::Error> {
        if let Some(requested_urls) = closed.filter(|_| self.spread.later_trees) {
            self.closed.insert(order, encode(&requested_urls).as_slice())?;
        }
        Ok(())
    }

    /// Merges a tree of a site that has `trees` trees. Returns the next spare, if the site is closed now.
    pub(super) fn merge(
        &mut self,
        order: u64,
        site: &Site,
        trees: usize,
    ) -> Result<Option<SpareStart>, redb::Error> {
        if !self.spread.later_trees {
            return Ok(None);
        }
        let requested_urls = self.closed.remove(order)?;
        let requested_urls = requested_urls.map(|value| {
            decode::<Vec<u64>>(value.value(), format_args!("the URLs that site tree {order} requested"))
        });
        let mut gate = self.gate(site)?;
        gate.unmerged = gate.unmerged.saturating_sub(1);
        match requested_urls.transpose()? {
            Some(requested_urls) => gate.requested_urls.extend(requested_urls),
            None => gate.is_open = true,
        }
        gate.requested_urls.sort_unstable();
        gate.requested_urls.dedup();
        if gate.is_open || trees >= MAX_TREES as usize {
            (gate.spares, gate.requested_urls) = (Vec::new(), Vec::new());
        }
        gate.spares.retain(|spare| !gate.requested_urls.contains(&spare.candidate.url.page_key().0));
        let is_due = gate.is_closed() && !gate.spares.is_empty();
        let spare = is_due.then(|| gate.spares.remove(0));
        self.put(site, &gate)?;
        Ok(spare)
    }

    fn gate(&self, site: &Site) -> Result<SiteGate, redb::Error> {
        let gate = self.gates.get(site.as_str())?;
        let what = format_args!("the entrance state of site {}", site.as_str());
        Ok(gate.map(|value| decode(value.value(), what)).transpose()?.unwrap_or_default())
    }

    fn put(&mut self, site: &Site, gate: &SiteGate) -> Result<(), redb::Error> {
        self.gates.insert(site.as_str(), encode(gate).as_slice())?;
        Ok(())
    }
}
