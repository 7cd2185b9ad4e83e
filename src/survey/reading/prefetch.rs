//! Responses of a simulated Web, generated and read ahead while the clock stands still for other sites.
//!
//! The response of a virtual Web depends on the URL alone, and the content read from it depends on the
//! response alone. So both can be produced before the request is sent, on cores that are otherwise idle. The
//! clock never waits for this, and no result depends on it: a response that is not ready when its request is
//! sent is generated as it would have been without prefetching.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use parking_lot::{Condvar, Mutex};

use super::quarantine::{ReadAhead, ResponseReader};
use crate::exchange::{Purpose, Request};
use crate::fetch::Fetcher;

/// The maximum number of prefetched responses at a time; about 100 kB each, including the content read from
/// them.
const MAX_PENDING: usize = 512;

/// Prefetches responses, with one thread for each core except the survey's own.
pub(in crate::survey) struct Prefetcher {
    shared: Arc<PrefetchShared>,
}

struct PrefetchShared {
    fetcher: Fetcher,
    reader: Arc<ResponseReader>,
    queue: Mutex<PrefetchQueue>,
    /// Notified when a job is added, or at the end.
    job_added: Condvar,
}

#[derive(Default)]
struct PrefetchQueue {
    jobs: VecDeque<Arc<PrefetchJob>>,
    /// The number of jobs that are held by a [`PendingPrefetch`].
    pending: usize,
    is_over: bool,
}

struct PrefetchJob {
    request: Request,
    state: Mutex<JobState>,
    done: Condvar,
}

enum JobState {
    Waiting,
    AtWork,
    Done(Option<Box<ReadAhead>>),
    /// The job is not wanted any more, or its result was handed over.
    Over,
}

impl Prefetcher {
    /// Starts the threads. Returns none on a machine with one core.
    pub(in crate::survey) fn begin(fetcher: Fetcher, reader: Arc<ResponseReader>) -> Option<Self> {
        let threads = thread::available_parallelism().map_or(0, |cores| cores.get() - 1);
        let (queue, job_added) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(PrefetchShared { fetcher, reader, queue, job_added });
        let begun = (0..threads).filter(|_| {
            let shared = shared.clone();
            thread::Builder::new().name("foresight".to_owned()).spawn(move || shared.work()).is_ok()
        });
        (begun.count() > 0).then_some(Self { shared })
    }

    /// Starts on the response to a request that will be sent.
    pub(in crate::survey) fn prefetch(&self, request: &Request) -> Option<PendingPrefetch<'_>> {
        if request.purpose != Purpose::Page {
            return None;
        }
        let mut queue = self.shared.queue.lock();
        if queue.pending >= MAX_PENDING {
            return None;
        }
        queue.pending += 1;
        let job = Arc::new(PrefetchJob {
            request: request.clone(),
            state: Mutex::new(JobState::Waiting),
            done: Condvar::new(),
        });
        queue.jobs.push_back(job.clone());
        self.shared.job_added.notify_one();
        Some(PendingPrefetch { job, shared: &self.shared })
    }
}

impl Drop for Prefetcher {
    fn drop(&mut self) {
        self.shared.queue.lock().is_over = true;
        self.shared.job_added.notify_all();
    }
}

impl PrefetchShared {
    fn work(&self) {
        while let Some(job) = self.next() {
            if !job.begin() {
                continue;
            }
            let prefetched = self.fetcher.prefetch(&job.request.url);
            let read = prefetched.and_then(|prefetched| self.reader.read_ahead(&job.request, prefetched));
            *job.state.lock() = JobState::Done(read.map(Box::new));
            job.done.notify_all();
        }
    }

    fn next(&self) -> Option<Arc<PrefetchJob>> {
        let mut queue = self.queue.lock();
        loop {
            if queue.is_over {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            self.job_added.wait(&mut queue);
        }
    }
}

impl PrefetchJob {
    fn begin(&self) -> bool {
        let mut state = self.state.lock();
        let is_wanted = matches!(*state, JobState::Waiting);
        if is_wanted {
            *state = JobState::AtWork;
        }
        is_wanted
    }

    /// Ends the job and returns its result. If a thread is working on it, waits for the result.
    fn end(&self) -> Option<Box<ReadAhead>> {
        let mut state = self.state.lock();
        while matches!(*state, JobState::AtWork) {
            self.done.wait(&mut state);
        }
        match std::mem::replace(&mut *state, JobState::Over) {
            JobState::Done(read) => read,
            _ => None,
        }
    }
}

/// A response that is being prefetched. Dropping this discards it.
pub(in crate::survey) struct PendingPrefetch<'f> {
    job: Arc<PrefetchJob>,
    shared: &'f PrefetchShared,
}

impl PendingPrefetch<'_> {
    /// The request is sent now: returns the content read from its response, if it was ready or in progress.
    pub(in crate::survey) fn take(&self) -> Option<Box<ReadAhead>> {
        self.job.end()
    }
}

impl Drop for PendingPrefetch<'_> {
    fn drop(&mut self) {
        self.job.end();
        self.shared.fetcher.forget_prefetched(&self.job.request.url);
        self.shared.queue.lock().pending -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::WebUrl;
    use crate::exchange::Depth;

    fn job() -> PrefetchJob {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
        PrefetchJob { request, state: Mutex::new(JobState::Waiting), done: Condvar::new() }
    }

    #[test]
    fn what_nobody_has_begun_when_it_is_asked_for_is_not_begun_any_more() {
        let job = job();
        assert!(job.end().is_none());
        assert!(!job.begin());
    }

    #[test]
    fn what_is_being_made_when_it_is_asked_for_is_waited_for() {
        let job = Arc::new(job());
        assert!(job.begin() && !job.begin());
        let other = job.clone();
        let waits = thread::spawn(move || other.end().is_none());
        *job.state.lock() = JobState::Done(None);
        job.done.notify_all();
        assert!(waits.join().unwrap());
        assert!(matches!(*job.state.lock(), JobState::Over));
    }
}
