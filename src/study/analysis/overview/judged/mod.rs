//! Promises and load, as the exchanges of the tables show them.

pub(super) mod ledger;
pub(super) mod link_shares;
pub(super) mod opt_outs;
pub(super) mod promises;
pub(super) mod rate;
pub(super) mod recorded_limits;
pub(super) mod request_order;
pub(super) mod timeline;
