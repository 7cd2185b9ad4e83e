//! The flags of a survey: each setting of the table, and the options of a single run.
//!
//! A flag that is not given leaves the value of the configuration file, or else the default. `check` then
//! checks the values together, whatever their source.

use std::path::{Path, PathBuf};

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::check::{check, check_politeness, check_simulation};
use super::start_list::ListFlags;
use crate::address::CountryDomains;
use crate::cli::error::CliError;
use crate::settings::{Choice, Setting, Settings, ValueSyntax};
use crate::survey::read_settings;

/// All flags of a survey.
#[derive(Debug)]
pub struct SurveyFlags {
    run: RunFlags,
    /// The settings that are given, as they were typed.
    given: Vec<(&'static Setting, Vec<String>)>,
}

/// Options of a single run, which are not settings.
#[derive(Args, Debug)]
#[command(next_help_heading = FILES)]
struct RunFlags {
    /// The start list; `-` is standard input. It has URLs or host names, one or more per line; or it is CSV
    /// or TSV with or without a header (the column that holds them is detected and reported), a ranking such
    /// as `1,example.ke`, or a zone file, from which names with NS records below the zone are used. It may
    /// be compressed with gzip or zstd. A bare name means http://name/. Bad lines and URLs outside the
    /// country domains are reported and skipped. The survey does not start if more than a tenth of the lines
    /// are bad, or if less than a tenth of the URLs are inside the country domains
    #[arg(long, value_name = "FILE", required = true)]
    start: Option<PathBuf>,

    #[command(flatten, next_help_heading = FILES)]
    list: ListFlags,

