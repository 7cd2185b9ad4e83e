use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::bus;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::check::check;
use crate::cli::output::print_message;
use crate::cli::run::{DisplayMode, block_on, print_result, run};
use crate::cluster::Coordinator;
use crate::records::{Manifest, SurveyState};
use crate::settings::Settings;
use crate::survey::{Ending, KeptReplies, Survey, add_waiting_lists, has_waiting_lists, survey_settings};

/// Continue a survey after a stop or a crash.
///
/// Nothing recorded is lost and nothing finished is fetched again. The settings are those in DIR/survey.toml;
/// you may make them more polite before you resume. Servers get their pauses as if the survey had not
/// stopped.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Resume {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    #[command(flatten)]
    display_mode: DisplayMode,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey resume kenya
  ccsurvey resume kenya --json --log-level debug > summary.json";

impl Resume {
    /// # Errors
    /// When there is no survey in DIR, another process is running it, or the survey fails.
    pub fn execute(self) -> Result<Exit, CliError> {
        block_on(continue_survey(&self.dir, None, self.display_mode))
    }
}

/// Continues a survey, or reports that it is finished. `requested_settings` may differ from those at the
/// start.
///
/// # Errors
/// As [`Resume::execute`], and when a requested setting must not be changed.
pub(super) async fn continue_survey(
    dir: &Path,
    requested_settings: Option<Settings>,
    display_mode: DisplayMode,
) -> Result<Exit, CliError> {
    if has_waiting_lists(dir) {
        add_waiting_lists(dir)?;
    }
    if let Some(ending) = finished_ending(dir) {
        if let Some(requested_settings) = requested_settings {
            Survey::check_wishes(dir, &requested_settings)?;
        }
        print_message(&format!("{}: the survey is finished, nothing is left to do", dir.display()));
        bus::clear(dir).await;
        return print_result(Ok(ending), dir, display_mode);
    }
    let settings = requested_settings.clone().map_or_else(|| survey_settings(dir), Ok)?;
    if settings.nats.is_some() {
        // Checked first, so that the dispatches of another process are not fenced.
        Survey::check_free(dir)?;
    }
    let bus = bus::for_settings(&settings).await?;
    let coordinator = bus::coordinator(bus, dir).await?;
    let no_replies = KeptReplies::new();
    let replies = coordinator.as_ref().map_or(&no_replies, Coordinator::replies);
    let survey = Survey::open_with_replies(dir, requested_settings.as_ref(), replies)?;
    check(survey.settings())?;
    run(survey, coordinator, dir, display_mode).await
}

/// The result of a survey that is finished.
fn finished_ending(dir: &Path) -> Option<Ending> {
    let manifest = Manifest::load(dir).ok()?;
    let is_finished = manifest.state == SurveyState::Finished && manifest.simulation.is_none();
    is_finished.then_some(Ending { is_finished, broken_promises: manifest.broken_promises })
}
