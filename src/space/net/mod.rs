//! Where the hosts of a world stand: networks, servers and the records of the name server.
//!
//! A host stands at a server ([`servers`]): at one of the giants or further down a long tail. The server has addresses
//! in a real-looking [`network`], an uplink with round trip and bandwidth, other users, and [`software`] of the world's
//! year. [`dns_records`] say which of its addresses a host has; [`GEO_DATABASE`] locates the networks. Nothing is
//! opened and nothing is asked here.

pub(super) mod dns_records;
mod geo;
pub(super) mod network;
mod servers;
pub(super) mod software;

#[cfg(test)]
mod tests;

pub use geo::GEO_DATABASE;
pub use network::{NETWORKS, Network};
