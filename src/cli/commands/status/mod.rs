mod words;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use words::{in_words, is_silent};

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{print, print_json};
use crate::records::Manifest;
use crate::survey::{Snapshot, SurveyError, clock};

/// Show how a survey stands: progress, rates, what may remain, and the servers that bear most.
///
/// Reads what the survey writes into DIR every second, so it may be used while the survey runs and
/// after it, by anybody who may read DIR.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Status {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Show it anew every second until the survey ends
    #[arg(long)]
    watch: bool,

    /// Print JSON; with --watch an object a line
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey status kenya
  ccsurvey status kenya --watch
  ccsurvey status kenya --json";

const EVERY: Duration = Duration::from_secs(1);

impl Status {
    /// # Errors
    /// When there is no survey in DIR, or its status cannot be read.
    pub fn execute(self) -> Result<Exit, CliError> {
        if self.watch {
            return self.watch();
        }
        let now = load(&self.dir)?;
        if self.json {
            print_json(&now)?;
        } else {
            print(&in_words(&self.dir, &now, clock()))?;
        }
        Ok(Exit::Done)
    }

    fn watch(&self) -> Result<Exit, CliError> {
        let is_live = io::stdout().is_terminal() && !self.json;
        let picture = picture(is_live);
        loop {
            let now = load(&self.dir)?;
            let words = in_words(&self.dir, &now, clock());
            let is_over = now.state != "running" || is_silent(&now, clock());
            if is_over {
                picture.finish_and_clear();
            }
            if self.json {
                print(&format!("{}\n", serde_json::to_string(&now).unwrap_or_default()))?;
            } else if is_live && !is_over {
                picture.set_message(words);
                picture.tick();
            } else {
                print(&format!("{words}\n"))?;
            }
            if is_over {
                return Ok(Exit::Done);
            }
            std::thread::sleep(EVERY);
        }
    }
}

/// What is drawn anew in its place; nothing where standard output is no terminal.
fn picture(is_live: bool) -> ProgressBar {
    let target = if is_live { ProgressDrawTarget::stdout() } else { ProgressDrawTarget::hidden() };
    let picture = ProgressBar::with_draw_target(None, target);
    // The template is fixed and sound; without it the picture has a bar too many.
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        picture.set_style(style);
    }
    picture
}

fn load(dir: &Path) -> Result<Snapshot, CliError> {
    let manifest = Manifest::load(dir).map_err(SurveyError::from)?;
    let found = Snapshot::load(dir)
        .map_err(|wrong| CliError::Failed(format!("cannot read the status of {}: {wrong}", dir.display())))?;
    // A survey killed in its first second has no status yet.
    let state = serde_json::to_value(manifest.state).ok().and_then(|state| state.as_str().map(str::to_owned));
    Ok(found.unwrap_or_else(|| Snapshot { state: state.unwrap_or_default(), ..Snapshot::default() }))
}
