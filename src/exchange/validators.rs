use serde::{Deserialize, Serialize};

/// What a server said of a version of a page or file; with it the server can be asked for another version
/// only (RFC 9110 §13.1). As received, so that it is given back unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is nothing to ask with.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}
