//! What any virtual Web is asked, and what it answers; drawn worlds and recorded surveys are such Webs.
//!
//! A [`Web`] says where a name leads ([`Lookup`]), what greets a TLS client ([`Handshake`]), at which [`Server`] a host
//! stands, and what comes of a request ([`Reaction`]). A [`Response`] becomes a [`WireResponse`] once it is known how it was
//! [`RequestFields`]: the same bytes in this process and over the network. What breaks the rules of HTTP is a list of [`Act`]s.
//! The certificates of all Webs come from one worthless authority; [`harm`](harm()) scores what a survey's visits cost
//! the other users of a server. Nothing here knows a world, a clock or a socket.

mod act;
mod answers;
pub(super) mod certificates;
pub(super) mod gzip;
mod harm;
mod reply;
mod server;
mod version_one;

#[cfg(test)]
mod reply_tests;

pub use act::Act;
pub use answers::{Certificate, Handshake, Lookup, Oddity, Reaction, Records, Response, Web};
pub use certificates::{ca_certificate_pem, certificate_bytes};
pub use harm::{HARM_SPAN, Harm, Visits, harm};
pub use reply::{Method, RequestFields, WireResponse};
pub use server::{Server, Uplink};
