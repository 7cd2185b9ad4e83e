use std::sync::Arc;

use serde_json::{Value, json};

use super::recorded::RecordedWorld;
use crate::address::WebUrl;
use crate::records::Timestamp;
use crate::roster::AgentCapacity;
use crate::space::{SPECIFICATION, Web, World};
use crate::survey::Team;

/// The Web that is surveyed in a simulation, with everything about it that the survey need not be given
/// separately.
pub struct Scenario {
    /// The virtual Web.
    pub web: Arc<dyn Web>,
    /// The surveyed country domains.
    pub countries: Vec<String>,
    /// The start of the virtual clock: the same for all runs, so that their tables are the same to the byte,
    /// and not before any page was changed.
    pub begins: Timestamp,
    /// In the order in which they are offered.
    pub start_urls: Vec<WebUrl>,
    /// Its description in the manifest.
    pub description: Value,
    /// The agents that walk the site trees; none: the survey itself.
    pub team: Option<Team>,
}

/// Why a world cannot be surveyed in a simulation.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ScenarioError {
    /// The world has servers that break the rules of connections.
    #[error(
        "{name}: hostile sites misbehave on network connections, which a simulation does not have: serve the \
         world with `ccsurvey space serve` and survey it instead"
    )]
    HostileSites {
        /// Name of the world.
        name: String,
    },
}

impl Scenario {
    /// A generated world; `name` is its name in the manifest.
    ///
    /// # Errors
    /// When the world has hostile sites.
    pub fn from_world(name: &str, world: World) -> Result<Self, ScenarioError> {
        if !world.hostile_cases().is_empty() {
            return Err(ScenarioError::HostileSites { name: name.to_owned() });
        }
        Ok(Self {
            countries: world.country_domains.iter().map(ToString::to_string).collect(),
            start_urls: world.start_urls().iter().filter_map(|url| WebUrl::parse(url).ok()).collect(),
            begins: Timestamp(world.stands_at().saturating_mul(1_000_000)),
            description: json!({ "world": name, "specification": SPECIFICATION, "seed": world.seed }),
            web: Arc::new(world),
            team: None,
        })
    }

    /// A recorded survey, from these start URLs.
    #[must_use]
    pub fn from_recorded(name: &str, recorded: &RecordedWorld, start_urls: Vec<WebUrl>) -> Self {
        Self {
            web: recorded.replay.clone(),
            countries: recorded.settings.cctld.clone(),
            begins: recorded.last_updated,
            start_urls,
            description: json!({ "recorded": name, "depth": recorded.settings.deepest() }),
            team: None,
        }
    }

    /// The same scenario, walked by agents.
    #[must_use]
    pub fn with_team(mut self, team: Team) -> Self {
        let agent_json =
            |agent: &AgentCapacity| json!({ "answers_per_second": agent.capacity, "sites": agent.places });
        self.description["agents"] = json!({
            "partition": team.partition.word(),
            "keeps_servers": team.keeps_servers,
            "sites_known_by_size": team.sizes.len(),
            "life_s": team.lives.map(|lives| lives.life.as_secs_f64()),
            "gap_s": team.lives.map(|lives| lives.gap.as_secs_f64()),
            "seed": team.seed,
            "at_the_start": team.agents.iter().map(agent_json).collect::<Vec<_>>(),
        });
        self.team = Some(team);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins(world: &str) -> String {
        let scenario = Scenario::from_world("world", World::parse(world).unwrap()).unwrap();
        scenario.begins.second()
    }

    #[test]
    fn a_simulation_begins_on_the_day_of_its_world_or_of_its_edition() {
        let (of_2026, third) = ("profile = \"cctld-2026\"\n", "[validators]\nedition = 3\n");
        assert_eq!(begins(of_2026), "2026-06-01 00:00:00 UTC");
        assert_eq!(begins(&format!("{of_2026}{third}")), "2026-06-04 00:00:00 UTC");
        assert_eq!(begins("profile = \"africa-2006\"\n"), "2006-06-01 00:00:00 UTC");
    }
}
