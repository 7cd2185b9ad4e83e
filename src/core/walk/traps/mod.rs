//! Tells traps, and pages that only repeat each other, from sites that are large.

pub(super) mod composed;
pub(super) mod echoes;
pub(super) mod evidence;
pub(super) mod product;
pub(super) mod repeats;
pub(super) mod shape;
pub(super) mod tally;
pub(super) mod trap;
