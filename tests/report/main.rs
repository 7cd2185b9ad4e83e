//! The outputs of a survey: its report, its overview and its tables, each compared with the results of other
//! programs.

#[path = "../common/mod.rs"]
mod common;

mod curves;
mod html;
mod notebooks;
mod overview;
mod readers;
mod surveys;
