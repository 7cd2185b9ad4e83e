//! Records on disk which requests were sent before they are sent, so that a power cut hides none.
//!
//! Journals are flushed every few seconds. A power cut takes what was written to a journal after that, or the
//! whole journal. So each request is also written to one of two further files, which is flushed before the
//! request is sent. One flush serves all requests that wait for it. While one of the two files is written,
//! the journals with the requests in the other one are flushed, and then that file is emptied.
//!
//! When the survey resumes, requests that are missing from every journal are entered into theirs, as sent and
//! without a response. They count toward the budgets of their site and its servers, and the servers get the
//! pause that follows a lost request.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use parking_lot::{Condvar, Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use super::frame;
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::folder::creation_lock::is_same_file;

/// A request that is about to be sent, as its journal records it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::survey) struct SentRequest {
    pub tree: u64,
    pub number: u32,
    pub address: IpAddr,
    pub at: SystemTime,
}

/// Flushes the sent requests and the journals.
pub(in crate::survey) struct Keeper {
    shared: Arc<KeeperShared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct KeeperShared {
    /// The folder of the journals. It is flushed for the names of new files.
    journals: (PathBuf, File),
    files: [(PathBuf, File); 2],
    state: Mutex<KeeperState>,
    /// Signals that there is something to write.
    has_entries: Condvar,
    /// Signals that journals are to be flushed before their time.
    is_urgent: Condvar,
    /// Signals that no more requests are sent.
    ending: Condvar,
    kept: watch::Sender<FlushState>,
}

#[derive(Default)]
struct KeeperState {
    /// Entries that are not written yet.
    pending: Vec<u8>,
    /// The number of entries handed over so far.
    entry_count: u64,
    /// The index of the file that is being written.
    current: usize,
    /// Journals that were written since their last flush.
    dirty: Vec<Dirty>,
    is_urgent: bool,
    is_ending: bool,
}

struct Dirty {
    path: PathBuf,
    file: Weak<File>,
    is_dirty: Arc<AtomicBool>,
}

/// The number of entries on the disk, or the error because of which no more will be.
#[derive(Clone)]
enum FlushState {
    Entries(u64),
    Failed(Arc<(PathBuf, io::Error)>),
}

/// After a flush that several requests shared, the next one begins this long after its start, so that it
/// serves as many again. Requests that come one after the other are flushed at once.
const SHARED_INTERVAL: Duration = Duration::from_millis(5);
/// Journals are flushed this long after the previous flush …
const INTERVAL: Duration = Duration::from_secs(2);
/// … or later if flushing is slow, so that it takes a fifth of the time.
const PAUSE_FACTOR: u32 = 4;
pub(in crate::survey) const FILE_NAMES: [&str; 2] = ["sent-a.log", "sent-b.log"];

impl Keeper {
    /// Begins in a folder whose journals already hold all requests that were sent.
    pub(in crate::survey) fn begin(folder: &Folder) -> Result<Self, SurveyError> {
        let open = |name: &str| {
            let path = folder.journals().join(name);
            let file = File::create(&path).map_err(SurveyError::file("write", &path))?;
            Ok::<_, SurveyError>((path, file))
        };
        let files = [open(FILE_NAMES[0])?, open(FILE_NAMES[1])?];
        let journals = folder.journals();
        let directory = File::open(&journals).map_err(SurveyError::file("open", &journals))?;
        directory.sync_all().map_err(SurveyError::file("flush", &journals))?;
        let shared = Arc::new(KeeperShared {
            journals: (journals, directory),
            files,
            state: Mutex::default(),
            has_entries: Condvar::new(),
            is_urgent: Condvar::new(),
            ending: Condvar::new(),
            kept: watch::Sender::new(FlushState::Entries(0)),
        });
        let workers: [(&str, Work); 2] = [
            ("keeper of requests", KeeperShared::write_entries),
            ("keeper of journals", KeeperShared::flush_journals),
        ];
        let threads = workers.into_iter().map(|(name, work)| {
            let shared = shared.clone();
            let work = move || {
                if let Err(error) = work(&shared) {
                    shared.fail(error);
                }
            };
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
            thread.map_err(|error| SurveyError::Broken(error.to_string()))
        });
        let threads = threads.collect::<Result<_, _>>()?;
        Ok(Self { shared, threads: Mutex::new(threads) })
    }

    /// Waits until the disk holds a record that this request is being sent.
    ///
    /// # Errors
    /// When the disk fails.
    pub(in crate::survey) async fn keep(
        &self,
        (tree, number): (u64, u32),
        address: IpAddr,
        at: SystemTime,
    ) -> Result<(), SurveyError> {
        let last = self.shared.enqueue(&SentRequest { tree, number, address, at })?;
        let mut kept = self.shared.kept.subscribe();
        let kept = kept.wait_for(|kept| !matches!(kept, FlushState::Entries(kept) if *kept < last)).await;
        match kept.as_deref() {
            Ok(FlushState::Entries(_)) => Ok(()),
            Ok(FlushState::Failed(failed)) => Err(to_error(failed)),
            Err(_) => Err(SurveyError::Broken("the thread that records requests".to_owned())),
        }
    }

