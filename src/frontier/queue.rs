use redb::{ReadableTable, Table, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::entry::{Finished, Lease, Offer, Spread, StartCandidate};
use super::gate::{SiteGates, SpareStart};
use super::layout::{FOUND, META, QueueKey, SITES, TREES, WAITING, decode, encode, queue_key};
use crate::address::Site;

/// The store's entry of a site.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SiteEntry {
    /// Page keys of its start URLs so far.
    seeds: Vec<u64>,
    /// The number of trees that are queued and not finished.
    pub open: u32,
    /// Further trees that wait until the one before them is finished.
    pub blocked: Vec<QueueKey>,
}

/// The queue inside one transaction.
pub(super) struct Queue<'txn> {
    meta: Table<'txn, &'static str, u64>,
    trees: Table<'txn, u64, &'static [u8]>,
    waiting: Table<'txn, QueueKey, ()>,
    sites: Table<'txn, &'static str, &'static [u8]>,
    found: Table<'txn, u64, &'static [u8]>,
    gates: SiteGates<'txn>,
    spread: Spread,
    /// The first queue key that was added in this transaction.
    pub first_taken: Option<QueueKey>,
}

/// The order number that the next tree gets.
pub(super) const NEXT: &str = "next";
/// The order number of the tree whose findings are merged next.
const MERGED: &str = "merged";
/// The number of different sites.
pub(super) const SITES_FOUND: &str = "sites";

impl<'txn> Queue<'txn> {
    pub(super) fn open(txn: &'txn WriteTransaction, spread: Spread) -> Result<Self, redb::Error> {
        Ok(Self {
            meta: txn.open_table(META)?,
            trees: txn.open_table(TREES)?,
            waiting: txn.open_table(WAITING)?,
            sites: txn.open_table(SITES)?,
            found: txn.open_table(FOUND)?,
            gates: SiteGates::open(txn, spread)?,
            spread,
            first_taken: None,
        })
    }

    pub(super) fn offer(
        &mut self,
        candidate: StartCandidate,
        parent: Option<&Site>,
        generation: u32,
    ) -> Result<Offer, redb::Error> {
        let mut home = None;
        for site in &candidate.homes {
            if let Some(entry) = self.site(site)? {
                home = Some((site.clone(), entry));
                break;
            }
        }
        let Some(nearest) = candidate.homes.first().cloned() else { return Ok(Offer::Known) };
        let is_new = home.is_none();
        let (site, entry) = home.unwrap_or_else(|| (nearest, SiteEntry::default()));
        let is_too_far = self.spread.generations.is_some_and(|last| generation > last);
        if is_too_far || entry.seeds.contains(&candidate.url.page_key().0) {
            return Ok(Offer::Known);
        }
        let start = SpareStart { candidate, parent: parent.cloned(), generation };
        let has_all_seeds = entry.seeds.len() >= self.spread.seeds_per_site.max(1) as usize;
        if has_all_seeds && !self.gates.admits(&site, &start, entry.seeds.len())? {
            return Ok(Offer::Known);
        }
        self.add_to_counter(SITES_FOUND, u64::from(is_new))?;
        self.queue(&site, entry, start)?;
        Ok(if is_new { Offer::Site } else { Offer::Seed })
    }

    /// The site of a tree, and how far it is from the start list.
    pub(super) fn origin(&self, order: u64) -> Result<(Site, u32), redb::Error> {
        let tree = self.trees.get(order)?.map(|tree| tree.value().to_vec()).unwrap_or_default();
        let Lease { site, generation, .. } = decode(&tree, format_args!("site tree {order}"))?;
        Ok((site, generation))
    }

    /// Gives a site one more tree.
    fn queue(&mut self, site: &Site, mut entry: SiteEntry, start: SpareStart) -> Result<(), redb::Error> {
        let SpareStart { candidate: StartCandidate { url, priority, .. }, parent, generation } = start;
        let order = self.add_to_counter(NEXT, 1)?;
        let seed = u16::try_from(entry.seeds.len()).unwrap_or(u16::MAX);
        entry.seeds.push(url.page_key().0);
        let lease = Lease { order, site: site.clone(), priority, seed, start: url, parent, generation };
        self.trees.insert(order, encode(&lease).as_slice())?;
        if entry.open == 0 {
            self.enqueue(queue_key(&lease))?;
        } else {
            entry.blocked.push(queue_key(&lease));
        }
        entry.open += 1;
        self.sites.insert(site.as_str(), encode(&entry).as_slice())?;
        self.gates.add_tree(site)
    }

