//! A running survey: sites from the frontier, walks, turns, exchanges, rows.
//!
//! **Three parts.** An open survey has `boundaries` (its scope, opt-outs, and the rule for links that lead
//! out of a site, `feed_back`), `access` (the client, the load, our own link, the roster of visits) and
//! `storage` (folder, frontier, journals, progress, the judge of its promises).
//!
//! **The life of a survey.** [`Survey::create`] creates the folder, writes the effective settings and offers
//! the start URLs to the frontier. [`Survey::run`] keeps up to `sites` visits going. A *visit* leases a site
//! tree and drives its walk: the walk says what to request next, the site's budget whether it may still be
//! requested, and `load` when it is the server's turn. Then the exchange happens, and its response is written
//! to the tree's *journal* before the walk receives it. When a walk ends, the *writer* turns its journal into
//! table rows; many trees make a segment. When a segment is on the disk, one transaction of the frontier
//! records it, adds the sites that the trees found, and stores the servers' states. Only then are the
//! journals removed.
//!
//! **Recovery after a crash.** Segments that the frontier does not know are removed and written again from
//! their journals. Trees with a journal are continued from where it ends, by replaying its responses. A
//! journal also lists requests without a response: they count as in flight until the restart, so that their
//! servers get their pause. Nothing recorded is requested twice.
//!
//! **Fallbacks.** If no connection can be made to an address, the host's next address is tried, at its own
//! turn and as an exchange of its own: the journal has each attempt (`visit/fallbacks`). A visit follows its
//! start URL's host to the server that receives the requests.
//!
//! **robots.txt once a day.** The trees of a survey share the responses for robots.txt (`shared_robots`): the
//! first tree that needs one fetches it, and only that tree has the exchange in its rows and its load. Each
//! other tree writes the response into its own journal, marked as shared, so that a tree still depends on
//! nothing but its journal. A shared response counts toward the tree's budgets like a request, appears in no
//! table but `levels.shared_robots`, and nowhere counts as load. Trees of a site follow each other, so the
//! same tree sends the request in every run and in every cut of a survey. Trees of several sites share only
//! the target of a redirected robots.txt, and what sites below one host (`--scope host`) have in common; then
//! the first in time sends the request. Agents share nothing: the process that runs the survey gives the
//! shared response to the walk.
//!
//! **What no response can do.** `quarantine` reads the responses; a response at which the process dies is not
//! read a third time. An error in one visit, including a panic, ends its tree with the outcome `failed`, and
//! the recorded part of the tree becomes rows. Only errors that every visit would meet (the disk, the store,
//! the name server) stop all work.
//!
//! **Stopping.** Exchanges in flight have a few seconds to end; everything else just stops, because the
//! journals hold it.
//!
//! **Start URLs that come later** (`added`) are handed over in the folder. The process that holds the
//! survey's state merges them exactly once, even if it is killed meanwhile.
//!
//! **Re-surveys.** Requests carry what an earlier survey knows (`earlier`). A response that says that nothing
//! has changed is completed before it is written to the journal, so walk, replay and rows see a page like any
//! other.
//!
//! **Simulations.** [`Survey::simulate`] crawls a Web in this process, on a runtime with virtual time: when
//! all tasks are idle, the clock advances to the next moment at which one is not. The writer is a thread of
//! its own. While its output may bring new sites, the clock stands still until it has written. So the same
//! Web and settings produce the same tables, times included.
//!
//! **Agents.** The trees of a simulation may be walked by agents: trees are dealt to them, they read a
//! limited number of responses per second, die and are replaced (`agents`). A visit whose agent dies is
//! requeued, and continues from its journal elsewhere.
//!
//! **The folders**, each of which names only those before it: `earlier` pages of an earlier survey, `folder`
//! the files beside the tables, `boundaries` the scope of a survey, `journal` the record of a tree while it
//! is walked, `agents` the senders of requests, `storage` the stored data of a survey, `reading` turning
//! responses into content, `parts` what a running survey shares, `visit` the walk of one tree, `writer` its
//! rows, `run` a run from its beginning to its end.
//!
//! This room reads the clock and passes the time to all others.

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
pub use agents::remote_worker::{
    DISPATCH_LIFETIME, RemoteOutcome, RemoteRequest, RemoteResponse, RemoteWorker,
};
pub use agents::simulation::Simulation;
pub use agents::{AgentPool, CAPACITIES, CAPACITIES_TEXT, LinkStatus, Lives, Team, requests_of_sites};
pub use boundaries::rates::{built_in_rates, load_rates};
pub use boundaries::scope::{BUILT_IN_SUFFIX_LIST, area};
pub use boundaries::start_urls::StartUrlCounts;
pub use earlier::{Focus, ReadingProgress};
pub use error::SurveyError;
pub use folder::export::export;
pub use folder::settings_file::{SettingsFileError, read_settings};
pub use parts::access::{largest_exchange, smallest_budgets};
pub use parts::opt_outs::OptOutCheck;
pub use parts::stalled::process_stalled;
pub use reading::quarantine::{READ_ANSWER, read_answer};
pub use reading::worker::Worker;
pub use run::added::{SubmittedList, add_waiting_lists, has_waiting_lists, submit_list, survey_settings};
pub use run::engine::{Ending, Survey};
pub use run::recovery::{KeptReplies, KeptReply};
pub use storage::progress::{
    AgentSeen, BusProblem, LoadedServer, MachineLoad, Progress, RoundStatus, Snapshot,
};
pub use storage::summary::Summary;
