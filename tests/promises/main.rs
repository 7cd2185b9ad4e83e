//! The promises of `README.md`: load on servers as the servers measure it, and that no record is lost when a
//! survey is killed, is stopped or has no room.
//!
//! To break a rule on purpose, or to let a process die at a response, build the program with the feature
//! `hazards`:
//!
//! ```text
//! cargo test --features hazards --test promises
//! ```

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "hazards")]
mod broken_promises;
mod clocks;
mod cut;
mod earlier_version;
mod full_disk;
mod own_link;
mod politeness;
mod power_cuts;
#[cfg(feature = "hazards")]
mod quarantine;
mod resume;
mod shared_robots;
mod stops;
mod system_calls;
mod unreadable_list;
