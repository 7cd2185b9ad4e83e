//! One exchange of a visit, from the name to the journal.
//!
//! `attempts` says how often and by whom it is tried, `ready` waits for the turn at its server, `send` has this process or an
//! agent send it, `doubt` tells whether the link that it was sent over may be why it brought nothing, and `record` books what
//! came of it. `requester` has what they share.

pub(super) mod attempts;
pub(super) mod doubt;
pub(super) mod ready;
pub(super) mod record;
pub(super) mod requester;
pub(super) mod send;

pub(in crate::survey) use record::accept_failed_try;
pub(in crate::survey) use requester::{ExchangeOutcome, FailedTry, Requester, WantedExchange};
