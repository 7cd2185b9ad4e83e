use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::error::CliError;
use crate::address::Site;
use crate::records::Manifest;
use crate::records::units::count;
use crate::roster::{AgentCapacity, Partition};
use crate::settings::{Span, typed};
use crate::survey::{CAPACITIES, CAPACITIES_TEXT, Lives, Team, requests_of_sites};

/// The agents of a simulation.
#[derive(Args, Debug)]
#[command(next_help_heading = "Agents")]
pub(super) struct TeamFlags {
    /// Crawl the site trees with N agents, like a survey on several machines. --sites then also counts the
    /// trees that wait for an agent, and is at least the number of start URLs
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    agents: Option<u32>,

    /// The number of machines; agents are assigned to them in turn [with --agents: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>, requires = "agents")]
    machines: Option<u32>,

    /// How sites are assigned to agents: in advance (static) or when an agent has a free slot (dynamic), at
    /// random (random) or the largest first (size); in turn, with rebalancing (distributor); or first come,
    /// first served (competition) [with --agents: dynamic-size]
    #[arg(long, value_name = "METHOD", value_parser = partition(), requires = "agents")]
    partition: Option<Partition>,

    /// Responses per second that each machine can read, shared evenly by its agents: one value for all
    /// machines, or one per machine [with --agents: 1000]
    #[arg(long, value_name = "RATE", value_parser = capacity, value_delimiter = ',', requires = "agents")]
    capacity: Vec<f64>,

    /// The number of site trees that an agent walks at once [with --agents: 10]
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>, requires = "agents")]
    agent_sites: Option<usize>,

    /// An earlier survey, from which the sizes of sites are taken
    #[arg(long, value_name = "OLD", requires = "agents")]
    sizes: Option<PathBuf>,

    /// Let agents die at random, after this time on average, and be replaced [default: none die]
    #[arg(long, value_name = "TIME", value_parser = span, requires = "agents")]
    agent_life: Option<Span>,

    /// The average time until a replacement starts [with --agent-life: 10m]
    #[arg(long, value_name = "TIME", value_parser = span, requires = "agent_life")]
    agent_gap: Option<Span>,

    /// Assign the trees of a server to any agent, instead of preferring the agent that had the server last;
    /// has no effect with a static partition
    #[arg(long, requires = "agents")]
    hand_servers_over: bool,

    /// Seed of the random numbers for the assignment of sites and the deaths of agents [with --agents: 1]
    #[arg(long, value_name = "N", value_parser = typed::<u64>, requires = "agents")]
    team_seed: Option<u64>,
}

// Defaults that apply only with --agents, so they are no defaults of the flags.
const DEFAULT_CAPACITY: f64 = 1000.0;
const DEFAULT_SLOTS: usize = 10;
const DEFAULT_GAP: Duration = Duration::from_mins(10);
/// The time in which all start URLs are looked up.
const GATHERING_TIME: Duration = Duration::from_secs(1);

impl TeamFlags {
    /// The team that the flags describe, if there is one.
    ///
    /// # Errors
    /// When capacities do not fit the machines, or the earlier survey cannot be read.
    pub(super) fn team(&self) -> Result<Option<Team>, CliError> {
        let Some(agents) = self.agents else { return Ok(None) };
        let machines = self.machines.unwrap_or(1);
        if machines > agents {
            return Err(CliError::Usage(format!(
                "--machines is {machines}, expected at most --agents, which is {agents}"
            )));
        }
        let capacities = match self.capacity.as_slice() {
            [] => vec![DEFAULT_CAPACITY; machines as usize],
            [single] => vec![*single; machines as usize],
            per_machine if per_machine.len() == machines as usize => per_machine.to_vec(),
            other => {
                return Err(CliError::Usage(format!(
                    "--capacity: {} values for {} (expected one value, or one per machine)",
                    other.len(),
                    count(machines.into(), "machine")
                )));
            }
        };
        let agent = |number: u32| {
            let machine = number % machines;
            let on_machine = (agents - machine).div_ceil(machines);
            let places = self.agent_sites.unwrap_or(DEFAULT_SLOTS);
            AgentCapacity { places, capacity: capacities[machine as usize] / f64::from(on_machine) }
        };
        Ok(Some(Team {
            partition: self.partition.unwrap_or_default(),
            keeps_servers: !self.hand_servers_over,
            agents: (0..agents).map(agent).collect(),
            sizes: self.sizes.as_deref().map(read_sizes).transpose()?.unwrap_or_default(),
            lives: self
                .agent_life
                .map(|life| Lives { life: life.0, gap: self.agent_gap.map_or(DEFAULT_GAP, |gap| gap.0) }),
            gathered: GATHERING_TIME,
            seed: self.team_seed.unwrap_or(1),
        }))
    }
}

fn read_sizes(dir: &Path) -> Result<HashMap<Site, f64>, CliError> {
    let to_error = |message: String| CliError::Failed(format!("--sizes: {message}"));
    Manifest::load(dir).map_err(|error| to_error(error.to_string()))?;
    requests_of_sites(dir).map_err(|error| to_error(error.to_string()))
}

/// Parses a number that must be 1 or more.
pub(super) fn at_least_one<T: crate::settings::Value + PartialEq + From<u8>>(
    word: &str,
) -> Result<T, String> {
    let number = typed::<T>(word)?;
    if number == T::from(0) { Err("expected 1 or more".to_owned()) } else { Ok(number) }
}

fn partition() -> impl TypedValueParser<Value = Partition> {
    PossibleValuesParser::new(Partition::ALL.map(Partition::word))
        .try_map(|word| Partition::named(&word).ok_or("expected another word"))
}

pub(super) fn capacity(word: &str) -> Result<f64, String> {
    let number = typed::<f64>(word)?;
    if CAPACITIES.contains(&number) { Ok(number) } else { Err(format!("expected {CAPACITIES_TEXT}")) }
}

fn span(word: &str) -> Result<Span, String> {
    let span = typed::<Span>(word)?;
    if (MIN_SPAN..=MAX_SPAN).contains(&span.0) { Ok(span) } else { Err("expected 10s to 365days".to_owned()) }
}

/// A response may take some seconds, and an agent that never receives one makes no progress.
const MIN_SPAN: Duration = Duration::from_secs(10);
const MAX_SPAN: Duration = Duration::from_hours(365 * 24);
