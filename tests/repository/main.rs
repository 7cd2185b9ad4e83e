//! What the repository promises of itself: the rooms of `src/` and who may name whom, and that what is committed (the
//! data dictionary, the results of the paper, the repairs of a library) is what the code makes, and what a build has.

mod architecture;
mod dictionary;
mod features;
mod paper;
mod tokenizer;
