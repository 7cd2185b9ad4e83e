use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use super::engine::Survey;
use crate::address::WebUrl;
use crate::records::Manifest;
use crate::settings::Settings;
use crate::starts::StartList;
use crate::survey::agents::simulation::Simulation;
use crate::survey::boundaries::rates::{KeptRates, keep_rates, read_rates};
use crate::survey::boundaries::scope::SurveyScope;
use crate::survey::boundaries::start_urls::{StartUrlCounts, drawn, offered};
use crate::survey::earlier::{self, EarlierPages, ReadingProgress};
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::folder::creation_lock::CreationLock;
use crate::survey::parts::{Parts, Terms};
use crate::survey::storage::tally::Tally;

/// How a survey is begun.
impl Survey {
    /// Begins a survey in a new folder.
    ///
    /// # Errors
    /// When the folder exists, a setting cannot be obeyed, or the folder cannot be written; then nothing
    /// was asked of any server.
    pub fn create(
        dir: &Path,
        settings: Settings,
        start: &[WebUrl],
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        let start = StartList::from_urls(start).map_err(|error| SurveyError::Broken(error.to_string()))?;
        let new = NewSurvey { dir, settings, start: &start, simulation: None, anew: false };
        Self::begin(new, &mut |_| {})
    }

    /// The same; `tell` hears how far an earlier survey is read, which may take minutes. What a process left that
    /// died at this point is in the way, or removed to begin `anew`.
    ///
    /// # Errors
    /// As [`Survey::create`].
    pub fn create_with_progress(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        anew: bool,
        tell: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        Self::begin(NewSurvey { dir, settings, start, simulation: None, anew }, tell)
    }

    /// Begins a survey of a Web in this process, on the runtime with virtual time that it will run on; `tell` as of
    /// [`Survey::create_with_progress`].
    ///
    /// # Errors
    /// As [`Survey::create`].
    pub fn simulate(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        simulation: Simulation,
        tell: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        Self::begin(NewSurvey { dir, settings, start, simulation: Some(simulation), anew: false }, tell)
    }

    fn begin(
        new: NewSurvey<'_>,
        tell: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        let NewSurvey { dir, settings, start, simulation, anew } = new;
        // All that can be wrong with the settings shows before the folder is made.
        SurveyScope::from_settings(&settings)?;
        read_rates(&settings)?;
        if let Some(old) = &settings.since {
            check_since(old, dir)?;
        }
        let settings = settings.in_full();
        let making = CreationLock::begin(dir, anew).map_err(|error| error.in_survey(dir))?;
        match Self::begin_in(making.folder(), settings, start, simulation, tell) {
            Ok(begun) => {
                making.done();
                Ok(begun)
            }
            Err(error) => {
                making.undo();
                Err(error.in_survey(dir))
            }
        }
    }

    /// Fills the folder of a survey; the manifest comes last.
    fn begin_in(
        folder: Folder,
        settings: Settings,
        start: &StartList,
        simulation: Option<Simulation>,
        tell: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), SurveyError> {
        let since = settings.since.as_deref();
        let known = since.map(|old| EarlierPages::build(&folder.since(), old, tell)).transpose()?;
        let description = simulation.as_ref().map(|simulation| simulation.description.clone());
        let KeptRates { rates, focus } = keep_rates(&folder, &settings, tell)?;
        let (stop, stopping) = watch::channel(false);
        let terms = Terms::new(settings.clone(), settings.clone());
        let parts = Parts::open(folder, terms, simulation, None, stopping)?;
        let Parts { boundaries, access, storage, .. } = &parts;
        let mut manifest = Manifest::new(
            serde_json::to_value(&settings).unwrap_or_default(),
            access.clock.system_time().into(),
        );
        manifest.suffix_list_version = boundaries.scope.area.suffixes.version().map(ToOwned::to_owned);
        manifest.simulation = description;
        manifest.rates = rates;
        manifest.geo = boundaries.geo.describe().cloned().collect();
        storage.folder.write_settings(&settings)?;
        storage.folder.write_start_list(drawn(start, &boundaries.scope))?;
        storage.folder.add_left_out(start)?;
        let offers = storage.frontier().offer(offered(start, &boundaries.scope))?;
        manifest.save(storage.dir())?;
        let survey = Self { parts: Arc::new(parts), manifest, tally: Tally::new(), tables: None, stop };
        Ok((survey, StartUrlCounts { known, focus, ..StartUrlCounts::count(&offers) }))
    }
}

/// A survey that is to be begun.
struct NewSurvey<'a> {
    dir: &'a Path,
    settings: Settings,
    start: &'a StartList,
    simulation: Option<Simulation>,
    /// What a process left that died making it is removed.
    anew: bool,
}

/// Whether `old` can be the earlier survey of the one to be made in `new`.
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
