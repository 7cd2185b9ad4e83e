//! From tables to decisions: what a survey's depth levels cost and brought, how sure that is, and which
//! depth to use.
//!
//! **From tables only.** [`Recorded::load`] reads the tables of a survey row group by row group and keeps, of
//! every site tree, what its levels cost and brought ([`Trees`]); of the external URLs, hosts, sites and
//! server addresses, at which depth each is known first ([`KnownKeys`]): exactly over the whole survey, and tree by
//! tree for a sample of them chosen by hash ([`Occurrences`]), which is all of them until they are millions.
//! Memory is so bounded: about 40 bytes a level of a tree; and while links are read, 7 bytes a distinct URL, or 10 where the
//! groups of several groupings are told apart in the same look at them.
//!
//! Row groups are decoded and digested on all cores. What is made of them is added up in the order of the tables, or is the
//! same in any order: no figure depends on the number of threads.
//!
//! [`Curves`] are drawn from that: cumulative load and coverage against depth in both readings, *pair* and
//! *union*, with intervals over site trees as sampling units; [`curve_rows`] makes a table of them.
//!
//! A depth is chosen from them by one criterion ([`Choice`]) or for a network environment ([`Forecast`]), and weighed with what
//! other strategies would have made of the same pages ([`Comparison`]: [`policies`] of depth are played on them).
//! [`Influence`] tells what a single site does to the answer, and [`Completeness`] whether the tables are of all of the survey.
//!
//! [`Overview`] is the rest of a country report: who was surveyed, what it cost whom, what was found, and whether
//! promises on load were kept.
//!
//! **The folders**, each of which names only those before it: `tables` what is read, `intervals` how sure a figure is, `keys` what is
//! counted, `overview` the country report, `curves` load and coverage by depth, `schedule` the times of a survey that is played again,
//! `policies` of depth that are played on it, `choice` of a depth, `forecast` for a network environment.
//!
//! This room never asks the network, never reads the clock and draws chance from a seed that is an argument.

mod choice;
mod curves;
mod error;
mod forecast;
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
pub use choice::left_out::{SkippedPages, TELLS_NO_DEPTH};
pub use choice::{Choice, ChoiceLevel, Criterion, SitesNeeded, Verdict};
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
pub use forecast::replays::{NotWeighed, Replays, Strategy};
pub use forecast::{Bound, Forecast, ForecastLevel, Limit, NearestDepth, ServerSpread, Shortfall};
pub use intervals::estimate::Estimate;
pub use intervals::no_interval::NoInterval;
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

/// What external URLs are counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// In canonical form.
    Urls,
    /// By name or address.
    Hosts,
    /// Registrable domains.
    Sites,
    /// Server addresses of hosts that were asked in the same survey.
    Addresses,
}

impl Kind {
    /// In the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Urls, Self::Hosts, Self::Sites, Self::Addresses];

    /// The word in files and flags.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Urls => "urls",
            Self::Hosts => "hosts",
            Self::Sites => "sites",
            Self::Addresses => "addresses",
        }
    }

    /// The kind that such a word stands for.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// In which unit load is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadUnit {
    /// Sent, robots.txt included.
    Requests,
    /// Bytes on the wire, both ways.
    Bytes,
    /// Busy time of the servers.
    BusyTime,
}

impl LoadUnit {
    /// Of what load is a share.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Bytes => "bytes",
            Self::BusyTime => "busy time",
        }
    }
}
