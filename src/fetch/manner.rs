use serde::{Deserialize, Serialize};

/// How a request is sent and its response read: what earlier responses of the server ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// By the TLS of today, and the HTTP library.
    #[default]
    Usual,
    /// The server refuses our TLS: it is only greeted, which tells what it speaks.
    OldTls,
    /// The HTTP library cannot read the server's responses: this one is read without it.
    WithoutLibrary,
}
