//! What a URL says by itself: its words, its shape, and the groups of pages to which it belongs.

pub(super) mod groups;
pub(super) mod shape;
pub(super) mod words;
