//! The state of a survey, read from its folder.

mod words;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use words::{describe_snapshot, is_silent};

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{print, print_json, print_json_line, show, stdout_terminal};
use crate::fetch::Clock;
use crate::records::{Manifest, SurveyState};
use crate::survey::{Snapshot, SurveyError};

/// Show the state of a survey: progress, rates, time left, and the servers with the most load.
///
/// Reads DIR/status.json, which the survey writes every second. Works while the survey runs and afterwards,
/// for anyone who can read DIR.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Status {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Update the output every second until the survey ends
    #[arg(long)]
    watch: bool,

    /// Print the contents of DIR/status.json as JSON, with all kinds of errors, not only the most frequent;
    /// with --watch, one object per line. `alive` says whether a process runs the survey. It is false if none
    /// has reported for 30 s, whatever `state` says; the rates are then 0 and the time left is null. For a
    /// simulation whose state is `running`, `alive` is null, because its clock is virtual
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey status kenya
  ccsurvey status kenya --watch
  ccsurvey status kenya --json";

const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

impl Status {
    /// # Errors
    /// When there is no survey in DIR, or its status is missing, damaged or cannot be read.
    pub fn execute(self) -> Result<Exit, CliError> {
        if self.watch {
            return self.watch();
        }
        let (now, time) = load(&self.dir)?;
        if self.json {
            print_json(&StatusJson::new(now, time))?;
        } else {
            print(&describe_snapshot(&self.dir, &now, time))?;
        }
        Ok(Exit::Done)
    }

    fn watch(&self) -> Result<Exit, CliError> {
        let terminal = stdout_terminal().filter(|_| !self.json);
        let is_live = terminal.is_some();
        let screen = screen(terminal);
        loop {
            let (now, time) = load(&self.dir)?;
            let words = describe_snapshot(&self.dir, &now, time);
            let is_over = now.state != SurveyState::Running || is_silent(&now, time);
            if is_over {
                screen.finish_and_clear();
            }
            if self.json {
                print_json_line(&StatusJson::new(now, time))?;
            } else if is_live && !is_over {
                show(&screen, &words);
                screen.tick();
            } else {
                print(&format!("{words}\n"))?;
            }
            if is_over {
                return Ok(Exit::Done);
            }
            std::thread::sleep(REFRESH_INTERVAL);
        }
    }
}

/// A text that is redrawn in place; hidden where standard output is no terminal.
fn screen(terminal: Option<ProgressDrawTarget>) -> ProgressBar {
    let target = terminal.unwrap_or_else(ProgressDrawTarget::hidden);
    let screen = ProgressBar::with_draw_target(None, target);
    // The template is fixed and valid. Without it a progress bar would appear as well.
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        screen.set_style(style);
    }
    screen
}

/// The status for programs.
#[derive(Debug, Serialize)]
struct StatusJson {
    #[serde(flatten)]
    now: Snapshot,
    alive: Option<bool>,
}

impl StatusJson {
    fn new(now: Snapshot, time: SystemTime) -> Self {
        let is_running = now.state == SurveyState::Running;
        let alive = (!is_running || !now.is_simulated).then(|| is_running && !is_silent(&now, time));
        if alive != Some(false) {
            return Self { now, alive };
        }
        // The rates of its last minute no longer apply.
        let (requests_per_second, bytes_per_second, seconds_left) = (0.0, 0.0, None);
        Self { now: Snapshot { requests_per_second, bytes_per_second, seconds_left, ..now }, alive }
    }
}

/// The last status that a survey wrote, and the current time by the survey's own clock.
fn load(dir: &Path) -> Result<(Snapshot, SystemTime), CliError> {
    Manifest::load(dir).map_err(SurveyError::from)?;
    let now = Snapshot::read(dir).map_err(|error| {
        let (file, dir) = (Snapshot::path(dir), dir.display());
        let problem = match error.kind() {
            ErrorKind::NotFound => format!(
                "{} is missing: a survey writes it every second, from its first request on",
                file.display()
            ),
            ErrorKind::InvalidData => format!("{} is damaged: {error}", file.display()),
            _ => format!("cannot read {}: {error}", file.display()),
        };
        CliError::Failed(format!("{problem}; the results so far are in the tables (`ccsurvey report {dir}`)"))
    })?;
    // A survey keeps the clock that it started with, and the machine's clock may have been set since then.
    // The file system provides the age of the file.
    let modified = std::fs::metadata(Snapshot::path(dir)).and_then(|file| file.modified());
    let age =
        modified.ok().and_then(|modified| Clock::system().system_time_now().duration_since(modified).ok());
    let time = now.updated.unwrap_or_else(|| Clock::system().now()) + age.unwrap_or_default();
    Ok((now, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_json(state: SurveyState, is_simulated: bool, seconds_later: u64) -> StatusJson {
        let now = Snapshot {
            state,
            is_simulated,
            updated: Some(SystemTime::UNIX_EPOCH),
            requests_per_second: 4.5,
            bytes_per_second: 45_100.0,
            seconds_left: Some(11_100.0),
            ..Snapshot::default()
        };
        StatusJson::new(now, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds_later))
    }

    #[test]
    fn programs_are_told_whether_a_process_is_at_work() {
        for (state, is_simulated, later, alive) in [
            (SurveyState::Running, false, 2, Some(true)),
            (SurveyState::Running, false, 31, Some(false)),
            (SurveyState::Finished, false, 2, Some(false)),
            (SurveyState::Interrupted, true, 2, Some(false)),
            (SurveyState::Running, true, 31, None),
        ] {
            let status_json = status_json(state, is_simulated, later);
            assert_eq!(status_json.alive, alive, "{state}, {is_simulated}, {later}");
            let rates = (
                status_json.now.requests_per_second,
                status_json.now.bytes_per_second,
                status_json.now.seconds_left,
            );
            let expected =
                if alive == Some(false) { (0.0, 0.0, None) } else { (4.5, 45_100.0, Some(11_100.0)) };
            assert_eq!(rates, expected, "{state}, {is_simulated}, {later}");
        }
    }

    #[test]
    fn alive_stands_beside_what_the_survey_wrote() {
        let status_json = serde_json::to_value(status_json(SurveyState::Running, false, 40)).unwrap();
        assert_eq!((&status_json["state"], &status_json["alive"]), (&"running".into(), &false.into()));
        assert!(status_json["seconds_left"].is_null() && status_json["errors"].is_object());
    }
}
