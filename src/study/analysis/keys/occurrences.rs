/// Which trees know a key (a URL, host, site or address, as a hash), and from which depth on.
///
/// All of them, or those of a sample of keys: every key has the same chance, whatever it is, and a chosen key
/// has all its occurrences.
#[derive(Clone, Debug, Default)]
pub struct Occurrences {
    /// Sorted by key, then tree; a key stands once for a tree.
    pub(in crate::analysis) list: Vec<Occurrence>,
    /// The share of keys that were chosen, as a power of a half: 0 all, 1 half of them, and so on.
    pub(in crate::analysis) halvings: u32,
}

/// A key in a tree, at the least depth where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The hash of a URL, host, site or address.
    pub key: u64,
    /// The number of the tree.
    pub tree: u32,
    /// The least one in the tree.
    pub depth: u16,
}

impl Occurrences {
    /// Sorted by key, then tree.
    #[must_use]
    pub fn list(&self) -> &[Occurrence] {
        &self.list
    }

    /// The occurrences key by key.
    pub fn keys(&self) -> impl Iterator<Item = &[Occurrence]> {
        self.list.chunk_by(|one, other| one.key == other.key)
    }

    /// The share of all keys that these are.
    #[must_use]
    pub fn share(&self) -> f64 {
        0.5_f64.powi(i32::try_from(self.halvings).unwrap_or(i32::MAX))
    }

    /// How often the keys must be halved until there are at most so many occurrences: as often as the list
    /// already was, or more.
    pub(in crate::analysis) fn halvings_to(&self, most: usize) -> u32 {
        self.halvings + self.list.len().div_ceil(most.max(1)).max(1).next_power_of_two().ilog2()
    }
}
