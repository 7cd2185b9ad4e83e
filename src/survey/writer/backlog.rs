use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Trees handed over to the writer and not on the disk yet.
#[derive(Default)]
pub(in crate::survey) struct Backlog {
    trees: Mutex<usize>,
    shrunk: Condvar,
    /// Notified when a segment has been written, or writing has failed.
    pub written: Notify,
    /// Whether the survey waits for the next segment.
    pub is_awaited: AtomicBool,
    /// Whether it has nothing else to do meanwhile: no site is visited.
    pub is_all_there_is: AtomicBool,
    has_failed: AtomicBool,
}

impl Backlog {
    pub(in crate::survey) fn add(&self) {
        *self.trees() += 1;
    }

    /// So many trees are on the disk.
    pub(in crate::survey) fn remove(&self, written: usize) {
        *self.trees() -= written;
        self.shrunk.notify_all();
        self.written.notify_one();
    }

    /// No segment will come any more.
    pub(in crate::survey) fn fail(&self) {
        self.has_failed.store(true, Ordering::SeqCst);
        let _trees = self.trees();
        self.shrunk.notify_all();
        self.written.notify_one();
    }

    pub(in crate::survey) fn len(&self) -> usize {
        *self.trees()
    }

    /// Blocks until all is written; false when there was nothing to wait for, or no hope.
    pub(in crate::survey) fn catch_up(&self) -> bool {
        let mut trees = self.trees();
        let had_some = *trees > 0;
        while *trees > 0 && !self.has_failed.load(Ordering::SeqCst) {
            trees = self.shrunk.wait(trees).unwrap_or_else(PoisonError::into_inner);
        }
        had_some && *trees == 0
    }

    fn trees(&self) -> MutexGuard<'_, usize> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
