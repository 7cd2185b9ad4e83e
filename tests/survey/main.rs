//! What a survey finds and does: the effect of its settings, whether it finds everything that exists, and how
//! it copes with broken, hostile and real servers.

#[path = "../common/mod.rs"]
mod common;

mod adding;
mod entrances;
mod hostile;
mod hostile_web;
mod hosts;
mod odd_certificates;
mod probe_scripts;
mod real_servers;
mod serving;
mod settings;
mod since;
mod strangers;
mod truth;
mod ways;
