use std::path::PathBuf;

use clap::Args;

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::write_or_print;
use crate::space::ca_certificate_pem;

/// Write the root certificate of virtual Webs.
///
/// With this certificate as --ca, a survey of a virtual Web can distinguish valid certificates from invalid
/// ones. Its private key is public: never install it in a browser or system that you use for anything else.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ca {
    /// The file to write; it is replaced if it exists [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey space ca -o ca.pem";

impl Ca {
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn execute(self) -> Result<Exit, CliError> {
        write_or_print(self.output.as_deref(), ca_certificate_pem().as_bytes())
    }
}
