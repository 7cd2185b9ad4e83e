use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::choose_depth::known_trees;
use super::report::write;
use crate::analysis::SurveyComparison;
use crate::cli::computed::hosts;
use crate::cli::error::{CliError, one_line};
use crate::cli::exit::Exit;
use crate::cli::output::{print_data, print_json, print_message};
use crate::records::units::{count, percent};
use crate::records::{ChangeRow, WholeTable};
use crate::report::Report;

/// Show what changed between surveys: births, deaths, moved hosters, https, software.
///
/// Surveys are compared in the order given, each with the next. The page shows the last step in full and, for
/// more than two surveys, all of them as a series. Only what both surveys know is compared: what a survey did
/// not request is not dead. Sends nothing.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// The folders of the surveys, the earliest first
    #[arg(value_name = "DIR", required = true, num_args = 2..)]
    dirs: Vec<PathBuf>,

    /// The page to write, `-` for standard output [default: compare.html in the last DIR]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the comparison as JSON and write no page
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey compare kenya-2026 kenya-2027
  ccsurvey compare kenya-2025 kenya-2026 kenya-2027 -o series.html
  ccsurvey compare kenya-2026 kenya-2027 --json

Each step also writes the table `changes` into the folder of its later survey.";

impl Compare {
    /// # Errors
    /// When one of the folders holds no survey or one without a site tree, a table cannot be read or a file
    /// cannot be written.
    pub fn execute(self) -> Result<Exit, CliError> {
        for dir in &self.dirs {
            hosts::write(dir);
        }
        let steps: Vec<SurveyComparison> =
            self.dirs.windows(2).map(|dirs| step([&dirs[0], &dirs[1]])).collect::<Result<_, _>>()?;
        if self.json {
            print_json(&Value::from(steps.iter().map(to_json).collect::<Vec<_>>()))?;
            return Ok(Exit::Done);
        }
        let page = Report::from_comparisons(&steps).html();
        let page = page.map_err(|error| CliError::Failed(one_line(&error.to_string())))?;
        let last = self.dirs.last().map_or_else(PathBuf::new, |dir| dir.join("compare.html"));
        match self.output.unwrap_or(last) {
            file if file.as_os_str() == "-" => print_data(page.as_bytes())?,
            file => {
                write(&file, &page)?;
                steps.iter().flat_map(describe).for_each(|line| print_message(&line));
            }
        }
        Ok(Exit::Done)
    }
}

/// Compares two surveys and writes the table of changes.
fn step([earlier, later]: [&Path; 2]) -> Result<SurveyComparison, CliError> {
    let mut table = None;
    let mut failure = None;
    let mut comparison = SurveyComparison::read([earlier, later], |rows| {
        // Only now both folders are known to hold surveys. The comparison does not need the table.
        if failure.is_none() {
            let open =
                |table: Option<WholeTable<ChangeRow>>| table.map_or_else(|| WholeTable::begin(later), Ok);
            match open(table.take()).and_then(|mut open| open.write(&rows).map(|()| open)) {
                Ok(open) => table = Some(open),
                Err(error) => failure = Some(error),
            }
        }
        Ok(())
    })?;
    let finished = table.map_or(Ok(()), WholeTable::finish);
    if let Some(error) = failure.or(finished.err()) {
        print_message(&format!("cannot write the table of changes: {}", one_line(&error.to_string())));
    }
    for (survey, dir) in [(&mut comparison.earlier, earlier), (&mut comparison.later, later)] {
        survey.completeness = survey.completeness.with_known_trees(known_trees(dir));
    }
    Ok(comparison)
}

/// A step in two lines.
fn describe(step: &SurveyComparison) -> [String; 2] {
    let sites = &step.sites;
    let shares: Vec<String> = step
        .shares
        .iter()
        .filter(|share| share.is_certain())
        .map(|share| {
            let [before, after] =
                [share.sites.before(), share.sites.after()].map(|share| percent(share.value));
            format!("{before} → {after} {}", share.name)
        })
        .collect();
    let shares =
        if shares.is_empty() { "no share changed by more than chance".to_owned() } else { shares.join("; ") };
    let presence = format!(
        "{} → {}: {} respond, {} before; {} born, {} died, {} not requested again",
        step.earlier.name,
        step.later.name,
        count(sites.after(), "site"),
        sites.before(),
        sites.born(),
        sites.died(),
        sites.lost_sight(),
    );
    [presence, shares]
}

fn to_json(step: &SurveyComparison) -> Value {
    let survey = |survey: &crate::analysis::ComparedSurvey| {
        json!({
            "name": survey.name,
            "created": survey.manifest.created,
            "state": survey.manifest.state,
            "is_incomplete": survey.is_incomplete(),
        })
    };
    let presence = |counts: &crate::analysis::PresenceCounts| {
        json!({
            "respond_before": counts.before(),
            "respond_after": counts.after(),
            "born": counts.born(),
            "born_share": counts.born_share(),
            "died": counts.died(),
            "died_share": counts.died_share(),
            "not_requested_again": counts.lost_sight(),
            "counts": counts.counts,
        })
    };
    let shares = step.shares.iter().map(|share| {
        json!({
            "name": share.name,
            "sites": share.sites,
            "before": share.sites.before(),
            "after": share.sites.after(),
            "change": share.sites.difference(),
        })
    });
    json!({
        "earlier": survey(&step.earlier),
        "later": survey(&step.later),
        "sites": presence(&step.sites),
        "hosts": presence(&step.hosts),
        "shares": shares.collect::<Vec<_>>(),
        "facts": step.facts,
        "pages": step.pages,
        "unlike": step.unlike,
    })
}
