//! The sites of a world and the links between their pages, drawn from the seed before any bytes are written.
//!
//! A host and a path name a [`url_location`]. The host determines the [`site`]. The path determines one of
//! the [`paths`]' resources: a page of the site's [`tree`], or something attached to it. The [`content`] of
//! the URL is a page (a list of [`links`]), a redirect, a file or an error. Pages link to their
//! [`menu`](links::menu), up, sideways and to their own children; [`external`](links::external) links lead to
//! other sites. The [`structure`] of a site is what its paths tell of its pages. Outside the tree there are
//! [`extras`], chains of [`lists`](links::lists), and [`traps`] that never end; [`copies`] are pages and
//! sites that repeat another. The [`facts`] of a site are what its front page tells of it. [`change`] holds
//! what each edition of the world does to pages.
//!
//! Nothing is stored: the same URL is drawn anew each time, with the same result. This room writes no HTML
//! and knows no servers.

pub(super) mod change;
pub(super) mod content;
mod contents;
pub(super) mod copies;
pub(super) mod extras;
pub(super) mod facts;
pub(super) mod https;
mod links;
mod names;
pub(super) mod paths;
pub(super) mod robots;
pub(super) mod site;
mod structure;
mod traps;
pub(super) mod tree;
pub(super) mod url_location;

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod doors_tests;
#[cfg(test)]
mod facts_tests;
#[cfg(test)]
mod marginals_tests;
#[cfg(test)]
mod structure_tests;
#[cfg(test)]
mod tests;
