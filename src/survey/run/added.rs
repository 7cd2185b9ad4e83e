//! Adds start URLs to an existing survey.
//!
//! They are handed over as a file in `DIR/added`. The file appears whole, and is on the disk before the
//! command reports success. The process that holds the survey's state merges it: the running process within a
//! second or two, or otherwise the process that adds. One transaction of the frontier offers the URLs and
//! notes the file's name with the current length of `start.csv`. Then the URLs are appended to `start.csv`,
//! and the file is removed. After a crash between these steps, the note ensures that the URLs are offered
//! once and appear in `start.csv` once.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::fetch::Clock;
use crate::frontier::{Frontier, FrontierError};
use crate::records::{Manifest, SurveyState, replace_with, sync_folder};
use crate::settings::Settings;
use crate::starts::StartList;
use crate::survey::boundaries::rates::rebuild_memories;
use crate::survey::boundaries::scope::SurveyScope;
use crate::survey::boundaries::start_urls::{StartUrlCounts, candidates_by_priority, sampled_urls};
use crate::survey::earlier::EarlierPages;
use crate::survey::error::{READ, SurveyError};
use crate::survey::folder::{Folder, write_urls};
use crate::survey::storage::progress::Snapshot;
use crate::survey::storage::spread;

/// A list that was handed over to a survey.
#[derive(Debug)]
pub struct SubmittedList(PathBuf);

impl SubmittedList {
    /// Whether a process has merged it.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        !self.0.exists()
    }
}

/// The settings of a survey to which start URLs can be added.
///
/// # Errors
/// When there is no survey, it is a simulation, or its state is missing.
pub fn survey_settings(dir: &Path) -> Result<Settings, SurveyError> {
    if Manifest::load(dir)?.simulation.is_some() {
        return Err(SurveyError::Simulated(dir.to_owned()));
    }
    let folder = Folder::open(dir);
    if !folder.state().is_file() {
        return Err(SurveyError::StateMissing(folder.state()));
    }
    folder.read_settings()
}

/// Hands start URLs over to the survey in `dir`. On return they are on the disk.
///
/// # Errors
/// When they cannot be written. Nothing was handed over then.
pub fn submit_list(dir: &Path, list: &StartList) -> Result<SubmittedList, SurveyError> {
    let folder = Folder::open(dir);
    let added = folder.added();
    let write = |path: &Path| {
        fs::create_dir_all(&added)?;
        sync_folder(dir)?;
        replace_with(path, |out| write_urls(out, true, list.urls()))
    };
    // No two processes of this machine have the same number at the same time.
    let moment = Clock::system().now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let path = added.join(format!("{moment:020}-{}.csv", std::process::id()));
    folder.add_left_out(list)?;
    write(&path).map_err(SurveyError::file("write", &path))?;
    Ok(SubmittedList(path))
}

/// Whether the survey in `dir` has lists that are not merged yet.
#[must_use]
pub fn has_waiting_lists(dir: &Path) -> bool {
    waiting(&Folder::open(dir)).is_ok_and(|lists| !lists.is_empty())
}

/// Merges all lists that were handed over to a survey that is not running. If a finished survey gets new
/// sites, it is no longer finished. Returns none if another process is running the survey; that process will
/// merge them.
///
/// # Errors
/// When the survey cannot be read or written. Lists that were not merged still wait.
pub fn add_waiting_lists(dir: &Path) -> Result<Option<StartUrlCounts>, SurveyError> {
    let settings = survey_settings(dir)?;
    let scope = SurveyScope::from_settings(&settings)?;
    let folder = Folder::open(dir);
    let mut frontier = match Frontier::open(&folder.state(), spread(&settings)) {
        Err(FrontierError::InUse { .. }) => return Ok(None),
        opened => opened?,
    };
    let manifest = Manifest::load(dir)?;
    let was_finished = manifest.state == SurveyState::Finished;
    let mut known = None;
    if was_finished {
        if let Some(old) = &settings.since {
            known = Some(index_earlier_pages(&folder, &settings, old)?);
        }
        // Done before the first URL is offered: a crash then leaves a survey that can resume, and at worst
        // finds nothing to do.
        Manifest { state: SurveyState::Interrupted, finished: None, ..manifest.clone() }.save(dir)?;
    }
    let added_counts = StartUrlCounts {
        known,
        ..add_lists_to_frontier(&folder, &scope, &mut frontier)?.unwrap_or_default()
    };
    let counts = frontier.counts()?;
    let waiting = counts.trees.saturating_sub(counts.finished);
    if was_finished && waiting == 0 {
        manifest.save(dir)?;
        let _ = fs::remove_file(folder.since());
    } else if let Some(status) = Snapshot::load(dir).map_err(SurveyError::file(READ, dir))? {
        let state = if was_finished { SurveyState::Interrupted } else { status.state };
        let status = Snapshot { state, sites_waiting: waiting, ..status };
        status.save(dir).map_err(SurveyError::file("write status in", dir))?;
    }
    Ok(Some(added_counts))
}

