use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::error::{READ, SurveyError};
use super::parts::{Parts, read_text};
use crate::address::{OptOut, OptOutEntry, OptOuts};
use crate::records::{Geo, OptOutRecord, Timestamp, read_opt_outs, write_opt_outs};

/// Reads the opt-out list of a survey, which may name autonomous systems if a database knows them.
pub(super) fn open(path: Option<&Path>, geo: &Arc<Geo>) -> Result<Arc<OptOuts>, SurveyError> {
    let list = match path {
        None => OptOut::default(),
        Some(path) => {
            let wrong = |source| SurveyError::OptOut { path: path.to_owned(), source };
            let list = OptOut::parse(&read_text(path)?).map_err(wrong)?;
            if let Some(entry) = list.first_system().filter(|_| !geo.knows_systems()) {
                let (line, who) = (entry.line, entry.who.clone());
                return Err(SurveyError::NoSystems { path: path.to_owned(), line, who });
            }
            list
        }
    };
    let geo = geo.clone();
    Ok(Arc::new(OptOuts::new(list, Box::new(move |address| geo.lookup(address).asn))))
}

/// The opt-out file while the survey runs: whoever is added is left alone within a second or so.
pub(super) struct OptOutFile {
    path: Option<PathBuf>,
    /// As it was when it was read last. Not when it was first read: somebody may have opted out while the survey
    /// was being opened.
    seen: Option<(SystemTime, u64)>,
    /// A list that drops somebody, and when that is to be believed.
    settling: Option<(SystemTime, OptOut)>,
    is_recorded: bool,
}

/// Who is gone from a list is left alone for so long yet: a file that is being written anew is empty or cut for a
/// moment, and over a network for longer.
const SETTLES_IN: Duration = Duration::from_secs(60);

impl OptOutFile {
    pub(super) fn of(parts: &Parts) -> Self {
        Self { path: parts.settings.opt_out.clone(), seen: None, settling: None, is_recorded: false }
    }

    /// Reads the file again if it has changed, and notes in the survey's folder since when each entry
    /// is in force.
    ///
    /// Who is added is left alone at once, who is gone from the list only a minute later. A line that cannot be
    /// obeyed is told, and so long what was in force before stays in force beside the lines that can: nobody is
    /// asked again because of somebody's typing mistake.
    pub(super) fn obey_changes(&mut self, parts: &Parts) -> Result<(), SurveyError> {
        let state = self.path.as_deref().and_then(state_of);
        if let Some(path) = self.path.as_deref().filter(|_| state.is_none()) {
            tell_problem(
                parts,
                Some(format!("{} is not there; who was left alone still is", path.display())),
            );
            // Once it is there again it is read, even if it is as it was.
            self.seen = None;
        }
        let mut is_other = !self.is_recorded;
        if let Some(path) = self.path.as_deref().filter(|_| state.is_some() && state != self.seen) {
            let (list, is_sound) = read_again(parts, path)?;
            let in_force = parts.opt_out.list();
            self.settling = None;
            // At the first look the list is as it was when the survey was opened.
            if !is_sound || *in_force != list {
                parts.opt_out.replace(in_force.with(&list));
                self.settling = is_sound.then(|| (parts.now() + SETTLES_IN, list));
            }
            (self.seen, is_other) = (state, true);
        }
        if let Some((_, list)) = self.settling.take_if(|(time, _)| *time <= parts.now()) {
            parts.opt_out.replace(list);
            is_other = true;
        }
        if is_other {
            record(parts)?;
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

/// The list as it is now, and whether every line of it can be obeyed.
fn read_again(parts: &Parts, path: &Path) -> Result<(OptOut, bool), SurveyError> {
    let (list, wrong) = OptOut::parse_what_is_sound(&read_text(path)?);
    let file = path.display();
    let unknown = list.first_system().filter(|_| !parts.geo.knows_systems());
    let problem = match (&wrong, unknown) {
        (Some(wrong), _) => Some(format!("{file}: {wrong}; who was left alone still is")),
        (None, Some(OptOutEntry { line, who, .. })) => Some(format!(
            "{file}: line {line}: '{who}': no database tells autonomous systems (give one with --geo)"
        )),
        (None, None) => None,
    };
    tell_problem(parts, problem);
    tracing::info!(entries = list.entries().len(), "the opt-out list was read");
    Ok((list, wrong.is_none()))
}

/// Tells what cannot be obeyed, in the log and to who looks at the survey, until it can.
fn tell_problem(parts: &Parts, problem: Option<String>) {
    parts.progress.update(|now| {
        if let Some(problem) = problem.as_ref().filter(|_| now.opt_out_problem != problem) {
            tracing::error!(%problem, "the opt-out list cannot be obeyed in full");
        }
        now.opt_out_problem = problem;
    });
}

/// Notes since when each entry is in force, and until when those that are gone were.
fn record(parts: &Parts) -> Result<(), SurveyError> {
    let path = parts.folder.opt_outs();
    let now = Timestamp::from(parts.now());
    let mut records = read_opt_outs(&path).map_err(SurveyError::file(READ, &path))?;
    let list = parts.opt_out.list();
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
    write_opt_outs(&path, &records).map_err(SurveyError::file("write", &path))
}
