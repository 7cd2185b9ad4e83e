use serde::{Deserialize, Serialize};

/// How a request is sent and its response read. Earlier responses of the server decide which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// With current TLS and the HTTP library.
    #[default]
    Usual,
    /// The server refuses our TLS: it only receives a ClientHello of the old kind, which reveals the TLS that
    /// it supports.
    OldTls,
    /// The HTTP library cannot read the server's responses: this one is read without it.
    WithoutLibrary,
}
