//! Cases below the content: TLS, framing, codings, broken connections.

pub(super) mod codings;
pub(super) mod framing;
pub(super) mod resets;
pub(super) mod tls;
