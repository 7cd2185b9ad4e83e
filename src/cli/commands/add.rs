use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::survey::taken_in_words;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::start_list::ListFlags;
use crate::cli::output::print_message;
use crate::records::units::count;
use crate::survey::{HandedOverList, StartUrlCounts, area, hand_over, settings_of, take_in};

/// Add start URLs to a survey that is running, stopped or finished.
///
/// They are queued behind everything that the survey knows, as start URLs of generation 0, and are added to
/// DIR/start.csv. A running survey accepts them within seconds; a stopped or finished one continues with them
/// on `resume`. They are stored and accepted exactly once, even if either process is killed. If the survey is
/// a sample (--sample), sites outside the sample are left out here too.
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
const MOST_LOOKS: u32 = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

impl Add {
    /// # Errors
    /// When there is no survey in DIR, or the list cannot be used. Nothing was added then.
    pub fn execute(self) -> Result<Exit, CliError> {
        let dir = &self.dir;
        let list = self.list.read(&self.start, area(&settings_of(dir)?)?)?;
        let handed_over = hand_over(dir, &list)?;
        let urls = count(list.counts.urls, "start URL");
        print_message(&match settle(dir, &handed_over)? {
            TakenBy::ByUs(taken) => in_words(dir, taken),
            TakenBy::ByOther => format!("another process added {urls} to the survey"),
            TakenBy::NotYet => format!(
                "{urls} saved but not added yet: the process that runs {} or the next `resume` adds the list",
                dir.display()
            ),
        });
        Ok(Exit::Done)
    }
}

/// The process that accepted a list.
enum TakenBy {
    ByUs(StartUrlCounts),
    ByOther,
    NotYet,
}

fn settle(dir: &Path, handed_over: &HandedOverList) -> Result<TakenBy, CliError> {
    for _ in 0..MOST_LOOKS {
        if handed_over.is_taken() {
            return Ok(TakenBy::ByOther);
        }
        if let Some(taken) = take_in(dir)? {
            return Ok(TakenBy::ByUs(taken));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(TakenBy::NotYet)
}

fn in_words(dir: &Path, taken: StartUrlCounts) -> String {
    let told = taken_in_words(taken);
    if taken.sites + taken.seeds == 0 {
        return format!("{}: nothing new to add: {told}", dir.display());
    }
    format!("{told}; `ccsurvey resume {}` continues the survey", dir.display())
}
