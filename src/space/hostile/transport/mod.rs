//! Cases below the page: TLS, framing, codings, connections that break.

pub(super) mod codings;
pub(super) mod framing;
pub(super) mod resets;
pub(super) mod tls;
