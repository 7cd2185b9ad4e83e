//! One request to a server, and its response.
//!
//! A walk emits a [`Request`]; the room `fetch` returns a [`Response`]. Whatever happened on the way, from an
//! unknown name to an endless body, is data: a status, or one word of the closed list [`Failure`], never an
//! error of this program. Every exchange is load, so a response always has its cost: [`Wire`] bytes and
//! [`Timings`].
//!
//! [`MediaType`] and [`Document`] decide what counts as a page. The fetcher must know it before the body
//! arrives, and the code that reads pages and the code that counts them must not differ.
//!
//! [`SiteSoftware`] is the software behind a site. Header fields show it, and so do pages; its rules are here,
//! because the fetcher sees the fields and the room `page` sees the pages.
//!
//! If a version of a page is already known, its [`Validators`] are sent along with the request; the walk does
//! not need to know them.
//!
//! Responses are written to a journal and read back after a crash. Their serialised form is therefore part of
//! the format version of a survey's state.

mod challenge;
mod document;
mod host_facts;
mod media_type;
mod request;
mod response;
mod software;
mod unread;
mod validators;
mod vocabulary;

pub use challenge::{Challenge, is_refusal};
pub use document::{Document, SNIFFED_BYTES, Sniffed, sniff};
pub use host_facts::{Certificate, HostFacts, NameLookup};
pub use media_type::{MediaType, charset_in_fields};
pub use request::{Depth, Purpose, PurposeGroup, Request};
pub use response::{Head, Response, Timings, Wire, requests_pause};
pub(crate) use software::Reference;
pub use software::SiteSoftware;
pub use unread::{LONGEST_PAUSE, RECEIVE_WINDOW, is_bodiless, skips_body};
pub use validators::Validators;
pub use vocabulary::class::{Class, ClassCounts, ClassGroup};
pub use vocabulary::content_class::{ContentClass, ContentGroup};
pub use vocabulary::door::{Door, DoorGroup};
pub use vocabulary::entrance::{Entrance, EntranceGroup};
pub use vocabulary::failure::Failure;
pub use vocabulary::outcome::{Outcome, OutcomeGroup};
pub use vocabulary::robots_state::RobotsState;
pub use vocabulary::tls_error::TlsError;
pub use vocabulary::vocabulary;
