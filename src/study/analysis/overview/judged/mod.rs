//! Promises and load, computed from the table of exchanges.

pub(super) mod ledger;
pub(super) mod link_shares;
pub(super) mod opt_outs;
pub(super) mod promises;
pub(super) mod rate;
pub(super) mod recorded_limits;
pub(super) mod request_order;
pub(super) mod timeline;
