//! Start lists as people have them: any bytes become start URLs, and lines that hold none.
//!
//! Registries have zone files, researchers rankings, everybody has spreadsheets; packed or not. **The life of a list.**
//! [`StartList::read`] unpacks it (`unpack`; gzip and zstd are told by their first bytes, not by a name) and looks at its
//! beginning to tell its form (`form`): URLs or host names, one a line or several; columns, one of which holds them; or a
//! zone file. A separator is the one that leaves no other beside URLs. A column is taken for what is in it (`column`): most sites
//! of the surveyed country, each counted once; where two could be meant, each with other sites, the list is refused. A name counts only if its last label is a top-level domain that is known (`clear`).
//! Then the list is gone through once, line by line (`lines`, `reader`): a line of columns gives one field (`fields`), a zone
//! file the owners of its NS records (`zone`). What such a text means is decided in one place (`entry`): a URL with
//! `http` or `https`, or a bare name, which stands for `http://name/`.
//!
//! **What comes of it.** The start URLs in their order, each once, held compressed in memory: about ten bytes a name, and
//! twenty more while the list is read, to know what was read already. An [`Area`] tells which are surveyed: those inside the
//! country domains, unless the others are wished for; not those that no server of the public Web has. [`Counts`] tell
//! lines, sites, what lies outside, doubles, rows without a value and bad lines; these are kept with their reasons, up to a
//! number that is told in `reader`. [`Sample`] draws sites by hash, so that the same sites are drawn whatever the order of the list.
//!
//! No bytes make it panic, need more time than in proportion to their number, or more memory than a line of
//! [`MOST_LINE_BYTES`] has. It opens no file.

mod area;
mod clear;
mod column;
mod counts;
mod entry;
mod error;
mod fields;
mod form;
mod lines;
mod list;
mod reader;
mod unpack;
mod zone;

pub use area::{Area, Sample};
pub use column::{ColumnChoice, Labels};
pub use counts::{BadLine, Counts, OutsideUrl};
pub use error::StartError;
pub use fields::Separator;
pub use form::Form;
pub use lines::MOST_LINE_BYTES;
pub use list::StartList;
pub use unpack::{MOST_UNPACKED, Packing};

#[cfg(test)]
mod lists_tests;
#[cfg(test)]
mod misread_tests;
#[cfg(test)]
mod rivals_tests;
#[cfg(test)]
mod tests;
