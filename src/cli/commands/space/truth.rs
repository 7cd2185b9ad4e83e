use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::world::WorldArgument;
use crate::address::{SuffixSection, Suffixes};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::flags::choice;
use crate::cli::output::{print_data, print_json};
use crate::settings::{FeedBackRule, LimitOrNone, NON_HTML_EXTENSIONS, typed};
use crate::space::{Entrances, FeedBack, Truth, TruthSettings, TruthTable};

/// Print what a survey of a world must find, as CSV or JSON.
///
/// The ground truth is computed from the model of the world, by a second implementation of the rules of a
/// survey; no page is fetched or parsed for it. The columns are those of the survey's tables of the same
/// names.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TruthCommand {
    #[command(flatten)]
    world: WorldArgument,

    /// The deepest level that the survey fetches
    #[arg(long, value_name = "LEVELS", default_value = "8", value_parser = typed::<u16>)]
    depth: u16,

    /// The table to print as CSV
    #[arg(long, value_name = "TABLE", value_enum, default_value = "sites", conflicts_with = "json")]
    table: Table,

    /// Print all tables as JSON
    #[arg(long)]
    json: bool,

    /// The survey's --feed-back
    #[arg(long, value_name = "RULE", default_value = "link", value_parser = choice::<FeedBackRule>())]
    feed_back: FeedBackRule,

    /// The survey's --entrances
    #[arg(long, value_name = "N|all", default_value = "4")]
    entrances: Entrances,

    /// The survey's --queries-per-script
    #[arg(long, value_name = "N", default_value = "1", value_parser = typed::<u32>)]
    queries_per_script: u32,

    /// The survey's --non-html; there is no `head`, because the cost of HEAD requests is not modelled
    #[arg(long, value_name = "RULE", value_enum, default_value = "skip")]
    non_html: NonHtmlRule,

    /// The survey's --trap-levels
    #[arg(long, value_name = "LEVELS|none", default_value = "3")]
    trap_levels: LimitOrNone<u16>,

    /// The survey's --suffixes
    #[arg(long, value_name = "SECTION", default_value = "icann", value_parser = choice::<SuffixSection>())]
    suffixes: SuffixSection,

    /// The survey's --start, one URL per line or CSV with a column `url` [default: the start list of the
    /// world]
    #[arg(long, value_name = "FILE")]
    start: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey space truth demo --table levels
  ccsurvey space truth demo --depth 3 --json";

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Table {
    Sites,
    Levels,
    Links,
    Hosts,
}

/// What to do with URLs that do not look like HTML.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum NonHtmlRule {
    Skip,
    Get,
}

impl TruthCommand {
    /// # Errors
    /// When world or start list cannot be read.
    pub(crate) fn execute(self) -> Result<Exit, CliError> {
        if self.world.is_folder() {
            let dir = self.world.world.display();
            return Err(CliError::Usage(format!(
                "{dir} is a folder: the truth of a recorded survey is its tables, \
                 {dir}/tables/{{sites,levels,links}}/*.parquet"
            )));
        }
        let world = self.world.read()?;
        let start = match &self.start {
            None => world.start_urls(),
            Some(file) => crate::cli::input::start_list::read_urls(file)?
                .iter()
                .map(|url| url.as_str().to_owned())
                .collect(),
        };
        let suffixes = Suffixes::parse(crate::survey::BUILT_IN_SUFFIX_LIST, self.suffixes)
            .map_err(|error| CliError::Failed(format!("the built-in suffix list: {error}")))?;
        let settings = TruthSettings {
            depth: self.depth,
            feed_back: feed_back(self.feed_back),
            entrances: self.entrances,
            start,
            queries_per_script: self.queries_per_script,
            non_html_extensions: match self.non_html {
                NonHtmlRule::Skip => NON_HTML_EXTENSIONS.map(str::to_owned).to_vec(),
                NonHtmlRule::Get => Vec::new(),
            },
            trap_levels: self.trap_levels.0,
            suffixes: Arc::new(suffixes),
        };
        let truth = Truth::compute(&world, &settings);
        if self.json {
            print_json(&truth.to_json())?;
        } else {
            print_data(truth.to_csv(self.table.into()).as_bytes())?;
        }
        Ok(Exit::Done)
    }
}

impl From<Table> for TruthTable {
    fn from(table: Table) -> Self {
        match table {
            Table::Sites => Self::Sites,
            Table::Levels => Self::Levels,
            Table::Links => Self::Links,
            Table::Hosts => Self::Hosts,
        }
    }
}

/// The ground truth has its own types for the rules of the survey.
fn feed_back(rule: FeedBackRule) -> FeedBack {
    match rule {
        FeedBackRule::Link => FeedBack::Link,
        FeedBackRule::Door => FeedBack::Door,
        FeedBackRule::Off => FeedBack::Off,
    }
}
