//! Surveys over several machines: coordinators, agents and NATS servers as separate processes, on loopback.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod budget;
mod deaths;
mod equal;
mod gate;
mod in_vain;
mod limits;
mod own_links;
mod processes;
mod rate;
mod waits;
