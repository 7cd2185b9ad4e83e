use std::collections::{BTreeSet, HashMap};

use super::entry::{Finished, Lease};
use super::layout::QueueKey;
use crate::address::Site;

/// Trees that may be walked before their predecessor in their site is in the store, and the data that the
/// predecessor left for them.
///
/// Trees are only handed out sooner; the store has already given them their queue keys. So none of this needs
/// to outlast the process: in the store these trees wait for their predecessor, which is walked again from
/// its journal.
#[derive(Debug, Default)]
pub(super) struct AheadTrees {
    slots: BTreeSet<QueueKey>,
    /// For each site, the order of the last tree that has ended, and the data that later trees need.
    carry_overs: HashMap<Site, (u64, Vec<u8>)>,
}

impl AheadTrees {
    /// Records that a tree has ended, and that the next one of its site may be walked; `bytes` is none where
    /// it adds nothing.
    pub(super) fn free(&mut self, next: QueueKey, ended: &Lease, bytes: Option<Vec<u8>>) {
        self.slots.insert(next);
        if let Some(bytes) = bytes {
            self.carry_overs.insert(ended.site.clone(), (ended.order, bytes));
        }
    }

    pub(super) fn first(&self) -> Option<QueueKey> {
        self.slots.first().copied()
    }

    /// Records that a tree was handed out.
    pub(super) fn remove(&mut self, slot: QueueKey) {
        self.slots.remove(&slot);
    }

    pub(super) fn carry_over(&self, site: &Site) -> Option<&Vec<u8>> {
        self.carry_overs.get(site).map(|(_, bytes)| bytes)
    }

    /// Records that the store has these trees.
    pub(super) fn forget(&mut self, finished: &[Finished]) {
        for Finished { lease, .. } in finished {
            if self.carry_overs.get(&lease.site).is_some_and(|(order, _)| *order == lease.order) {
                self.carry_overs.remove(&lease.site);
            }
        }
    }
}
