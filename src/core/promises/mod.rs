//! The promises to server owners, and whether a survey kept them.
//!
//! A [`Promise`] has a stable id and a sentence; [`PromisedLimits`] are the limits that one survey promised.
//! The [`Judge`] receives facts and nothing else: which server got a request, when, for which site, and the
//! response with its times. It never sees a permit or a queue, so it can show that the code that grants
//! permits was wrong. Its findings are [`Observations`], which outlast the process, and [`verdicts`] puts
//! them into words.
//!
//! The judge has three sources of facts: the survey while it runs, from responses; the report, from the
//! tables; tests, from the access logs of servers. All facts have one form, [`Fact`], so a breach has the
//! same verdict from every source. This room derives how long a server must pause, what counts as trouble,
//! and how long a link was busy from the promises and the facts alone. It does not use the rules of the code
//! that grants permits ([`load`](crate::load)): an error there is a breach here. Where facts are ambiguous,
//! the judge decides in favour of the survey, so that code that keeps the rules never breaks a promise
//! (`survey/judged_tests.rs`).
//!
//! [`TreeRequests`] judges what follows from the order of requests in one site tree: robots.txt is fetched
//! before pages, what it forbids is not fetched, and no page is fetched twice. Responses for robots.txt that
//! a tree shares with another one count as fetched before.
//!
//! This room has no clock: facts bring their times. It never decides whether a request is sent.

mod ceiling;
mod fact;
mod judge;
mod limits;
mod observed_load;
mod pauses;
mod quiet;
mod seen;
mod server_record;
mod tree_requests;
pub mod units;
mod verdicts;

#[cfg(test)]
mod tests;

pub use fact::{Fact, OwnerObjections};
pub use judge::Judge;
pub use limits::PromisedLimits;
pub use observed_load::SystemOf;
pub use quiet::{ServerLocation, is_quiet};
pub use seen::{Count, Observations, OrderBreaches, Peak, ShortPauses};
pub use server_record::ServerRecord;
pub use tree_requests::{TreeRequest, TreeRequests};
pub use verdicts::promise::{BudgetScope, LoadAmount, Promise};
pub use verdicts::verdict::{Judgement, Verdict};
pub use verdicts::{breaches_at, broken, verdicts};
