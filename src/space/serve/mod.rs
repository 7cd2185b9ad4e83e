//! A virtual Web served over real UDP and TCP on loopback.
//!
//! There is a name server and a [`gateway`] that plays every Web server: a client connects to it whatever the
//! address, starts TLS or sends an HTTP request, and gets the response of the host it named. The [`link`]s of
//! the servers add delay and limit speed as the Web specifies. Every request is logged, and the log may be
//! written as a CSV file. The acts of hostile servers are played on the bare connection.
//!
//! This is the only part of the room that reads the clock, opens sockets and writes a file. It never leaves
//! loopback, and it does not depend on worlds: it serves any [`Web`](super::Web).

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
mod facts_tests;
#[cfg(test)]
mod reaction_tests;
#[cfg(test)]
mod tests;

pub use access::Access;
pub use serving::{ServeError, ServeSettings, Served, serve};
