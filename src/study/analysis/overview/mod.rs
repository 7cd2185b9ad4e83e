//! What a survey found and cost, in the chapters of a country report: from tables only, in one pass over each.
//!
//! Every chapter is a struct of its own with a maker that takes rows as they go by: the servers first, whose
//! countries exchanges are told apart by; then the site trees that are done, by which the rows of other tables
//! are known; then levels, exchanges and links. Of links a second pass finds the names of the most linked, and
//! ends when it has them. What grows with the survey is a few dozen bytes an exchange, a host and a site.
//!
//! The promises are judged by the times, addresses and answers of the exchanges, by the judge of [`promises`](crate::promises)
//! who sat while the survey ran; what the survey says of itself is asked only where tables cannot tell.

mod exchange;
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
pub use judged::ledger::{FoundFiles, Ledger, ServerTotals};
pub use judged::opt_outs::OptedOut;
pub use judged::timeline::AddressLoad;
pub use links::{ADDRESS, GENERIC, LinkMatrix, Links, OTHER_SCRIPT};
pub use method::{Method, ShownSetting};
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
use super::tables::retried;

/// All chapters.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// What was surveyed, when, and what it cost.
    pub card: Card,
    /// From known sites to active ones.
    pub funnel: Funnel,
    /// How large and how old they are.
    pub sites: Sites,
    /// Where external links lead.
    pub links: Links,
    /// What servers run and pages are written in.
    pub technology: Technology,
    /// Where servers stand.
    pub infrastructure: Infrastructure,
    /// How fast servers are.
    pub times: Times,
    /// How exchanges and site trees ended.
    pub outcomes: Outcomes,
    /// What servers bore.
    pub ledger: Ledger,
    /// What was found and not fetched.
    pub kept_back: SkippedUrls,
    /// Of a survey that asked for all doors of each site.
    pub doors: Option<Doors>,
    /// With which settings.
    pub method: Method,
}

impl Overview {
    /// Reads the tables of the survey in `dir`, which may still run: sites that are done are there.
    ///
    /// # Errors
    /// There is no survey, no site tree yet, or a table cannot be read.
    pub fn load(dir: &Path) -> Result<Self, AnalysisError> {
        retried(|| reading::read(dir))
    }
}
