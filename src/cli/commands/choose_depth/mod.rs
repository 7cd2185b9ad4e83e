//! The depth to use: by coverage, by load, or for a network environment.

mod figures;
mod forecast_words;
mod lead;
mod recommendation;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::analysis::{
    Choice, Comparison, Conditions, Criterion, Curves, Environment, Evidence, Exchanges, Forecast,
    GroupedCurves, Grouping, Groups, Influence, Kind, KnownTrees, LoadUnit, Reading, Recorded, Replays,
    Sampling, ServerClass, SkippedPages, counted,
};
use crate::cli::computed::curves::MAX_GROUPS;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{print, print_json};
use crate::records::Manifest;
use crate::rehearsal::SurveyPacing;
use crate::report::Banner;
use crate::settings::{Settings, typed};
use crate::survey::{LONGEST_WAIT, Snapshot, SurveyError, built_in_rates, load_rates};
use crate::walk::yields::Rates;
use recommendation::{Advice, Group, Recommendation};
use words::describe_advice;

/// Recommend a depth, from the tables of a survey.
///
/// There are three criteria. --coverage (the default): the smallest depth that finds a given share of what
/// the survey knows. --load: the greatest depth that costs at most a given share of its load. --environment:
/// which depth meets all bounds in a network environment that a file describes; this also shows how long a
/// survey to each depth would take there, and what it would cost and find. The curve of the survey decides.
/// The interval beside it shows how far the true value may be from the curve; with --confidence, a safer
/// value decides.
///
/// If the survey recorded its page links (--record-links), `--depth auto` and `--budget` are simulated on its
/// pages and compared with the depth, and so is `--focus` if it is a full re-survey (--since). Advice from a
/// partial survey is provisional, and marked so.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, after_long_help = LONG_HELP)]
pub struct ChooseDepth {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The coverage that must be reached [default: 0.95]
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with_all = ["load", "environment"])]
    coverage: Option<f64>,

    /// Choose by load: the share of the load of all levels that may be spent
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "environment")]
    load: Option<f64>,

    /// The unit of load
    #[arg(long, value_name = "UNIT", value_parser = load_unit(), default_value = "requests", requires = "load")]
    load_unit: LoadUnit,

    /// What coverage counts; `hosts` if not given
    #[arg(long, value_name = "KIND", value_parser = kind(), conflicts_with = "environment")]
    of: Option<Kind>,

    /// Count each once in the survey (`union`), or once in every site tree (`pair`); `union` if not given
    #[arg(long, value_name = "READING", value_parser = reading(), conflicts_with = "environment")]
    reading: Option<Reading>,

    /// How certain it must be that the depth meets the criterion: 0.5 decides by the corrected curve, 0.975
    /// by the safe end of the 95 % interval [default: 0.5]
    #[arg(long, value_name = "SHARE", value_parser = confidence, conflicts_with = "environment")]
    confidence: Option<f64>,

    /// Choose for a network environment, which this TOML file describes
    #[arg(long, value_name = "FILE")]
    environment: Option<PathBuf>,

    /// Also choose for servers of each class of measured throughput
    #[arg(long, conflicts_with = "by")]
    classes: bool,

    /// Also choose for each group of site trees
    #[arg(long, value_name = "GROUP", value_parser = grouping())]
    by: Option<Grouping>,

    /// Rates from `ccsurvey learn` for --depth auto, --budget and --focus [default: the built-in rates]
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,

    /// Seed of the random numbers for the intervals
    #[arg(long, value_name = "NUMBER", value_parser = typed::<u64>, default_value = "1")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey choose-depth africa
  ccsurvey choose-depth africa --coverage 0.97 --of urls --reading pair
  ccsurvey choose-depth africa --load 0.5 --load-unit bytes
  ccsurvey choose-depth africa --environment satellite.toml --classes

`--help` lists the keys of an environment file. The exit code is 4 if there is no advice, or only
provisional advice: no strategy fits, the survey must go deeper, found nothing, left pages out, or is partial.";

