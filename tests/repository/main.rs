//! What the repository promises of itself: the rooms of `src/` and who may name whom, and that what is committed (the
//! data dictionary, the results of the paper, the repairs of a library) is what the code makes.

mod architecture;
mod dictionary;
mod paper;
mod tokenizer;
