use std::path::PathBuf;

use clap::Args;

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_or_print;
use crate::space::GEO_DATABASE;

/// Write a location database for the addresses of virtual Webs.
///
/// A MaxMind database (.mmdb) with the country and the network of every address that a world can use. Use it
/// as the --geo of surveys of virtual Webs. It says nothing about the real Internet.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Geo {
    /// The file to write; it is replaced if it exists [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey space geo -o space-geo.mmdb";

impl Geo {
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn execute(self) -> Result<Exit, CliError> {
        write_or_print(self.output.as_deref(), GEO_DATABASE)
    }
}