const LONG_HELP: &str = "\
Examples:
  ccsurvey choose-depth africa
  ccsurvey choose-depth africa --coverage 0.97 --of urls --reading pair
  ccsurvey choose-depth africa --load 0.5 --load-unit bytes
  ccsurvey choose-depth africa --environment satellite.toml --classes

The exit code is 4 if there is no advice, or only provisional advice: no strategy fits, the survey
must go deeper, it found nothing, it left pages out, or it is partial (interrupted, still running,
killed, or out of a budget that its sites share).

An environment file has these keys. Every key is optional. Without a key, the value is as recorded,
or there is no bound:
  [servers]
  link = \"512 kbit/s\"    # capacity of every server's link: no response comes faster
  rtt = \"600ms\"          # round trip to every server, instead of the measured times
  others = 0.4           # share of the link that other users take (with link) [default: 0]
  share = 0.05           # bound: largest share of a server's link, while it is surveyed
  requests = 2000        # bound: maximum requests to a server
  bytes = \"50MB\"         # bound: maximum bytes from a server
  [surveyor]
  link = \"4 Mbit/s\"      # capacity of the surveyor's link
  share = 0.25           # bound: largest share of it in the busiest hour [default: 1]
  [survey]
  days = 14              # bound: maximum days that the survey may take
  coverage = 0.95        # bound: minimum coverage
  of = \"hosts\"           # urls, hosts, sites or addresses
  reading = \"union\"      # union or pair
  confidence = 0.5       # how certain the coverage must be, like --confidence
  sites = 64             # sites walked at once; this and the next keys are flags of `survey`
  min-delay = \"2s\"
  delay-factor = 5
  harm = 0.02            # maximum added delay for other users, or \"none\"
  max-delay = \"1m\"
  rate = \"1MiB\"          # bytes per second, or \"none\"";

impl ChooseDepth {
    /// # Errors
    /// When there is no survey in DIR, or a table or the environment cannot be read.
    pub fn execute(self) -> Result<Exit, CliError> {
        let environment = self.environment.as_deref().map(read_environment).transpose()?;
        let (kind, reading) = self.counted(environment.as_ref());
        if kind == Kind::Addresses && self.reading == Some(Reading::Pair) {
            let message = "'--reading pair' with '--of addresses': addresses belong to no site tree, expected '--reading union'";
            return Err(CliError::Usage(message.to_owned()));
        }
        let rates = Arc::new(rates_or_built_in(self.rates.as_deref(), &self.dir)?);
        let recorded =
            Recorded::read_kinds(&self.dir, reading.required_kinds(kind), self.by.as_slice(), MAX_GROUPS)?;
        if self.load_unit == LoadUnit::BusyTime && !recorded.trees.were_busy() {
            return Err(CliError::Usage(format!(
                "'--load-unit time': no server of the survey in {} was busy for a measurable time, expected 'requests' or 'bytes'",
                self.dir.display()
            )));
        }
        let advice = if recorded.manifest.skips_pages() {
            self.advice_without_depth(&recorded)?
        } else {
            Advisor::new(&self, environment, &recorded, rates)?.advice()?
        };
        if self.json {
            print_json(&advice)?;
        } else {
            print(&describe_advice(&advice))?;
        }
        Ok(if advice.is_final() { Exit::Done } else { Exit::NoAdvice })
    }

