//! One question to a server, and what came of it.
//!
//! A walk says an [`Request`]; the fetch answers it with an [`Response`]. Whatever happened out
//! there, from an unknown name to a body that never ends, is data: a status, or one word of the
//! closed list [`Failure`], never an error of ours. Every exchange is load, so an answer always
//! tells what it cost: [`Wire`] bytes and [`Timings`].
//!
//! What counts as a page is decided here too, by [`MediaType`] and [`Document`]: who fetches must know it before the body
//! comes, who reads pages and who counts them must not differ.
//!
//! If a version of a page is known already, its [`Validators`] go along with the question; the walk that asks
//! need not know of them.
//!
//! Answers are written to a journal and read back after a crash; their serialised form is
//! therefore part of the format version of a survey's state.

mod challenge;
mod document;
mod media_type;
mod reading;
mod request;
mod response;
mod unread;
mod validators;
mod vocabulary;

pub use challenge::{Challenge, is_refusal};
pub use document::{Document, SNIFFED_BYTES, Sniffed, sniff};
pub use media_type::{MediaType, charset_in_fields};
pub use reading::{LONGEST_PAUSE, RECEIVE_WINDOW};
pub use request::{Depth, Purpose, PurposeGroup, Request};
pub use response::{Head, Response, Timings, Wire, requests_pause};
pub use unread::{hangs_up, is_bodiless};
pub use validators::Validators;
pub use vocabulary::class::{Class, ClassCounts, ClassGroup};
pub use vocabulary::entrance::{Entrance, EntranceGroup};
pub use vocabulary::failure::Failure;
pub use vocabulary::outcome::{Outcome, OutcomeGroup};
pub use vocabulary::tls_error::TlsError;
pub use vocabulary::vocabulary;