/// Rebuilds the store of the earlier survey, which a finished survey has removed, if the earlier survey still
/// exists. Returns the number of known pages and files.
fn index_earlier_pages(folder: &Folder, settings: &Settings, old: &Path) -> Result<u64, SurveyError> {
    let path = folder.since();
    let _ = fs::remove_file(&path);
    let read = || {
        let known = EarlierPages::build(&path, old, &mut |_| {})?;
        rebuild_memories(folder, settings)?;
        Ok(known)
    };
    read().or_else(|error: SurveyError| {
        tracing::warn!(wrong = %error, "the added sites are surveyed without the earlier survey");
        let _ = fs::remove_file(&path);
        EarlierPages::build_empty(&path)?;
        Ok(0)
    })
}

/// Merges the waiting lists, in the order in which they were handed over; none if there are none.
pub(in crate::survey) fn add_lists_to_frontier(
    folder: &Folder,
    scope: &SurveyScope,
    frontier: &mut Frontier,
) -> Result<Option<StartUrlCounts>, SurveyError> {
    let mut added_counts: Option<StartUrlCounts> = None;
    for path in waiting(folder)? {
        let list = File::open(&path).map_err(SurveyError::file(READ, &path))?;
        let list = StartList::read(list, None)
            .map_err(|error| SurveyError::file(READ, &path)(io::Error::other(error.to_string())))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let start_list = folder.start_list();
        let length = fs::metadata(&start_list).map_or(0, |file| file.len());
        let (length, offers) = frontier.offer_once(&name, length, candidates_by_priority(&list, scope))?;
        append(&start_list, length, &list, scope).map_err(SurveyError::file("write", &start_list))?;
        fs::remove_file(&path).map_err(SurveyError::file("remove", &path))?;
        sync_folder(&folder.added()).map_err(SurveyError::file("write", &folder.added()))?;
        let list_counts = StartUrlCounts::count(&offers);
        tracing::info!(
            list = &*name,
            start_urls = list.counts.urls,
            sites = list_counts.sites,
            seeds = list_counts.seeds,
            repeated = list_counts.repeated,
            "start URLs were added"
        );
        added_counts = Some(added_counts.unwrap_or_default().plus(list_counts));
    }
    Ok(added_counts)
}

/// Writes `start.csv` as it was before the list came, followed by the list.
fn append(path: &Path, length: u64, list: &StartList, scope: &SurveyScope) -> io::Result<()> {
    replace_with(path, |out| {
        match File::open(path) {
            Ok(before) => io::copy(&mut before.take(length), out).map(drop)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        write_urls(out, length == 0, sampled_urls(list, scope))
    })
}

/// The waiting lists, in order.
fn waiting(folder: &Folder) -> Result<Vec<PathBuf>, SurveyError> {
    let added = folder.added();
    let entries = match fs::read_dir(&added) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(SurveyError::file("read folder", &added))?,
    };
    let is_list = |name: &str| !name.starts_with('.') && name.ends_with(".csv");
    let mut lists: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(is_list))
        .map(|entry| entry.path())
        .collect();
    lists.sort_unstable();
    Ok(lists)
}
