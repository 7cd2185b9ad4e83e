use std::fmt;

use serde::{Deserialize, Serialize};

use crate::promises::{Promise, PromisedLimits};

/// The judgement on one promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// A short, stable name.
    pub id: String,
    /// The promise, with the limit that was set.
    pub promise: String,
    /// Whether it held.
    #[serde(rename = "verdict")]
    pub judgement: Judgement,
    /// The findings, in numbers.
    pub evidence: String,
}

/// Whether a promise held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// No breach was seen.
    Held,
    /// A breach was seen.
    Broken,
    /// No limit was set, it was lifted, or there is no evidence.
    NotJudged,
}

impl Verdict {
    /// The verdict on a promise with the limit that was set.
    #[must_use]
    pub fn new(
        promise: Promise,
        limits: &PromisedLimits,
        judgement: Judgement,
        evidence: impl Into<String>,
    ) -> Self {
        let (id, promise) = (promise.id().into_owned(), promise.describe(limits));
        Self { id, promise, judgement, evidence: evidence.into() }
    }
}

impl Judgement {
    /// The word for readers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "BROKEN",
            Self::NotJudged => "not judged",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.evidence)
    }
}
