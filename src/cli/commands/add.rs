use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::survey::describe_start_urls;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::start_list::ListFlags;
use crate::cli::output::print_message;
use crate::records::units::count;
use crate::survey::{StartUrlCounts, SubmittedList, add_waiting_lists, area, submit_list, survey_settings};

/// Add start URLs to a survey that is running, stopped or finished.
///
/// They become start URLs of generation 0, are queued behind the sites that the survey already knows, and are
/// appended to DIR/start.csv. A running survey accepts them within seconds; a stopped or finished one
/// continues with them on `resume`. They are stored and accepted exactly once, even if this command or the
/// survey is killed. If the survey is a sample (--sample), sites outside the sample are left out here too.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Add {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The start list, in any form that `survey` reads; `-` is standard input
    #[arg(long, value_name = "FILE")]
    start: PathBuf,

    #[command(flatten)]
    list: ListFlags,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey add kenya --start more.csv
  zcat ke.zone.gz | ccsurvey add kenya --start -
  ccsurvey add kenya --start schools.csv --column website";

/// How often to check whether a running survey has accepted a list. The survey looks for new lists every few
/// seconds.
const MAX_CHECKS: u32 = 50;
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

impl Add {
    /// # Errors
    /// When there is no survey in DIR, or the list cannot be used. Nothing was added then.
    pub fn execute(self) -> Result<Exit, CliError> {
        let dir = &self.dir;
        let settings = survey_settings(dir)?;
        let list = self.list.read(&self.start, area(&settings)?)?;
        let handed_over = submit_list(dir, &list)?;
        let urls = count(list.counts.urls, "start URL");
        print_message(&match await_acceptance(dir, &handed_over)? {
            AcceptedBy::ThisProcess(added) => describe_result(dir, added, settings.budget.is_some()),
            AcceptedBy::OtherProcess => format!("another process added {urls} to the survey"),
            AcceptedBy::NotYet => format!(
                "{urls} saved but not added yet: the process that runs {} or the next `resume` adds the list",
                dir.display()
            ),
        });
        Ok(Exit::Done)
    }
}

/// The process that accepted a list.
enum AcceptedBy {
    ThisProcess(StartUrlCounts),
    OtherProcess,
    NotYet,
}

fn await_acceptance(dir: &Path, handed_over: &SubmittedList) -> Result<AcceptedBy, CliError> {
    for _ in 0..MAX_CHECKS {
        if handed_over.is_taken() {
            return Ok(AcceptedBy::OtherProcess);
        }
        if let Some(added) = add_waiting_lists(dir)? {
            return Ok(AcceptedBy::ThisProcess(added));
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
    Ok(AcceptedBy::NotYet)
}

fn describe_result(dir: &Path, added: StartUrlCounts, has_budget: bool) -> String {
    let description = describe_start_urls(added);
    if added.sites + added.seeds == 0 {
        return format!("{}: nothing new to add: {description}", dir.display());
    }
    let larger = if has_budget { ", with a larger --budget if that is spent" } else { "" };
    format!("{description}; `ccsurvey resume {}` continues the survey{larger}", dir.display())
}