    /// Takes in a finished tree: its findings wait for the trees before it, and the next tree of its site may
    /// be walked. Returns false, and changes nothing, if the tree was taken in before.
    pub(super) fn close(&mut self, tree: &Finished) -> Result<bool, redb::Error> {
        let lease = &tree.lease;
        if self.waiting.remove(queue_key(lease))?.is_none() {
            return Ok(false);
        }
        self.found.insert(lease.order, encode(&(&lease.site, lease.generation, &tree.found)).as_slice())?;
        self.gates.note_finished(lease.order, tree.closed.as_deref())?;
        if let Some(mut entry) = self.site(&lease.site)? {
            entry.open = entry.open.saturating_sub(1);
            if !entry.blocked.is_empty() {
                self.enqueue(entry.blocked.remove(0))?;
            }
            self.sites.insert(lease.site.as_str(), encode(&entry).as_slice())?;
        }
        Ok(true)
    }

    /// Merges finished trees in their order, up to the first that is not finished.
    pub(super) fn merge(&mut self) -> Result<(), redb::Error> {
        loop {
            let order = self.add_to_counter(MERGED, 0)?;
            if !self.merge_tree(order)? {
                return Ok(());
            }
            self.add_to_counter(MERGED, 1)?;
        }
    }

    /// Merges all finished trees in their order. To be called between rounds, when all that ended in the round
    /// are finished: their trees do not wait for those before them, which may have parts in many rounds more.
    pub(super) fn merge_all(&mut self) -> Result<(), redb::Error> {
        let finished: Vec<u64> =
            self.found.iter()?.map(|entry| Ok(entry?.0.value())).collect::<Result<_, redb::Error>>()?;
        for order in finished {
            self.merge_tree(order)?;
        }
        Ok(())
    }

    /// Merges a tree: if its site is closed, that gets the first of its spares, and the URLs that the tree
    /// found are offered. Returns false if the tree is not finished, or merged already.
    fn merge_tree(&mut self, order: u64) -> Result<bool, redb::Error> {
        let Some(bytes) = self.found.remove(order)?.map(|value| value.value().to_vec()) else {
            return Ok(false);
        };
        let (site, generation, found): (Site, u32, Vec<StartCandidate>) =
            decode(&bytes, format_args!("the findings of site tree {order}"))?;
        let entry = self.site(&site)?.unwrap_or_default();
        if let Some(spare) = self.gates.merge(order, &site, entry.seeds.len())? {
            self.queue(&site, entry, spare)?;
        }
        for candidate in found {
            self.offer(candidate, Some(&site), generation + 1)?;
        }
        Ok(true)
    }

    fn enqueue(&mut self, slot: QueueKey) -> Result<(), redb::Error> {
        self.waiting.insert(slot, ())?;
        self.first_taken = Some(self.first_taken.map_or(slot, |first| first.min(slot)));
        Ok(())
    }

    /// Adds to a counter and returns its previous value.
    pub(super) fn add_to_counter(&mut self, counter: &'static str, by: u64) -> Result<u64, redb::Error> {
        let value = self.meta.get(counter)?.map_or(0, |value| value.value());
        if by > 0 {
            self.meta.insert(counter, value + by)?;
        }
        Ok(value)
    }

    pub(super) fn set_counter(&mut self, counter: &'static str, value: u64) -> Result<(), redb::Error> {
        self.meta.insert(counter, value)?;
        Ok(())
    }

    fn site(&self, site: &Site) -> Result<Option<SiteEntry>, redb::Error> {
        let entry = self.sites.get(site.as_str())?;
        entry
            .map(|value| decode(value.value(), format_args!("the entry of site {}", site.as_str())))
            .transpose()
    }
}
