use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::cli::bus;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::print_message;
use crate::cli::run::block_on;
use crate::cli::stop;
use crate::cli::team::{at_least_one, capacity};
use crate::cluster::{Agent, AgentEnd, AgentLimits};

/// Crawl sites for a survey that was started with --nats, on this or another machine.
///
/// Sends the requests that the survey assigns to it, each when the pause of the server is over, and reads the
/// responses. Agents may join, leave or be killed at any time: other agents continue their sites. An agent
/// waits for its survey to start, and ends when the survey ends. Settings of the survey that affect this
/// machine's own network apply only if the agent's own flags allow them. An agent needs no folder. After
/// Ctrl-C or SIGTERM it finishes the exchanges in flight, then ends.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct AgentCommand {
    /// The NATS server of the survey: nats://HOST:PORT, or tls://HOST:PORT
    #[arg(long, value_name = "URL")]
    nats: String,

    /// The file with your credentials for the NATS server, as for `ccsurvey survey` [default: environment
    /// variables]
    #[arg(long, value_name = "FILE")]
    nats_login: Option<PathBuf>,

    /// The survey: the name of its folder [default: the only survey on the NATS server]
    #[arg(long, value_name = "NAME")]
    survey: Option<String>,

    /// The name of this agent in tables and status [default: the machine's name and the process id]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The number of site trees to crawl at once. Each site still gets one request at a time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = at_least_one::<u32>)]
    sites: u32,

    /// The capacity of this agent, in any unit that all agents share. An agent crawls servers in proportion
    /// to its capacity
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = capacity)]
    capacity: f64,

    /// Allow the survey to contact loopback, private and other special addresses from this machine, if its
    /// settings say so
    #[arg(long, help_heading = LIMITS)]
    permit_special_addresses: bool,

    /// The address for all connections, for a survey of a virtual Web that was started with --gateway
    #[arg(long, value_name = "ADDR:PORT", help_heading = LIMITS)]
    gateway: Option<SocketAddr>,

    /// Additional root certificates (PEM) that the survey may trust, like those of its --ca. Repeatable
    #[arg(long, value_name = "FILE", help_heading = LIMITS)]
    ca: Vec<PathBuf>,
}

/// Limits that only the operator of this machine can lift, whatever the settings of the survey.
const LIMITS: &str = "Limits of this machine";

const EXAMPLES: &str = "\
Examples:
  ccsurvey agent --nats nats://bus.example.org:4222 --nats-login login.toml
  ccsurvey agent --nats nats://127.0.0.1:4222 --name nairobi --sites 200 --capacity 2";

impl AgentCommand {
    /// # Errors
    /// When the bus cannot be used, or the survey rejects the agent.
    pub fn execute(self) -> Result<Exit, CliError> {
        block_on(async {
            let bus = bus::connect(&self.nats, self.nats_login.as_deref()).await?;
            let stopped = stop::on_signal(|| {});
            let agent = Agent {
                name: self.name.unwrap_or_else(default_name),
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

/// The name of the machine, as Linux reports it, and the process id.
fn default_name() -> String {
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let word: String = hostname
        .trim()
        .chars()
        .filter(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '.'))
        .take(40)
        .collect();
    let machine = if word.is_empty() { "agent" } else { &word };
    format!("{machine}-{}", std::process::id())
}
