use std::sync::Arc;

use serde_json::{Value, json};

use super::recorded::Recorded;
use crate::address::WebUrl;
use crate::space::{SPECIFICATION, Web, World};

/// What is surveyed in a simulation, with all that its survey need not be told.
pub struct Scenario {
    /// The servers.
    pub web: Arc<dyn Web>,
    /// The surveyed country domains.
    pub countries: Vec<String>,
    /// In their order.
    pub start_urls: Vec<WebUrl>,
    /// What it is, for the manifest.
    pub told: Value,
}

/// Why a world cannot be surveyed in a simulation.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ScenarioError {
    /// The world has servers that break the rules of connections.
    #[error(
        "{name}: hostile sites break the rules of connections, and a simulation has no connections; serve the \
         world and survey it instead"
    )]
    HostileSites {
        /// Of the world.
        name: String,
    },
}

impl Scenario {
    /// A drawn world; `name` is what the manifest calls it.
    ///
    /// # Errors
    /// When the world has hostile sites.
    pub fn of_world(name: &str, world: World) -> Result<Self, ScenarioError> {
        if !world.hostile_cases().is_empty() {
            return Err(ScenarioError::HostileSites { name: name.to_owned() });
        }
        Ok(Self {
            countries: world.country_domains.iter().map(ToString::to_string).collect(),
            start_urls: world.start_urls().iter().filter_map(|url| WebUrl::parse(url).ok()).collect(),
            told: json!({ "world": name, "specification": SPECIFICATION, "seed": world.seed }),
            web: Arc::new(world),
        })
    }

    /// A recorded survey, from these start URLs.
    #[must_use]
    pub fn of_recorded(name: &str, recorded: &Recorded, start_urls: Vec<WebUrl>) -> Self {
        Self {
            web: recorded.replay.clone(),
            countries: recorded.settings.cctld.clone(),
            start_urls,
            told: json!({ "recorded": name, "depth": recorded.settings.depth }),
        }
    }
}
