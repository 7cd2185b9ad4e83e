//! The rooms that read what strangers wrote and those that walk, compiled without the rest of ccsurvey.
#![allow(unused_imports, reason = "what is re-exported for rooms that are not here")]

#[path = "../../../src/address/mod.rs"]
pub mod address;
#[path = "../../../src/exchange/mod.rs"]
pub mod exchange;
#[path = "../../../src/page/mod.rs"]
pub mod page;
#[path = "../../../src/robots/mod.rs"]
pub mod robots;
#[path = "../../../src/settings/mod.rs"]
pub mod settings;
#[path = "../../../src/walk/mod.rs"]
pub mod walk;
