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
    places: BTreeSet<QueueKey>,
    /// For each site, the order of the last tree that has ended, and the data that later trees need.
    left: HashMap<Site, (u64, Vec<u8>)>,
}

impl AheadTrees {
    /// Records that a tree has ended, and that the next one of its site may be walked; `known` is none where
    /// it adds nothing.
    pub(super) fn free(&mut self, next: QueueKey, ended: &Lease, known: Option<Vec<u8>>) {
        self.places.insert(next);
        if let Some(known) = known {
            self.left.insert(ended.site.clone(), (ended.order, known));
        }
    }

    pub(super) fn first(&self) -> Option<QueueKey> {
        self.places.first().copied()
    }

    /// Records that a tree was handed out.
    pub(super) fn remove(&mut self, place: QueueKey) {
        self.places.remove(&place);
    }

    pub(super) fn carry_over(&self, site: &Site) -> Option<&Vec<u8>> {
        self.left.get(site).map(|(_, known)| known)
    }

    /// Records that the store has these trees.
    pub(super) fn forget(&mut self, finished: &[Finished]) {
        for Finished { lease, .. } in finished {
            if self.left.get(&lease.site).is_some_and(|(order, _)| *order == lease.order) {
                self.left.remove(&lease.site);
            }
        }
    }
}