    /// Notes that the file of a journal was created or written for the first time since its last flush.
    pub(in crate::survey) fn note_dirty(&self, path: &Path, file: &Arc<File>, is_dirty: &Arc<AtomicBool>) {
        let dirty = Dirty { path: path.to_owned(), file: Arc::downgrade(file), is_dirty: is_dirty.clone() };
        self.shared.state().dirty.push(dirty);
    }

    /// Asks for an immediate flush of what was just written to a journal: a server demanded a pause that is
    /// longer than the one that follows a lost request.
    pub(in crate::survey) fn flush_soon(&self) {
        self.shared.state().is_urgent = true;
        self.shared.is_urgent.notify_one();
    }

    /// Flushes what is left, and ends. No request may be sent afterwards.
    ///
    /// # Errors
    /// When the disk has failed.
    pub(in crate::survey) fn end(&self) -> Result<(), SurveyError> {
        self.shared.state().is_ending = true;
        self.shared.has_entries.notify_all();
        self.shared.is_urgent.notify_all();
        self.shared.ending.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            thread.join().map_err(|_panic| SurveyError::Broken("the journal thread".to_owned()))?;
        }
        if let FlushState::Failed(failed) = &*self.shared.kept.borrow() {
            return Err(to_error(failed));
        }
        // The journals hold everything now. Another survey may have been created in place of this one.
        for (path, file) in &self.shared.files {
            if is_same_file(file, path).unwrap_or(false) {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("journals", &self.shared.journals.0).finish_non_exhaustive()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The error that led here is the one to report.
        let _ = self.end();
    }
}

/// The file that failed, and the error.
type Failed = (PathBuf, io::Error);
/// The work of a thread until the survey ends.
type Work = fn(&KeeperShared) -> Result<(), Failed>;

impl KeeperShared {
    fn state(&self) -> MutexGuard<'_, KeeperState> {
        self.state.lock()
    }

    /// Returns the number of entries up to this one.
    fn enqueue(&self, sent: &SentRequest) -> Result<u64, SurveyError> {
        let bytes = frame::encode_frame(sent).map_err(|error| SurveyError::Broken(error.to_string()))?;
        let mut state = self.state();
        state.pending.extend(bytes);
        state.entry_count += 1;
        self.has_entries.notify_one();
        Ok(state.entry_count)
    }

    fn write_entries(&self) -> Result<(), Failed> {
        let mut flushed = 0;
        loop {
            let mut state = self.state();
            while state.pending.is_empty() {
                if state.is_ending {
                    return Ok(());
                }
                self.has_entries.wait(&mut state);
            }
            let (bytes, last) = (std::mem::take(&mut state.pending), state.entry_count);
            // Written under the lock: the thread that empties the other file has then seen which file this
            // is.
            let (path, mut file) = (&self.files[state.current].0, &self.files[state.current].1);
            file.write_all(&bytes).map_err(|error| (path.clone(), error))?;
            drop(state);
            let began = Instant::now();
            file.sync_data().map_err(|error| (path.clone(), error))?;
            self.kept.send_if_modified(|kept| match kept {
                FlushState::Entries(before) => {
                    *before = last;
                    true
                }
                FlushState::Failed(_) => false,
            });
            let is_shared = last > flushed + 1;
            flushed = last;
            if !is_shared {
                continue;
            }
            let pause = SHARED_INTERVAL.saturating_sub(began.elapsed());
            self.ending.wait_while_for(&mut self.state(), |state| !state.is_ending, pause);
        }
    }

    fn flush_journals(&self) -> Result<(), Failed> {
        let mut pause = INTERVAL;
        loop {
            let mut state = self.state();
            let is_idle = |state: &mut KeeperState| !state.is_urgent && !state.is_ending;
            self.is_urgent.wait_while_for(&mut state, is_idle, pause);
            state.is_urgent = false;
            let is_ending = state.is_ending;
            let dirty = std::mem::take(&mut state.dirty);
            let before = state.current;
            state.current = 1 - before;
            drop(state);
            let began = Instant::now();
            self.flush(&dirty)?;
            let (path, mut file) = (&self.files[before].0, &self.files[before].1);
            let emptied = file.set_len(0).and_then(|()| file.rewind());
            emptied.map_err(|error| (path.clone(), error))?;
            if is_ending {
                return Ok(());
            }
            pause = INTERVAL.max(began.elapsed() * PAUSE_FACTOR);
        }
    }

    fn flush(&self, dirty: &[Dirty]) -> Result<(), Failed> {
        for Dirty { path, file, is_dirty } in dirty {
            // What is written from here on is flushed the next time.
            is_dirty.store(false, Ordering::SeqCst);
            let flushed = match file.upgrade() {
                Some(file) => file.sync_data(),
                None => File::open(path).and_then(|file| file.sync_data()),
            };
            match flushed {
                // Its tree is finished.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                flushed => flushed.map_err(|error| (path.clone(), error))?,
            }
        }
        let (path, directory) = &self.journals;
        if dirty.is_empty() { Ok(()) } else { directory.sync_all().map_err(|error| (path.clone(), error)) }
    }

    fn fail(&self, failed: Failed) {
        self.kept.send_replace(FlushState::Failed(Arc::new(failed)));
    }
}

fn to_error(failed: &Failed) -> SurveyError {
    let (path, error) = failed;
    let source = match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    };
    SurveyError::File { operation: "write", path: path.clone(), source }
}
