use std::path::Path;
use std::sync::Arc;

use super::error::SurveyError;
use super::folder::Folder;
use super::settings_file::read_text;
use crate::records::durable;
use crate::settings::Settings;
use crate::walk;
use crate::walk::yields::Rates;

/// What pages bring on average, for surveys that are given no other rates; `data/README.md` tells what they were learned
/// from.
pub const BUILT_IN_RATES: &str = include_str!("../../data/rates.json");

/// Reads a file that `ccsurvey learn` wrote.
///
/// # Errors
/// When it cannot be read, or holds no rates.
pub fn rates_in(path: &Path) -> Result<Rates, SurveyError> {
    parse(&read_text(path)?, path)
}

/// The rates that a new survey goes by; none where its depth is a number.
pub(super) fn read_rates(settings: &Settings) -> Result<Option<Rates>, SurveyError> {
    let read = || match &settings.rates {
        Some(path) => rates_in(path),
        None => parse(BUILT_IN_RATES, Path::new("data/rates.json")),
    };
    settings.wanted_coverage().map(|_| read()).transpose()
}

/// Keeps the rates of a new survey in its folder, so that it goes on by the same, whatever becomes of the file.
pub(super) fn keep_rates(folder: &Folder, settings: &Settings) -> Result<(), SurveyError> {
    let Some(rates) = read_rates(settings)? else { return Ok(()) };
    let text = serde_json::to_string_pretty(&rates).unwrap_or_default();
    durable::replace(&folder.rates(), text.as_bytes()).map_err(SurveyError::file("write", &folder.rates()))
}

/// How the sites of a survey are walked.
pub(super) fn walk_settings(folder: &Folder, settings: &Settings) -> Result<walk::Settings, SurveyError> {
    let walk = walk::Settings::from(settings);
    let Some(coverage) = settings.wanted_coverage() else { return Ok(walk) };
    Ok(walk.with_rates(Arc::new(rates_in(&folder.rates())?), coverage))
}

fn parse(text: &str, path: &Path) -> Result<Rates, SurveyError> {
    Rates::parse(text).map_err(|source| SurveyError::Rates { path: path.to_owned(), source })
}
