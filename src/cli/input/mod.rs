//! User input and its checks: flags, start lists, and errors that name what is wrong.

pub(super) mod arguments;
pub(super) mod check;
pub mod flags;
pub(super) mod helpers;
pub(super) mod start_list;
