//! The finds and the cost of a survey, in the chapters of a country report: from tables only, in one pass
//! over each.
//!
//! Every chapter is a struct with a maker that takes rows one by one. The servers come first, because
//! exchanges are grouped by their countries; then the finished site trees, to which the rows of other tables
//! refer; then levels, exchanges and links. A second pass over the links finds the names of the most linked
//! hosts and sites, and stops when it has them. Memory grows by a few dozen bytes per exchange, host and
//! site.
//!
//! The promises are judged by the times, addresses and responses of the exchanges, with the same judge
//! ([`promises`](crate::promises)) that ran during the survey. The survey's own verdicts are used only for
//! what the tables do not record.

mod exchange;
mod graph;
mod judged;
mod links;
mod listed;
mod method;
mod names;
mod probes;
mod reading;
mod servers;
mod sites;
mod skipped;
mod spread;
mod tally;

use std::path::Path;

use serde::Serialize;

pub use crate::exchange::{Class, ClassGroup, Entrance, Failure, Outcome};
pub use graph::LinkGraph;
pub use judged::ledger::{FoundFiles, Ledger, ServerTotals};
pub use judged::opt_outs::OptedOut;
pub use judged::timeline::AddressLoad;
pub use links::{ADDRESS, GENERIC, LinkMatrix, Links, OTHER_SCRIPT};
pub use method::{Method, ShownSetting, UNSET};
pub use probes::{Mean, ProbedTree, Probes};
pub use servers::doors::{Door, Doors};
pub use servers::histogram::Percentiles;
pub use servers::infrastructure::{Concentration, Infrastructure, Offshore, ServerGroup, UNKNOWN};
pub use servers::technology::{Charset, Software, Technology};
pub use servers::times::{CountryTimes, Phases, Times};
pub use sites::age::Age;
pub use sites::card::{Card, Totals, Vantage};
pub use sites::copies::Copies;
pub use sites::funnel::Funnel;
pub use sites::outcomes::{CountryOutcomes, Outcomes, Status, TurnedAway};
pub use sites::{CountryDomain, LargeSite, Sites};
pub use skipped::{Level, Robots, SkipReason, SkippedUrls};
pub use spread::Spread;
pub use tally::NamedCount;

use super::AnalysisError;
use super::tables::with_retries;

/// All chapters of a country report on a survey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// The subject, the time and the total cost of the survey.
    pub card: Card,
    /// The number of sites at each stage, from known to active.
    pub funnel: Funnel,
    /// The size, depth and age of sites.
    pub sites: Sites,
    /// The targets of external links.
    pub links: Links,
    /// The graph of sites that link to each other.
    pub graph: LinkGraph,
    /// The software of servers, and the encodings and languages of pages.
    pub technology: Technology,
    /// The countries and networks of servers.
    pub infrastructure: Infrastructure,
    /// The response times of servers.
    pub times: Times,
    /// The results of exchanges and the outcomes of site trees.
    pub outcomes: Outcomes,
    /// The load on servers.
    pub ledger: Ledger,
    /// The URLs that were found and not fetched.
    pub kept_back: SkippedUrls,
    /// The doors of sites; only for a survey that requested all doors of each site.
    pub doors: Option<Doors>,
    /// The settings and versions behind the figures.
    pub method: Method,
}

impl Overview {
    /// Reads the tables of the survey in `dir`. The survey may still be running: its finished sites are
    /// included.
    ///
    /// # Errors
    /// There is no survey, no site tree yet, or a table cannot be read.
    pub fn load(dir: &Path) -> Result<Self, AnalysisError> {
        with_retries(|| reading::read(dir))
    }
}
