//! The settings of a virtual Web: the contents of a world file, and the defaults of missing keys.
//!
//! A file is TOML. [`keys`] reads it, so that every error names the line, the key, its value and the allowed
//! values. Each table of the file is one of the [`sections`] (the structure of sites), of the
//! [`fact_sections`] (what hosts are and what runs them) or of the [`byte_sections`] (sizes of pages, places
//! of servers, durations). Its keys, units, bounds, defaults and meanings are declared once. A file may start
//! from one of the [`profiles`]. [`World`] holds all settings. Nothing is drawn here: a world has a seed and
//! the shares of each kind of thing, but no sites.

pub(super) mod byte_sections;
pub(super) mod dates;
pub(super) mod fact_sections;
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
