use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::cli::bus;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::print_message;
use crate::cli::run::block_on;
use crate::cli::stop;
use crate::cli::team::at_least_one;
use crate::cluster::{Agent, AgentEnd, AgentLimits};
use crate::settings::typed;
use crate::survey::LEAST_CAPACITY;

/// Walk sites for a survey that was begun with --nats, on this or another machine.
///
/// Puts the questions that the survey deals to it, each when the server's turn has come, and reads the answers. Agents may
/// come and go at any time, and be killed: what they were at goes on elsewhere. An agent waits for the survey, and ends
/// with it. What the settings of the survey want of this machine's own network is done only with the agent's own flags. It
/// needs no folder; Ctrl-C and SIGTERM let it finish what it is at.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct AgentCommand {
    /// The NATS server of the survey: nats://HOST:PORT, or tls://HOST:PORT
    #[arg(long, value_name = "URL")]
    nats: String,

    /// The file with our credentials for the NATS server, as for `ccsurvey survey` [default: the environment]
    #[arg(long, value_name = "FILE")]
    nats_login: Option<PathBuf>,

    /// The survey: the name of its folder [default: the one that is there]
    #[arg(long, value_name = "NAME")]
    survey: Option<String>,

    /// The name of this agent in tables and status [default: the machine's, and the number of the process]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Site trees that it walks at once; each site is asked one question at a time, whatever this says
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = at_least_one::<u32>)]
    sites: u32,

    /// How much it does in a time, in a unit that is the same for all agents: who can do most gets the largest sites
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = capacity)]
    capacity: f64,

    /// Let the survey contact loopback, private and other special addresses from this machine, if its settings say so
    #[arg(long, help_heading = LIMITS)]
    permit_special_addresses: bool,

    /// Where every connection goes, for a survey of a virtual Web that was begun with --gateway
    #[arg(long, value_name = "ADDR:PORT", help_heading = LIMITS)]
    gateway: Option<SocketAddr>,

    /// Further root certificates (PEM) that the survey may trust, as those of its --ca; may be given more than once
    #[arg(long, value_name = "FILE", help_heading = LIMITS)]
    ca: Vec<PathBuf>,
}

/// What an agent does only where whoever starts it says so, whatever the settings of the survey.
const LIMITS: &str = "Limits of this machine";

const EXAMPLES: &str = "\
Examples:
  ccsurvey agent --nats nats://bus.example.org:4222 --nats-login login.toml
  ccsurvey agent --nats nats://127.0.0.1:4222 --name nairobi --sites 200 --capacity 2";

impl AgentCommand {
    /// # Errors
    /// When the bus cannot be used, or the survey does not take it.
    pub fn execute(self) -> Result<Exit, CliError> {
        block_on(async {
            let bus = bus::connect(&self.nats, self.nats_login.as_deref()).await?;
            let stopped = stop::on_signal(|| {});
            let agent = Agent {
                name: self.name.unwrap_or_else(usual_name),
                sites: self.sites,
                capacity: self.capacity,
                survey: self.survey,
                program: std::env::current_exe().ok(),
                limits: AgentLimits {
                    permit_special_addresses: self.permit_special_addresses,
                    gateway: self.gateway,
                    ca: self.ca,
                },
            };
            Ok(match agent.work(bus, stopped, print_message).await? {
                AgentEnd::Finished => {
                    print_message("the survey is finished");
                    Exit::Done
                }
                AgentEnd::Stopped => Exit::Interrupted,
            })
        })
    }
}

/// That of the machine, as Linux tells it, and the number of the process.
fn usual_name() -> String {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let word: String = told
        .trim()
        .chars()
        .filter(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '.'))
        .take(40)
        .collect();
    let machine = if word.is_empty() { "agent" } else { &word };
    format!("{machine}-{}", std::process::id())
}

fn capacity(word: &str) -> Result<f64, String> {
    let capacity = typed::<f64>(word)?;
    if (LEAST_CAPACITY..=1e9).contains(&capacity) {
        Ok(capacity)
    } else {
        Err("expected 0.00028 to 1000000000".to_owned())
    }
}
