use serde::Serialize;

use crate::analysis::{Bounds, Censoring, CurveLevel, Estimate, Kind};

/// How coverage counts a key that several site trees know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Once in every site tree.
    Pair,
    /// Once in the survey.
    Union,
}

impl Reading {
    /// What is counted, as text. The two readings have different names, so their numbers cannot be confused.
    #[must_use]
    pub fn counts(self, kind: Kind) -> &'static str {
        match (kind, self) {
            (Kind::Urls, Self::Union) => "external URLs",
            (Kind::Hosts, Self::Union) => "external hosts",
            (Kind::Sites, Self::Union) => "external sites",
            (Kind::Urls, Self::Pair) => "URL pairs",
            (Kind::Hosts, Self::Pair) => "host pairs",
            (Kind::Sites, Self::Pair) => "site pairs",
            // Addresses belong to no tree.
            (Kind::Addresses, _) => "server addresses",
        }
    }
}

/// The kind and the reading of coverage, with the defaults for what is not given: hosts and union.
#[must_use]
pub fn counted(kind: Option<Kind>, reading: Option<Reading>) -> (Kind, Reading) {
    (kind.unwrap_or(Kind::Hosts), reading.unwrap_or(Reading::Union))
}

impl Reading {
    /// The name used in files and flags.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Union => "union",
        }
    }

    /// The reading with this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Pair, Self::Union].into_iter().find(|reading| reading.word() == word)
    }

    /// The coverage of a level. Addresses belong to the survey and not to a tree, so they have only one
    /// reading.
    #[must_use]
    pub fn coverage(self, level: &CurveLevel, kind: Kind) -> Estimate {
        match self {
            Self::Pair => level.pair(kind).unwrap_or_else(|| level.union(kind)),
            Self::Union => level.union(kind),
        }
    }

    /// The kinds of links that this coverage needs. Addresses need hosts too, to estimate how many addresses
    /// are still unknown.
    #[must_use]
    pub fn required_kinds(self, kind: Kind) -> &'static [Kind] {
        match (self, kind) {
            (_, Kind::Addresses) => &[Kind::Hosts, Kind::Addresses],
            (Self::Pair, _) => &[],
            (Self::Union, Kind::Urls) => &[Kind::Urls],
            (Self::Union, Kind::Hosts) => &[Kind::Hosts],
            (Self::Union, Kind::Sites) => &[Kind::Sites],
        }
    }

    pub(in crate::analysis) fn bounds(self, censoring: &Censoring, depth: usize, kind: Kind) -> Bounds {
        let Some(level) = censoring.levels.get(depth) else { return Bounds { low: 0.0, high: 1.0 } };
        match self {
            Self::Pair => level.pair.get(kind as usize).copied().unwrap_or(level.union[kind as usize]),
            Self::Union => level.union[kind as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::curves::worlds::{country, survey};
    use crate::analysis::{Choice, Criterion, Evidence, KnownKeys, Sampling};

    #[test]
    fn a_choice_rests_on_the_kinds_that_its_coverage_is_counted_by() {
        let mut site_trees = country(40, 5, 3);
        // Unfetched URLs would bring addresses, too.
        for tree in site_trees.iter_mut().step_by(3) {
            (tree.outcome, tree.not_fetched) = ("depth", 5);
        }
        let recorded = survey(&site_trees);
        for (of, reading) in
            Kind::ALL.into_iter().flat_map(|kind| [(kind, Reading::Pair), (kind, Reading::Union)])
        {
            let mut known = KnownKeys::default();
            for kind in reading.required_kinds(of) {
                known.counts[*kind as usize] = recorded.known.counts[*kind as usize].clone();
                known.occurrences[*kind as usize] = recorded.known.occurrences[*kind as usize].clone();
            }
            let enough = recorded.part(&(0..40).map(Some).collect::<Vec<_>>(), known);
            let chosen = |recorded| {
                let evidence = Evidence::measure(recorded, &Sampling::default(), 0.9);
                serde_json::to_value(Choice::by(
                    &evidence,
                    Criterion::Coverage { at_least: 0.9, of, reading },
                ))
                .unwrap()
            };
            assert_eq!(chosen(&enough), chosen(&recorded), "{of:?} {reading:?}");
        }
    }
}
