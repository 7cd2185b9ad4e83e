//! What the paths of a site name: read from a path and query, and written as one.
//!
//! A [`Resource`] is anything that may stand at a path: a page of the tree, its second name ([`Alias`]), what hangs at
//! a page ([`Extra`]), a page of a chain of lists ([`Listed`]) or of a [`Trap`]. The same resource is written in one
//! way only. Whether it exists is not known here: no world, no site and no draw is asked.

mod alias;
mod listed;
mod resource;
mod trap;

use std::fmt::Write;

pub(crate) use alias::Alias;
pub(crate) use listed::Listed;
pub(crate) use resource::{Extra, Query, Resource};
pub(crate) use trap::Trap;

/// Numbers of children from the front page down.
pub(crate) type Path = Vec<u32>;

pub(crate) fn numbers(path: &[u32]) -> String {
    let mut text = String::with_capacity(4 * path.len());
    for (at, number) in path.iter().enumerate() {
        // Writing to a text cannot fail.
        let _ = write!(text, "{}{number}", if at > 0 { "-" } else { "" });
    }
    text
}

fn read_numbers(text: &str) -> Option<Path> {
    text.split('-').map(|number| number.parse().ok()).collect()
}
