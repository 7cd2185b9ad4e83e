//! The places of a world's hosts: networks, servers and DNS records.
//!
//! A host is on a server ([`servers`]): one of the giants, or one further down a long tail. The server has
//! addresses in a realistic [`network`], an uplink with round trip and bandwidth, other users, and
//! [`software`] of the world's year. [`dns_records`] decides which of its addresses a host has;
//! [`GEO_DATABASE`] locates the networks. This room opens no sockets and sends nothing.

pub(super) mod dns_records;
mod geo;
pub(super) mod network;
mod servers;
pub(super) mod software;

#[cfg(test)]
mod tests;

pub use geo::GEO_DATABASE;
pub use network::{NETWORKS, Network};
