//! What a survey finds and does: what its settings mean, whether it finds what there is, and how it fares with broken,
//! hostile and real servers.

#[path = "../common/mod.rs"]
mod common;

mod adding;
mod entrances;
mod hostile;
mod hostile_web;
mod odd_certificates;
mod probe_scripts;
mod real_servers;
mod serving;
mod settings;
mod since;
mod strangers;
mod truth;
mod ways;
