//! A survey without a network: virtual Webs asked in this process, recorded surveys walked again, schedules played.
//!
//! **The life of a simulation.** A [`Scenario`] is what is surveyed: a drawn [`World`](crate::space::World), or a
//! [`RecordedWorld`] survey read from its tables. A [`Rehearsal`] is a survey of it on a virtual clock. The survey's questions go to
//! `in_process`, which asks the virtual Web and tells how long each part of the answer takes, as sockets would have
//! shown it, and keeps the books of how busy each server was. The engine, its pauses, its budgets and its tables are those of
//! a survey of real servers; the same scenario and settings make the same tables.
//!
//! ```
//! use ccsurvey::rehearsal::{Rehearsal, Scenario};
//! use ccsurvey::settings::Settings;
//! use ccsurvey::space::World;
//! use ccsurvey::starts::StartList;
//!
//! let scenario = Scenario::of_world("two sites", World::parse("[sites]\ncount = 2\nmost_pages = 5")?)?;
//! let settings = Settings {
//!     cctld: scenario.countries.clone(),
//!     contact: Some("https://survey.example/contact".to_owned()),
//!     ..Settings::default()
//! };
//! let start = StartList::of(&scenario.start_urls)?;
//! let folder = tempfile::tempdir()?;
//! let dir = folder.path().join("rehearsal");
//! let (rehearsal, _) = Rehearsal::begin(&dir, settings, &start, scenario, &mut |_| ())?;
//! let (_stop, stopped) = tokio::sync::watch::channel(false);
//! assert!(rehearsal.run(stopped)?.is_finished);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **A schedule that is only played** ([`Exchanges`](crate::analysis::Exchanges) under other circumstances) has its
//! pauses from [`SurveyPacing`]: the rule by which a survey asks servers.
//!
//! This room joins others and holds no rule of its own. It opens no socket and waits for no real time; what it
//! reads of a recorded survey it never changes.

mod in_process;
mod pacing;
mod recorded;
mod scenario;
mod simulation;

pub use pacing::SurveyPacing;
pub use recorded::{RecordedWorld, RecordedWorldError};
pub use scenario::{Scenario, ScenarioError};
pub use simulation::{Rehearsal, RehearsalError};
