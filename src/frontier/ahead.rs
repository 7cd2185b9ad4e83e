use std::collections::{BTreeSet, HashMap};

use super::entry::{Finished, Lease};
use super::layout::QueueKey;
use crate::address::Site;

/// Trees that may be walked before the one before them in their site is in the store, and what that left for them.
///
/// Only a place in the queue that the store has given already is handed out sooner. So nothing of this need outlast the
/// process: in the store these trees wait for the one before them, which is walked again from its journal.
#[derive(Debug, Default)]
pub(super) struct AheadTrees {
    places: BTreeSet<QueueKey>,
    /// By site, of the last tree that has ended: its order, and what later trees need to know.
    left: HashMap<Site, (u64, Vec<u8>)>,
}

impl AheadTrees {
    /// A tree has ended, and the one behind it in its site may be walked; `known` is none where it adds nothing.
    pub(super) fn free(&mut self, next: QueueKey, ended: &Lease, known: Option<Vec<u8>>) {
        self.places.insert(next);
        if let Some(known) = known {
            self.left.insert(ended.site.clone(), (ended.order, known));
        }
    }

    pub(super) fn first(&self) -> Option<QueueKey> {
        self.places.first().copied()
    }

    /// A tree was handed out.
    pub(super) fn remove(&mut self, place: QueueKey) {
        self.places.remove(&place);
    }

    pub(super) fn carry_over(&self, site: &Site) -> Option<&Vec<u8>> {
        self.left.get(site).map(|(_, known)| known)
    }

    /// The store has these trees.
    pub(super) fn forget(&mut self, finished: &[Finished]) {
        for Finished { lease, .. } in finished {
            if self.left.get(&lease.site).is_some_and(|(order, _)| *order == lease.order) {
                self.left.remove(&lease.site);
            }
        }
    }
}
