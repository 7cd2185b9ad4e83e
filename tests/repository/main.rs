//! What the repository promises of itself: the rooms of `src/` and who may name whom, that the pages of `reports/` speak
//! of the defaults of today, and that what is committed (the data dictionary, the results of the paper, the repairs of a
//! library) is what the code makes, and what a build has.

mod architecture;
mod dictionary;
mod evidence;
mod features;
mod paper;
mod politeness;
mod tokenizer;
