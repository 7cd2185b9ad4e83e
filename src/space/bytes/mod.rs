//! The pages and files of a world as bytes.
//!
//! A page of the model is a list of links. This room adds a title and text in a language and a [`charset`],
//! spells each link in one of the forms found on the Web, and adds filler text until the page has exactly the
//! size drawn for it ([`html`]). [`files`] begin like files of their kind; [`validators`] give the time of
//! the last change. Pages that are [`written`] have the words of the model instead. No link is added or left
//! out here, and nothing is sent.

pub(super) mod charset;
pub(super) mod files;
mod filler;
mod head;
pub(super) mod html;
mod links;
mod spelling;
mod texts;
pub(super) mod validators;
mod written;

#[cfg(test)]
mod tests;
