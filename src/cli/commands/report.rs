use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::choose_depth::{
    PlannedEnvironment, grouping, known_trees, plan, rates_or_built_in, read_environment, settings_of,
};
use crate::analysis::{
    Choice, Comparison, Criterion, Curves, Deepest, Environment, Evidence, Exchanges, Forecast,
    GroupedCurves, Grouping, Groups, Influence, Kind, LoadUnit, NO_DEPTH_REASON, Overview, Recorded, Replays,
    Sampling, SpentBudget, Unseen, counted,
};
use crate::cli::computed::curves::{MAX_GROUPS, groupings_for_report, write_for_report};
use crate::cli::computed::hosts;
use crate::cli::error::{CliError, one_line};
use crate::cli::exit::Exit;
use crate::cli::output::{print_data, print_message};
use crate::cli::replacement::Replacement;
use crate::rehearsal::SurveyPacing;
use crate::report::{Findings, GroupCurve, GroupCurves, Report};
use crate::settings::typed;
use crate::walk::yields::Rates;

/// Write the report of a survey: one HTML file that any browser opens.
///
/// It shows what exists, what it cost, and which depth to use, with figures, their data and their
/// uncertainty. The survey may still be running; the report then begins with a note that it is partial. If
/// the table `curves` is missing or older than the other tables, it is written too; if that fails, a message
/// says so.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReportCommand {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The file to write, `-` for standard output; it is replaced if it exists [default: DIR/report.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Add the curves of groups of site trees. Repeatable
    #[arg(long, value_name = "GROUP", value_parser = grouping())]
    by: Vec<Grouping>,

    /// Add a forecast for a network environment, a TOML file like that of `choose-depth`
    #[arg(long, value_name = "FILE")]
    environment: Option<PathBuf>,

    /// Rates from `ccsurvey learn` for --depth auto, --budget and --focus [default: the built-in rates]
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,

    /// Seed of the random numbers for the intervals: the same survey and seed give the same file
    #[arg(long, value_name = "N", value_parser = typed::<u64>, default_value_t = Sampling::default().seed)]
    seed: u64,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey report kenya
  ccsurvey report kenya -o kenya.html --by cctld --by country
  ccsurvey report kenya --environment satellite.toml";

impl ReportCommand {
    /// # Errors
    /// When there is no survey in DIR, it has no site tree yet, a table cannot be read or the file cannot be
    /// written.
    pub fn execute(self) -> Result<Exit, CliError> {
        // An error in the file is reported before the tables are read.
        let environment = self.environment.as_deref().map(read_environment).transpose()?;
        let rates = Arc::new(rates_or_built_in(self.rates.as_deref(), &self.dir)?);
        hosts::write(&self.dir);
        let findings = self.findings(environment, &rates)?;
        let page = Report::from_findings(&findings).html();
        let page = page.map_err(|error| CliError::Failed(one_line(&error.to_string())))?;
        match self.output {
            Some(file) if file.as_os_str() == "-" => print_data(page.as_bytes())?,
            Some(file) => write(&file, &page)?,
            None => write(&self.dir.join("report.html"), &page)?,
        }
        write_for_report(&self.dir, &findings.recorded, &findings.curves);
        Ok(Exit::Done)
    }

    /// The report of a survey without any further flags.
    pub(super) fn default_for(dir: &Path) -> Self {
        let seed = Sampling::default().seed;
        Self { dir: dir.to_owned(), output: None, by: Vec::new(), environment: None, rates: None, seed }
    }

