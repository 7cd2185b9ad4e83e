//! What a survey is read with: its report, its overview and its tables, each compared with what other programs compute.

#[path = "../common/mod.rs"]
mod common;

mod curves;
mod html;
mod notebooks;
mod overview;
mod readers;
mod surveys;
