//! What users hand over, checked: flags, start lists, and the errors that name what is wrong with them.

pub(super) mod arguments;
pub(super) mod check;
pub mod flags;
pub(super) mod helpers;
pub(super) mod start_list;
