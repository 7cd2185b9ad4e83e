//! The pages and files of a world as bytes.
//!
//! A page of the model is a list of links. Here it gets a title and text in a language and a [`charset`], its links are
//! spelled in one of the ways in which links are written, and a filler brings it to the size that was drawn for it, to
//! the byte ([`html`]). [`files`] begin as files of their kind do; [`validators`] say when something was changed last.
//! No link is added or left out here, and nothing is sent.

pub(super) mod charset;
pub(super) mod files;
mod filler;
pub(super) mod html;
mod links;
mod spelling;
mod texts;
pub(super) mod validators;

#[cfg(test)]
mod tests;
