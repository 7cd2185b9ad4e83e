//! The interface of any virtual Web: its inputs and its responses. Drawn worlds and recorded surveys are such
//! Webs.
//!
//! A [`Web`] resolves names ([`Lookup`]), starts TLS ([`Handshake`]), assigns each host a [`Server`], and
//! reacts to requests ([`Reaction`]). A [`Response`] becomes a [`WireResponse`] for given [`RequestFields`]:
//! the same bytes in this process and over the network. A reaction that breaks the rules of HTTP is a list of
//! [`Act`]s. The certificates of all Webs come from one worthless authority. [`harm`](harm()) computes how
//! much the requests of a survey cost the other users of a server. Nothing here knows a world, a clock or a
//! socket.

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
pub use certificates::{CertificateContents, ca_certificate_pem, certificate_bytes, certificate_contents};
pub(crate) use certificates::{issuer, names};
pub use harm::{HARM_SPAN, Harm, Visits, harm};
pub use reply::{Method, RequestFields, WireResponse};
pub use server::{Server, Uplink};
