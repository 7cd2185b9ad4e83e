//! The resources that paths name: parsed from a path and query, and written back as one.
//!
//! A [`Resource`] is anything that a path may name: a page of the tree, its second name ([`Alias`]),
//! something attached to a page ([`Extra`]), a page of a chain of lists ([`Listed`]) or of a [`Trap`]. A
//! resource is written in exactly one way. Whether it exists is decided elsewhere: this room reads no world,
//! no site and no draw.

mod alias;
mod listed;
mod resource;
mod trap;

use std::fmt::Write;

pub(crate) use alias::Alias;
pub(crate) use listed::Listed;
pub(crate) use resource::{Extra, Query, Resource};
pub(crate) use trap::Trap;

/// How a site names the pages of its tree.
pub(crate) trait Naming {
    /// All pages are query URLs of one script.
    fn is_script_only(&self) -> bool;

    /// The word before the numbers of a page below a part: of lower-case letters; none without kinds of
    /// pages.
    fn word(&self, path: &[u32]) -> Option<&'static str>;

    /// The last segment of the path of a page below a part: `0-7`, `event-0-7`.
    fn below_part(&self, path: &[u32]) -> String {
        let numbers = numbers(&path[1..]);
        match self.word(path) {
            Some(word) => format!("{word}-{numbers}"),
            None => numbers,
        }
    }
}

/// For tests: script-only or not, and the word of all pages.
#[cfg(test)]
pub(crate) struct Named(pub bool, pub Option<&'static str>);

#[cfg(test)]
impl Naming for Named {
    fn is_script_only(&self) -> bool {
        self.0
    }

    fn word(&self, _: &[u32]) -> Option<&'static str> {
        self.1
    }
}

/// The index of the child at each step from the front page.
pub(crate) type Path = Vec<u32>;

pub(crate) fn numbers(path: &[u32]) -> String {
    let mut text = String::with_capacity(4 * path.len());
    for (at, number) in path.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{number}", if at > 0 { "-" } else { "" });
    }
    text
}

/// Reads `3` or `3/event-0-7` loosely.
fn read_tree_path(text: &str) -> Option<Path> {
    let Some((part, below)) = text.split_once('/') else { return read_numbers(text) };
    let has_word = below.starts_with(|first: char| first.is_ascii_lowercase());
    let below = if has_word { below.split_once('-')?.1 } else { below };
    let mut path = read_numbers(part)?;
    path.extend(read_numbers(below)?);
    Some(path)
}

fn read_numbers(text: &str) -> Option<Path> {
    text.split('-').map(|number| number.parse().ok()).collect()
}
