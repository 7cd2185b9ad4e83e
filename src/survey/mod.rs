//! A survey at work: sites from the frontier, walks, turns, exchanges, rows.
//!
//! **Three parts.** A survey that is open has `boundaries` (where it may go: its scope, opt-outs, and what becomes of a
//! link that leads out of a site, `feed_back`), `access` (how servers are asked: the client, the load, our own link, the
//! roster of visits) and `storage` (what it keeps: folder, frontier, journals, progress, the judge of its promises).
//!
//! **The life of a survey.** [`Survey::create`] makes the folder, writes the effective settings and
//! offers the start URLs to the frontier. [`Survey::run`] keeps up to `sites` visits going. A *visit*
//! leases a site tree and drives its walk: the walk says what to ask next, the site's budget whether
//! it may still be asked, load when it is the server's turn; then the exchange happens, and its
//! answer is written to the tree's *journal* before the walk hears of it. When a walk ends, the *writer*
//! turns its journal into table rows; many trees make a segment. When a segment is on the disk, one
//! transaction of the frontier says so, takes in what the trees found, and stores the servers' states;
//! only then are the journals removed.
//!
//! **What a crash leaves.** Segments the frontier does not know are removed and written again from their
//! journals. Trees with a journal are walked on from where it ends, by handling its answers again. A
//! journal also tells of questions put and not answered: they count as in flight until the moment of
//! the restart, so that their servers get their pause. Nothing recorded is asked twice.
//!
//! **Ways to a host.** Where no connection comes about at an address, the host's next one is tried, at its own turn
//! and as an exchange of its own: the journal has each try (`ways`). A visit follows its start URL's host to the server
//! that it is asked at.
//!
//! **robots.txt once a day.** The trees of a survey share the responses for robots.txt (`shared_robots`): the first that
//! needs one asks, and it alone has the exchange in its rows and its load. Each other tree writes the response into its own
//! journal, marked as shared, so that a tree still depends on nothing but its journal; it counts into the tree's budgets
//! like a request, into no table but `levels.shared_robots`, and nowhere as load. Trees of a site follow each other, so
//! that the same tree asks in every run and in every cut of a survey; trees of several sites share only what a robots.txt
//! redirects to and what sites below one host (`--scope host`) have in common, and then the first in time asks. Among
//! agents nothing is shared: who owns the survey answers the walk.
//!
//! **What no answer can do.** An answer is read by `quarantine`: one at which the process dies is not read a third
//! time. An error in one visit, a panic too, ends its tree with the outcome `failed`, and what is on record of it
//! becomes rows. Only what every visit would meet (the disk, the store, the name server) stops all work.
//!
//! **Stopping.** Exchanges in flight are given a few seconds to end, everything else just stops: the
//! journals hold it.
//!
//! **Start URLs that come later** (`added`) are handed over in the folder and taken in by the process that holds the
//! survey's state, once, even if that is killed meanwhile.
//!
//! **Re-surveys.** What an earlier survey knows (`earlier`) goes along with the questions; an answer that says
//! that nothing has changed is completed before it is written to the journal, so that walk, replay and rows see a
//! page like any other.
//!
//! **Simulations.** [`Survey::simulate`] asks a Web in this process, on a runtime whose time is virtual: when all tasks
//! are idle, the clock goes on to the next moment at which one is not. The writer is a
//! thread of its own; where what it writes may bring new sites, the clock stands still until it has. So the
//! same Web and settings make the same tables, times included.
//!
//! **Agents.** The trees of a simulation may be walked by agents that are dealt them, read so many answers a second, die and
//! are replaced (`agents`). A visit whose agent dies comes back, and goes on from its journal elsewhere.
//!
//! **The folders**, each of which names only those before it: `earlier` what an earlier survey found, `folder` what lies beside
//! the tables, `boundaries` where a survey may go, `journal` what is written of a tree while it is walked, `agents` who sends
//! requests, `storage` all that a survey keeps, `reading` how a response becomes content, `parts` what a survey at work shares,
//! `visit` the walk of one tree, `writer` its rows, `run` a run from its beginning to its end.
//!
//! This room reads the clock and hands the time to all others.

mod agents;
mod boundaries;
mod earlier;
mod error;
mod folder;
mod journal;
mod parts;
mod reading;
mod run;
mod storage;
mod visit;
mod writer;

#[cfg(test)]
mod judged_tests;
#[cfg(test)]
mod scripted_tests;
#[cfg(test)]
mod shared_robots_tests;

pub use crate::settings::LONGEST_WAIT;
pub use agents::remote_worker::{FRESH, RemoteOutcome, RemoteRequest, RemoteResponse, RemoteWorker};
pub use agents::simulation::Simulation;
pub use agents::{AgentPool, LEAST_CAPACITY, LinkStatus, Lives, Team, requests_of_sites};
pub use boundaries::rates::{BUILT_IN_RATES, rates_in};
pub use boundaries::scope::{BUILT_IN_SUFFIX_LIST, area};
pub use boundaries::start_urls::StartUrlCounts;
pub use earlier::{Focus, ReadingProgress};
pub use error::SurveyError;
pub use folder::export::export;
pub use folder::settings_file::{SettingsFileError, read_settings};
pub use parts::access::{largest_exchange, least};
pub use parts::opt_outs::OptOutCheck;
pub use parts::stalled::process_stalled;
pub use reading::quarantine::{READ_ANSWER, read_answer};
pub use reading::worker::Worker;
pub use run::added::{HandedOverList, hand_over, has_added, settings_of, take_in};
pub use run::engine::{Ending, Survey};
pub use run::recovery::{KeptReplies, KeptReply};
pub use storage::progress::{AgentSeen, BusProblem, LoadedServer, MachineLoad, Progress, Snapshot};
pub use storage::summary::Summary;
