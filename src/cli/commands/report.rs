use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::analysis::{
    AnalysisError, Censoring, Curves, Deepest, Kind, Overview, Recorded, Sampling, Unseen,
};
use crate::cli::error::{CliError, one_line};
use crate::cli::exit::Exit;
use crate::cli::output::{print, say};
use crate::report::{Findings, Progress, Report};
use crate::survey::Snapshot;

/// Write the report of a survey: one HTML file that any browser opens.
///
/// What exists, what it cost, and which depth to use, with figures, their data and their uncertainty. May be
/// used while the survey runs; the first page then says that it is partial.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReportCommand {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The file to write, `-` for standard output; it is replaced if it exists [default: DIR/report.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Where the chance of the intervals begins: the same survey and seed make the same file
    #[arg(long, value_name = "N", default_value_t = Sampling::default().seed)]
    seed: u64,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey report kenya
  ccsurvey report kenya -o kenya.html --seed 7";

impl ReportCommand {
    /// # Errors
    /// When there is no survey in DIR, no site tree in it yet, a table cannot be read or the file not be written.
    pub fn execute(self) -> Result<Exit, CliError> {
        let page = page(&self.dir, &Sampling { seed: self.seed, ..Sampling::default() })?;
        match self.output {
            Some(file) if file.as_os_str() == "-" => print(&page)?,
            Some(file) => write(&file, &page)?,
            None => write(&default_file(&self.dir), &page)?,
        }
        Ok(Exit::Done)
    }
}

/// Where the report of a survey stands if nobody says otherwise.
pub(super) fn default_file(dir: &Path) -> PathBuf {
    dir.join("report.html")
}

/// Makes the report of a survey, with all that is not asked for as it is by default.
///
/// # Errors
/// The survey cannot be analysed, or the page not be written.
pub(super) fn page(dir: &Path, sampling: &Sampling) -> Result<String, CliError> {
    let recorded = Recorded::load(dir)?;
    let curves = Curves::of(&recorded, sampling);
    let findings = Findings {
        deepest: Deepest::of(&recorded, sampling),
        censoring: Censoring::of(&recorded),
        unseen: Unseen::of(&recorded, sampling),
        overview: Overview::of(dir)?,
        chosen: curves
            .levels
            .iter()
            .find(|level| level.union(Kind::Hosts).low >= 0.95)
            .map(|level| level.depth),
        progress: progress(dir),
        sampling: *sampling,
        curves,
        recorded,
    };
    Report::of(&findings).html().map_err(|wrong| CliError::Failed(one_line(&wrong.to_string())))
}

/// How many site trees are done, as the survey last told.
fn progress(dir: &Path) -> Option<Progress> {
    let told = Snapshot::load(dir).ok().flatten()?;
    let known = told.sites_done + told.sites_walking + told.sites_waiting;
    Some(Progress { done: told.sites_done, known })
}

/// Writes the page beside the file and puts it in its place, so that a reader sees a whole page or the old one.
pub(super) fn write(file: &Path, page: &str) -> Result<(), CliError> {
    let mut fresh = file.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    let written = fs::write(&fresh, page).and_then(|()| fs::rename(&fresh, file));
    if let Err(wrong) = written {
        let _ = fs::remove_file(&fresh);
        return Err(CliError::Failed(format!("cannot write {}: {wrong}", file.display())));
    }
    say(&format!("the report is in {}", file.display()));
    Ok(())
}

impl From<AnalysisError> for CliError {
    fn from(wrong: AnalysisError) -> Self {
        Self::Failed(one_line(&wrong.to_string()))
    }
}
