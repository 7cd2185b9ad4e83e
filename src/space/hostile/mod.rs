//! Hostile and broken servers. Each is a named [`Case`] with a site of its own, and its name is the label of
//! its host.
//!
//! A world file lists the cases that its first country domain has in addition to the drawn sites
//! (`[hostile]`, `cases = ["all"]`): the case `gzip-bomb` is served at `gzip-bomb.ke`. Each has an address of
//! its own, so that its effect on the pace of a survey does not spread to other sites. An HTTP library cannot
//! break the rules of HTTP, so a response is a list of [`Act`](super::Act)s: bytes and pauses on the bare
//! connection, played by the gateway. A case about names has its own DNS lookup, and a case about TLS its own
//! handshake.
//!
//! A server that bans clients after some number of requests starts its responses with
//! [`Act::Turn`](super::Act); the gateway counts the requests.
//!
//! There is one file for each family of cases. [`Case::all`] lists them all, and `space describe` prints
//! their descriptions. The cases have no ground truth: the outcome that a survey must reach is written in its
//! test, `tests/survey/hostile_web.rs`.

mod all;
mod case;
mod content;
mod pages;
mod site;
mod transport;

pub use case::Case;
pub(super) use site::Hostile;
