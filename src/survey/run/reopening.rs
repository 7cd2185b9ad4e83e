use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::watch;

use super::engine::Survey;
use super::recovery::{KeptReplies, recover};
use crate::frontier::Frontier;
use crate::records::{Manifest, ManifestError, SurveyState, Tables};
use crate::settings::{self, Change, ENTRANCES, Settings};
use crate::survey::agents::simulation::Simulation;
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::parts::{Parts, Terms};
use crate::survey::storage::progress::Snapshot;
use crate::survey::storage::spread;

/// Resumption of a survey that was stopped or has crashed, possibly with other settings.
impl Survey {
    /// Whether the folder contains a survey, in any state.
    #[must_use]
    pub fn is_begun(dir: &Path) -> bool {
        !matches!(Manifest::load(dir), Err(ManifestError::Missing(_)))
    }

    /// Checks that no process is running the survey.
    ///
    /// # Errors
    /// When a process is running it, or its state cannot be read.
    pub fn check_free(dir: &Path) -> Result<(), SurveyError> {
        let folder = Folder::open(dir);
        if !folder.state().is_file() {
            return Err(SurveyError::StateMissing(folder.state()));
        }
        Frontier::open(&folder.state(), spread(&folder.read_settings()?))?;
        Ok(())
    }

    /// Checks that the survey may resume with these settings, where they differ from the original ones.
    ///
    /// # Errors
    /// As [`Survey::open`], and when a setting may not be changed.
    pub fn check_wishes(dir: &Path, wished: &Settings) -> Result<(), SurveyError> {
        let (folder, manifest) = (Folder::open(dir), Manifest::load(dir)?);
        with_changes(&folder, &manifest, &folder.read_settings()?, wished).map(|_| ())
    }

    /// Opens a survey that was stopped or has crashed.
    ///
    /// # Errors
    /// When there is no survey, another process is running it, or its state cannot be read.
    pub fn open(dir: &Path) -> Result<Self, SurveyError> {
        Self::open_with(dir, None)
    }

    /// The same, with responses that were stored elsewhere while no process was running the survey.
    ///
    /// # Errors
    /// As [`Survey::open_with_changes`].
    pub fn open_with_replies(
        dir: &Path,
        wished: Option<&Settings>,
        replies: &KeptReplies,
    ) -> Result<Self, SurveyError> {
        Self::reopen(dir, wished, None, replies)
    }

    /// The same with the settings in `wished`. Those that differ from the original settings take effect as if
    /// they had been written into `survey.toml`, and are written there.
    ///
    /// # Errors
    /// As [`Survey::open`], and when a setting may not be changed.
    pub fn open_with_changes(dir: &Path, wished: &Settings) -> Result<Self, SurveyError> {
        Self::reopen(dir, Some(wished), None, &KeptReplies::new())
    }

    pub(in crate::survey) fn open_with(
        dir: &Path,
        simulation: Option<Simulation>,
    ) -> Result<Self, SurveyError> {
        Self::reopen(dir, None, simulation, &KeptReplies::new())
    }

    fn reopen(
        dir: &Path,
        wished: Option<&Settings>,
        simulation: Option<Simulation>,
        replies: &KeptReplies,
    ) -> Result<Self, SurveyError> {
        let folder = Folder::open(dir);
        Self::reopen_in(folder, wished, simulation, replies).map_err(|error| error.in_survey(dir))
    }

    fn reopen_in(
        folder: Folder,
        wished: Option<&Settings>,
        simulation: Option<Simulation>,
        replies: &KeptReplies,
    ) -> Result<Self, SurveyError> {
        let manifest = Manifest::load(&folder.dir)?;
        if manifest.simulation.is_some() && simulation.is_none() {
            return Err(SurveyError::Simulated(folder.dir));
        }
        if !folder.state().is_file() {
            return Err(SurveyError::StateMissing(folder.state()));
        }
        let current = folder.read_settings()?;
        let settings = match wished {
            None => current.clone(),
            Some(wished) => with_changes(&folder, &manifest, &current, wished)?,
        };
        let is_over = manifest.state == SurveyState::Finished;
        if settings.since.is_some() && !is_over && !folder.since().is_file() {
            return Err(SurveyError::StateMissing(folder.since()));
        }
        let changed = (settings != current).then(|| settings.clone());
        // The survey can resume without its status.
        let earlier = Snapshot::load(&folder.dir).unwrap_or_else(|error| {
            tracing::warn!(%error, "the status cannot be read: its counters start again from zero");
            None
        });
        let promised = check_settings(&folder, &manifest, &settings)?;
        let (stop, stopping) = watch::channel(false);
        let parts = Parts::open(folder, Terms::new(settings, promised), simulation, earlier, stopping)?;
        if let Some(settings) = changed {
            parts.storage.folder.write_settings(&settings)?;
        }
        let tables = Tables::open(parts.storage.dir())?;
        let tally = recover(&parts, &tables, replies)?;
        Ok(Self { parts: Arc::new(parts), manifest, tally, tables: Some(tables), stop })
    }
}

/// The original settings of a survey, if it can resume with the given ones.
fn check_settings(
    folder: &Folder,
    manifest: &Manifest,
    settings: &Settings,
) -> Result<Settings, SurveyError> {
    let began_with = original_settings(manifest)?;
    check_change(&began_with, &settings.clone().with_implied_values(), &folder.settings())?;
    Ok(began_with)
}

/// The original settings, from the manifest. A manifest from before the setting for entrances has none.
fn original_settings(manifest: &Manifest) -> Result<Settings, SurveyError> {
    let original = Settings::deserialize(&manifest.settings).map_err(unreadable)?.with_implied_values();
    Ok(if is_before_entrances(manifest) { original.with_one_entrance() } else { original })
}

fn is_before_entrances(manifest: &Manifest) -> bool {
    manifest.settings.get(ENTRANCES).is_none()
}

/// The settings with which a survey resumes if these are `wished`.
fn with_changes(
    folder: &Folder,
    manifest: &Manifest,
    current: &Settings,
    wished: &Settings,
) -> Result<Settings, SurveyError> {
    let began_with = original_settings(manifest)?;
    let wished = wished.clone().with_recorded_links().with_implied_values();
    let wished = if is_before_entrances(manifest) { wished.with_one_entrance() } else { wished };
    check_change(&began_with, &wished, &folder.dir)?;
    settings::with_changes(&began_with, current, &wished).map_err(unreadable)
}

fn check_change(began_with: &Settings, settings: &Settings, shown_path: &Path) -> Result<(), SurveyError> {
    match settings::first_forbidden_change(began_with, settings) {
        None => Ok(()),
        Some(Change { key, was, is, expected }) => {
            Err(SurveyError::Changed { path: shown_path.to_owned(), key, was, is, expected })
        }
    }
}

fn unreadable(error: impl fmt::Display) -> SurveyError {
    SurveyError::Broken(format!("settings in manifest.json: {error}"))
}