    /// The advice for a survey that left pages out. It says nothing about depths.
    fn advice_without_depth(&self, recorded: &Recorded) -> Result<Advice, CliError> {
        let standing = recorded.completeness().with_known_trees(known_trees(&self.dir));
        Ok(Advice {
            survey: self.dir.clone(),
            partial: Banner::if_partial(&standing),
            standing,
            outcome: Recommendation::LeftOut(Box::new(SkippedPages::read(&self.dir, recorded)?)),
            comparison: Comparison::default(),
            influence: None,
            grouped_by: None,
            groups: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The kind that coverage counts, and the reading.
    fn counted(&self, environment: Option<&Environment>) -> (Kind, Reading) {
        match environment {
            Some(environment) => environment.survey.counted(),
            None => counted(self.of, self.reading),
        }
    }
}

/// The data from which recommendations are computed.
struct Advisor<'a> {
    flags: &'a ChooseDepth,
    recorded: &'a Recorded,
    sampling: Sampling,
    confidence: f64,
    plan: Option<PlannedEnvironment>,
    exchanges: Option<Exchanges>,
    rates: Arc<Rates>,
}

/// A network environment, with the settings of a survey in it.
pub(super) struct PlannedEnvironment {
    pub environment: Environment,
    pub conditions: Conditions,
    pub settings: Settings,
}

impl<'a> Advisor<'a> {
    fn new(
        flags: &'a ChooseDepth,
        environment: Option<Environment>,
        recorded: &'a Recorded,
        rates: Arc<Rates>,
    ) -> Result<Self, CliError> {
        let confidence = environment.as_ref().map_or(flags.confidence, |file| file.survey.confidence);
        let sampling = Sampling { seed: flags.seed, ..Sampling::default() };
        let settings = settings_of(&flags.dir, &recorded.manifest)?;
        let mut exchanges = None;
        if environment.is_some() || flags.classes {
            exchanges =
                Some(Exchanges::load(&flags.dir, recorded, &mut SurveyPacing::from_settings(&settings))?);
        }
        let file = flags.environment.as_deref().unwrap_or(Path::new(""));
        let plan = environment.map(|environment| plan(environment, settings, file)).transpose()?;
        let confidence = confidence.unwrap_or(Evidence::EVEN_ODDS);
        Ok(Self { flags, recorded, sampling, confidence, plan, exchanges, rates })
    }

    fn advice(&self) -> Result<Advice, CliError> {
        let evidence = Evidence::measure(self.recorded, &self.sampling, self.confidence);
        let standing = self.recorded.completeness().with_known_trees(known_trees(&self.flags.dir));
        let recommendation = self.recommend(&evidence, |_| true);
        Ok(Advice {
            survey: self.flags.dir.clone(),
            partial: Banner::if_partial(&standing),
            standing,
            groups: self.groups(&evidence.curves)?,
            comparison: self.comparison(&recommendation, &evidence.curves),
            influence: self.influence(&recommendation, &evidence),
            outcome: recommendation,
            grouped_by: if self.flags.classes {
                Some("throughput")
            } else {
                self.flags.by.map(Grouping::word)
            },
            notes: self.notes(),
        })
    }

    fn recommend(&self, evidence: &Evidence, keep: impl Fn(usize) -> bool + Sync) -> Recommendation {
        match (&self.plan, &self.exchanges) {
            (Some(PlannedEnvironment { environment, conditions, settings }), Some(exchanges)) => {
                let pacing = || SurveyPacing::from_settings(settings);
                Recommendation::Forecast(Box::new(Forecast::play(
                    exchanges,
                    evidence,
                    environment,
                    conditions,
                    keep,
                    pacing,
                )))
            }
            _ => Recommendation::Choice(Box::new(Choice::by(evidence, self.criterion()))),
        }
    }

    /// The comparison of the recommendation with other strategies, if the survey can judge them.
    fn comparison(&self, recommendation: &Recommendation, curves: &Curves) -> Comparison {
        if !recommendation.verdict().compares_strategies() {
            return Comparison::default();
        }
        let by = (self.sampling, self.confidence);
        let replays =
            |of, unit| Replays::open(&self.flags.dir, self.recorded, (of, unit), by, self.rates.clone());
        match (recommendation, &self.plan, &self.exchanges) {
            (Recommendation::Choice(choice), ..) => {
                let replays = replays(choice.criterion.counted().0, choice.criterion.unit());
                Comparison::with_choice(choice, curves, &replays)
            }
            (
                Recommendation::Forecast(forecast),
                Some(PlannedEnvironment { conditions, settings, .. }),
                Some(exchanges),
            ) => {
                let replays = replays(forecast.of, LoadUnit::Requests);
                let pacing = || SurveyPacing::from_settings(settings);
                Comparison::with_forecast(forecast, curves, &replays, (exchanges, conditions), pacing)
            }
            _ => Comparison::default(),
        }
    }

    fn influence(&self, recommendation: &Recommendation, evidence: &Evidence) -> Option<Influence> {
        match recommendation {
            Recommendation::Choice(choice) => {
                Influence::strongest(self.recorded, &self.sampling, choice, choice.depth?)
            }
            Recommendation::Forecast(forecast) => {
                let at_least = forecast.environment.survey.coverage.unwrap_or(Criterion::COVERAGE);
                let Forecast { of, reading, .. } = **forecast;
                let choice = Choice::by(evidence, Criterion::Coverage { at_least, of, reading });
                Influence::strongest(self.recorded, &self.sampling, &choice, forecast.depth?)
            }
            Recommendation::LeftOut(_) => None,
        }
    }

    fn criterion(&self) -> Criterion {
        let (of, reading) = self.flags.counted(None);
        match self.flags.load {
            Some(at_most) => Criterion::Load { at_most, unit: self.flags.load_unit, of, reading },
            None => Criterion::Coverage {
                at_least: self.flags.coverage.unwrap_or(Criterion::COVERAGE),
                of,
                reading,
            },
        }
    }

    /// The recommendations for groups, from the same curves as in the report and in the table `curves`.
    fn groups(&self, whole: &Curves) -> Result<Vec<Group>, CliError> {
        let trees = &self.recorded.trees;
        let groups = match (self.flags.by, &self.exchanges) {
            (_, Some(exchanges)) if self.flags.classes => classes(exchanges, trees.len()),
            (Some(by), _) => Groups::largest(trees, by, MAX_GROUPS),
            _ => return Ok(Vec::new()),
        };
        let evidence =
            GroupedCurves::new(&self.flags.dir, self.recorded, whole).evidence(&groups, self.confidence)?;
        let judged_groups = (0..).zip(groups.names()).zip(evidence).map(|((group, name), evidence)| Group {
            name: name.clone(),
            trees: evidence.curves.trees,
            outcome: self.recommend(&evidence, |tree| groups.has(group, tree)),
        });
        Ok(judged_groups.collect())
    }

    fn notes(&self) -> Vec<String> {
        let Some(PlannedEnvironment { settings, .. }) = &self.plan else { return Vec::new() };
        let mut notes = Vec::new();
        if settings.per_site > 1 || settings.per_address > 1 {
            notes.push(
                "the survey sent several requests at once to a site or an address; the forecast sends one at a \
                 time, and the survey would take less time"
                    .to_owned(),
            );
        }
        if settings.quiet_hours.is_some() {
            notes.push("the forecast ignores quiet hours; the survey would take longer".to_owned());
        }
        if settings.per_neighbourhood.is_some() {
            notes.push(
                "the forecast ignores --per-neighbourhood; the survey would take longer where servers have \
                 neighbouring addresses"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Groups site trees by the measured throughput of their servers.
fn classes(exchanges: &Exchanges, trees: usize) -> Groups {
    let class_of_tree: Vec<usize> = exchanges
        .home_servers(trees)
        .into_iter()
        .map(|server| ServerClass::from_server(server) as usize)
        .collect();
    Groups::named(&ServerClass::ALL.map(ServerClass::name), &class_of_tree)
}

pub(super) fn read_environment(file: &Path) -> Result<Environment, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| CliError::Usage(format!("cannot read {}: {error}", file.display())))?;
    Environment::parse(&text).map_err(|error| CliError::Usage(format!("{}: {error}", file.display())))
}

/// The number of known site trees, as the survey last reported it.
pub(super) fn known_trees(dir: &Path) -> Option<KnownTrees> {
    let snapshot = Snapshot::load(dir).ok().flatten()?;
    let trees = snapshot.sites_done + snapshot.sites_walking + snapshot.sites_waiting;
    Some(KnownTrees { trees, at: snapshot.updated?.into() })
}

/// The rates in a file, or else the built-in ones for the survey in `dir`.
pub(super) fn rates_or_built_in(file: Option<&Path>, dir: &Path) -> Result<Rates, CliError> {
    let is_simulated = || Manifest::load(dir).is_ok_and(|manifest| manifest.simulation.is_some());
    Ok(match file {
        Some(path) => load_rates(path)?,
        None => built_in_rates(is_simulated())?,
    })
}

/// The settings that the survey was made with.
pub(super) fn settings_of(dir: &Path, manifest: &Manifest) -> Result<Settings, CliError> {
    let mut settings: Settings = serde_json::from_value(manifest.settings.clone()).map_err(|error| {
        let path = dir.join("manifest.json");
        SurveyError::Settings { path, message: format!("its settings cannot be read: {error}") }
    })?;
    // A survey that does not record it had no such rule.
    if ["harm", "link-share"].iter().all(|key| manifest.settings.get(key).is_none()) {
        settings.harm = None;
    }
    Ok(settings)
}

/// Combines both: the recorded settings with those of the environment, and the environment with recorded
/// values.
pub(super) fn plan(
    mut environment: Environment,
    settings: Settings,
    file: &Path,
) -> Result<PlannedEnvironment, CliError> {
    let survey = &mut environment.survey;
    survey.confidence.get_or_insert(Evidence::EVEN_ODDS);
    let (of, reading) = survey.counted();
    (survey.of, survey.reading) = (Some(of), Some(reading));
    let settings = survey
        .apply_to(settings)
        .map_err(|expected| CliError::Usage(format!("{}: {expected}", file.display())))?;
    if settings.min_delay > settings.max_delay {
        return Err(CliError::Usage(format!(
            "{}: 'survey.min-delay' is {}, expected at most 'survey.max-delay', which is {}",
            file.display(),
            settings.min_delay,
            settings.max_delay
        )));
    }
    let servers = &environment.servers;
    let conditions = Conditions {
        sites: settings.sites,
        bits_per_second: servers.link.map(|link| link * (1.0 - servers.others.unwrap_or(0.0))),
        rtt: servers.rtt,
        longest_exchange: settings.exchange_timeout.0,
        longest_wait: LONGEST_WAIT,
        longest_walk: settings.max_time.map(|time| time.0),
    };
    Ok(PlannedEnvironment { environment, conditions, settings })
}

fn share(text: &str) -> Result<f64, String> {
    typed::<f64>(text)
        .ok()
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "expected a share above 0 and up to 1, such as 0.95".to_owned())
}

fn confidence(text: &str) -> Result<f64, String> {
    typed::<f64>(text)
        .ok()
        .filter(|share| (0.5..=0.999).contains(share))
        .ok_or_else(|| "expected a share from 0.5 to 0.999".to_owned())
}

fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::word)).map(|word| Kind::named(&word).unwrap_or(Kind::Hosts))
}

fn reading() -> impl TypedValueParser<Value = Reading> {
    PossibleValuesParser::new(["union", "pair"]).map(|word| Reading::named(&word).unwrap_or(Reading::Union))
}

fn load_unit() -> impl TypedValueParser<Value = LoadUnit> {
    PossibleValuesParser::new(["requests", "bytes", "time"]).map(|word| match word.as_str() {
        "bytes" => LoadUnit::Bytes,
        "time" => LoadUnit::BusyTime,
        _ => LoadUnit::Requests,
    })
}

pub(super) fn grouping() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(Grouping::ALL.map(Grouping::word))
        .map(|word| Grouping::ALL.into_iter().find(|by| by.word() == word).unwrap_or(Grouping::Cctld))
}
