//! The flags of a survey, in the groups of its help, each the same name as the key of a
//! configuration file.
//!
//! A flag that is not given leaves what the configuration file says, and that leaves the default.
//! What the values mean to each other is checked afterwards, in `check`, for both alike.

mod far;
mod files;
mod gently;
mod network;
mod shares;
pub(super) mod values;
mod what;

use std::path::Path;

use clap::Args;

use super::check::{check, check_politeness, check_simulation};
use super::error::CliError;
use crate::address::CountryDomains;
use crate::survey::{Settings, read_settings, rebase};

pub(super) use network::socket;

/// Everything a survey can be told on the command line.
#[derive(Args, Debug)]
pub struct SurveyFlags {
    #[command(flatten)]
    what: what::What,
    #[command(flatten)]
    far: far::Far,
    #[command(flatten)]
    gently: gently::Gently,
    #[command(flatten)]
    shares: shares::Shares,
    #[command(flatten)]
    network: network::Network,
    #[command(flatten)]
    files: files::Files,
}

impl SurveyFlags {
    /// The effective settings: defaults, under the configuration file, under the flags.
    ///
    /// # Errors
    /// When the file cannot be used, or the settings do not make a survey.
    pub fn into_settings(self) -> Result<Settings, CliError> {
        let settings = self.resolve()?;
        check(&settings)?;
        check_politeness(&settings)?;
        Ok(settings)
    }

    /// The same for a survey that sends nothing; `fill_in` may set what was left open.
    ///
    /// # Errors
    /// When the file cannot be used, or the settings do not make a simulation.
    pub fn into_settings_of_simulation(
        self,
        fill_in: impl FnOnce(&mut Settings),
    ) -> Result<Settings, CliError> {
        let mut settings = self.resolve()?;
        fill_in(&mut settings);
        check_simulation(&settings)?;
        Ok(settings)
    }

    fn resolve(self) -> Result<Settings, CliError> {
        let mut settings = match &self.files.config {
            None => Settings::default(),
            Some(file) => read_settings(file)?,
        };
        self.what.apply(&mut settings);
        self.far.apply(&mut settings);
        self.gently.apply(&mut settings);
        self.shares.apply(&mut settings);
        self.network.apply(&mut settings);
        self.files.apply(&mut settings);
        // Readers of the settings, such as the report, find the names that the tables have.
        let names = settings.cctld.iter().flat_map(|names| names.split(','));
        settings.cctld = CountryDomains::canonical(names);
        // A survey is resumed from anywhere.
        rebase(&mut settings, |path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        Ok(settings)
    }

    /// The start list; `-` is standard input. A simulation goes without.
    #[must_use]
    pub fn start(&self) -> Option<&Path> {
        self.files.start.as_deref()
    }

    /// Whether a start list is taken however many of its lines are bad.
    #[must_use]
    pub fn skips_bad(&self) -> bool {
        self.files.skip_bad
    }
}

fn set<T>(place: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *place = value;
    }
}

fn set_some<T>(place: &mut Option<T>, flag: Option<T>) {
    if flag.is_some() {
        *place = flag;
    }
}

fn set_list<T>(place: &mut Vec<T>, flag: Vec<T>) {
    if !flag.is_empty() {
        *place = flag;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use clap::{CommandFactory, Parser};

    use super::super::command::{Cli, Command};
    use super::*;

    fn settings(flags: &[&str]) -> Result<Settings, CliError> {
        let fixed = ["ccsurvey", "survey", "d", "--start", "s", "--cctld", "ke", "--contact", "a@b.example"];
        let cli = Cli::try_parse_from(fixed.iter().chain(flags)).unwrap();
        let Command::Survey(command) = cli.command else { panic!("another command") };
        command.flags.into_settings()
    }

    #[test]
    fn every_key_of_a_configuration_file_is_a_flag_and_every_flag_a_key() {
        let refusal = toml::from_str::<Settings>("no-such-key = 1").unwrap_err().message().to_owned();
        let keys: BTreeSet<String> = refusal.split('`').skip(3).step_by(2).map(str::to_owned).collect();
        let command = Cli::command();
        let survey = command.find_subcommand("survey").unwrap();
        let flags: BTreeSet<String> = survey
            .get_arguments()
            .filter_map(|flag| flag.get_long())
            .filter(|name| !["start", "skip-bad", "config", "log-level", "json", "or-resume"].contains(name))
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
            let told = help.split("[default: ").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
            let lines = [format!("{key} = {told}"), format!("{key} = \"{told}\"")];
            let read = lines.iter().find_map(|line| toml::from_str::<Settings>(line).ok());
            assert_eq!(read, Some(Settings::default()), "{key}: {told}");
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
        assert_eq!((read.depth, read.min_delay.0.as_secs()), (4, 7));
        assert!(read.permit_special_addresses);
        assert_eq!(read.geo, [PathBuf::from("/b.mmdb")]);
        assert_eq!(read.opt_out, Some(dir.path().join("no.txt")));
        let read = settings(&["--config", file, "--permit-special-addresses=false"]).unwrap();
        assert!(!read.permit_special_addresses);
    }
}