    /// Settings in TOML, with the names of flags as keys: `depth = 5`. All flags are settings, except
    /// --start, --or-resume, the flags that say how to read the list (--column, --outside-cctld,
    /// --start-anyway, --skip-bad) and the output flags (--json, --log-level). Flags override the file.
    /// Unknown keys are errors. Paths are relative to the file's folder [default: none]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The help section that has both settings and options of a single run.
const FILES: &str = "Files";

impl Args for SurveyFlags {
    fn augment_args(command: Command) -> Command {
        let (files, others): (Vec<_>, Vec<_>) = Settings::TABLE.iter().partition(|it| it.group == FILES);
        RunFlags::augment_args(command.args(others.into_iter().map(flag))).args(files.into_iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SurveyFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Settings::TABLE.iter().filter_map(|setting| {
            let words = matches.get_many::<String>(setting.key)?;
            Some((setting, words.cloned().collect()))
        });
        Ok(Self { run: RunFlags::from_arg_matches(matches)?, given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flag of a setting.
fn flag(setting: &'static Setting) -> Arg {
    let flag = Arg::new(setting.key)
        .long(setting.key)
        .help(setting.help())
        .help_heading(setting.group)
        .value_name(setting.rules.value_name)
        .hide_possible_values(true)
        .action(if setting.is_list { ArgAction::Append } else { ArgAction::Set });
    let flag = if let Some(former) = setting.rules.former_key { flag.alias(former) } else { flag };
    let flag = if let Some(other) = setting.rules.excludes { flag.conflicts_with(other) } else { flag };
    let flag = if setting.rules.splits_at_commas { flag.value_delimiter(',') } else { flag };
    match setting.shape {
        ValueSyntax::Flag => flag
            .value_parser(PossibleValuesParser::new(["true", "false"]))
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        ValueSyntax::Word(words) => flag.value_parser(PossibleValuesParser::new(words)),
        ValueSyntax::Path => flag.value_parser(NonEmptyStringValueParser::new()),
        ValueSyntax::Text | ValueSyntax::Number => flag.value_parser(|word: &str| {
            let word = word.to_owned();
            setting.parse_flag(&mut Settings::default(), std::slice::from_ref(&word)).map(|()| word)
        }),
    }
}

/// Parses one of the words of a setting, for flags of other commands.
pub(in crate::cli) fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::WORDS).try_map(|word| T::named(&word).ok_or("expected another word"))
}

impl SurveyFlags {
    /// The effective settings: flags override the configuration file, which overrides the defaults.
    ///
    /// # Errors
    /// When the file cannot be used, or the settings are not those of a valid survey.
    pub fn into_settings(self) -> Result<Settings, CliError> {
        let settings = self.resolve()?;
        check(&settings)?;
        check_politeness(&settings)?;
        Ok(settings)
    }

    /// As [`Self::into_settings`], for a survey that sends nothing. `fill_in` may set what was left open.
    ///
    /// # Errors
    /// When the file cannot be used, or the settings are not those of a valid simulation.
    pub fn into_simulation_settings(self, fill_in: impl FnOnce(&mut Settings)) -> Result<Settings, CliError> {
        let mut settings = self.resolve()?;
        fill_in(&mut settings);
        check_simulation(&settings)?;
        Ok(settings)
    }

    fn resolve(self) -> Result<Settings, CliError> {
        let mut settings = match &self.run.config {
            None => Settings::default(),
            Some(file) => read_settings(file)?,
        };
        for (setting, words) in &self.given {
            let to_error = |error| CliError::Usage(format!("--{}: {error}", setting.key));
            setting.parse_flag(&mut settings, words).map_err(to_error)?;
        }
        // Readers of the settings, such as the report, then find the same names as in the tables.
        let names = settings.cctld.iter().flat_map(|names| names.split(','));
        settings.cctld = CountryDomains::canonical(names);
        // A survey can be resumed from any directory.
        settings.move_paths(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        Ok(settings)
    }

    /// The start list; `-` is standard input. A simulation may have none.
    #[must_use]
    pub fn start(&self) -> Option<&Path> {
        self.run.start.as_deref()
    }

    /// How the start list is read.
    #[must_use]
    pub(in crate::cli) fn list(&self) -> ListFlags {
        self.run.list.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::command::{Cli, Command};
    use crate::settings::FLAGS_ONLY;

    fn settings(flags: &[&str]) -> Result<Settings, CliError> {
        let fixed = ["ccsurvey", "survey", "d", "--start", "s", "--cctld", "ke", "--contact", "a@b.example"];
        let cli = Cli::try_parse_from(fixed.iter().chain(flags)).unwrap();
        let Command::Survey(command) = cli.command else { panic!("another command") };
        command.flags.into_settings()
    }

    #[test]
    fn every_key_of_a_configuration_file_is_a_flag_and_every_flag_a_key() {
        let keys: BTreeSet<String> = Settings::TABLE.iter().map(|setting| setting.key.to_owned()).collect();
        let command = Cli::command();
        let survey = command.find_subcommand("survey").unwrap();
        let flags: BTreeSet<String> = survey
            .get_arguments()
            .filter_map(|flag| flag.get_long())
            .filter(|name| !FLAGS_ONLY.contains(name))
            .map(str::to_owned)
            .collect();
        assert_eq!(flags, keys);
    }

    #[test]
    fn the_help_tells_the_defaults_that_hold() {
        let defaults: toml::Table = toml::from_str(&toml::to_string(&Settings::default()).unwrap()).unwrap();
        let command = Cli::command();
        let survey = command.find_subcommand("survey").unwrap();
        for key in defaults.iter().filter(|(_, value)| !value.is_array()).map(|(key, _)| key) {
            let flag = survey.get_arguments().find(|flag| flag.get_long() == Some(key)).unwrap();
            let help = flag.get_help().unwrap().to_string();
            let default_text =
                help.split("[default: ").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
            let lines = [format!("{key} = {default_text}"), format!("{key} = \"{default_text}\"")];
            let read = lines.iter().find_map(|line| toml::from_str::<Settings>(line).ok());
            assert_eq!(read, Some(Settings::default()), "{key}: {default_text}");
        }
    }

    #[test]
    fn without_flags_the_defaults_hold() {
        let expected =
            Settings { cctld: vec!["ke".into()], contact: Some("a@b.example".into()), ..Settings::default() };
        assert_eq!(settings(&[]).unwrap(), expected);
    }

    #[test]
    fn country_domains_are_recorded_as_hosts_are_written() {
        assert_eq!(settings(&["--cctld", ".TZ,ke,"]).unwrap().cctld, ["ke", "tz"]);
    }

    #[test]
    fn flags_win_over_the_file_and_leave_what_they_do_not_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("run.toml");
        let text = "depth = 3\nmin-delay = \"7s\"\npermit-special-addresses = true\ngeo = [\"a.mmdb\"]\nopt-out = \"no.txt\"\n";
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let read = settings(&["--config", file, "--depth", "4", "--geo", "/b.mmdb"]).unwrap();
        assert_eq!((read.depth, read.min_delay.0.as_secs()), (crate::settings::DepthRule::Levels(4), 7));
        assert!(read.permit_special_addresses);
        assert_eq!(read.geo, [PathBuf::from("/b.mmdb")]);
        assert_eq!(read.opt_out, Some(dir.path().join("no.txt")));
        let read = settings(&["--config", file, "--permit-special-addresses=false"]).unwrap();
        assert!(!read.permit_special_addresses);
    }
}
