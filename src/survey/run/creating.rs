use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use super::engine::Survey;
use crate::address::WebUrl;
use crate::records::Manifest;
use crate::settings::Settings;
use crate::starts::StartList;
use crate::survey::agents::simulation::Simulation;
use crate::survey::boundaries::budget::keep_new_budget;
use crate::survey::boundaries::rates::{KeptRates, keep_rates, read_rates};
use crate::survey::boundaries::scope::SurveyScope;
use crate::survey::boundaries::start_urls::{StartUrlCounts, candidates_by_priority, sampled_urls};
use crate::survey::earlier::{self, EarlierPages, ReadingProgress};
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::folder::creation_lock::CreationLock;
use crate::survey::parts::rounds::Rounds;
use crate::survey::parts::{Parts, Terms};
use crate::survey::storage::tally::Tally;

/// Creation of a survey.
impl Survey {
    /// Creates a survey in a new folder.
    ///
    /// # Errors
    /// When the folder exists, a setting cannot be obeyed, or the folder cannot be written. No request was
    /// sent to any server then.
    pub fn create(
        dir: &Path,
        settings: Settings,
        start: &[WebUrl],
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        let start = StartList::from_urls(start).map_err(|error| SurveyError::Broken(error.to_string()))?;
        let new = NewSurvey { dir, settings, start: &start, simulation: None, anew: false };
        Self::begin(new, &mut |_| {})
    }

    /// The same. `report_progress` reports how far the earlier survey has been read, which may take minutes.
    /// If a process died while it created a survey here, its remains are an error, or are removed if `anew`
    /// is set.
    ///
    /// # Errors
    /// As [`Survey::create`].
    pub fn create_with_progress(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        anew: bool,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        Self::begin(NewSurvey { dir, settings, start, simulation: None, anew }, report_progress)
    }

    /// Creates a survey of a Web in this process. Must be called on the runtime with virtual time that the
    /// survey will run on. For `report_progress` see [`Survey::create_with_progress`].
    ///
    /// # Errors
    /// As [`Survey::create`].
    pub fn simulate(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        simulation: Simulation,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        Self::begin(
            NewSurvey { dir, settings, start, simulation: Some(simulation), anew: false },
            report_progress,
        )
    }

    fn begin(
        new: NewSurvey<'_>,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        let NewSurvey { dir, settings, start, simulation, anew } = new;
        // All errors in the settings are found before the folder is created.
        SurveyScope::from_settings(&settings)?;
        read_rates(&settings, simulation.is_some())?;
        if let Some(old) = &settings.since {
            check_since(old, dir)?;
        }
        let settings = settings.with_recorded_links();
        let creation = CreationLock::begin(dir, anew).map_err(|error| error.in_survey(dir))?;
        match Self::begin_in(creation.folder(), settings, start, simulation, report_progress) {
            Ok(begun) => {
                creation.complete();
                Ok(begun)
            }
            Err(error) => {
                creation.undo();
                Err(error.in_survey(dir))
            }
        }
    }

    /// Fills the folder of a survey. The manifest is written last.
    fn begin_in(
        folder: Folder,
        settings: Settings,
        start: &StartList,
        simulation: Option<Simulation>,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        let since = settings.since.as_deref();
        let known =
            since.map(|old| EarlierPages::build(&folder.since(), old, report_progress)).transpose()?;
        let description = simulation.as_ref().map(|simulation| simulation.description.clone());
        keep_new_budget(&folder, &settings)?;
        let KeptRates { rates, focus } =
            keep_rates(&folder, &settings, simulation.is_some(), report_progress)?;
        let (stop, stopping) = watch::channel(false);
        let terms = Terms::new(settings.clone(), settings.clone());
        let parts = Parts::open(folder, terms, simulation, None, stopping)?;
        let Parts { boundaries, access, storage, .. } = &parts;
        let mut manifest = Manifest::new(
            serde_json::to_value(settings.clone().with_implied_values()).unwrap_or_default(),
            access.clock.system_time().into(),
        );
        manifest.suffix_list_version = boundaries.scope.area.suffixes.version().map(ToOwned::to_owned);
        manifest.simulation = description;
        manifest.rates = rates;
        manifest.budget = parts.rounds.as_ref().map(Rounds::used).map(Box::new);
        manifest.geo = boundaries.geo.describe().cloned().collect();
        storage.folder.write_settings(&settings)?;
        storage.folder.write_start_list(sampled_urls(start, &boundaries.scope))?;
        storage.folder.add_left_out(start)?;
        let offers = storage.frontier().offer(candidates_by_priority(start, &boundaries.scope))?;
        manifest.save(storage.dir())?;
        let survey = Self { parts: Arc::new(parts), manifest, tally: Tally::new(), tables: None, stop };
        Ok((survey, StartUrlCounts { known, focus, ..StartUrlCounts::count(&offers) }))
    }
}

/// A survey that is to be created.
struct NewSurvey<'a> {
    dir: &'a Path,
    settings: Settings,
    start: &'a StartList,
    simulation: Option<Simulation>,
    /// Whether to remove the remains of a process that died while it created a survey here.
    anew: bool,
}

/// Checks that `old` can be the earlier survey of the one to be created in `new`.
fn check_since(old: &Path, new: &Path) -> Result<(), SurveyError> {
    let is_same = match (old.canonicalize(), new.canonicalize()) {
        (Ok(old), Ok(new)) => old == new,
        _ => false,
    };
    if is_same {
        return Err(SurveyError::Since(format!("{} is the folder of the new survey itself", old.display())));
    }
    earlier::check(old).map(|_rows| ())
}
