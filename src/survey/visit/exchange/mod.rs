//! One exchange of a visit, from the name to the journal.
//!
//! `attempts` decides how often the request is attempted and by which sender. `ready` waits for the turn at
//! its server. `send` sends it from this process or an agent. `doubt` decides whether the link may be why it
//! brought nothing. `record` books the result. `requester` holds the types that they share.

pub(super) mod attempts;
pub(super) mod doubt;
pub(super) mod ready;
pub(super) mod record;
pub(super) mod requester;
pub(super) mod send;

pub(in crate::survey) use record::accept_failed_try;
pub(in crate::survey) use requester::{ExchangeOutcome, FailedTry, Requester, WantedExchange};
