use crate::analysis::{Kind, Occurrences};

/// What is known of external URLs, hosts, sites and addresses over the whole survey.
#[derive(Clone, Debug, Default)]
pub struct KnownKeys {
    pub(in crate::analysis) counts: [KnownByDepth; Kind::ALL.len()],
    pub(in crate::analysis) occurrences: [Occurrences; Kind::ALL.len()],
}

impl KnownKeys {
    /// How many are known first at each depth: the union reading, exact.
    #[must_use]
    pub fn counts(&self, kind: Kind) -> &KnownByDepth {
        &self.counts[kind as usize]
    }

    /// Whether it tells all occurrences of all keys, not of some keys only.
    pub(in crate::analysis) fn has_all_occurrences(&self) -> bool {
        self.occurrences.iter().all(|of_kind| of_kind.share() >= 1.0)
    }

    /// Which trees know which, for intervals and estimates.
    #[must_use]
    pub fn occurrences(&self, kind: Kind) -> &Occurrences {
        &self.occurrences[kind as usize]
    }
}

/// How many distinct keys are known first at each depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownByDepth {
    pub(in crate::analysis) new: Vec<u64>,
}

impl KnownByDepth {
    /// Known from levels 0 to `depth`.
    #[must_use]
    pub fn up_to(&self, depth: u16) -> u64 {
        self.new.iter().take(usize::from(depth) + 1).sum()
    }

    /// Known at all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.new.iter().sum()
    }

    pub(in crate::analysis) fn add(&mut self, depth: u16, keys: u64) {
        let depth = usize::from(depth);
        if self.new.len() <= depth {
            self.new.resize(depth + 1, 0);
        }
        self.new[depth] += keys;
    }
}
