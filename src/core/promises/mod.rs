//! What is promised to the owners of servers, and whether it was kept.
//!
//! A [`Promise`] has an id that stays the same and a sentence; [`PromisedLimits`] are the bounds that one survey promised. The
//! [`Judge`] hears facts and nothing else: who was asked, when, for which site, what came and when it had come. He never
//! sees a permit or a queue, so that he can show that whoever gave the permits was wrong. What he has seen is [`Observations`],
//! which outlasts the process, and [`verdicts`] says it in words.
//!
//! Three feed him: the survey while it runs, from answers; the report, from the tables; tests, from the access logs of
//! servers. All facts have one form, [`Fact`], so that a breach has the same verdict whoever tells it. How long a
//! server is to rest, what counts as trouble and what a link bears is told here from what was promised and from the facts
//! alone, and not by the rules of who gives the permits ([`load`](crate::load)): an error there is a breach here. Where facts leave
//! room, it is given, so that who keeps the rules never breaks a promise (`survey/judged_tests.rs`).
//!
//! What follows from the order of questions in one site tree is judged by [`TreeRequests`]: robots.txt before pages, what
//! it forbids, and nothing twice. Responses for robots.txt that a tree shares with another one come before, too.
//!
//! This room has no clock: facts bring their times. It never decides whether anything is asked.

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
