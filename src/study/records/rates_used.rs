use serde::{Deserialize, Serialize};

/// The rates by which a survey leaves pages out: `rates.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatesUsed {
    /// XXH3 of the file, 128 bits, hexadecimal.
    pub hash: String,
}
