//! From tables to decisions: what each depth level of a survey cost and found, how certain these figures are,
//! and which depth to use.
//!
//! **From tables only.** [`Recorded::load`] reads the tables of a survey row group by row group. For every
//! site tree it keeps the cost and the finds of each level ([`Trees`]). For the external URLs, hosts, sites
//! and server addresses it keeps the depth at which each is first known ([`KnownKeys`]): exact counts over
//! the whole survey, and occurrences per tree for a sample chosen by hash ([`Occurrences`]). The sample holds
//! all keys until there are millions of them. This bounds memory: about 40 bytes per level of a tree and,
//! while links are read, 7 bytes per distinct URL, or 10 if the same pass also separates the groups of
//! several groupings.
//!
//! Row groups are decoded and digested on all cores. Their results are added up in the order of the tables,
//! or in a way that does not depend on the order: no figure depends on the number of threads.
//!
//! [`Curves`] are computed from this: cumulative load and coverage against depth, in both readings, *pair*
//! and *union*, with intervals that take site trees as sampling units. [`curve_rows`] turns them into a
//! table.
//!
//! A depth is chosen from the curves by one criterion ([`Choice`]) or for a network environment
//! ([`Forecast`]). It is compared with the results of other strategies on the same pages ([`Comparison`],
//! which replays [`policies`] of depth on them). [`Influence`] measures how much a single site changes the
//! choice. [`Completeness`] says whether the tables cover the whole survey.
//!
//! [`for_each_host`] makes the table of hosts. [`Overview`] is the rest of a country report: the sites surveyed, the load on each server, the finds, and
//! whether the promises on load were kept.
//!
//! **The folders.** Each uses only the folders before it: `tables` (reading), `intervals` (how certain a
//! figure is), `keys` (what is counted), `hosts` (the table of hosts), `overview` (the country report), `curves` (load and coverage by
//! depth), `schedule` (the timing of a replayed survey), `policies` (policies of depth, replayed on a
//! recorded survey), `choice` (of a depth), `forecast` (for a network environment), `compare` (two surveys).
//!
//! This room never uses the network and never reads the clock. Random numbers come from a seed that is an
//! argument.

mod choice;
mod compare;
mod curves;
mod error;
mod forecast;
mod hosts;
mod intervals;
mod keys;
pub mod overview;
pub mod policies;
mod schedule;
mod tables;

pub use choice::curve_rows::curve_rows;
pub use choice::depth_share::{DepthShare, DepthShares};
pub use choice::evidence::Evidence;
pub use choice::grouped::GroupedCurves;
pub use choice::influence::Influence;
pub use choice::left_out::{NO_DEPTH_REASON, SkippedPages};
pub use choice::spent_budget::SpentBudget;
pub use choice::{Choice, ChoiceLevel, Criterion, SitesNeeded, Verdict};
pub use compare::{
    ComparedFact, ComparedShare, ComparedSurvey, PresenceCounts, SurveyComparison, Unlike, meaning_of_value,
};
pub use curves::censoring::{Bounds, CensoredLevel, Censoring};
pub use curves::completeness::{Completeness, KnownTrees};
pub use curves::deepest::{Deepest, DeepestLevel};
pub use curves::reading::{Reading, counted};
pub use curves::recorded::Recorded;
pub use curves::unseen::{UNSEEN_CAVEAT, Unseen, UnseenOfKind};
pub use curves::{CurveLevel, Curves};
pub use error::AnalysisError;
pub use forecast::classes::ServerClass;
pub use forecast::comparison::{Candidate, Comparison};
pub use forecast::environment::{Environment, Plan, Servers, Surveyor};
pub use forecast::environment_file::EnvironmentError;
pub use forecast::replays::{BudgetPoint, NotWeighed, Replays, Strategy};
pub use forecast::{Bound, Forecast, ForecastLevel, Limit, NearestDepth, ServerSpread, Shortfall};
pub use hosts::for_each_host;
pub use intervals::estimate::Estimate;
pub use intervals::no_interval::NoInterval;
pub use intervals::proportion::PairedCounts;
pub use intervals::sampling::Sampling;
pub use keys::groups::Groups;
pub use keys::known_keys::{KnownByDepth, KnownKeys};
pub use keys::occurrences::{Occurrence, Occurrences};
pub use overview::Overview;
pub use schedule::{
    Conditions, EndedExchange, Exchanges, MeasuredServer, Pacing, Schedule, ServerLoad, ServerPause,
};
pub use tables::group::{Grouping, Labels, UNKNOWN};
pub use tables::trees::{LevelCost, NotFetched, Tree, TreeEnd, Trees};

/// The unit in which external links are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// URLs in canonical form.
    Urls,
    /// Hosts, by name or address.
    Hosts,
    /// Registrable domains.
    Sites,
    /// Server addresses of the hosts that were contacted in the same survey.
    Addresses,
}

impl Kind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Self; 4] = [Self::Urls, Self::Hosts, Self::Sites, Self::Addresses];

    /// The name used in files and flags.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Urls => "urls",
            Self::Hosts => "hosts",
            Self::Sites => "sites",
            Self::Addresses => "addresses",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// The unit in which load is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadUnit {
    /// Requests sent, robots.txt included.
    Requests,
    /// Bytes on the wire, in both directions.
    Bytes,
    /// Busy time of the servers.
    BusyTime,
}

impl LoadUnit {
    /// The name of the unit in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Bytes => "bytes",
            Self::BusyTime => "busy time",
        }
    }
}
