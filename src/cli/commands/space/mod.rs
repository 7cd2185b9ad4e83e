//! The commands for virtual Webs: serve one, and show what is in it.

mod ca;
mod describe;
mod geo;
pub(super) mod serve;
mod starts;
mod truth;
/// The world argument of commands.
pub mod world;

use clap::{Args, Subcommand};

use crate::cli::error::CliError;
use crate::cli::exit::Exit;

/// Serve a virtual Web, or show what a survey must find in it.
///
/// A virtual Web is the simulated Web of a country. A small file, its world, determines every page of it. It
/// is served over real DNS, HTTP and HTTPS on this machine, without root and without the Internet. WORLD is
/// such a file, or the name of a built-in one: `demo`, `hostile`, or a profile (`africa-2006`, `cctld-2026`,
/// `japan-encodings`). A file may build on a profile: `profile = "africa-2006"`. WORLD may also be the folder
/// of a survey with --record-links, whose sites are then replayed.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Space {
    #[command(subcommand)]
    command: SpaceCommand,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey space describe demo
  ccsurvey space serve hostile
  ccsurvey space serve demo";

#[derive(Subcommand, Debug)]
enum SpaceCommand {
    Serve(serve::Serve),
    Truth(truth::TruthCommand),
    Describe(describe::Describe),
    Starts(starts::Starts),
    Geo(geo::Geo),
    Ca(ca::Ca),
}

impl Space {
    /// # Errors
    /// Those of the command.
    pub fn execute(self) -> Result<Exit, CliError> {
        match self.command {
            SpaceCommand::Serve(command) => command.execute(),
            SpaceCommand::Truth(command) => command.execute(),
            SpaceCommand::Describe(command) => command.execute(),
            SpaceCommand::Starts(command) => command.execute(),
            SpaceCommand::Geo(command) => command.execute(),
            SpaceCommand::Ca(command) => command.execute(),
        }
    }
}
