//! The rooms that read what strangers wrote, compiled without the rest of ccsurvey, and what must hold of them for
//! any bytes. Each function panics when it does not; `targets/` hands them to libFuzzer.

#[path = "../../../src/address/mod.rs"]
pub mod address;
#[path = "../../../src/exchange/mod.rs"]
pub mod exchange;
#[path = "../../../src/page/mod.rs"]
pub mod page;
#[path = "../../../src/robots/mod.rs"]
pub mod robots;

mod answers;
mod fetch;
#[path = "../../../src/page/fragments.rs"]
mod fragments;
mod structure;
mod texts;

pub use answers::{dns_answer, response_head};
pub use texts::{built_page, html_page, robots_txt, url_reference};
