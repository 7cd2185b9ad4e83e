use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::boundaries::Boundaries;
use super::error::{READ, SurveyError};
use super::progress::Progress;
use super::settings_file::read_text;
use super::storage::Storage;
use crate::address::{OptOut, OptOutEntry};
use crate::records::{OptOutRecord, Timestamp, read_opt_outs, write_opt_outs};

/// The opt-out file while the survey runs: a new entry is in force within a second or so.
pub(super) struct OptOutFile {
    path: Option<PathBuf>,
    /// As it was when it was read last. Not when it was first read: somebody may have opted out while the survey
    /// was being opened.
    seen: Option<(SystemTime, u64)>,
    /// A list that has lost entries, and when that is to be believed.
    settling: Option<(SystemTime, OptOut)>,
    is_recorded: bool,
}

/// An entry that is gone from the list stays in force for so long: a file that is being written anew is empty or cut for a
/// moment, and over a network for longer.
const SETTLES_IN: Duration = Duration::from_secs(60);

impl OptOutFile {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, seen: None, settling: None, is_recorded: false }
    }

    /// Reads the file again if it has changed, and notes in the survey's folder since when each entry is in force.
    ///
    /// A new entry is in force at once; one that is gone stays in force for a minute. While a line cannot be obeyed, which
    /// the log and the status tell, the entries in force stay in force beside the lines that can be: a typing mistake
    /// does not end an opt-out.
    pub(super) fn obey_changes(
        &mut self,
        boundaries: &Boundaries,
        storage: &Storage,
        now: SystemTime,
    ) -> Result<(), SurveyError> {
        let opt_outs = &boundaries.opt_outs;
        let state = self.path.as_deref().and_then(state_of);
        if let Some(path) = self.path.as_deref().filter(|_| state.is_none()) {
            let problem = format!("{} is missing; its entries stay in force", path.display());
            tell_problem(&storage.progress, Some(problem));
            // Once it is there again it is read, even if it is as it was.
            self.seen = None;
        }
        let mut is_other = !self.is_recorded;
        let changed = self.path.as_deref().filter(|_| state.is_some() && state != self.seen);
        // What cannot be read for a moment (a network file system, an editor's rights) does not end a survey.
        let text = changed.and_then(|path| match read_text(path) {
            Ok(text) => Some((path, text)),
            Err(wrong) => {
                tell_problem(&storage.progress, Some(format!("{wrong}; its entries stay in force")));
                None
            }
        });
        if let Some((path, text)) = text {
            let (list, problem, is_sound) = read_again(path, &text, boundaries.geo.knows_systems());
            tell_problem(&storage.progress, problem);
            tracing::info!(entries = list.entries().len(), "the opt-out list was read");
            let in_force = opt_outs.list();
            self.settling = None;
            // At the first look the list is as it was when the survey was opened.
            if !is_sound || *in_force != list {
                opt_outs.replace(in_force.with(&list));
                self.settling = is_sound.then(|| (now + SETTLES_IN, list));
            }
            (self.seen, is_other) = (state, true);
        }
        if let Some((_, list)) = self.settling.take_if(|(time, _)| *time <= now) {
            opt_outs.replace(list);
            is_other = true;
        }
        if is_other {
            record(&opt_outs.list(), &storage.folder.opt_outs(), now)?;
            self.is_recorded = true;
        }
        Ok(())
    }
}

/// What tells whether a file has changed; none while it is not there, as between two steps of an editor.
fn state_of(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// The list as it is now, what of it cannot be obeyed, and whether every line can be read.
fn read_again(path: &Path, text: &str, knows_systems: bool) -> (OptOut, Option<String>, bool) {
    let (list, wrong) = OptOut::parse_what_is_sound(text);
    let file = path.display();
    let unknown = list.first_system().filter(|_| !knows_systems);
    let problem = match (&wrong, unknown) {
        (Some(wrong), _) => Some(format!("{file}: {wrong}; the entries that were in force stay in force")),
        (None, Some(OptOutEntry { line, who, .. })) => Some(format!(
            "{file}: line {line}: '{who}': no database knows autonomous systems (give one with --geo)"
        )),
        (None, None) => None,
    };
    (list, problem, wrong.is_none())
}

/// Says in the log and the status what cannot be obeyed, until it can.
fn tell_problem(progress: &Progress, problem: Option<String>) {
    progress.update(|now| {
        if let Some(problem) = problem.as_ref().filter(|_| now.opt_out_problem != problem) {
            tracing::error!(%problem, "the opt-out list cannot be obeyed in full");
        }
        now.opt_out_problem = problem;
    });
}

/// Notes since when each entry is in force, and until when those that are gone were.
fn record(list: &OptOut, path: &Path, now: SystemTime) -> Result<(), SurveyError> {
    let now = Timestamp::from(now);
    let mut records = read_opt_outs(path).map_err(SurveyError::file(READ, path))?;
    let listed: BTreeMap<&str, Option<&str>> =
        list.entries().iter().map(|entry| (entry.who.as_str(), entry.date.as_deref())).collect();
    for record in records.iter_mut().filter(|record| record.until.is_none()) {
        if !listed.contains_key(record.entry.as_str()) {
            record.until = Some(now);
        }
    }
    let in_force = |who: &str, records: &[OptOutRecord]| {
        records.iter().any(|record| record.until.is_none() && record.entry == who)
    };
    for (who, date) in listed {
        if !in_force(who, &records) {
            let date = date.map(ToOwned::to_owned);
            records.push(OptOutRecord { entry: who.to_owned(), date, since: now, until: None });
        }
    }
    if records.is_empty() {
        return Ok(());
    }
    write_opt_outs(path, &records).map_err(SurveyError::file("write", path))
}
