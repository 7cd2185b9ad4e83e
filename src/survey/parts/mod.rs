//! What the tasks of a running survey share: access to servers, quiet hours, opt-outs, responses for
//! robots.txt.

pub(super) mod access;
pub(super) mod ceiling;
pub(super) mod local_hours;
pub(super) mod opt_outs;
pub(super) mod rounds;
pub(super) mod shared_robots;
pub(super) mod stalled;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use super::agents::remote_worker::DISPATCH_LIFETIME;
use super::agents::simulation::Simulation;
use super::agents::{Agents, Team};
use super::boundaries::Boundaries;
use super::boundaries::budget::read_budget;
use super::boundaries::rates::walk_settings;
use super::error::SurveyError;
use super::folder::Folder;
use super::reading::prefetch::Prefetcher;
use super::reading::quarantine::{ResponseReader, Suspects};
use super::storage::progress::Snapshot;
use super::storage::resume_clock::resume_clock;
use super::storage::{Storage, spread};
use crate::fetch::{self, Clock, Uptime};
use crate::frontier::Frontier;
use crate::promises::{self, Judge, Observations};
use crate::settings::{Budget, Settings};
use crate::walk;
use access::{Access, system_of};
use ceiling::Ceiling;
use rounds::Rounds;
use shared_robots::SharedRobots;

/// An open survey in three main parts: `boundaries` (where it may go), `access` (how it sends requests) and
/// `storage` (what it keeps).
///
/// Functions take only the part that they need.
pub(super) struct Parts {
    pub settings: Settings,
    pub boundaries: Boundaries,
    pub access: Access,
    pub storage: Storage,
    pub reader: Arc<ResponseReader>,
    /// Only in simulations.
    pub prefetcher: Option<Prefetcher>,
    pub walk: Arc<walk::WalkSettings>,
    /// The budget of one site tree.
    pub budget: Budget,
    /// When this run of the survey began.
    pub opened: SystemTime,
    /// Requests whose responses were never reported.
    pub suspects: Suspects,
    /// Shares robots.txt responses, so that each is fetched once a day, whichever trees need it.
    pub shared_robots: SharedRobots,
    /// The rounds of a survey with a budget of requests.
    pub rounds: Option<Rounds>,
    /// The agents that walk the site trees; none if this process does.
    pub agents: Option<Arc<Agents>>,
    /// The Web is in this process and time is virtual.
    pub is_simulated: bool,
    /// A message for the log if the system's clock was set since the last run.
    pub clock_was_set: Option<String>,
}

/// The settings that a survey follows, and those that it is judged by.
pub(super) struct Terms {
    settings: Settings,
    /// The original settings, by which its exchanges are judged.
    promised: Settings,
}

impl Terms {
    pub(super) fn new(settings: Settings, promised: Settings) -> Self {
        #[cfg(feature = "hazards")]
        let settings = super::reading::hazards::settings_in_effect(&settings);
        Self { settings, promised }
    }
}

impl Parts {
    /// When a request that was sent at this time is over at the latest, even if no result is reported.
    /// Without agents it ends with this process; with agents, when it cannot take longer.
    pub(super) fn latest_end(&self, requested_at: SystemTime) -> SystemTime {
        let longest = if self.settings.nats.is_some() {
            DISPATCH_LIFETIME + fetch::Settings::from(&self.settings).longest_exchange()
        } else {
            Duration::ZERO
        };
        requested_at + longest
    }

    pub(super) fn open(
        folder: Folder,
        terms: Terms,
        simulation: Option<Simulation>,
        earlier: Option<Snapshot>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, SurveyError> {
        let Terms { settings, promised } = terms;
        let (is_simulated, is_resumed) = (simulation.is_some(), earlier.is_some());
        let team = match &simulation {
            Some(simulation) => simulation.team.clone(),
            None => settings.nats.is_some().then(|| Team::of_remote_agents(&settings)).transpose()?,
        };
        let boundaries = Boundaries::open(&settings)?;
        let mut frontier = Frontier::open(&folder.state(), spread(&settings))?;
        let (clock, clock_was_set) = match &simulation {
            Some(simulation) => {
                resume_clock(&folder, &mut frontier, Clock::beginning_at(simulation.begins), None)
            }
            None => resume_clock(&folder, &mut frontier, Clock::system(), Uptime::read()),
        }?;
        let mut access = Access::open(&settings, &boundaries, (clock, simulation), earlier, stop)?;
        let budget_used = read_budget(&folder, &settings)?;
        let most_promised = budget_used.as_ref().map(|budget| budget.requests);
        let most_requests =
            settings.budget.zip(budget_used.as_ref()).map(|(budget, used)| used.requests_of(budget));
        access.ceiling = Ceiling::new(most_requests);
        let promised = promises::PromisedLimits::new(&promised, access.fetcher.max_exchange_bytes())
            .with_survey_budget(most_promised);
        let judge = Judge::new(promised, Observations::default()).with_systems(system_of(&boundaries.geo));
        let storage = Storage::open(folder, frontier, judge, access.progress.clone(), is_simulated)?;
        let walk = Arc::new(walk_settings(&storage.folder, &settings)?);
        let reader = ResponseReader::new(settings.exclude_text.clone(), walk.product_token.clone());
        let reader = Arc::new(reader);
        let prefetcher =
            if is_simulated { Prefetcher::begin(access.fetcher.clone(), reader.clone()) } else { None };
        Ok(Self {
            budget: Budget::from(&settings),
            opened: access.now(),
            suspects: Suspects::default(),
            shared_robots: SharedRobots::default(),
            rounds: most_requests.zip(budget_used).map(|(most, used)| Rounds::new(most, used)),
            agents: team.map(|team| Agents::new(team, access.clock, settings.max_delay.0, is_resumed)),
            settings,
            boundaries,
            access,
            storage,
            reader,
            prefetcher,
            walk,
            is_simulated,
            clock_was_set,
        })
    }
}
