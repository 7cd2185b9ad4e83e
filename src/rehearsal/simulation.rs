use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::in_process::InProcess;
use super::scenario::Scenario;
use crate::settings::Settings;
use crate::starts::StartList;
use crate::survey::{Ending, ReadingProgress, Simulation, StartUrlCounts, Survey, SurveyError};

/// A survey of a virtual Web in this process, on a virtual clock: weeks of a polite survey are over in
/// minutes.
pub struct Rehearsal {
    survey: Survey,
    virtual_time: Runtime,
}

/// Why a simulation does not begin.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// The runtime could not be started.
    #[error("cannot start: {0}")]
    NoThread(#[source] io::Error),
    /// The survey itself failed.
    #[error(transparent)]
    Survey(#[from] SurveyError),
}

impl Rehearsal {
    /// Makes the folder of a survey and takes in its start list; `report_progress` receives the progress of
    /// reading an earlier survey.
    ///
    /// # Errors
    /// When the settings or the folder cannot be used.
    pub fn begin(
        dir: &Path,
        settings: Settings,
        start: &StartList,
        scenario: Scenario,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(Self, StartUrlCounts), RehearsalError> {
        let virtual_time = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .map_err(RehearsalError::NoThread)?;
        let (survey, start_counts) = {
            let _entered = virtual_time.enter();
            let begins = scenario.begins.into();
            let web = Arc::new(InProcess::new(scenario.web, begins));
            let simulation =
                Simulation { web, begins, description: scenario.description, team: scenario.team };
            Survey::simulate(dir, settings, start, simulation, report_progress)?
        };
        Ok((Self { survey, virtual_time }, start_counts))
    }

    /// Runs the survey to its end, or until `stopped` says so, on the thread of the caller.
    ///
    /// # Errors
    /// When a part of the program itself fails; what was recorded is kept.
    pub fn run(self, stopped: watch::Receiver<bool>) -> Result<Ending, SurveyError> {
        self.virtual_time.block_on(self.survey.run(stopped))
    }
}
