//! Policies of depth, played on surveys that were walked deep.
//!
//! A [`RecordedGraph`] is a survey with `--record-links`, read as graphs: the pages of each site tree, what they link to in it, and
//! the external hosts that they name. On it any [`Policy`] can be played without a request: a depth for all, a depth and a
//! bound on pages, ending after so many pages without a new host, and the rule of `--depth auto`, which is the very
//! [`Appraiser`](crate::walk::yields::Appraiser) of the walk. What comes out are a [`PolicyRun`]'s requests and hosts.
//! [`Memories`] are what a survey tells the next one of its sites, for the rule of `--focus`.
//!
//! [`train`] reads grounds for what pages bring on average by depth and words, and finds the prices at which playing
//! comes to a coverage.
//!
//! **What a replay is not.** Pages that the survey did not ask for are not in it, whatever kept them back: of a script that
//! gave one query URL, only that; of a site that a budget cut, only what came before ([`RecordedGraph::unrecorded`] tells how
//! many). A redirect is a page whose only link leads to its target, at no depth. Load is requests, robots.txt included.

mod memories;
mod play;
mod recorded_graph;
mod train;
mod two_levels;

pub use memories::Memories;
pub(in crate::analysis) use play::Fetched;
pub use play::{Policy, PolicyPoint, PolicyRun, prices};
pub use recorded_graph::{GraphError, GraphPage, RecordedGraph, SiteTree};
pub use train::{TrainedRates, train};
