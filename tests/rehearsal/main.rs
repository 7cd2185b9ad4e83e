//! Surveys without strangers' servers: the virtual Web, in process and served, recorded surveys walked again, and a
//! depth chosen for the link one has.

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod agents;
mod auto_depth;
mod choose_depth;
mod focus;
mod harm;
mod hoster;
mod partial;
mod replay;
mod simulate;
mod strategies;
mod truth_in_process;
