//! The program as its users see it: help and output, every command of `README.md` and `GUIDE.md`, bad input,
//! and start lists in every form.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod documents;
mod start_lists;
mod terminal;
