/// Which trees know a key (the hash of a URL, host, site or address), and from which depth on.
///
/// Holds the occurrences of all keys or of a sample of keys. Every key has the same chance to be in the
/// sample, and a sampled key has all its occurrences.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    /// Sorted by key, then tree. A key occurs once per tree.
    pub(in crate::analysis) list: Vec<Occurrence>,
    /// The share of keys that were chosen, as a power of one half: 0 for all keys, 1 for half of them, and so
    /// on.
    pub(in crate::analysis) halvings: u32,
}

/// The occurrence of a key in a tree, at its least depth there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The hash of a URL, host, site or address.
    pub key: u64,
    /// The number of the tree.
    pub tree: u32,
    /// The least depth of the key in the tree.
    pub depth: u16,
}

impl Occurrences {
    /// All occurrences, sorted by key, then tree.
    #[must_use]
    pub fn list(&self) -> &[Occurrence] {
        &self.list
    }

    /// The occurrences, grouped by key.
    pub fn keys(&self) -> impl Iterator<Item = &[Occurrence]> {
        self.list.chunk_by(|a, b| a.key == b.key)
    }

    /// The share of all keys that are in the sample.
    #[must_use]
    pub fn share(&self) -> f64 {
        0.5_f64.powi(i32::try_from(self.halvings).unwrap_or(i32::MAX))
    }

    /// The number of times that the keys must be halved until there are about `limit` occurrences or fewer,
    /// including the halvings already made.
    pub(in crate::analysis) fn halvings_to(&self, limit: usize) -> u32 {
        self.halvings + self.list.len().div_ceil(limit.max(1)).max(1).next_power_of_two().ilog2()
    }
}
