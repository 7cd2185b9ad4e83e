use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::choose_depth::known_trees;
use super::report::write;
use crate::analysis::{ComparedSurvey, PresenceCounts, SurveyComparison};
use crate::cli::computed::{hosts, report_failure};
use crate::cli::error::{CliError, one_line};
use crate::cli::exit::Exit;
use crate::cli::output::{print_data, print_json, print_message};
use crate::records::units::count;
use crate::records::{ChangeRow, Row, WholeTable};
use crate::report::{Report, certain_changes};

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
        let surveys = self.dirs.iter().map(|dir| survey(dir)).collect::<Result<Vec<_>, _>>()?;
        let steps = surveys.windows(2).zip(&self.dirs[1..]);
        let steps = steps.map(|(pair, later)| step([&pair[0], &pair[1]], later));
        let steps: Vec<SurveyComparison> = steps.collect::<Result<_, _>>()?;
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

fn survey(dir: &Path) -> Result<ComparedSurvey, CliError> {
    hosts::write(dir);
    let mut survey = ComparedSurvey::read(dir)?;
    survey.completeness = survey.completeness.with_known_trees(known_trees(dir));
    Ok(survey)
}

/// Compares two surveys, and writes the table of changes into the folder of the `later` one. The comparison
/// does not need the table.
fn step(surveys: [&ComparedSurvey; 2], later: &Path) -> Result<SurveyComparison, CliError> {
    let mut table = WholeTable::<ChangeRow>::begin(later);
    let comparison = SurveyComparison::between(surveys, |rows| {
        if let Ok(open) = &mut table
            && let Err(error) = open.write(rows)
        {
            table = Err(error);
        }
    })?;
    report_failure(later, ChangeRow::TABLE, table.and_then(WholeTable::finish).map_err(Into::into));
    Ok(comparison)
}

/// A step in two lines.
fn describe(step: &SurveyComparison) -> [String; 2] {
    let sites = &step.sites;
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
    let shares = certain_changes(step);
    let none = || "no share changed by more than chance".to_owned();
    [presence, if shares.is_empty() { none() } else { shares.join("; ") }]
}

fn to_json(step: &SurveyComparison) -> Value {
    let survey = |survey: &ComparedSurvey| {
        json!({
            "name": survey.name,
            "created": survey.manifest.created,
            "state": survey.manifest.state,
            "is_incomplete": survey.is_incomplete(),
        })
    };
    let presence = |counts: &PresenceCounts| {
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
