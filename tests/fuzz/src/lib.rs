//! The rooms that read what strangers wrote, and what must hold of them for any bytes. Each function panics
//! when it does not; `targets/` hands them to libFuzzer.

use ccsurvey_address as address;
use ccsurvey_core::{exchange, page, robots};

mod answers;
#[expect(dead_code, reason = "the files of the room are taken whole")]
mod fetch;
#[path = "../../../src/core/page/fragments.rs"]
mod fragments;
mod structure;
mod texts;

pub use answers::{dns_response, response_head};
pub use texts::{built_page, html_page, robots_txt, url_reference};
