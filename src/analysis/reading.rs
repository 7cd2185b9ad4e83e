use serde::Serialize;

use super::{Bounds, Censoring, CurveLevel, Estimate, Kind};

/// How coverage counts what several site trees know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Once in every site tree.
    Pair,
    /// Once in the survey.
    Union,
}

impl Reading {
    /// The word in files and flags.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Union => "union",
        }
    }

    /// The reading that a word of files and flags stands for.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Pair, Self::Union].into_iter().find(|reading| reading.word() == word)
    }

    /// The coverage of a level. Addresses belong to the survey and not to a tree, so they have one reading.
    #[must_use]
    pub fn coverage(self, level: &CurveLevel, kind: Kind) -> Estimate {
        match self {
            Self::Pair => level.pair(kind).unwrap_or_else(|| level.union(kind)),
            Self::Union => level.union(kind),
        }
    }

    pub(super) fn bounds(self, censoring: &Censoring, depth: usize, kind: Kind) -> Bounds {
        let Some(level) = censoring.levels.get(depth) else { return Bounds { low: 0.0, high: 1.0 } };
        match self {
            Self::Pair => level.pair.get(kind as usize).copied().unwrap_or(level.union[kind as usize]),
            Self::Union => level.union[kind as usize],
        }
    }
}
