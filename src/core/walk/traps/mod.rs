//! TODO

pub(super) mod composed;
pub(super) mod echoes;
pub(super) mod evidence;
pub(super) mod product;
pub(super) mod repeats;
pub(super) mod shape;
pub(super) mod tally;
pub(super) mod trap;
