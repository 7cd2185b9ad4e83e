use std::fmt;

use serde::{Deserialize, Serialize};

use crate::promises::{Promise, PromisedLimits};

/// What came of one promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// A short name that stays the same.
    pub id: String,
    /// What is promised, with the bound that was set.
    pub promise: String,
    /// Whether it held.
    #[serde(rename = "verdict")]
    pub judgement: Judgement,
    /// What was found, in numbers.
    pub evidence: String,
}

/// Whether a promise held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Nothing was seen against it.
    Held,
    /// Something was.
    Broken,
    /// No bound was set, it was lifted, or nothing tells.
    NotJudged,
}

impl Verdict {
    /// On a promise with the bound that was set.
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
    /// For people.
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
