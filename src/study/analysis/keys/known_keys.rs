use crate::analysis::{Kind, Occurrences};

/// The external URLs, hosts, sites and addresses known over the whole survey.
#[derive(Clone, Debug, Default)]
pub struct KnownKeys {
    pub(in crate::analysis) counts: [KnownByDepth; Kind::ALL.len()],
    pub(in crate::analysis) occurrences: [Occurrences; Kind::ALL.len()],
}

impl KnownKeys {
    /// The exact number of keys first known at each depth: the union reading.
    #[must_use]
    pub fn counts(&self, kind: Kind) -> &KnownByDepth {
        &self.counts[kind as usize]
    }

    /// Whether the occurrences are complete, and not only those of a sample of keys.
    pub(in crate::analysis) fn has_all_occurrences(&self) -> bool {
        self.occurrences.iter().all(|of_kind| of_kind.share() >= 1.0)
    }

    /// Which trees know which keys, for intervals and estimates.
    #[must_use]
    pub fn occurrences(&self, kind: Kind) -> &Occurrences {
        &self.occurrences[kind as usize]
    }
}

/// The number of distinct keys first known at each depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownByDepth {
    pub(in crate::analysis) new: Vec<u64>,
}

impl KnownByDepth {
    /// The number of keys known from levels 0 to `depth`.
    #[must_use]
    pub fn up_to(&self, depth: u16) -> u64 {
        self.new.iter().take(usize::from(depth) + 1).sum()
    }

    /// The number of all known keys.
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
