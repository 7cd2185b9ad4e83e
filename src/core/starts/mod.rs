//! Reads start lists in the forms that people have them in: any bytes become start URLs and bad lines.
//!
//! Registries have zone files, researchers have rankings, everybody has spreadsheets; compressed or not.
//! **The life of a list.** [`StartList::read`] unpacks it (`unpack`; gzip and zstd are recognised by their
//! first bytes, not by a name) and detects its form from its beginning (`form`): URLs or host names, one per
//! line or several; columns, one of which holds them; or a zone file. The separator is the one that leaves no
//! other separators in the URLs. A column is chosen by its content (`column`): the one with most sites of the
//! surveyed country, each counted once; if two columns with different sites could be meant, the list is
//! refused. A name counts only if its last label is a known top-level domain (`clear`). Then the list is read
//! once, line by line (`lines`, `reader`): a line of columns gives one field (`fields`), a zone file the
//! owners of its NS records (`zone`). The meaning of such a text is decided in one place (`entry`): it is a
//! URL with `http` or `https`, or a bare name, which stands for `http://name/`.
//!
//! **The result.** The start URLs in their order, each once, held compressed in memory: about ten bytes per
//! name, and twenty more while the list is read, to recognise duplicates. An [`Area`] decides which of them
//! are surveyed: those inside the country domains, and the others only on request. Addresses that no server
//! of the public Web has are refused unless they are permitted. [`Counts`] holds the numbers of lines, sites,
//! URLs outside, duplicates, rows without a value and bad lines; bad lines are kept with their reasons, up to
//! a limit in `reader`. [`Sample`] draws sites by hash, so that the same sites are drawn whatever the order
//! of the list.
//!
//! No bytes make it panic. Time is proportional to the number of bytes, and memory is bounded by a line of
//! [`MOST_LINE_BYTES`]. It opens no file.

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
mod no_list;
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
