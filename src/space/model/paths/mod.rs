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

fn read_numbers(text: &str) -> Option<Path> {
    text.split('-').map(|number| number.parse().ok()).collect()
}
