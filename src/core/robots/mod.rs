//! robots.txt: any bytes → rules → may I? (RFC 9309), and what its absence means.
//!
//! Before the first page of an authority is asked for, the walk asks for its
//! [`WebUrl::robots_txt`](crate::address::WebUrl::robots_txt), following at most [`MAX_REDIRECTS`]
//! redirects. What came of that is an [`Availability`]: a file was found, or it is missing in one of
//! the ways that the standard tells apart. From it follow the [`Rules`] that bind *our* product
//! token, and every URL of that authority is held against them with [`Rules::allows`] before it is
//! asked for. The rules hold for the authority that was asked first, wherever redirects led.
//!
//! Inside, the bytes take four steps, a file each: `lines` cuts them to [`MAX_BYTES`], bridges the
//! encoding and yields records; `groups` gathers the records of the groups that name us, or of
//! those for everyone; [`PathPattern`](crate::address::PathPattern) compares a rule's path with a URL's; `rules` picks the most
//! specific match.
//!
//! Parsing is total: whatever a server sends gives rules, and what was wrong with it is data,
//! [`RobotsDefects`]. Lines that mean nothing are skipped, lines that mean something are obeyed (§2.3.1.5),
//! also when they stand in an HTML error page. Memory is bounded by [`MAX_BYTES`] (for the worst file
//! some 10 MB while it is read and 4 MB to keep, for a usual one a few hundred bytes). Time is linear in the file for parsing and,
//! for one URL, linear in the URL for each pattern: there is no backtracking to provoke.
//!
//! Where the standard leaves a choice or is left behind, the more careful reading was taken:
//! 429 forbids (§2.3.1.3 would permit), a missing colon and usual misspellings are read as meant,
//! `Crawl-delay` is honoured though the standard does not know it.
//!
//! This room never fetches and never caches; how long rules hold it tells by [`MAX_AGE`].

mod availability;
mod groups;
mod lines;
mod rules;

#[cfg(test)]
mod published_tests;
#[cfg(test)]
mod rfc9309_tests;

pub use availability::{Availability, MAX_AGE, MAX_REDIRECTS};
pub use groups::RobotsDefects;
pub use lines::MAX_BYTES;
pub use rules::Rules;
