//! robots.txt (RFC 9309): any bytes become rules, and rules decide about URLs; also the meaning of a missing
//! file.
//!
//! Before the first page of an authority is requested, the walk requests its
//! [`WebUrl::robots_txt`](crate::address::WebUrl::robots_txt), following at most [`MAX_REDIRECTS`] redirects.
//! The result is an [`Availability`]: a file was found, or it is missing in one of the ways that the standard
//! distinguishes. From it follow the [`Rules`] that bind *our* product token, and every URL of that authority
//! is checked with [`Rules::allows`] before it is requested. The rules hold for the authority that was
//! requested first, wherever redirects led.
//!
//! Inside, the bytes take four steps, a file each: `lines` cuts them to [`MAX_BYTES`], converts the encoding
//! and yields records; `groups` gathers the records of the groups that name us, or of the groups for
//! everyone; [`PathPattern`](crate::address::PathPattern) compares a rule's path with a URL's; `rules` picks
//! the most specific match. [`sitemaps`] reads lines that belong to no group.
//!
//! Parsing is total: whatever a server sends gives rules, and errors in it are data, [`RobotsDefects`]. Lines
//! that mean nothing are skipped, lines that mean something are obeyed (§2.3.1.5), also in an HTML error
//! page. Memory is bounded by [`MAX_BYTES`] (the worst file takes some 10 MB while it is read and 4 MB to
//! keep, a usual one a few hundred bytes). Parsing takes time linear in the file; matching a URL takes time
//! linear in the URL for each pattern: there is no backtracking to provoke.
//!
//! Where the standard leaves a choice, or is not followed, the more careful reading was taken: 429 forbids
//! (§2.3.1.3 would permit), a missing colon and usual misspellings are read as meant, `Crawl-delay` is
//! honoured although the standard does not define it.
//!
//! This room never fetches and never caches; [`MAX_AGE`] says how long rules are valid.

mod availability;
mod groups;
mod lines;
mod rules;
mod sitemaps;

#[cfg(test)]
mod published_tests;
#[cfg(test)]
mod rfc9309_tests;

pub use availability::{Availability, MAX_AGE, MAX_REDIRECTS};
pub use groups::RobotsDefects;
pub use lines::MAX_BYTES;
pub use rules::Rules;
pub use sitemaps::sitemaps;
