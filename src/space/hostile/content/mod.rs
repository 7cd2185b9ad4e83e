//! Cases in the content of responses: pages, redirects, names, robots.txt, bans.

pub(super) mod bans;
pub(super) mod charsets;
pub(super) mod echoes;
pub(super) mod markup;
pub(super) mod mazes;
pub(super) mod moves;
pub(super) mod names;
pub(super) mod robots;
pub(super) mod sessions;
pub(super) mod spellings;
pub(super) mod types;
