use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::Notify;

/// The number of trees that were handed over to the writer and are not on the disk yet.
#[derive(Default)]
pub(in crate::survey) struct Backlog {
    trees: Mutex<usize>,
    shrunk: Condvar,
    /// Notified when a segment has been written, or writing has failed.
    pub written: Notify,
    /// Whether the survey waits for the next segment.
    pub is_awaited: AtomicBool,
    /// Whether the survey has nothing else to do meanwhile: no site is being visited.
    pub are_visits_over: AtomicBool,
    has_failed: AtomicBool,
}

impl Backlog {
    pub(in crate::survey) fn add(&self) {
        *self.trees() += 1;
    }

    /// Notes that this number of trees has reached the disk.
    pub(in crate::survey) fn remove(&self, written: usize) {
        *self.trees() -= written;
        self.shrunk.notify_all();
        self.written.notify_one();
    }

    /// Notes that no more segments will come.
    pub(in crate::survey) fn fail(&self) {
        self.has_failed.store(true, Ordering::SeqCst);
        let _trees = self.trees();
        self.shrunk.notify_all();
        self.written.notify_one();
    }

    pub(in crate::survey) fn len(&self) -> usize {
        *self.trees()
    }

    /// Blocks until everything is written. Returns false if there was nothing to wait for, or if the writer
    /// has failed.
    pub(in crate::survey) fn catch_up(&self) -> bool {
        let mut trees = self.trees();
        let had_some = *trees > 0;
        while *trees > 0 && !self.has_failed.load(Ordering::SeqCst) {
            self.shrunk.wait(&mut trees);
        }
        had_some && *trees == 0
    }

    fn trees(&self) -> MutexGuard<'_, usize> {
        self.trees.lock()
    }
}
