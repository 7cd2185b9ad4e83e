//! What a survey must find in a world, computed from the model.
//!
//! The rules of a walk stand here a second time, in their simplest form: one site after another, one
//! URL after another, everything in memory. The oracle reads the model's links, never the pages
//! written from them, and shares no code with the walk it judges.
//!
//! [`oracle`] is what is known of one site tree, [`walk`] how it is walked: [`entrances`] says by which URLs it is
//! entered, [`robots`] asks whether it may be, [`found`] notes what pages link to, [`rules`] say which URLs are one page,
//! one script, endless, and [`traps`] what has shown itself to be a trap; [`end`] draws the sums. [`survey`] takes sites
//! from the queue, feeds the links into the [`country`] back and gives sites that stay closed a [`later`] tree. [`rows`]
//! are the results, in the columns of the survey's own tables; [`print`] writes them.

mod country;
mod end;
mod entrances;
mod found;
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
pub use print::TruthTable;
pub use rows::{LevelTruth, LinkTruth, SiteTruth};
#[cfg(test)]
pub(super) use rules::word;

/// The ground truth of a survey, each table sorted by its first columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Sorted by site and tree.
    pub sites: Vec<SiteTruth>,
    /// Sorted by site, tree and depth.
    pub levels: Vec<LevelTruth>,
    /// Sorted by site, tree, depth and URL.
    pub links: Vec<LinkTruth>,
}

/// The survey that the truth is told for.
#[derive(Clone)]
pub struct TruthSettings {
    /// Levels 0 to this are fetched.
    pub depth: u16,
    /// What becomes of links to other sites.
    pub feed_back: FeedBack,
    /// By how many URLs a site is tried to be entered.
    pub entrances: Entrances,
    /// Start URLs in their order; further ones of a site are for the case that the first does not open it.
    pub start: Vec<String>,
    /// Query URLs of one script that are fetched in a site tree.
    pub queries_per_script: u32,
    /// Endings of file names, in lower case and without the dot, that are not asked for below the start URL.
    pub non_html_extensions: Vec<String>,
    /// Levels in a row on which URLs of one shape must have begotten nothing but themselves to be a trap; none:
    /// only paths that repeat themselves are.
    pub trap_levels: Option<u16>,
    /// By which hosts belong to sites.
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
