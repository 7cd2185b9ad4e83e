use clap::{Parser, Subcommand};

use super::commands::{
    add::Add, agent::AgentCommand, choose_depth::ChooseDepth, compare::Compare, demo::Demo, export::Export,
    learn::LearnCommand, read_answer::ReadAnswer, report::ReportCommand, resume::Resume, simulate::Simulate,
    space::Space, status::Status, survey::SurveyCommand,
};
use super::error::CliError;
use super::exit::Exit;
use crate::survey::READ_ANSWER;

/// Surveys the Web servers of a country-code domain at low load.
///
/// Given a list of start URLs, it crawls each site to a small depth, with one request at a time per server
/// and pauses between requests. It records the links that leave the site, and continues with those that lead
/// to other sites in the country. Parquet tables hold the results, and the load of each request on the
/// servers.
#[derive(Parser, Debug)]
#[command(name = "ccsurvey", version, after_help = EXAMPLES)]
pub struct Cli {
    #[allow(missing_docs)] // clap would show it as the program's help.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey demo
  ccsurvey survey kenya --cctld ke --start starts.csv --contact https://example.org/survey
  ccsurvey status kenya --watch

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a load promise was broken,
4 no depth fits (`ccsurvey choose-depth`), 130 interrupted (`ccsurvey resume` continues).";

#[derive(Subcommand, Debug)]
#[allow(missing_docs)] // clap would show it in place of the help of each command.
pub enum Command {
    Demo(Demo),
    Survey(Box<SurveyCommand>),
    Resume(Resume),
    Add(Add),
    Agent(AgentCommand),
    Status(Status),
    Report(ReportCommand),
    ChooseDepth(ChooseDepth),
    Compare(Compare),
    Learn(LearnCommand),
    Export(Export),
    Space(Space),
    Simulate(Box<Simulate>),
    #[command(hide = true, name = READ_ANSWER)]
    ReadAnswer(ReadAnswer),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// The message that the user reads, with its exit code.
    pub fn execute(self) -> Result<Exit, CliError> {
        match self {
            Self::Demo(command) => command.execute(),
            Self::Survey(command) => command.execute(),
            Self::Resume(command) => command.execute(),
            Self::Add(command) => command.execute(),
            Self::Agent(command) => command.execute(),
            Self::Status(command) => command.execute(),
            Self::Report(command) => command.execute(),
            Self::ChooseDepth(command) => command.execute(),
            Self::Compare(command) => command.execute(),
            Self::Learn(command) => command.execute(),
            Self::Export(command) => command.execute(),
            Self::Space(command) => command.execute(),
            Self::Simulate(command) => command.execute(),
            Self::ReadAnswer(command) => command.execute(),
        }
    }
}
