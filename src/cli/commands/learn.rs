use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use crate::analysis::policies::{GraphError, RecordedGraph, TrainedRates, train};
use crate::cli::error::{CliError, one_line};
use crate::cli::exit::Exit;
use crate::cli::output::print_message;
use crate::cli::replacement::Replacement;
use crate::records::units::{count, percent};

/// Learn the yield of pages, for `--depth auto` and `--budget`, from surveys that were crawled deep.
///
/// The yield of a page is the number of external hosts that it adds to those of its site. This command
/// computes the average yield by the depth of a page and the words in its URL, and fits how much the form of
/// its URL and the yield of the pages around it say about it. For several coverages, it also computes the
/// smallest expected yield that is still worth a request, and the number of requests that this takes; each
/// site is judged by what the other sites taught. The best rates come from surveys like the next one: the
/// same country some years ago, or a sample of it crawled to depth 20. Two dozen sites or more are needed.
/// All surveys need --record-links.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LearnCommand {
    /// The folders of the surveys
    #[arg(value_name = "SURVEY", required = true)]
    surveys: Vec<PathBuf>,

    /// The file to write, for the --rates of a survey; it is replaced if it exists
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The deepest level for which yields are computed
    #[arg(long, value_name = "LEVELS", default_value_t = 20)]
    max_depth: u16,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey learn kenya-2025 -o rates.json
  ccsurvey survey kenya --config kenya.toml --start starts.csv --depth auto --rates rates.json";

impl LearnCommand {
    /// # Errors
    /// When a folder has no survey with page links, or the file cannot be written.
    pub fn execute(self) -> Result<Exit, CliError> {
        let mut graphs = Vec::new();
        for dir in &self.surveys {
            let graph = RecordedGraph::read(dir)?;
            let source = &graph.source;
            print_message(&format!(
                "{}: {} of {}, {}; {} found but not fetched, because of the depth or a limit",
                dir.display(),
                count(source.pages, "page"),
                count(source.trees, "site tree"),
                count(source.hosts, "external host"),
                count(graph.unrecorded, "URL")
            ));
            graphs.push(graph);
        }
        let trained = train(&graphs, self.max_depth);
        self.write(&trained)
            .map_err(|error| CliError::Failed(format!("cannot write {}: {error}", self.output.display())))?;
        for price in &trained.rates.prices {
            print_message(&format!(
                "{} of the hosts for {} of the requests, at {} or more new hosts per request",
                percent(price.coverage),
                percent(price.load),
                price.price
            ));
        }
        print_message(&format!(
            "rates of {} written to {}",
            count(trained.words as u64, "word"),
            self.output.display()
        ));
        Ok(Exit::Done)
    }

    fn write(&self, trained: &TrainedRates) -> io::Result<()> {
        let mut out = Replacement::create(&self.output)?;
        serde_json::to_writer_pretty(&mut out, &trained.rates)?;
        writeln!(out)?;
        out.finish()
    }
}

impl From<GraphError> for CliError {
    fn from(error: GraphError) -> Self {
        let message = one_line(&error.to_string());
        match error {
            GraphError::Tables(_) => Self::Failed(message),
            _ => Self::Usage(message),
        }
    }
}
