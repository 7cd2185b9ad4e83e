use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::records::{RatesUsed, durable};
use crate::settings::Settings;
use crate::survey::earlier::{EarlierPages, Focus, ReadingProgress};
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::folder::settings_file::read_text;
use crate::walk;
use crate::walk::yields::Rates;

/// The average yield of pages, for surveys without rates of their own: of real pages, and of those of virtual
/// Webs, which reveal more by their words and less by their folders. `data/README.md` says on which surveys
/// they were trained.
const REAL_RATES: (&str, &str) = ("data/rates.json", include_str!("../../../data/rates.json"));
const VIRTUAL_RATES: (&str, &str) =
    ("data/rates-of-worlds.json", include_str!("../../../data/rates-of-worlds.json"));

/// The built-in rates.
///
/// # Errors
/// Never: a test reads both.
pub fn built_in_rates(is_simulated: bool) -> Result<Rates, SurveyError> {
    let (path, text) = if is_simulated { VIRTUAL_RATES } else { REAL_RATES };
    parse(text, Path::new(path))
}

/// Reads a file that `ccsurvey learn` wrote.
///
/// # Errors
/// When it cannot be read, or holds no rates.
pub fn load_rates(path: &Path) -> Result<Rates, SurveyError> {
    parse(&read_text(path)?, path)
}

/// The rates of a new survey; none if its depth is a number.
pub(in crate::survey) fn read_rates(
    settings: &Settings,
    is_simulated: bool,
) -> Result<Option<Rates>, SurveyError> {
    let read = || match &settings.rates {
        Some(path) => load_rates(path),
        None => built_in_rates(is_simulated),
    };
    settings.skips_pages().then(read).transpose()
}

/// The basis on which a new survey leaves pages out.
#[derive(Default)]
pub(in crate::survey) struct KeptRates {
    /// For the manifest.
    pub rates: Option<RatesUsed>,
    /// The plan for spending the requests, with `--focus`.
    pub focus: Option<Focus>,
}

/// Stores the rates and the focus of a new survey in its folder, so that it can resume with the same ones
/// even if the file of rates or the earlier survey has gone. `report_progress` reports how far the earlier
/// survey has been read.
pub(in crate::survey) fn keep_rates(
    folder: &Folder,
    settings: &Settings,
    is_simulated: bool,
    report_progress: &mut dyn FnMut(ReadingProgress),
) -> Result<KeptRates, SurveyError> {
    let Some(rates) = read_rates(settings, is_simulated)? else { return Ok(KeptRates::default()) };
    let hash = format!("{:032x}", write_json(&folder.rates(), &rates)?);
    let Some((share, old)) = settings.focus.zip(settings.since.as_deref()) else {
        return Ok(KeptRates { rates: Some(RatesUsed { hash }), focus: None });
    };
    let focus = EarlierPages::focus(&folder.since(), old, &rates, share, report_progress)?;
    write_json(&folder.focus(), &focus)?;
    Ok(KeptRates { rates: Some(RatesUsed { hash }), focus: Some(focus) })
}

/// Writes a file; returns the hash of its content.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<u128, SurveyError> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    durable::replace(path, text.as_bytes()).map_err(SurveyError::file("write", path))?;
    Ok(xxh3_128(text.as_bytes()))
}

/// The settings by which the sites of a survey are walked.
pub(in crate::survey) fn walk_settings(
    folder: &Folder,
    settings: &Settings,
) -> Result<walk::WalkSettings, SurveyError> {
    let walk = walk::WalkSettings::from(settings);
    if !settings.skips_pages() {
        return Ok(walk);
    }
    let rates = load_rates(&folder.rates())?;
    if settings.has_rounds() {
        return Ok(walk.in_rounds(Arc::new(rates)));
    }
    let price = match settings.focus {
        Some(_) => read_focus(&folder.focus())?.price.unwrap_or(f64::INFINITY),
        None => rates.price(settings.wanted_coverage().unwrap_or(1.0)),
    };
    Ok(walk.with_rates(Arc::new(rates), price))
}

/// Reads again what an earlier survey found in its sites, for a survey whose price is already known.
pub(in crate::survey) fn rebuild_memories(folder: &Folder, settings: &Settings) -> Result<(), SurveyError> {
    let Some((share, old)) = settings.focus.zip(settings.since.as_deref()) else { return Ok(()) };
    let rates = load_rates(&folder.rates())?;
    EarlierPages::focus(&folder.since(), old, &rates, share, &mut |_| {}).map(|_| ())
}

fn read_focus(path: &Path) -> Result<Focus, SurveyError> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|error| SurveyError::file("read", path)(error.into()))
}

fn parse(text: &str, path: &Path) -> Result<Rates, SurveyError> {
    Rates::parse(text).map_err(|source| SurveyError::Rates { path: path.to_owned(), source })
}
