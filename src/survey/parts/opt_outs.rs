use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::address::{OptOut, OptOutEntry, OptOutError};
use crate::fetch::Clock;
use crate::records::{OptOutRecord, Timestamp, read_opt_outs, write_opt_outs};
use crate::survey::boundaries::Boundaries;
use crate::survey::error::{READ, SurveyError};
use crate::survey::folder::settings_file::read_text;
use crate::survey::storage::Storage;
use crate::survey::storage::progress::Progress;

/// The opt-out list at its last check. Requests are sent according to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptOutCheck {
    /// The time of the check, by the survey's clock. Every owner who opted out before is on the list.
    pub time: SystemTime,
    /// The version of the list.
    pub version: u64,
}

/// The opt-out file while the survey runs. A new entry is in force within about a second.
pub(in crate::survey) struct OptOutFile {
    path: Option<PathBuf>,
    /// The state of the file at the last read. Initially none, so that the first check reads it again: an
    /// owner may have opted out while the survey was being opened.
    seen: Option<FileState>,
    /// The part of the list that cannot be obeyed.
    list_problem: Option<String>,
    /// Why the dates since when entries are in force are not recorded.
    record_problem: Option<String>,
    /// A list that has lost entries, and when the loss takes effect.
    settling: Option<(SystemTime, OptOut)>,
    is_recorded: bool,
}

/// An entry that is gone from the list stays in force for this long. A file that is being rewritten is empty
/// or cut for a moment, and over a network for longer.
const SETTLING_TIME: Duration = Duration::from_secs(60);

impl OptOutFile {
    pub(in crate::survey) fn new(path: Option<PathBuf>) -> Self {
        Self {
            path,
            seen: None,
            list_problem: None,
            record_problem: None,
            settling: None,
            is_recorded: false,
        }
    }

    /// Reads the file again if it has changed, and records in the survey's folder since when each entry is in
    /// force.
    ///
    /// A new entry is in force at once; an entry that is gone stays in force for a minute. If a line cannot
    /// be obeyed, the log and the status report it, and the entries in force remain in force in addition to
    /// the valid lines: a typing mistake does not end an opt-out.
    pub(in crate::survey) fn apply_changes(
        &mut self,
        boundaries: &Boundaries,
        storage: &Storage,
        clock: Clock,
    ) -> Result<OptOutCheck, SurveyError> {
        let opt_outs = &boundaries.opt_outs;
        let time = clock.now();
        let state = match self.path.as_deref().map(|path| read_if_changed(path, self.seen)) {
            Some(Ok(changed_file)) => changed_file,
            None => None,
            // A file that cannot be read for a moment (network file system, an editor's permissions, too many
            // open files) does not end a survey. As soon as it can be read it is, even if it has not changed.
            Some(Err(problem)) => {
                self.list_problem = Some(format!("{problem}; its entries stay in force"));
                self.seen = None;
                None
            }
        };
        let mut has_changed = !self.is_recorded;
        if let (Some(path), Some((state, text))) = (&self.path, state) {
            let (list, problem, is_sound) = read_again(path, &text, boundaries.geo.knows_systems());
            self.list_problem = problem;
            tracing::info!(entries = list.entries().len(), "the opt-out list was read");
            let in_force = opt_outs.list();
            self.settling = None;
            // At the first check, the list is the one that was read when the survey was opened.
            if !is_sound || *in_force != list {
                opt_outs.replace(in_force.with(&list), || clock.now());
                self.settling = is_sound.then(|| (time + SETTLING_TIME, list));
            }
            (self.seen, has_changed) = (Some(state), true);
        }
        if let Some((_, list)) = self.settling.take_if(|(until, _)| *until <= time) {
            opt_outs.replace(list, || clock.now());
            has_changed = true;
        }
        if has_changed {
            self.is_recorded = false;
            self.record_problem =
                match record(&opt_outs.list(), &storage.folder.opt_outs(), clock.system_time()) {
                    Ok(()) => None,
                    // The entries are in force all the same. Recording is retried a second later.
                    Err(error @ SurveyError::File { operation: READ, .. }) => Some(error.to_string()),
                    Err(error) => return Err(error),
                };
            self.is_recorded = self.record_problem.is_none();
        }
        report_problem(
            &storage.progress,
            self.list_problem.as_ref().or(self.record_problem.as_ref()).cloned(),
        );
        Ok(OptOutCheck { time, version: opt_outs.version() })
    }
}

/// The modification time and the size of a file, which show whether it has changed.
type FileState = (SystemTime, u64);

/// The file's text, if it is not in the state that was `seen`; or why it cannot be read, for example between
/// two steps of an editor.
fn read_if_changed(path: &Path, seen: Option<FileState>) -> Result<Option<(FileState, String)>, String> {
    let to_message = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("{} is missing", path.display()),
        _ => format!("cannot read {}: {error}", path.display()),
    };
    let meta = fs::metadata(path).map_err(to_message)?;
    let state = (meta.modified().map_err(to_message)?, meta.len());
    if Some(state) == seen {
        return Ok(None);
    }
    let text = read_text(path).map_err(|error| error.to_string())?;
    Ok(Some((state, text)))
}

/// The line numbers of the bad lines after the first one.
fn describe_more_lines(others: &[OptOutError]) -> String {
    const MAX_LISTED: usize = 10;
    let line_numbers: Vec<String> =
        others.iter().take(MAX_LISTED).map(|other| other.line.to_string()).collect();
    let more = others.len().saturating_sub(MAX_LISTED);
    match (line_numbers.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(" (other bad lines: {})", line_numbers.join(", ")),
        (false, more) => format!(" (other bad lines: {} and {more} more)", line_numbers.join(", ")),
    }
}

/// The current list, the part of it that cannot be obeyed, and whether every line can be read.
fn read_again(path: &Path, text: &str, knows_systems: bool) -> (OptOut, Option<String>, bool) {
    let (list, errors) = OptOut::parse_valid_lines(text);
    let file = path.display();
    let unknown = list.first_system().filter(|_| !knows_systems);
    let problem = match (errors.as_slice(), unknown) {
        ([first, others @ ..], _) => Some(format!(
            "{file}: {first}{}; all other lines apply, and the entries that were in force stay in force",
            describe_more_lines(others)
        )),
        ([], Some(OptOutEntry { line, who, .. })) => Some(format!(
            "{file}: line {line}: cannot apply '{who}': no database has the autonomous systems of IPv4 addresses (name one with --geo)"
        )),
        ([], None) => None,
    };
    (list, problem, errors.is_empty())
}

/// Reports in the log and the status which part cannot be obeyed, until it can.
fn report_problem(progress: &Progress, problem: Option<String>) {
    progress.update(|now| {
        if let Some(problem) = problem.as_ref().filter(|_| now.opt_out_problem != problem) {
            tracing::error!(%problem, "the opt-out list cannot be applied in full");
        }
        now.opt_out_problem = problem;
    });
}

/// Records since when each entry is in force, and until when the removed entries were.
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
