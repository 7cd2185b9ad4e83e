//! The settings of a virtual Web space: what a world file says, and what holds where it says nothing.
//!
//! A file is TOML. [`keys`] read it, so that every refusal names the line, the key, its value and what is allowed; each
//! table of the file is one of the [`sections`] (how sites are built) or of the [`byte_sections`] (what pages weigh,
//! where servers stand, what time it takes), declared once with its keys, units, bounds, defaults and meanings. A file may start
//! from one of the [`profiles`]. [`World`] is all of it. Nothing is drawn here: a world knows its seed and the shares of
//! each kind of thing, and never a site.

pub(super) mod byte_sections;
pub(super) mod dates;
pub(super) mod keys;
pub(super) mod profiles;
pub(super) mod sections;
pub(super) mod world;

#[cfg(test)]
mod worlds_tests;

pub use dates::Date;
pub use keys::{KeyDoc, WorldError};
pub use profiles::{PROFILES, Profile};
pub use world::{SPECIFICATION, World};
