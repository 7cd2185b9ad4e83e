//! One file for each command: its arguments, its help, and what it does.

pub mod add;
pub mod choose_depth;
pub mod demo;
pub mod export;
pub mod read_answer;
pub mod report;
pub mod resume;
pub mod simulate;
pub mod space;
pub mod status;
pub mod survey;
