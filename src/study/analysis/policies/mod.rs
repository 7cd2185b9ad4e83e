//! Policies of depth, replayed on surveys that were walked deep.
//!
//! A [`RecordedGraph`] is a survey with `--record-links`, read as graphs: the pages of each site tree, their
//! links within the tree, and the external hosts that they name. Any [`Policy`] can be played on it without a
//! request: a depth for all sites, a depth with a bound on pages, an end after a number of pages without a
//! new host, and the rule of `--depth auto`, which uses the same
//! [`Appraiser`](crate::walk::yields::Appraiser) as the walk. The result is a [`PolicyRun`] with its requests
//! and hosts. [`Memories`] are what a survey passes to the next one about its sites, for the rule of
//! `--focus`.
//!
//! [`train`] learns from recorded graphs what pages bring on average, by depth and by the words of their
//! URLs, and finds the price at which a replay reaches each coverage.
//!
//! **Limits of a replay.** It has no pages that the survey did not fetch, whatever the reason: of a script
//! with one fetched query URL, only that URL; of a site that a budget cut, only the pages before the cut
//! ([`RecordedGraph::unrecorded`] counts the URLs missing because of a limit or the depth). A redirect is a
//! page whose only link leads to its target and adds no depth. Load is the number of requests, robots.txt
//! included.

mod memories;
mod play;
mod recorded_graph;
mod regression;
mod train;
mod two_levels;

pub use memories::Memories;
pub(in crate::analysis) use play::Fetched;
pub use play::{Policy, PolicyPoint, PolicyRun, prices};
pub use recorded_graph::{GraphError, GraphPage, RecordedGraph, SiteTree};
pub use train::{TrainedRates, train};
