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
use crate::survey::{Ending, KeptReplies, Survey, has_added, settings_of, take_in};

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
    showing: DisplayMode,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey resume kenya
  ccsurvey resume kenya --json --log-level debug > summary.json";

impl Resume {
    /// # Errors
    /// When there is no survey in DIR, another process is running it, or the survey fails.
    pub fn execute(self) -> Result<Exit, CliError> {
        block_on(go_on(&self.dir, None, self.showing))
    }
}

/// Continues a survey, or reports that it is finished. `wished` settings may differ from those at its start.
///
/// # Errors
/// As [`Resume::execute`], and when a wished setting must not be changed.
pub(super) async fn go_on(
    dir: &Path,
    wished: Option<Settings>,
    showing: DisplayMode,
) -> Result<Exit, CliError> {
    if has_added(dir) {
        take_in(dir)?;
    }
    if let Some(ending) = ending_of(dir) {
        if let Some(wished) = wished {
            Survey::check_wishes(dir, &wished)?;
        }
        print_message(&format!("{}: the survey is finished, nothing is left to do", dir.display()));
        bus::clear(dir).await;
        return print_result(Ok(ending), dir, showing);
    }
    let settings = wished.clone().map_or_else(|| settings_of(dir), Ok)?;
    if settings.nats.is_some() {
        // Checked first, so that the dispatches of another process are not fenced.
        Survey::check_free(dir)?;
    }
    let bus = bus::for_settings(&settings).await?;
    let coordinator = bus::coordinator(bus, dir).await?;
    let none = KeptReplies::new();
    let replies = coordinator.as_ref().map_or(&none, Coordinator::replies);
    let survey = Survey::open_with_replies(dir, wished.as_ref(), replies)?;
    check(survey.settings())?;
    run(survey, coordinator, dir, showing).await
}

/// The result of a survey that is finished.
fn ending_of(dir: &Path) -> Option<Ending> {
    let manifest = Manifest::load(dir).ok()?;
    let is_finished = manifest.state == SurveyState::Finished && manifest.simulation.is_none();
    is_finished.then_some(Ending { is_finished, broken_promises: manifest.broken_promises })
}
