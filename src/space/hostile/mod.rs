//! Hostile and broken servers: each a named [`Case`] with a site of its own, whose name is its host.
//!
//! A world file lists the cases that its first country domain has beside the sites drawn (`[hostile]`,
//! `cases = ["all"]`): the case `gzip-bomb` is met at `gzip-bomb.ke`. Each stands at an address of its own,
//! so that what it does to the pace of a survey is borne by no other site. Where the rules of HTTP are
//! broken, nothing that writes HTTP is of use: an answer is a list of [`Act`](super::Act)s, bytes and pauses on the bare
//! connection, and the gateway plays them. A case that is about names answers in its own way when it is
//! looked up, one that is about TLS in the place of the handshake.
//!
//! A server that turns clients away after some requests says so with the first act of its answers ([`Act::Turn`](super::Act)):
//! the gateway counts them.
//!
//! There is a file for each family of cases. All are gathered in [`Case::all`], and what is said of a case
//! there is what `space describe` tells. No ground truth is known of them: what a survey must make of a case
//! is written down where it is tested, in `tests/survey/hostile_web.rs`.

mod all;
mod case;
mod content;
mod pages;
mod site;
mod transport;

pub use case::Case;
pub(super) use site::Hostile;