    fn findings(&self, environment: Option<Environment>, rates: &Arc<Rates>) -> Result<Findings, CliError> {
        let sampling = Sampling { seed: self.seed, ..Sampling::default() };
        // The time shown with it is that of the tables, or a little earlier.
        let known = known_trees(&self.dir);
        // This comes first, so that its memory is free again.
        let overview = Overview::load(&self.dir)?;
        let groupings = groupings_for_report(&self.dir, &self.by);
        let recorded = Recorded::with_groups(&self.dir, &groupings, MAX_GROUPS)?;
        let evidence = Evidence::measure(&recorded, &sampling, Evidence::EVEN_ODDS);
        let (of, reading) = counted(None, None);
        let criterion = Criterion::Coverage { at_least: Criterion::COVERAGE, of, reading };
        let choice = Choice::by(&evidence, criterion);
        // A survey that left out pages at every level says nothing about a survey to a fixed depth.
        let has_depth = !recorded.manifest.skips_pages();
        if environment.is_some() && !has_depth {
            print_message(&format!("no forecast: {NO_DEPTH_REASON}"));
        }
        let environment = environment.filter(|_| has_depth);
        let compares_strategies = has_depth && choice.verdict.compares_strategies();
        let replays = compares_strategies.then(|| {
            let by = (sampling, Evidence::EVEN_ODDS);
            Replays::open(&self.dir, &recorded, (of, LoadUnit::Requests), by, rates.clone())
        });
        let comparison = replays.as_ref().map_or_else(Comparison::default, |replays| {
            Comparison::with_choice(&choice, &evidence.curves, replays)
        });
        let forecast = environment.map(|environment| {
            self.forecast(environment, &recorded, sampling, |forecast_kind, confidence| match &replays {
                // The pages are read only once.
                Some(replays) if forecast_kind == of => replays.with_confidence(confidence),
                _ => {
                    let by = (sampling, confidence);
                    Replays::open(
                        &self.dir,
                        &recorded,
                        (forecast_kind, LoadUnit::Requests),
                        by,
                        rates.clone(),
                    )
                }
            })
        });
        let forecast = forecast.transpose()?;
        drop(replays);
        let influence = choice.depth.filter(|_| has_depth);
        let spent_budget = SpentBudget::read(&self.dir, &recorded.manifest)?;
        Ok(Findings {
            comparison,
            spent_budget,
            influence: influence.and_then(|depth| Influence::strongest(&recorded, &sampling, &choice, depth)),
            deepest: Deepest::measure(&recorded, &sampling),
            unseen: Unseen::estimate(&recorded, &sampling),
            choice,
            forecast,
            groups: self.groups(&recorded, &evidence.curves, criterion)?,
            overview,
            completeness: recorded.completeness().with_known_trees(known),
            censoring: evidence.censoring,
            sampling,
            curves: evidence.curves,
            recorded,
        })
    }

    /// The curves of the largest groups of each requested grouping, with the depth recommended for each
    /// group.
    fn groups(
        &self,
        recorded: &Recorded,
        whole: &Curves,
        criterion: Criterion,
    ) -> Result<Vec<GroupCurves>, CliError> {
        let grouped = GroupedCurves::new(&self.dir, recorded, whole);
        let curves = |by: Grouping| {
            let groups = Groups::largest(&recorded.trees, by, MAX_GROUPS);
            let evidence = grouped.evidence(&groups, Evidence::EVEN_ODDS)?;
            let curve = |(name, evidence): (&String, Evidence)| GroupCurve {
                name: name.clone(),
                choice: Choice::by(&evidence, criterion),
                curves: evidence.curves,
            };
            Ok(GroupCurves { by, list: groups.names().iter().zip(evidence).map(curve).collect() })
        };
        self.by.iter().copied().map(curves).collect()
    }

    /// The forecast for an environment, and the comparison with other strategies in it. `replays` provides
    /// their replays, given what coverage counts and a confidence.
    fn forecast<'a>(
        &self,
        environment: Environment,
        recorded: &'a Recorded,
        sampling: Sampling,
        replays: impl FnOnce(Kind, f64) -> Replays<'a>,
    ) -> Result<(Forecast, Comparison), CliError> {
        let settings = settings_of(&self.dir, &recorded.manifest)?;
        let exchanges = Exchanges::load(&self.dir, recorded, &mut SurveyPacing::from_settings(&settings))?;
        let file = self.environment.as_deref().unwrap_or(Path::new(""));
        let PlannedEnvironment { environment, conditions, settings } = plan(environment, settings, file)?;
        let confidence = environment.survey.confidence.unwrap_or(Evidence::EVEN_ODDS);
        let evidence = Evidence::measure(recorded, &sampling, confidence);
        let pacing = || SurveyPacing::from_settings(&settings);
        let forecast = Forecast::play(&exchanges, &evidence, &environment, &conditions, |_| true, pacing);
        let comparison = if forecast.verdict.compares_strategies() {
            let replays = replays(forecast.of, confidence);
            let exchanges = (&exchanges, &conditions);
            Comparison::with_forecast(&forecast, &evidence.curves, &replays, exchanges, pacing)
        } else {
            Comparison::default()
        };
        Ok((forecast, comparison))
    }
}

pub(super) fn write(file: &Path, page: &str) -> Result<(), CliError> {
    let written = Replacement::create(file).and_then(|mut out| {
        out.write_all(page.as_bytes())?;
        out.finish()
    });
    written.map_err(|error| CliError::Failed(format!("cannot write {}: {error}", file.display())))?;
    print_message(&format!("the report is in {}", file.display()));
    Ok(())
}
