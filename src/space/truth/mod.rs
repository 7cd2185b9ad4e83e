//! The results that a survey of a world must have, computed from the model.
//!
//! This room implements the rules of a walk a second time, in their simplest form: one site after another,
//! one URL after another, everything in memory. The oracle reads the links of the model, never the pages
//! written from them, and shares no code with the walk that it judges.
//!
//! [`oracle`] is the state of one site tree, and [`walk`] walks it: [`entrances`] chooses the URLs for
//! entering it, [`robots`] applies robots.txt, [`found`] records the links of pages, [`rules`] decides which
//! URLs are one page, one script or endless, [`traps`] detects traps, and [`end`] computes the sums.
//! [`survey`] takes sites from the queue, feeds links inside the [`country`] back, and gives sites that no
//! tree has opened a [`later`] tree. [`rows`] are the results, in the columns of the survey's own tables,
//! [`hosts`] what every host of the world shows; [`print`] writes them.

mod country;
mod end;
mod entrances;
mod found;
mod hosts;
mod later;
mod oracle;
mod print;
mod robots;
mod rows;
mod rules;
mod survey;
mod traps;
mod walk;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use crate::address::Suffixes;

pub use entrances::Entrances;
pub use hosts::HostTruth;
pub use print::TruthTable;
pub use rows::{LevelTruth, LinkTruth, SiteTruth};
#[cfg(test)]
pub(super) use rules::element_name;

/// The ground truth of a survey, each table sorted by its first columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Sorted by site and tree.
    pub sites: Vec<SiteTruth>,
    /// Sorted by site, tree and depth.
    pub levels: Vec<LevelTruth>,
    /// Sorted by site, tree, depth and URL.
    pub links: Vec<LinkTruth>,
    /// Sorted by host. All hosts of the world, whatever the settings.
    pub hosts: Vec<HostTruth>,
}

/// The settings of the survey that the truth is computed for.
#[derive(Clone)]
pub struct TruthSettings {
    /// The deepest level that is fetched.
    pub depth: u16,
    /// Which links to other sites become start URLs.
    pub feed_back: FeedBack,
    /// How many entrances of a site are tried.
    pub entrances: Entrances,
    /// Start URLs in their order. Further ones of a site are used if the first does not open it.
    pub start: Vec<String>,
    /// The most query URLs of one script that are fetched in a site tree.
    pub queries_per_script: u32,
    /// Extensions of file names, in lower case and without the dot, that are not fetched below the start URL.
    pub non_html_extensions: Vec<String>,
    /// The number of consecutive levels on which URLs of one shape must have led only to more URLs of that
    /// shape to count as a trap; none: only paths that repeat themselves count.
    pub trap_levels: Option<u16>,
    /// The public suffixes, which decide the site of a host.
    pub suffixes: Arc<Suffixes>,
}

/// Which external URLs inside the country become start URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedBack {
    /// The URL as it was linked.
    #[default]
    Link,
    /// The front page of its host.
    Door,
    /// No external URL.
    Off,
}
