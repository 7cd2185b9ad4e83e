use std::path::PathBuf;

use clap::Args;

use super::world::WorldArgument;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::input::start_list;
use crate::cli::output::write_or_print;

/// Print the start list of a world, as CSV with a column `url`.
///
/// The list has the front pages of the sites that the surveyor knows in advance. The other sites can only be
/// found through links. For a recorded survey, it is the start list of that survey.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Starts {
    #[command(flatten)]
    world: WorldArgument,

    /// The file to write; it is replaced if it exists [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey space starts demo -o starts.csv";

impl Starts {
    /// # Errors
    /// When the world cannot be read or the list cannot be written.
    pub(crate) fn execute(self) -> Result<Exit, CliError> {
        let urls = match self.world.recorded()? {
            Some(recorded) => start_list::read_urls(&recorded.start_list())?
                .iter()
                .map(|url| url.as_str().to_owned())
                .collect(),
            None => self.world.read()?.start_urls(),
        };
        let text = format!("url\n{}\n", urls.join("\n"));
        write_or_print(self.output.as_deref(), text.as_bytes())
    }
}
