//! TODO

pub(super) mod arguments;
pub(super) mod check;
pub mod flags;
pub(super) mod helpers;
pub(super) mod start_list;
