//! Promises of the repository: the rooms of `src/` and which may use which; that the pages of `reports/`
//! describe the current defaults; and that committed files (the data dictionary, the results of the paper,
//! the repairs of a library) equal what the code generates and what a build uses.

mod architecture;
mod dictionary;
mod evidence;
mod features;
mod paper;
mod politeness;
mod tokenizer;
