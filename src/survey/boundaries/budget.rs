use std::path::Path;

use super::rates::write_json;
use crate::records::{BudgetUsed, ExchangeRow, Manifest, read_pieces};
use crate::settings::{RequestBudget, Settings};
use crate::survey::earlier::damaged_edition;
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::folder::settings_file::read_text;

/// Stores the budget of a new survey in its folder, so that it can resume with the same one even if the
/// earlier survey has gone.
pub(in crate::survey) fn keep_new_budget(folder: &Folder, settings: &Settings) -> Result<(), SurveyError> {
    let Some(budget) = settings.budget else { return Ok(()) };
    let earlier_requests = match (budget, settings.since.as_deref()) {
        (RequestBudget::Percent(_), Some(old)) => Some(sent_requests(old)?),
        _ => None,
    };
    let used = BudgetUsed { earlier_requests, ..BudgetUsed::default() };
    keep_budget(folder, &BudgetUsed { requests: used.requests_of(budget), ..used })
}

/// Stores the budget of a survey and the rounds so far.
pub(in crate::survey) fn keep_budget(folder: &Folder, budget: &BudgetUsed) -> Result<(), SurveyError> {
    write_json(&folder.budget(), budget).map(|_hash| ())
}

/// The budget of a survey, if it has one.
pub(in crate::survey) fn read_budget(
    folder: &Folder,
    settings: &Settings,
) -> Result<Option<BudgetUsed>, SurveyError> {
    if !settings.has_rounds() {
        return Ok(None);
    }
    let path = folder.budget();
    let read = serde_json::from_str(&read_text(&path)?);
    read.map(Some).map_err(|error| SurveyError::file("read", &path)(error.into()))
}

/// The requests that the survey in `dir` sent.
fn sent_requests(dir: &Path) -> Result<u64, SurveyError> {
    let mut sent = Manifest::load(dir)?.unrecorded_exchanges;
    for rows in read_pieces::<ExchangeRow>(dir, &["total_ms"]).map_err(damaged_edition)? {
        let rows = rows.map_err(damaged_edition)?;
        sent += rows.iter().filter(|row| row.was_sent()).count() as u64;
    }
    Ok(sent)
}
