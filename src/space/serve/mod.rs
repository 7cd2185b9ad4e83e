//! A virtual Web served over real UDP and TCP on loopback.
//!
//! There is a name server and a [`gateway`], which plays every Web server: a client connects to it whatever the address,
//! greets it by TLS or asks it by HTTP, and is answered as the host it named would. The [`link`]s of the servers take
//! their time where the Web says so. Every request is noted, and may be written as an access log. The acts of hostile
//! servers are played on the bare connection.
//!
//! This is the only part of the room that reads the clock, opens sockets and writes a file. It never leaves
//! loopback, and knows nothing of worlds: any [`Web`](super::Web) is served.

mod access;
mod answer;
mod connection;
mod dns;
mod dns_answer;
mod gateway;
mod head;
mod link;
mod odd_answer;
mod perform;
mod serving;
mod tls;

#[cfg(test)]
mod dns_answer_tests;
#[cfg(test)]
mod reaction_tests;
#[cfg(test)]
mod tests;

pub use access::Access;
pub use serving::{ServeError, ServeSettings, Served, serve};
