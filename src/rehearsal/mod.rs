//! Surveys without a network: virtual Webs requested in this process, recorded surveys walked again,
//! schedules played.
//!
//! **The life of a simulation.** A [`Scenario`] is the Web that is surveyed: a generated
//! [`World`](crate::space::World), or a [`RecordedWorld`] read from the tables of a survey. A [`Rehearsal`]
//! is a survey of it on a virtual clock. Its requests go to `in_process`, which passes them to the virtual
//! Web, reports how long each part of the response takes, as sockets would have shown it, and records how
//! busy each server was. The engine, its pauses, its budgets and its tables are those of a survey of real
//! servers; the same scenario and settings make the same tables.
//!
//! ```
//! use ccsurvey::rehearsal::{Rehearsal, Scenario};
//! use ccsurvey::settings::Settings;
//! use ccsurvey::space::World;
//! use ccsurvey::starts::StartList;
//!
//! let scenario = Scenario::from_world("two sites", World::parse("[sites]\ncount = 2\nmost_pages = 5")?)?;
//! let settings = Settings {
//!     cctld: scenario.countries.clone(),
//!     contact: Some("https://survey.example/contact".to_owned()),
//!     ..Settings::default()
//! };
//! let start = StartList::from_urls(&scenario.start_urls)?;
//! let folder = tempfile::tempdir()?;
//! let dir = folder.path().join("rehearsal");
//! let (rehearsal, _) = Rehearsal::begin(&dir, settings, &start, scenario, &mut |_| ())?;
//! let (_stop, stopped) = tokio::sync::watch::channel(false);
//! assert!(rehearsal.run(stopped)?.is_finished);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **A schedule that is only played** ([`Exchanges`](crate::analysis::Exchanges) under other conditions) gets
//! its pauses from [`SurveyPacing`]: the rule by which a survey paces its requests to servers.
//!
//! This room joins others and has no rule of its own. It opens no socket and waits for no real time; it never
//! changes the recorded survey that it reads.

mod in_process;
mod pacing;
mod recorded;
mod scenario;
mod simulation;

pub use pacing::SurveyPacing;
pub use recorded::{RecordedWorld, RecordedWorldError};
pub use scenario::{Scenario, ScenarioError};
pub use simulation::{Rehearsal, RehearsalError};
