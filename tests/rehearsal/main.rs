//! Surveys without the servers of others: the virtual Web, in process and served, replays of recorded
//! surveys, and the choice of a depth for one's own link.

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod agents;
mod auto_depth;
mod budget;
mod choose_depth;
mod compare;
mod focus;
mod harm;
mod hoster;
mod partial;
mod replay;
mod simulate;
mod strategies;
mod truth_in_process;
