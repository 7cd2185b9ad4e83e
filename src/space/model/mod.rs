//! The sites of a world and how their pages hang together, drawn from its seed and before anything is a byte.
//!
//! A host and a path name a [`url_location`]. The host tells the [`site`], the path one of the [`paths`]' resources: a page of
//! the site's [`tree`], or what hangs beside it. What stands there is its [`content`]: a page as a list of [`links`], a
//! redirect, a file, a refusal. Pages link to their [`menu`](links::menu), up, sideways and to their own children; [`external`](links::external) links
//! lead to other sites. Beside the tree stand [`extras`], [`lists`](links::lists) that go on from page to page, and [`traps`] that
//! never end; [`copies`] are pages and sites that repeat another. What editions of the world do to pages is in [`change`].
//!
//! Nothing is stored: the same URL is drawn anew each time, and comes out the same. No HTML is written here, and no
//! server is known.

pub(super) mod change;
pub(super) mod content;
mod contents;
pub(super) mod copies;
pub(super) mod extras;
pub(super) mod https;
mod links;
mod names;
pub(super) mod paths;
pub(super) mod robots;
pub(super) mod site;
mod traps;
pub(super) mod tree;
pub(super) mod url_location;

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod doors_tests;
#[cfg(test)]
mod marginals_tests;
#[cfg(test)]
mod tests;
